/*
 * read_at - reads a number of bytes at an offset of a file, all or nothing.
 *
 * Thread: any.
 */
#ifndef BASE_READ_AT_H
#define BASE_READ_AT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `len` bytes, beginning at the offset `at`. Returns false if the file
 * ends before that, or cannot be read. */
bool read_at(int fd, void *to, size_t len, uint64_t at);

#endif
