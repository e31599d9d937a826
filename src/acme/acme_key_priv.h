/*
 * acme_key_priv - gives acme_x509.c the key in OpenSSL's form.
 */
#ifndef ACME_ACME_KEY_PRIV_H
#define ACME_ACME_KEY_PRIV_H

#include "acme/acme_key.h"

struct evp_pkey_st;

/* Returns OpenSSL's key, which is borrowed. */
struct evp_pkey_st *acme_key_evp(const struct acme_key *key);

#endif
