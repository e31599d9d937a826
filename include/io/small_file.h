/*
 * small_file - all of a file that is read at once: a configuration, passwords,
 * tokens.
 *
 * Only regular files are read, so that nothing is waited for, and no more than
 * a limit, even of a file that grows meanwhile.
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
    struct stat seen; /* fstat() before it was read */
};

/* 0 or -errno, and nothing is to be given back then; -EISDIR or -EINVAL: it is
 * no file; -EFBIG: it is longer than the limit. */
MUST_USE int small_file_read(struct small_file *file, const char *path);

/* Reads a file that is open, and of at most bytes_max; a NUL is put behind the
 * text. */
MUST_USE int small_file_read_open(struct small_file *file, int fd,
                                  size_t bytes_max);

/* What is wrong with the file, for people, when err is -EISDIR, -EINVAL or
 * -EFBIG; NULL for any other err. */
const char *small_file_fault(int err);

/* Wipes the text, which may be secret, and frees it. A file that is all zero
 * has none. */
void small_file_fini(struct small_file *file);

#endif
