/*
 * tls_certificate_priv - a certificate in OpenSSL's form, for tls_context.c.
 */
#ifndef IO_TLS_TLS_CERTIFICATE_PRIV_H
#define IO_TLS_TLS_CERTIFICATE_PRIV_H

#include "io/tls/tls_certificate.h"

struct x509_st;
struct evp_pkey_st;
struct stack_st_X509;

/* Return the parts of a certificate, all borrowed. The chain (_others) does not
 * have the certificate itself. */
struct x509_st *tls_certificate_x509(const struct tls_certificate *certificate);
struct evp_pkey_st *tls_certificate_key(const struct tls_certificate
                                            *certificate);
struct stack_st_X509 *tls_certificate_others(const struct tls_certificate
                                                 *certificate);

#endif
