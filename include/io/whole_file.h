/*
 * whole_file - files that are always seen whole or not at all: they are written
 * under another name, flushed to the disk, and then renamed.
 *
 * The caller holds the files' directory open. So no file is read or written in
 * another directory that has been given the same name. Symlinks in the
 * directory are not followed.
 *
 * Thread: any; waits for the disk.
 */
#ifndef IO_WHOLE_FILE_H
#define IO_WHOLE_FILE_H

#include "io/small_file.h"

/* Makes the file. Returns 0, -EEXIST if a file has the name already, or another
 * -errno. */
MUST_USE int whole_file_create(int folder, const char *name, struct bytes text,
                               mode_t mode);

/* Makes the file, which replaces any file of the same name. Returns 0 or
 * -errno. */
MUST_USE int whole_file_replace(int folder, const char *name, struct bytes text,
                                mode_t mode);

/* Flushes to the disk the names of the files in a folder, where the file system
 * can do that. Returns 0 or -errno. */
MUST_USE int whole_file_sync_folder(int folder);

/* Flushes to the disk the folder's own name, unless the sandbox hides the
 * folder above. A file is safe only if all names on its path are on the disk.
 * Returns 0 or -errno. */
MUST_USE int whole_file_sync_folder_name(int folder);

/* Reads a file that belongs to `owner` and has at most bytes_max bytes, and
 * puts a NUL behind its text. Returns 0, -EACCES when the file is somebody
 * else's or is not a regular file, or another -errno. */
MUST_USE int whole_file_read(int folder, const char *name, uid_t owner,
                             size_t bytes_max, struct small_file *file);

#endif
