/*
 * acceptor - the thread that accepts connections and gives them to workers.
 *
 * Connections are accepted in bounded batches. After a batch, each worker that
 * got connections is woken once. When there are too many connections, or
 * descriptors run out, a client is told so (503, Retry-After) and the acceptor
 * pauses; one descriptor is kept in reserve for these answers. The acceptor
 * never spins. A burst that fills all mailboxes waits for the workers, up to a
 * second.
 *
 * Thread: the main thread calls all that is declared here; the acceptor's
 *         thread does the rest.
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
    struct address_count *addresses; /* borrowed; NULL: not counted */
    struct stats_acceptor *stats;    /* borrowed */
    bool is_profiled;                /* its thread is sampled (profile.h) */
};

struct acceptor; /* opaque */

/* Returns NULL without memory or descriptors. */
MUST_USE struct acceptor *acceptor_create(const struct acceptor_options
                                              *options);
void acceptor_destroy(struct acceptor *acceptor);

/* Returns 0 or -errno. */
MUST_USE int acceptor_start(struct acceptor *acceptor);

/* Prepares to listen on these sockets instead. 0 or -ENOMEM. */
MUST_USE int acceptor_prepare(struct acceptor *acceptor,
                              const struct listener *listeners, size_t count);

/* Listens on the prepared sockets. When it returns, all other sockets can be
 * closed: connections that the kernel had accepted there were handed over. */
void acceptor_change(struct acceptor *acceptor);

/* Hands over what the kernel has already accepted, ends the thread and waits
 * for its end. */
void acceptor_stop(struct acceptor *acceptor);

/* Stops like acceptor_stop(), but leaves waiting connections to another process
 * that listens on the same sockets. */
void acceptor_leave(struct acceptor *acceptor);

#endif
