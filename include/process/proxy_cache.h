/*
 * proxy_cache - opens the cache of proxied answers that the options ask for.
 *
 * Thread: used only by the main thread; all workers share the store.
 * Owns:   nothing: the caller owns the store.
 */
#ifndef PROCESS_PROXY_CACHE_H
#define PROCESS_PROXY_CACHE_H

#include "cache/cache_store.h"
#include "config/options.h"
#include "confine/identity.h"

/* Returns the folder that the options give the cache; NULL without a cache. */
const char *proxy_cache_folder(const struct options *options);

/* Makes the folder for the user that the server will become. To be called while
 * the server still has the right to make the folder. Returns EX_OK, or a status
 * of sysexits.h after one line on stderr. */
MUST_USE int proxy_cache_make_place(const struct options *options,
                                    const struct identity *identity);

/* Opens the store; *store_out is NULL without a cache. The store may have at
 * most files_max descriptors. is_successor is true if an earlier server still
 * uses the folder. Returns EX_OK, or a status of sysexits.h after one line on
 * stderr. */
MUST_USE int proxy_cache_open(struct cache_store **store_out,
                              const struct options *options, size_t files_max,
                              bool is_successor);

#endif
