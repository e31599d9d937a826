/*
 * dispatch - hands each new connection to the worker with the fewest open.
 *
 * What is open at a worker is what was given to it less what it has closed:
 * two counters with one writer each, so that neither side waits for the
 * other. The closed ones are read once per batch.
 *
 * Thread: the acceptor's.
 * Owns:   its counters, not the workers.
 */
#ifndef PROCESS_DISPATCH_H
#define PROCESS_DISPATCH_H

#include "engine/worker.h"

struct dispatch; /* opaque */

/* workers stays the caller's and must outlive it. NULL: no memory. */
MUST_USE struct dispatch *dispatch_create(struct worker **workers,
                                          size_t count);
void dispatch_destroy(struct dispatch *dispatch);

/* Begins a batch: reads how many connections are open. Returns that. */
size_t dispatch_begin(struct dispatch *dispatch);

/* Gives a connection away. False: every mailbox is full; the caller keeps the
 * descriptor. */
MUST_USE bool dispatch_give(struct dispatch *dispatch, const struct mail *mail);

/* Gives the descriptor away when as many connections are open as may be: to the
 * worker where most wait for a request, the longest of which goes instead.
 * False: nowhere does one. */
MUST_USE bool dispatch_replace(struct dispatch *dispatch,
                               const struct mail *mail);

/* Gives it away when no connection waits, but one of an address that has more
 * than its share is to go: to each worker in turn, since where they are is not
 * known. False: every mailbox is full, or nothing open. */
MUST_USE bool dispatch_displace(struct dispatch *dispatch,
                                const struct mail *mail);

/* Ends a batch: wakes those that were given something, once each. */
void dispatch_end(struct dispatch *dispatch);

#endif
