/*
 * cache_command - what an operator may ask of the cache of proxied answers, by
 * the control socket: `sprintd cache`.
 *
 *   purge [soft] [tags=LIST] [ADDRESS]   takes out, or has asked about again
 *   ls [ADDRESS]                         a line for each entry
 *   stat                                 numbers
 *
 * An ADDRESS is a URL, or that without a scheme; with '*' at its end it is what
 * others begin with.
 *
 * Thread: any; the caller waits while every entry is looked at.
 */
#ifndef PROCESS_CACHE_COMMAND_H
#define PROCESS_CACHE_COMMAND_H

#include "base/buf.h"
#include "cache/cache_store.h"

/* Does what words say; what there is to tell goes into answer. store may be
 * NULL: nothing is kept. False: answer says why. */
bool cache_command_run(struct cache_store *store, struct bytes words,
                       struct buf *answer);

#endif
