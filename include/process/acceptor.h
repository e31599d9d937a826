/*
 * acceptor - the accepting thread: from listening sockets to workers.
 *
 * Connections are accepted in bounded batches. After a batch every worker that
 * got a connection of it is woken, once for all of them. When there are too
 * many connections, or descriptors run out, a client is told so (503,
 * Retry-After) and the acceptor pauses; one descriptor is kept in reserve so
 * that there is always one to say it with. The acceptor never spins. A burst
 * that fills all mailboxes waits for the workers, up to a second.
 *
 * Thread: what is declared here is the main thread's; the rest is its own
 *         thread.
 * Owns:   its loop and dispatch; borrows the listeners' sockets and the
 *         workers.
 */
#ifndef PROCESS_ACCEPTOR_H
#define PROCESS_ACCEPTOR_H

#include "engine/worker.h"
#include "handler/address_count.h"
#include "io/listener.h"
#include "observe/stats.h"

struct acceptor_options {
    const struct listener *listeners; /* copied */
    size_t listener_count;
    struct worker **workers;
    size_t worker_count;
    size_t connections_max;
    struct address_count *addresses; /* borrowed; NULL: they are not counted */
    struct stats_acceptor *stats;    /* borrowed */
    bool is_profiled;                /* its time is sampled */
};

struct acceptor; /* opaque */

/* NULL: no memory or no descriptors. */
MUST_USE struct acceptor *acceptor_create(const struct acceptor_options
                                              *options);
void acceptor_destroy(struct acceptor *acceptor);

/* 0 or -errno. */
MUST_USE int acceptor_start(struct acceptor *acceptor);

/* Prepares to listen on these sockets instead. 0 or -ENOMEM. */
MUST_USE int acceptor_prepare(struct acceptor *acceptor,
                              const struct listener *listeners, size_t count);

/* Listens on what was prepared. On return the sockets that are no longer among
 * them can be closed: what the kernel had accepted there is handed over. */
void acceptor_change(struct acceptor *acceptor);

/* Hands over what has already been accepted by the kernel, ends the thread
 * and waits for it. */
void acceptor_stop(struct acceptor *acceptor);

/* Stops like acceptor_stop(), but what waits to be accepted is left to another
 * process, which listens on the same sockets. */
void acceptor_leave(struct acceptor *acceptor);

#endif
