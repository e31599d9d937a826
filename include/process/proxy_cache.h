/*
 * proxy_cache - the cache of what proxies answer, as the options say it.
 *
 * Thread: the main thread's; the store is shared by all workers.
 * Owns:   nothing: what it opens is its caller's.
 */
#ifndef PROCESS_PROXY_CACHE_H
#define PROCESS_PROXY_CACHE_H

#include "cache/cache_store.h"
#include "config/options.h"
#include "confine/identity.h"

/* The folder that options name; NULL: none. */
const char *proxy_cache_folder(const struct options *options);

/* Makes the folder, while there are the rights to, for the user that the server
 * will become. EX_OK, or a status after one line on stderr. */
MUST_USE int proxy_cache_make_place(const struct options *options,
                                    const struct identity *identity);

/* Opens it; *store_out is NULL where nothing is to be kept. files_max:
 * descriptors that it may have; is_successor: of a server that has the folder
 * yet. EX_OK, or a status after one line on stderr. */
MUST_USE int proxy_cache_open(struct cache_store **store_out,
                              const struct options *options, size_t files_max,
                              bool is_successor);

#endif
