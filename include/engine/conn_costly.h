/*
 * conn_costly - connections whose input costs more than it brings, and which
 * are therefore read one at a time.
 *
 * A turn reads from every connection that has sent something. If a thousand
 * connections ask for much work by few bytes, one turn takes seconds, and all
 * other connections wait for the end of the turn. So connections that were
 * found to be costly wait here, and a turn reads from one of them only. There
 * is room for CONN_COSTLY_MAX; a connection that finds no room is closed.
 *
 * A second ring of this kind (`held` of conn_shared) contains connections from
 * which enough was read in this turn, although more has come. All of them read
 * on in the next turn; a connection that finds no room reads on at once.
 *
 * Thread: the worker's.
 * Owns:   its notes, never the connections. A connection that has closed
 *         meanwhile is passed over.
 */
#ifndef ENGINE_CONN_COSTLY_H
#define ENGINE_CONN_COSTLY_H

#include <stdint.h>

#include "base/bytes.h"

enum { CONN_COSTLY_MAX = 256 };

struct conn;

struct conn_costly_note {
    struct conn *conn;
    /* The connection's number. If `conn` has another number now, the connection
     * of this note has closed. */
    uint64_t number;
};

/* A ring of notes. The caller zeroes it before the first use. */
struct conn_costly {
    struct conn_costly_note notes[CONN_COSTLY_MAX];
    unsigned first;
    unsigned count;
};

/* Puts `conn` at the end of the ring, unless `conn` waits there already.
 * Returns false when there is no room. */
MUST_USE bool conn_costly_put(struct conn_costly *costly, struct conn *conn);

/* Takes the connection that has waited longest; NULL when none waits. */
MUST_USE struct conn *conn_costly_take(struct conn_costly *costly);

#endif
