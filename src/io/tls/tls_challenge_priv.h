/*
 * tls_challenge_priv - for tls_context.c and tls.c.
 */
#ifndef IO_TLS_TLS_CHALLENGE_PRIV_H
#define IO_TLS_TLS_CHALLENGE_PRIV_H

#include "io/tls/tls_challenge.h"

struct ssl_st;

/* Whether the hello of a client asks for nothing but that. */
bool tls_challenge_is_asked(struct ssl_st *ssl);

/* Has the certificate shown that lies in folder for name. False: there is
 * none. */
MUST_USE bool tls_challenge_show(struct ssl_st *ssl, const char *folder,
                                 struct bytes name);

/* Whether a list of protocols (RFC 7301 3.1) is that one alone. */
bool tls_challenge_is_listed(struct bytes protocols);

/* Whether a connection has come about for that. */
bool tls_challenge_is_met(const struct ssl_st *ssl);

#endif
