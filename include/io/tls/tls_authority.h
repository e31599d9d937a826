/*
 * tls_authority - a small authority of the user's own, and the certificates
 * that it signs.
 *
 * Whoever trusts an authority trusts all certificates that it signs, and it can
 * sign for any name. So its key is worth as much as all those names, and nobody
 * shall be made to trust it unasked. The authority signs certificates of
 * servers, and none of further authorities (pathlen 0).
 *
 *   authority    P-256, ten years, keyCertSign
 *   leaf         P-256, 90 days, serverAuth, names and addresses
 *
 * Thread: any, one at a time.
 * Owns:   the key, which is wiped with the authority; texts are wiped, too.
 */
#ifndef IO_TLS_TLS_AUTHORITY_H
#define IO_TLS_TLS_AUTHORITY_H

#include <stdint.h>

#include "io/tls/tls_names.h"

enum {
    TLS_AUTHORITY_DAYS = 3650,
    TLS_LEAF_DAYS = 90,
    TLS_LEAF_RENEW_DAYS = 30,    /* a leaf that ends sooner is renewed */
    TLS_AUTHORITY_NAME_MAX = 64, /* ub-common-name of RFC 5280 */
    TLS_AUTHORITY_FINGERPRINT_MAX = 96
};

struct tls_authority; /* opaque */

/* PEM: a certificate, mostly with its key. */
struct tls_pem {
    char *text;
    size_t len;
};

/* Wipes the text and frees it. A zeroed `pem` is accepted, too. */
void tls_pem_fini(struct tls_pem *pem);

/* What an authority's certificate says, for people. */
struct tls_authority_facts {
    char name[TLS_AUTHORITY_NAME_MAX * 4];
    char sha256[TLS_AUTHORITY_FINGERPRINT_MAX]; /* digest, as "AB:CD:..." */
    int64_t from_s, until_s;                    /* seconds of the epoch */
};

/* Makes a new authority. People see `name` among the authorities that they
 * trust. Returns NULL when there is no memory, or no randomness. */
MUST_USE struct tls_authority *tls_authority_create(const char *name,
                                                    int64_t now_s);

/* Makes an authority from the text that tls_authority_save() gave. If that
 * fails, returns NULL, and *why_out says what is wrong with the text. */
MUST_USE struct tls_authority *tls_authority_load(struct bytes pem,
                                                  const char **why_out);
void tls_authority_destroy(struct tls_authority *authority);

/* Writes certificate and key to pem_out. Returns 0 or -ENOMEM. */
MUST_USE int tls_authority_save(const struct tls_authority *authority,
                                struct tls_pem *pem_out);

/* Reads the first certificate in a text, which may have a key, too. facts_out
 * gets what the certificate says, and certificate_out the certificate alone;
 * either may be NULL. Returns 0, -EINVAL or -ENOMEM. -EINVAL: the certificate
 * is not an authority of ours, and *why_out says why. */
MUST_USE int tls_authority_read(struct bytes pem,
                                struct tls_authority_facts *facts_out,
                                struct tls_pem *certificate_out,
                                const char **why_out);

/* Signs a new leaf, with a new key, for all of `names`; there is at least one.
 * The leaf does not outlast the authority. Returns 0 or -ENOMEM. */
MUST_USE int tls_authority_sign(const struct tls_authority *authority,
                                const struct tls_names *names, int64_t now_s,
                                struct tls_pem *leaf_out);

/* Whether a server may show `leaf`, a certificate with its key, to clients:
 * this authority has signed the leaf, the leaf is for all of `names`, and it
 * need not be renewed yet. */
bool tls_authority_approves(const struct tls_authority *authority,
                            struct bytes leaf, const struct tls_names *names,
                            int64_t now_s);

/* Whether the authority is in force now. If not, *why_out says why. */
bool tls_authority_is_valid(const struct tls_authority *authority,
                            int64_t now_s, const char **why_out);

#endif
