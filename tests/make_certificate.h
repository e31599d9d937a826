/*
 * make_certificate - certificates for tests: keys are made while a test runs,
 * and none is kept.
 */
#ifndef TESTS_MAKE_CERTIFICATE_H
#define TESTS_MAKE_CERTIFICATE_H

#include <assert.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct made {
    X509 *x509;
    EVP_PKEY *key;
};

struct making {
    const char *subject;       /* its common name */
    const char *names;         /* "DNS:a.example,IP:127.0.0.1"; NULL: none */
    const struct made *issuer; /* NULL: itself */
    bool is_authority;
    bool is_rsa;
    long begins_s; /* from now on; both 0: from yesterday to in 90 days */
    long ends_s;
};

struct made make_certificate(const struct making *making);
void made_free(struct made *made);

/* Certificates one behind the other, up to NULL. */
char *made_chain(const struct made *const *chain);

char *made_text(const struct made *made);
/* The certificate, and behind it that key in clear. */
char *made_text_and_key(const struct made *made, const struct made *key);
char *made_key(const struct made *made, const char *password);

#endif
