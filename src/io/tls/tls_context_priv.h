/*
 * tls_context_priv - a context and a connection in OpenSSL's form, for the
 * files of io that call OpenSSL.
 */
#ifndef IO_TLS_TLS_CONTEXT_PRIV_H
#define IO_TLS_TLS_CONTEXT_PRIV_H

#include "io/tls/tls_context.h"

struct ssl_ctx_st;
struct ssl_st;

/* Returns what SSL_new() makes connections of; borrowed. It has the set for
 * clients that name no host. When a ClientHello has a name, the connection
 * changes to that name's set by itself. */
struct ssl_ctx_st *tls_context_ssl(struct tls_context *context);

/* Returns the set of a connection; before the ClientHello, the first set. */
const struct tls_set *tls_context_chosen(const struct ssl_st *ssl);

/* Holds what a connection was made of. Sets, and names of groups, are there
 * until SSL_CTX_free() is called. */
struct ssl_ctx_st *tls_context_hold(const struct ssl_st *ssl);

#endif
