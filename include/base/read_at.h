/*
 * read_at - bytes from a place of a file, all of them.
 *
 * Thread: any.
 */
#ifndef BASE_READ_AT_H
#define BASE_READ_AT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads len bytes from the offset at on. False: there are fewer, or they cannot
 * be read. */
bool read_at(int fd, void *to, size_t len, uint64_t at);

#endif
