/*
 * conn_costly - connections whose input costs more than it brings, and which
 * are therefore read one at a time.
 *
 * A turn reads from every connection that has sent something. Where each of
 * them asks for much by few bytes, a thousand of them would make one turn take
 * seconds, and all others wait for its end. So connections that were found to
 * be costly wait here, and a turn reads from one of them only. There is room
 * for a few hundred; another one is closed.
 *
 * A second such ring holds connections that were read from enough for one turn,
 * though more has come. All of them go on in the next turn; one that finds no
 * room goes on at once.
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
    uint64_t number; /* tells whether conn is still the same one */
};

/* A ring of notes. It begins as all zero. */
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
