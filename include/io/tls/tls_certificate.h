/*
 * tls_certificate - a certificate with its chain and its key, as a server shows
 * it.
 *
 * What is here is read once, by one thread, and is constant afterwards, so that
 * all workers may share it.
 *
 * Thread: created by one; counted, and read by any.
 * Owns:   the certificates and the key; the texts it was read from are the
 *         caller's, and not needed any more.
 */
#ifndef IO_TLS_TLS_CERTIFICATE_H
#define IO_TLS_TLS_CERTIFICATE_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    TLS_FAULT_MAX = 200,
    TLS_FINGERPRINT_MAX = 64, /* SHA-256 in hexadecimal */
    TLS_ISSUER_MAX = 160,
    TLS_CHAIN_MAX = 10 /* certificates in a file */
};

struct tls_certificate; /* opaque; counted */

/* What a chain lacks; it is served even so, as clients may know more. */
enum tls_chain {
    TLS_CHAIN_WHOLE, /* each is signed by the next, up to a root's issuer */
    TLS_CHAIN_ALONE, /* there is only one, signed by itself */
    TLS_CHAIN_DISORDERED, /* the others are there, but out of order */
    TLS_CHAIN_INCOMPLETE  /* it is alone, though another has signed it */
};

/* Reads PEM: the certificate first, then those that lead to a root, and a key
 * that no password protects. 0; -EINVAL, and fault says what is wrong, as words
 * to put behind the file's name; -ENOMEM. */
MUST_USE int tls_certificate_create(struct tls_certificate **certificate_out,
                                    struct bytes chain, struct bytes key,
                                    char fault[TLS_FAULT_MAX]);
struct tls_certificate *tls_certificate_acquire(struct tls_certificate
                                                    *certificate);
void tls_certificate_release(struct tls_certificate **certificate_ref);

/* When the certificate ends, in seconds of the epoch. */
int64_t tls_certificate_ends_at(const struct tls_certificate *certificate);
int64_t tls_certificate_begins_at(const struct tls_certificate *certificate);

enum tls_chain tls_certificate_chain(const struct tls_certificate *certificate);

/* "RSA", "ECDSA", "Ed25519"; a server has one of each kind by each name. */
const char *tls_certificate_kind(const struct tls_certificate *certificate);

/* The certificate's names, in lower case: "example.org", "*.example.org", and
 * addresses as inet_ntop() has them. Ended by NULL. */
const char *const *tls_certificate_names(const struct tls_certificate
                                             *certificate);

/* Whether the certificate is for host: a name, "*.name", or an address, with or
 * without brackets; letter case and a final dot make no difference. "*." stands
 * for one label (RFC 6125 6.4.3). */
bool tls_certificate_covers(const struct tls_certificate *certificate,
                            struct bytes host);

/* The name, for people, of the authority that has signed the certificate:
 * "Let's Encrypt R11"; "": it has no name. */
const char *tls_certificate_issuer(const struct tls_certificate *certificate);

/* The SHA-256 of the certificate in hexadecimal, as a string. */
const char *tls_certificate_fingerprint(const struct tls_certificate
                                            *certificate);

#endif
