/*
 * tls_certificate - a certificate with its chain and its key, as a server shows
 * it.
 *
 * A certificate is read once, by one thread, and is constant afterwards, so
 * that all workers may share it.
 *
 * Thread: created by one thread; counted and read by any.
 * Owns:   the certificates and the key. The texts they were read from stay the
 *         caller's, and are not needed any more.
 */
#ifndef IO_TLS_TLS_CERTIFICATE_H
#define IO_TLS_TLS_CERTIFICATE_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    TLS_FAULT_MAX = 200,
    TLS_FINGERPRINT_MAX = 64, /* SHA-256 in hexadecimal */
    TLS_ISSUER_MAX = 160,
    TLS_CHAIN_MAX = 10 /* most certificates in a file */
};

struct tls_certificate; /* opaque; counted */

/* What a chain of certificates lacks. A faulty chain is served all the same,
 * since clients may know the missing certificates. */
enum tls_chain {
    TLS_CHAIN_WHOLE,      /* each is signed by the next one or a known root */
    TLS_CHAIN_ALONE,      /* the only certificate is signed by itself */
    TLS_CHAIN_DISORDERED, /* none is missing, but the order is wrong */
    TLS_CHAIN_INCOMPLETE  /* the only certificate is signed by another */
};

/* Reads PEM: `chain` has the certificate first, then those that lead to a root;
 * `key` has a key without a password. Returns 0, -EINVAL or -ENOMEM. With
 * -EINVAL `fault` says what is wrong, in words that follow the file's name. */
MUST_USE int tls_certificate_create(struct tls_certificate **certificate_out,
                                    struct bytes chain, struct bytes key,
                                    char fault[TLS_FAULT_MAX]);
struct tls_certificate *tls_certificate_acquire(struct tls_certificate
                                                    *certificate);
void tls_certificate_release(struct tls_certificate **certificate_ref);

/* Return when the certificate ends and begins, in seconds of the epoch. */
int64_t tls_certificate_ends_at(const struct tls_certificate *certificate);
int64_t tls_certificate_begins_at(const struct tls_certificate *certificate);

enum tls_chain tls_certificate_chain(const struct tls_certificate *certificate);

/* Returns "RSA", "ECDSA" or "Ed25519". For each of its names, a server has at
 * most one certificate of each kind. */
const char *tls_certificate_kind(const struct tls_certificate *certificate);

/* Returns the certificate's names, ended by NULL, in lower case: "example.org",
 * "*.example.org", and addresses as inet_ntop() has them. */
const char *const *tls_certificate_names(const struct tls_certificate
                                             *certificate);

/* Whether the certificate is for `host`, which is a name, "*.name", or an
 * address with or without brackets. Letter case and a final dot make no
 * difference. "*." stands for one label (RFC 6125 6.4.3). */
bool tls_certificate_covers(const struct tls_certificate *certificate,
                            struct bytes host);

/* Returns the name, for people, of the authority that has signed the
 * certificate, such as "Let's Encrypt R11"; "" when the authority has no
 * name. */
const char *tls_certificate_issuer(const struct tls_certificate *certificate);

/* Returns the SHA-256 of the certificate in hexadecimal, as a string. */
const char *tls_certificate_fingerprint(const struct tls_certificate
                                            *certificate);

#endif
