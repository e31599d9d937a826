/*
 * config_file - where a configuration file lies.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef SERVER_CONFIG_FILE_H
#define SERVER_CONFIG_FILE_H

#include "base/arena.h"

/* The folder that path lies in, absolute. NULL: no memory, or there is no
 * working directory any more. */
MUST_USE const char *config_file_folder(const char *path, struct arena *arena);

#endif
