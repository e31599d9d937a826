/*
 * cache_command - an operator's commands for the proxy cache, through the
 * control socket: `sprintd cache`.
 *
 *   purge [soft] [tags=LIST] [ADDRESS]   removes entries or marks them stale
 *   ls [ADDRESS]                         writes one line for each entry
 *   stat                                 writes the cache's numbers
 *
 * An ADDRESS is a URL, with or without a scheme. An ADDRESS that ends with '*'
 * stands for all URLs that begin with the text before '*'.
 *
 * Thread: any. A call looks at every entry before it returns.
 */
#ifndef PROCESS_CACHE_COMMAND_H
#define PROCESS_CACHE_COMMAND_H

#include "base/buf.h"
#include "cache/cache_store.h"

/* Runs the command that `words` has, and writes the result to `answer`. `store`
 * is NULL without a cache. Returns false if the command failed; `answer` then
 * says why. */
bool cache_command_run(struct cache_store *store, struct bytes words,
                       struct buf *answer);

#endif
