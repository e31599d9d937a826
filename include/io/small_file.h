/*
 * small_file - a file that is read into memory as a whole: a configuration,
 * passwords, tokens.
 *
 * Only regular files are read, so that reading waits for nobody. No more bytes
 * are read than a limit allows, even when the file grows meanwhile.
 *
 * Thread: any; may wait for the file system.
 * Owns:   the text, until small_file_fini().
 */
#ifndef IO_SMALL_FILE_H
#define IO_SMALL_FILE_H

#include <sys/stat.h>

#include "base/bytes.h"

enum { SMALL_FILE_BYTES_MAX = 1 << 20 };

struct small_file {
    char *text;
    size_t len;
    struct stat seen; /* fstat() before the text was read */
};

/* Reads the file at `path`. Returns 0, or -errno with nothing to give back:
 * -EISDIR or -EINVAL when `path` names no regular file, -EFBIG when the file is
 * longer than the limit. */
MUST_USE int small_file_read(struct small_file *file, const char *path);

/* Reads an open file of at most bytes_max bytes, and puts a NUL behind the
 * text. Returns as small_file_read() does. */
MUST_USE int small_file_read_open(struct small_file *file, int fd,
                                  size_t bytes_max);

/* Returns what is wrong with the file, for people, when `err` is -EISDIR,
 * -EINVAL or -EFBIG; NULL for any other error. */
const char *small_file_fault(int err);

/* Wipes the text, which may be secret, and frees it. A zeroed file, which has
 * no text, is accepted, too. */
void small_file_fini(struct small_file *file);

#endif
