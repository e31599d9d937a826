/*
 * handshake_storm - whether so many connections come by TLS that they are
 * better accepted a few at a time.
 *
 * The thread that accepts interrupts a worker for each connection, so that none
 * waits until the worker has had its slice of the CPU. A worker takes a fifth
 * of a millisecond for a handshake, and an interruption a tenth of that. In a
 * storm each connection waits for the handshakes of others anyway, and less
 * when nothing interrupts these.
 *
 * Thread: one, the acceptor's.
 */
#ifndef PROCESS_HANDSHAKE_STORM_H
#define PROCESS_HANDSHAKE_STORM_H

#include <stdbool.h>
#include <stddef.h>

/* Zeros: the weather is fair. */
struct handshake_storm {
    double since_s; /* counted, by the loop's clock */
    size_t count;
    bool blows;
};

/* Counts connections that have come by TLS, perhaps none, to so many workers.
 * True: a storm has begun, or has ended. */
bool handshake_storm_note(struct handshake_storm *storm, double now_s,
                          size_t count, size_t workers);

#endif
