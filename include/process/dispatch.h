/*
 * dispatch - gives each new connection to the worker with the fewest open
 * connections.
 *
 * The number of a worker's open connections is the number given to the worker
 * minus the number it has closed. Each of these two counters has one writer, so
 * neither side waits for the other. The counters of closed connections are read
 * once per batch.
 *
 * Thread: used only by the acceptor's thread.
 * Owns:   the counters, not the workers.
 */
#ifndef PROCESS_DISPATCH_H
#define PROCESS_DISPATCH_H

#include "engine/worker.h"

struct dispatch; /* opaque */

/* `workers` must outlive the dispatch. Returns NULL if there is no memory. */
MUST_USE struct dispatch *dispatch_create(struct worker **workers,
                                          size_t count);
void dispatch_destroy(struct dispatch *dispatch);

/* Begins a batch. Returns how many connections are open. */
size_t dispatch_begin(struct dispatch *dispatch);

/* Gives a connection to a worker. Returns false if every mailbox is full; the
 * caller then keeps the descriptor. */
MUST_USE bool dispatch_give(struct dispatch *dispatch, const struct mail *mail);

/* Gives a connection to a worker when the maximum of connections is open. The
 * worker with the most connections that wait for a request gets the new
 * connection, and closes the connection that has waited longest. Returns false
 * if no connection waits, or if the mailboxes are full. */
MUST_USE bool dispatch_replace(struct dispatch *dispatch,
                               const struct mail *mail);

/* Gives a connection to a worker when the maximum of connections is open and
 * none of them waits. An address with more than its share of connections must
 * then give up a connection. Workers take turns, since it is unknown which
 * worker has connections of that address. Returns false if every mailbox is
 * full or no connection is open. */
MUST_USE bool dispatch_displace(struct dispatch *dispatch,
                                const struct mail *mail);

/* Ends a batch: wakes each worker that got connections, once. */
void dispatch_end(struct dispatch *dispatch);

#endif
