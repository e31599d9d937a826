/*
 * tls_tickets - the keys of session tickets, by which clients come back without
 * a whole handshake. All workers share the keys.
 *
 * The first key makes tickets, and the keys behind it still open the tickets
 * that they made. A new key comes every TLS_TICKETS_ROTATE_S. So a ticket can
 * be opened for at least that long, and for less than three times as long. Keys
 * that were read from a file are changed by the operator only, since several
 * machines share them.
 *
 * Thread: any. A lock is held while a key is copied, once in a handshake.
 * Owns:   the keys, which are wiped.
 */
#ifndef IO_TLS_TLS_TICKETS_H
#define IO_TLS_TLS_TICKETS_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    TLS_TICKETS_ROTATE_S = 12 * 3600,
    TLS_TICKETS_KEPT = 3,     /* most keys, if the server makes them */
    TLS_TICKETS_MAX = 8,      /* most keys, if they come from a file */
    TLS_TICKET_KEY_BYTES = 80 /* name 16, HMAC-SHA-256 32, AES-256-CBC 32 */
};

struct tls_tickets; /* opaque; counted */

/* Makes a set of keys. The first key is random, and is made when it is needed.
 * Returns NULL when memory is short. */
MUST_USE struct tls_tickets *tls_tickets_create(uint64_t now_s);
struct tls_tickets *tls_tickets_acquire(struct tls_tickets *tickets);
void tls_tickets_release(struct tls_tickets **tickets_ref);

/* Makes a new key when it is time. Returns the seconds until the next one. */
uint64_t tls_tickets_tick(struct tls_tickets *tickets, uint64_t now_s);

/* Takes keys from a text with one key of 80 bytes in base64 on each line; the
 * first makes tickets. These keys never rotate by themselves. Returns NULL when
 * the keys were taken. Otherwise returns what is wrong with the text, and the
 * old keys stay. */
MUST_USE const char *tls_tickets_read(struct tls_tickets *tickets,
                                      struct bytes text);

/* Writes a state that another process can take over. Returns its length, or 0
 * when there is no randomness. */
enum { TLS_TICKETS_STATE_MAX = 16 + TLS_TICKETS_KEPT * TLS_TICKET_KEY_BYTES };
size_t tls_tickets_save(struct tls_tickets *tickets,
                        char state[TLS_TICKETS_STATE_MAX]);

/* Restores the keys from a state. Returns false, and changes nothing, when
 * `state` is malformed. */
MUST_USE bool tls_tickets_restore(struct tls_tickets *tickets,
                                  struct bytes state);

#endif
