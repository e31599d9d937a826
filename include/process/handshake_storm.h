/*
 * handshake_storm - notices when TLS connections come so fast that it is better
 * to accept several at a time.
 *
 * The accepting thread interrupts a worker for each connection, so that no
 * connection waits for the end of the worker's slice of the CPU. A handshake
 * takes a worker 0.2 ms, an interruption 0.02 ms. In a storm, each connection
 * must wait for the handshakes of other connections. The wait is shorter if
 * these handshakes are not interrupted.
 *
 * Thread: used only by the acceptor's thread.
 */
#ifndef PROCESS_HANDSHAKE_STORM_H
#define PROCESS_HANDSHAKE_STORM_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory means that there is no storm. */
struct handshake_storm {
    double since_s; /* when the count began, on the loop's clock */
    size_t count;
    bool blows;
};

/* Notes that `count` TLS connections, or none, have come for `workers` workers
 * together. Returns true if a storm has begun or ended. */
bool handshake_storm_note(struct handshake_storm *storm, double now_s,
                          size_t count, size_t workers);

#endif
