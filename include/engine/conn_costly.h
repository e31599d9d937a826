/*
 * conn_costly - connections whose input costs more than it brings, and which
 * are therefore read one at a time.
 *
 * A turn reads from every connection that something has come of. Where each of
 * them asks for much by few bytes, a thousand such connections would make one
 * turn take seconds, and everybody else wait for its end. So those that were
 * found out wait here, and a turn reads from one of them only. There is no room
 * for more than a few hundred: one that is found out then is closed.
 *
 * In another such ring are those of which a part of what has come was read, and
 * was enough for one turn. They go on in the next, all of them, or at once
 * where there is no room.
 *
 * Thread: the worker's.
 * Owns:   its notes, never the connections. One that has closed meanwhile is
 *         passed over.
 */
#ifndef ENGINE_CONN_COSTLY_H
#define ENGINE_CONN_COSTLY_H

#include <stdint.h>

#include "base/bytes.h"

enum { CONN_COSTLY_MAX = 256 };

struct conn;

struct conn_costly_note {
    struct conn *conn;
    uint64_t number; /* of conn, which may be another by now */
};

/* A ring of notes, which is all zero to begin with. */
struct conn_costly {
    struct conn_costly_note notes[CONN_COSTLY_MAX];
    unsigned first;
    unsigned count;
};

/* Puts conn behind all others, unless it waits already. False: there is no
 * room. */
MUST_USE bool conn_costly_put(struct conn_costly *costly, struct conn *conn);

/* Takes the connection that has waited longest; NULL: none waits. */
MUST_USE struct conn *conn_costly_take(struct conn_costly *costly);

#endif
