/*
 * dictionaries - opens the server's store of old file versions that clients may
 * have. The store's folder is made and opened before the server gives up its
 * rights.
 *
 * Thread: used only by the main thread.
 */
#ifndef PROCESS_DICTIONARIES_H
#define PROCESS_DICTIONARIES_H

#include "config/options.h"
#include "confine/identity.h"
#include "files/dictionary_store.h"

/* Opens the store; *store_out is NULL if no dictionaries are configured.
 * Returns EX_OK, or a status of sysexits.h after one line on stderr. */
MUST_USE int dictionaries_open(struct dictionary_store **store_out,
                               const struct options *options,
                               const struct identity *identity);

#endif
