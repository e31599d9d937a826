/*
 * cache_command - an operator's commands for the proxy cache, through the
 * control socket: `sprintd cache`.
 *
 *   purge [soft] [tags=LIST] [ADDRESS]   removes, or marks as stale
 *   ls [ADDRESS]                         one line for each entry
 *   stat                                 numbers
 *
 * An ADDRESS is a URL, with or without a scheme; with '*' at its end, it stands
 * for all that begin with it.
 *
 * Thread: any; the call lasts while every entry is looked at.
 */
#ifndef PROCESS_CACHE_COMMAND_H
#define PROCESS_CACHE_COMMAND_H

#include "base/buf.h"
#include "cache/cache_store.h"

/* Does what words say, and writes results to answer. store is NULL without a
 * cache. False: answer says why. */
bool cache_command_run(struct cache_store *store, struct bytes words,
                       struct buf *answer);

#endif
