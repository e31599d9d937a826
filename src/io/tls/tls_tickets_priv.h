/*
 * tls_tickets_priv - the keys themselves, for tls_context.c.
 */
#ifndef IO_TLS_TLS_TICKETS_PRIV_H
#define IO_TLS_TLS_TICKETS_PRIV_H

#include "io/tls/tls_tickets.h"

enum {
    TLS_TICKET_NAME_BYTES = 16,
    TLS_TICKET_MAC_BYTES = 32,
    TLS_TICKET_CIPHER_BYTES = 32
};

struct tls_ticket_key {
    unsigned char name[TLS_TICKET_NAME_BYTES];
    unsigned char mac[TLS_TICKET_MAC_BYTES];
    unsigned char cipher[TLS_TICKET_CIPHER_BYTES];
};

/* Copies the key that makes tickets; the caller wipes the copy. Returns false
 * when there is no key, for want of randomness. */
MUST_USE bool tls_tickets_take_newest(struct tls_tickets *tickets,
                                      struct tls_ticket_key *key_out);

enum tls_ticket_age { TLS_TICKET_UNKNOWN, TLS_TICKET_OLD, TLS_TICKET_NEWEST };

/* Copies the key with that name to *key_out. Returns whether it is the newest
 * key or an old one; TLS_TICKET_UNKNOWN when there is no such key. */
enum tls_ticket_age tls_tickets_find(struct tls_tickets *tickets,
                                     const unsigned char *name,
                                     struct tls_ticket_key *key_out);

#endif
