/*
 * whole_file - files that are always seen whole or not at all: they are written
 * under another name, flushed to the disk, and then renamed.
 *
 * Files lie in a directory that is held open, so that a new directory of the
 * same name leads nobody elsewhere. A name in it that is a symlink is not
 * followed.
 *
 * Thread: any; waits for the disk.
 */
#ifndef IO_WHOLE_FILE_H
#define IO_WHOLE_FILE_H

#include "io/small_file.h"

/* Makes the file under a name that is free. Returns 0, -EEXIST, or another
 * -errno. */
MUST_USE int whole_file_create(int folder, const char *name, struct bytes text,
                               mode_t mode);

/* Makes the file, in the place of whatever has the name. Returns 0 or
 * -errno. */
MUST_USE int whole_file_replace(int folder, const char *name, struct bytes text,
                                mode_t mode);

/* Reads a file that belongs to owner and has at most bytes_max bytes, and puts
 * a NUL behind its text. Returns 0, -EACCES when the file is somebody else's or
 * is no regular file, or another -errno. */
MUST_USE int whole_file_read(int folder, const char *name, uid_t owner,
                             size_t bytes_max, struct small_file *file);

#endif
