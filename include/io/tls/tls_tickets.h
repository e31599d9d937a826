/*
 * tls_tickets - the keys of session tickets, with which clients come back
 * without a whole handshake: the same in all workers.
 *
 * The first key makes tickets; those behind it still open them. A new one comes
 * every TLS_TICKETS_ROTATE_S, so a ticket opens for that long at least, and no
 * longer than three times that. Keys read from a file are the operator's to
 * change: several machines share them.
 *
 * Thread: any. There is a lock; it is held while a key is copied, once in a
 *         handshake.
 * Owns:   the keys, which are wiped.
 */
#ifndef IO_TLS_TLS_TICKETS_H
#define IO_TLS_TLS_TICKETS_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    TLS_TICKETS_ROTATE_S = 12 * 3600,
    TLS_TICKETS_KEPT = 3,     /* keys of our own */
    TLS_TICKETS_MAX = 8,      /* keys of a file */
    TLS_TICKET_KEY_BYTES = 80 /* name 16, HMAC-SHA-256 32, AES-256-CBC 32 */
};

struct tls_tickets; /* opaque; counted */

/* The first key is a random one, and made when it is asked for. NULL: no
 * memory. */
MUST_USE struct tls_tickets *tls_tickets_create(uint64_t now_s);
struct tls_tickets *tls_tickets_acquire(struct tls_tickets *tickets);
void tls_tickets_release(struct tls_tickets **tickets_ref);

/* Makes a new key when it is time; returns the seconds until the next one. */
uint64_t tls_tickets_tick(struct tls_tickets *tickets, uint64_t now_s);

/* Takes keys from a text: a line each, of 80 bytes in base64; the first makes
 * tickets. They do not change by themselves any more. NULL, or what is wrong,
 * and all is as it was. */
MUST_USE const char *tls_tickets_read(struct tls_tickets *tickets,
                                      struct bytes text);

/* A state for another process to take over: its room, and what writes it and
 * returns its length; 0: there is no randomness. */
enum { TLS_TICKETS_STATE_MAX = 16 + TLS_TICKETS_KEPT * TLS_TICKET_KEY_BYTES };
size_t tls_tickets_save(struct tls_tickets *tickets,
                        char state[TLS_TICKETS_STATE_MAX]);

/* Restores the keys from a state. False: that is no such state, and all is as
 * it was. */
MUST_USE bool tls_tickets_restore(struct tls_tickets *tickets,
                                  struct bytes state);

#endif
