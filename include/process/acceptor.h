/*
 * acceptor - the thread that accepts connections and gives them to workers.
 *
 * Connections are accepted in bounded batches. After a batch, each worker that
 * got connections is woken once. When the maximum of connections is open, a
 * connection that waits for a request is closed to make room for a new client.
 * If there is no such connection, the new client gets 503 with Retry-After.
 * When descriptors run out, one client gets 503 through a descriptor kept in
 * reserve, and the acceptor pauses, so that it never spins. When a burst fills
 * all mailboxes, the acceptor waits for the workers, up to a second.
 *
 * Thread: the main thread calls all functions declared here; the acceptor's
 *         thread accepts.
 * Owns:   a loop and a dispatch; borrows the listeners' sockets and the
 *         workers.
 */
#ifndef PROCESS_ACCEPTOR_H
#define PROCESS_ACCEPTOR_H

#include "engine/worker.h"
#include "handler/address_count.h"
#include "io/listener.h"
#include "observe/stats.h"

struct acceptor_options {
    const struct listener *listeners; /* the acceptor copies them */
    size_t listener_count;
    struct worker **workers;
    size_t worker_count;
    size_t connections_max;
    struct address_count *addresses; /* borrowed; NULL without counting */
    struct stats_acceptor *stats;    /* borrowed */
    bool is_profiled;                /* the thread is sampled (profile.h) */
};

struct acceptor; /* opaque */

/* Returns NULL if memory or descriptors are lacking. */
MUST_USE struct acceptor *acceptor_create(const struct acceptor_options
                                              *options);
void acceptor_destroy(struct acceptor *acceptor);

/* Returns 0 or -errno. */
MUST_USE int acceptor_start(struct acceptor *acceptor);

/* Prepares to listen on the sockets of `listeners` instead of the present
 * sockets. Returns 0 or -ENOMEM. */
MUST_USE int acceptor_prepare(struct acceptor *acceptor,
                              const struct listener *listeners, size_t count);

/* Listens on the prepared sockets. When this function returns, the caller can
 * close all other sockets: workers have got the connections that the kernel had
 * accepted there. */
void acceptor_change(struct acceptor *acceptor);

/* Lets workers have the connections that the kernel has already accepted, ends
 * the thread, and waits for the thread's end. */
void acceptor_stop(struct acceptor *acceptor);

/* Ends the thread like acceptor_stop(), but gives no more connections to
 * workers. Another process that listens on the same sockets gets the
 * connections that the kernel has already accepted. */
void acceptor_leave(struct acceptor *acceptor);

#endif
