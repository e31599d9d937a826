/*
 * handshake_storm - notices when so many TLS connections come that it is better
 * to accept several at a time.
 *
 * The accepting thread interrupts a worker for each connection, so that none
 * waits for the end of the worker's slice of the CPU. A handshake takes a
 * worker 0.2 ms, and an interruption a tenth of that. In a storm each
 * connection waits for others' handshakes anyway, and waits less if these are
 * not interrupted.
 *
 * Thread: one, the acceptor's.
 */
#ifndef PROCESS_HANDSHAKE_STORM_H
#define PROCESS_HANDSHAKE_STORM_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed: no storm. */
struct handshake_storm {
    double since_s; /* start of the count, on the loop's clock */
    size_t count;
    bool blows;
};

/* Counts connections that have come by TLS, perhaps none, to that many workers.
 * True: a storm has begun or ended. */
bool handshake_storm_note(struct handshake_storm *storm, double now_s,
                          size_t count, size_t workers);

#endif
