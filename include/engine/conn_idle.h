/*
 * conn_idle - finds the connections of a worker that have waited longest for a
 * request. These make room for new connections.
 *
 * Keeping all connections in order would cost time on every request. Instead,
 * when room is needed, all connections are looked at, and those that have
 * waited longest are noted. A waiting connection that was not noted began to
 * wait later than all noted ones: so the notes stay right until they are used
 * up. A noted connection that has sent a request meanwhile is passed over.
 *
 * Thread: the worker's.
 * Owns:   its notes, never the connections.
 */
#ifndef ENGINE_CONN_IDLE_H
#define ENGINE_CONN_IDLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum { CONN_IDLE_NOTED_MAX = 64 };

struct conn;
struct list;

struct conn_idle_note {
    struct conn *conn;
    /* The connection's number. If `conn` has another number now, the connection
     * of this note has closed. */
    uint64_t number;
    uint64_t since_ms;
};

/* The caller zeroes the struct before the first use. */
struct conn_idle {
    struct conn_idle_note notes[CONN_IDLE_NOTED_MAX]; /* longest wait first */
    size_t count;
    size_t next;
    uint64_t in_vain_ms; /* when a search last found none; 0: never */
};

/* Takes the connection that has waited longest for a request, be it the
 * connection's first request or a later one. `open` links all connections by
 * list_node. Returns NULL when no connection waits. */
MUST_USE struct conn *conn_idle_take(struct conn_idle *idle,
                                     const struct list *open, uint64_t now_ms);

#endif
