/*
 * tls_secrets_priv - the keys that a handshake of OpenSSL has made, by which
 * the connection can go on without OpenSSL.
 *
 * Thread: the worker of its connection.
 * Owns:   secrets, which are wiped out at their end.
 */
#ifndef IO_TLS_TLS_SECRETS_PRIV_H
#define IO_TLS_TLS_SECRETS_PRIV_H

#include "io/tls/tls_record.h"

struct ssl_st;

struct tls_secrets {
    struct tls_keys client; /* all zero while they are not known */
    struct tls_keys server;
    uint64_t records; /* records sent with the server's key */
};

/* Creates the secrets of one handshake, and counts its records from now on. At
 * its end the secrets have the keys, if the handshake ran between
 * tls_schedule_enter() and tls_schedule_leave(). Returns NULL when memory is
 * short. */
MUST_USE struct tls_secrets *tls_secrets_create(struct ssl_st *ssl);

/* Destroys the secrets, and clears the pointer. */
void tls_secrets_destroy(struct tls_secrets **secrets_ref, struct ssl_st *ssl);

#endif
