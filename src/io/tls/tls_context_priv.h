/*
 * tls_context_priv - a context and a connection as OpenSSL knows them, for the
 * files of io that speak to it.
 */
#ifndef IO_TLS_TLS_CONTEXT_PRIV_H
#define IO_TLS_TLS_CONTEXT_PRIV_H

#include "io/tls/tls_context.h"

struct ssl_ctx_st;
struct ssl_st;

/* What SSL_new() makes connections of; borrowed. It is for clients that name
 * nobody; when a ClientHello has a name, the connection changes to that name's
 * set by itself. */
struct ssl_ctx_st *tls_context_ssl(struct tls_context *context);

/* The set that a connection has got; the first one before its ClientHello. */
const struct tls_set *tls_context_chosen(const struct ssl_st *ssl);

/* Holds what a connection was made of, as the connection does: sets, and names
 * of groups, are there until SSL_CTX_free(). */
struct ssl_ctx_st *tls_context_hold(const struct ssl_st *ssl);

#endif
