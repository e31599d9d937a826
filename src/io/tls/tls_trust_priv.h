/*
 * tls_trust_priv - what a trust has for tls_connector.c.
 */
#ifndef IO_TLS_TLS_TRUST_PRIV_H
#define IO_TLS_TLS_TRUST_PRIV_H

#include "io/tls/tls_connector.h"

struct stack_st_X509;

/* The authorities of a trust. NULL: nobody is verified. */
struct stack_st_X509 *tls_trust_authorities(const struct tls_trust *trust);

/* Whether the configuration named the authorities. Then each of them may end a
 * chain, though another authority has signed it. */
bool tls_trust_is_named(const struct tls_trust *trust);

/* The certificate that servers get to see; NULL: none. */
struct tls_certificate *tls_trust_certificate(const struct tls_trust *trust);

#endif
