/*
 * dispatch - gives each new connection to the worker with the fewest open.
 *
 * A worker's open connections are those given to it minus those it has closed:
 * two counters with one writer each, so that neither side waits for the other.
 * The closed ones are read once per batch.
 *
 * Thread: the acceptor's.
 * Owns:   its counters, not the workers.
 */
#ifndef PROCESS_DISPATCH_H
#define PROCESS_DISPATCH_H

#include "engine/worker.h"

struct dispatch; /* opaque */

/* workers must outlive it. NULL: no memory. */
MUST_USE struct dispatch *dispatch_create(struct worker **workers,
                                          size_t count);
void dispatch_destroy(struct dispatch *dispatch);

/* Begins a batch. Returns how many connections are open. */
size_t dispatch_begin(struct dispatch *dispatch);

/* Gives a connection to a worker. False: every mailbox is full; the caller
 * keeps the descriptor. */
MUST_USE bool dispatch_give(struct dispatch *dispatch, const struct mail *mail);

/* Gives a connection away when the maximum is open: to the worker with the most
 * connections that wait for a request; the one that waits longest is closed for
 * it. False: none waits. */
MUST_USE bool dispatch_replace(struct dispatch *dispatch,
                               const struct mail *mail);

/* Gives a connection away when none waits, but an address above its share must
 * give way: to each worker in turn, since it is unknown which one has that
 * address. False: every mailbox is full, or nothing is open. */
MUST_USE bool dispatch_displace(struct dispatch *dispatch,
                                const struct mail *mail);

/* Ends a batch: wakes each worker that got connections, once. */
void dispatch_end(struct dispatch *dispatch);

#endif
