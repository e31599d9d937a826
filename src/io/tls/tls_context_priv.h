/*
 * tls_context_priv - a context and a connection in OpenSSL's form, for the
 * files of io that call OpenSSL.
 */
#ifndef IO_TLS_TLS_CONTEXT_PRIV_H
#define IO_TLS_TLS_CONTEXT_PRIV_H

#include "io/tls/tls_context.h"

struct ssl_ctx_st;
struct ssl_st;

/* Returns the SSL_CTX that SSL_new() makes connections of; borrowed. It has the
 * set for clients that name no host. When a ClientHello has a name, the
 * connection changes to that name's set by itself. */
struct ssl_ctx_st *tls_context_ssl(struct tls_context *context);

/* Returns the set of a connection; before the ClientHello, the first set. */
const struct tls_set *tls_context_chosen(const struct ssl_st *ssl);

/* Returns the SSL_CTX that a connection was made of, counted: its sets, and the
 * names of groups, stay until the caller calls SSL_CTX_free(). */
struct ssl_ctx_st *tls_context_hold(const struct ssl_st *ssl);

#endif
