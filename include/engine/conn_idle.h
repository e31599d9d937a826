/*
 * conn_idle - which connections of a worker have waited longest for a request,
 * so that they can make room for others.
 *
 * Keeping connections in order would cost every request something. Instead,
 * when room is needed, all are looked at once and those that have waited
 * longest are noted. A connection that waits and was not noted has waited for
 * less, also later on: so the notes are right until they are used up.
 * Connections that a request has come from meanwhile are passed over.
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
    uint64_t number; /* tells whether conn is still the same one */
    uint64_t since_ms;
};

/* Begins as all zero. */
struct conn_idle {
    struct conn_idle_note notes[CONN_IDLE_NOTED_MAX]; /* longest first */
    size_t count;
    size_t next;
    uint64_t in_vain_ms; /* when a search last found none; 0: never */
};

/* Takes the connection of open (by its link) that has waited longest, whether
 * it has had requests before or not. NULL: none waits. */
MUST_USE struct conn *conn_idle_take(struct conn_idle *idle,
                                     const struct list *open, uint64_t now_ms);

#endif
