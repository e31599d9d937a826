/*
 * tls_trust_priv - the parts of a trust that tls_connector.c uses.
 */
#ifndef IO_TLS_TLS_TRUST_PRIV_H
#define IO_TLS_TLS_TRUST_PRIV_H

#include "io/tls/tls_connector.h"

struct stack_st_X509;

/* Returns the authorities of a trust; NULL when nobody is verified. */
struct stack_st_X509 *tls_trust_authorities(const struct tls_trust *trust);

/* Whether the configuration named the authorities. Then each of them may end a
 * chain, even one that another authority has signed. */
bool tls_trust_is_named(const struct tls_trust *trust);

/* Returns the certificate that servers get to see; NULL when there is none. */
struct tls_certificate *tls_trust_certificate(const struct tls_trust *trust);

#endif
