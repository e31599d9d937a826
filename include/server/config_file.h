/*
 * config_file - the bytes of a configuration file, and where it lies.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef SERVER_CONFIG_FILE_H
#define SERVER_CONFIG_FILE_H

#include "base/arena.h"

enum { CONFIG_FILE_BYTES_MAX = 1 << 20 };

/* All of a regular file; *text_out is to be freed either way. 0 or -errno;
 * -EINVAL: it is none; -EFBIG: it is too long. */
MUST_USE int config_file_read(const char *path, char **text_out,
                              size_t *len_out);

/* The folder that path lies in, absolute. NULL: no memory, or there is no
 * working directory any more. */
MUST_USE const char *config_file_folder(const char *path, struct arena *arena);

#endif
