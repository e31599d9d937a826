/*
 * acme_key_priv - a key as OpenSSL has it, for acme_x509.c.
 */
#ifndef ACME_ACME_KEY_PRIV_H
#define ACME_ACME_KEY_PRIV_H

#include "acme/acme_key.h"

struct evp_pkey_st;

/* The library's key, which is borrowed. */
struct evp_pkey_st *acme_key_evp(const struct acme_key *key);

#endif
