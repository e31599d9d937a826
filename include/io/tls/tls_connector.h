/*
 * tls_connector - connections over TLS that we make: whom we believe, and what
 * is kept of each server from one connection to the next.
 *
 *   tls_trust      authorities that are believed, and the certificate that
 *                  servers get to see when they ask: made once, constant,
 *                  shared by all workers
 *   tls_connector  the same as OpenSSL has it, one per worker: workers that
 *                  share an SSL_CTX wait for each other's counters
 *   tls_target     a server as one worker asks it: who it must be, and the
 *                  session that it gave last
 *
 *        trust --> connector --> target --tls_connect()--> struct tls (tls.h)
 *
 * A server is believed when its certificate leads to an authority of the trust
 * and is for the target's name or address. A session that is resumed was begun
 * with such a certificate, by the same connector, and for the same target:
 * trust is never inherited from anywhere else.
 *
 * Thread: a trust is made by the main thread and counted by any; a connector
 *         and its targets are made by any thread, and then one worker's.
 * Owns:   a trust its certificates; a connector holds its trust; a target its
 *         session. A target outlives its connections, a connector its targets.
 */
#ifndef IO_TLS_TLS_CONNECTOR_H
#define IO_TLS_TLS_CONNECTOR_H

#include "io/tls/tls.h"

/* --- Trust --------------------------------------------------------------- */

struct tls_trust; /* opaque; counted */

struct tls_trust_options {
    bool verifies; /* false: whoever answers is believed */
    /* PEM of the authorities, copied; empty: those of the system, as OpenSSL
     * finds them (SSL_CERT_FILE, SSL_CERT_DIR). All of them are read now: later
     * there may be no file system to read them from. */
    struct bytes authorities;
    /* The trust from which the system's authorities are taken over, if it has
     * any, instead of being read again; NULL: none. */
    const struct tls_trust *before;
    struct tls_certificate *certificate; /* to be shown; held; NULL: none */
};

/* 0; -EINVAL, and fault says why, as words to put behind the file's name;
 * -ENOENT: the system has no authorities; -ENOMEM. */
MUST_USE int tls_trust_create(struct tls_trust **trust_out,
                              const struct tls_trust_options *options,
                              char fault[TLS_FAULT_MAX]);
struct tls_trust *tls_trust_acquire(struct tls_trust *trust);
void tls_trust_release(struct tls_trust **trust_ref);

/* --- A worker's ----------------------------------------------------- */

struct tls_connector; /* opaque */

/* NULL: no memory, or OpenSSL refuses, and fault says what. */
MUST_USE struct tls_connector *tls_connector_create(struct tls_trust *trust,
                                                    char fault[TLS_FAULT_MAX]);
/* Offers nothing by ALPN, which has no name for what is spoken behind TLS;
 * without this call HTTP/1.1 is offered. */
void tls_connector_offer_nothing(struct tls_connector *connector);
void tls_connector_destroy(struct tls_connector
                               *connector); /* NULL is accepted */

/* --- Servers ------------------------------------------------------------- */

struct tls_target; /* opaque */

/* name: a host's name, or an address without brackets; copied. It is what the
 * certificate must be for; servers are told it (SNI) unless it is an address.
 * Not empty. NULL: no memory. */
MUST_USE struct tls_target *tls_target_create(struct tls_connector *connector,
                                              struct bytes name);
void tls_target_destroy(struct tls_target *target); /* NULL is accepted */

/* Begins a connection on fd, which is non-blocking, connected, and stays the
 * caller's: tls_handshake() comes next. NULL: no memory. */
MUST_USE struct tls *tls_connect(struct tls_buffers *buffers,
                                 struct tls_target *target, int fd);

/* Why the handshake has failed, or the connection has broken or was cut, for
 * people: "certificate has expired". Static; NULL: none of these. */
const char *tls_why(const struct tls *tls);

#endif
