/*
 * tls_challenge_priv - challenges in OpenSSL's terms, for tls_context.c and
 * tls.c.
 */
#ifndef IO_TLS_TLS_CHALLENGE_PRIV_H
#define IO_TLS_TLS_CHALLENGE_PRIV_H

#include "io/tls/tls_challenge.h"

struct ssl_st;

/* Whether a ClientHello asks for a challenge and nothing else. */
bool tls_challenge_is_asked(struct ssl_st *ssl);

/* Shows the certificate for `name` that lies in `folder`. Returns false when
 * there is none. */
MUST_USE bool tls_challenge_show(struct ssl_st *ssl, const char *folder,
                                 struct bytes name);

/* Whether a list of protocols (RFC 7301 3.1) has acme-tls/1 and nothing
 * else. */
bool tls_challenge_is_listed(struct bytes protocols);

/* Whether a connection was made for a challenge, or has been shown one. Such a
 * connection is for nothing else. */
bool tls_challenge_is_met(const struct ssl_st *ssl);

#endif
