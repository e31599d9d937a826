/*
 * tls_secrets_priv - what a handshake of OpenSSL's tells of keys, so that
 * another can go on with the connection.
 *
 * Thread: the worker of its connection.
 * Owns:   secrets, which are wiped out at their end.
 */
#ifndef IO_TLS_TLS_SECRETS_PRIV_H
#define IO_TLS_TLS_SECRETS_PRIV_H

#include "io/tls/tls_record.h"

struct ssl_st;

struct tls_secret {
    unsigned char bytes[TLS_SECRET_MAX];
    size_t len; /* 0: not known yet */
};

struct tls_secrets {
    struct tls_secret client;
    struct tls_secret server;
    uint64_t records; /* that were sent with the server's */
};

/* Has one handshake tell its own: they are there when it is done. NULL: no
 * memory. */
MUST_USE struct tls_secrets *tls_secrets_create(struct ssl_st *ssl);

/* Clears the pointer. */
void tls_secrets_destroy(struct tls_secrets **secrets_ref, struct ssl_st *ssl);

#endif
