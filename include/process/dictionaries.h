/*
 * dictionaries - opens the server's store of old file versions that clients may
 * have: the folder is made and opened before the server gives up its rights.
 *
 * Thread: the main thread's.
 */
#ifndef PROCESS_DICTIONARIES_H
#define PROCESS_DICTIONARIES_H

#include "config/options.h"
#include "confine/identity.h"
#include "files/dictionary_store.h"

/* *store_out is NULL if no dictionaries are configured. EX_OK, or a status
 * after one line on stderr. */
MUST_USE int dictionaries_open(struct dictionary_store **store_out,
                               const struct options *options,
                               const struct identity *identity);

#endif
