/*
 * whole_file - files that are whole or not there, whenever one looks: written
 * under another name, flushed to the disk, and then named.
 *
 * They lie in a directory that is open, so that a new one of its name leads
 * nobody elsewhere. A name in it that is a symlink is not followed.
 *
 * Thread: any; waits for the disk.
 */
#ifndef IO_WHOLE_FILE_H
#define IO_WHOLE_FILE_H

#include "io/small_file.h"

/* Makes the file under a name that nothing has yet. 0; -EEXIST; or another
 * -errno. */
MUST_USE int whole_file_create(int folder, const char *name, struct bytes text,
                               mode_t mode);

/* Puts the file in the place of what has that name. 0 or -errno. */
MUST_USE int whole_file_replace(int folder, const char *name, struct bytes text,
                                mode_t mode);

/* Reads a file that is owner's, and of at most bytes_max; a NUL is put behind
 * its text. 0; -EACCES: it is another's, or no file; or another -errno. */
MUST_USE int whole_file_read(int folder, const char *name, uid_t owner,
                             size_t bytes_max, struct small_file *file);

#endif
