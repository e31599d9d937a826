/*
 * tls_connector - connections over TLS that we make: which servers we believe,
 * and the session that is kept for each server's next connection.
 *
 *   tls_trust      authorities that are believed, and the certificate that is
 *                  shown to servers that ask: made once, constant, shared by
 *                  all workers
 *   tls_connector  a trust in OpenSSL's form, one per worker, because workers
 *                  that share an SSL_CTX wait for each other's counters
 *   tls_target     a server as one worker asks it: the name that it must prove,
 *                  and the session that it gave last
 *
 *        trust --> connector --> target --tls_connect()--> struct tls (tls.h)
 *
 * A server is believed when its certificate is for the target's name or
 * address, and leads to an authority of the trust. A session was begun with
 * such a certificate, and can be resumed only by the same connector for the
 * same target. So a resumed session needs no new proof.
 *
 * Thread: a trust is made by the main thread, and counted by any; a connector
 *         and its targets are made by any thread, and then used by one worker.
 * Owns:   a trust owns its certificates; a connector holds its trust; a target
 *         owns its session. A target outlives its connections, and a connector
 *         its targets.
 */
#ifndef IO_TLS_TLS_CONNECTOR_H
#define IO_TLS_TLS_CONNECTOR_H

#include "io/tls/tls.h"

/* --- Trust --------------------------------------------------------------- */

struct tls_trust; /* opaque; counted */

struct tls_trust_options {
    bool verifies; /* false: whoever answers is believed */
    /* PEM of the authorities, copied. If empty, the authorities are the
     * system's, as OpenSSL finds them (SSL_CERT_FILE, SSL_CERT_DIR). All are
     * read at once, since later a sandbox may hide their files. */
    struct bytes authorities;
    /* An earlier trust, or NULL. If it has the system's authorities, they are
     * taken from it, and are not read again. */
    const struct tls_trust *before;
    /* shown to servers that ask; held; NULL: none */
    struct tls_certificate *certificate;
};

/* Makes a trust. Returns 0, -EINVAL, -ENOENT when the system has no
 * authorities, or -ENOMEM. With -EINVAL `fault` says what is wrong, in words
 * that follow the file's name. */
MUST_USE int tls_trust_create(struct tls_trust **trust_out,
                              const struct tls_trust_options *options,
                              char fault[TLS_FAULT_MAX]);
struct tls_trust *tls_trust_acquire(struct tls_trust *trust);
void tls_trust_release(struct tls_trust **trust_ref);

/* --- A connector --------------------------------------------------------- */

struct tls_connector; /* opaque */

/* Returns NULL when memory is short, or when OpenSSL refuses; `fault` says what
 * is wrong. */
MUST_USE struct tls_connector *tls_connector_create(struct tls_trust *trust,
                                                    char fault[TLS_FAULT_MAX]);
/* Makes the connector offer no protocol by ALPN, for servers whose protocol has
 * no name in ALPN. Without this call, HTTP/1.1 is offered. */
void tls_connector_offer_nothing(struct tls_connector *connector);
void tls_connector_destroy(struct tls_connector
                               *connector); /* NULL is accepted */

/* --- Servers ------------------------------------------------------------- */

struct tls_target; /* opaque */

/* Makes a target. `name` is a host's name, or an address without brackets; it
 * is not empty, and is copied. The server's certificate must be for this name.
 * The server is told the name (SNI) unless it is an address. Returns NULL when
 * memory is short. */
MUST_USE struct tls_target *tls_target_create(struct tls_connector *connector,
                                              struct bytes name);
void tls_target_destroy(struct tls_target *target); /* NULL is accepted */

/* Begins a connection on `fd`, which is non-blocking and connected, and stays
 * the caller's; tls_handshake() comes next. Returns NULL when memory is
 * short. */
MUST_USE struct tls *tls_connect(struct tls_buffers *buffers,
                                 struct tls_target *target, int fd);

/* Returns why the handshake has failed, or why the connection has broken or was
 * cut, for people: "certificate has expired". The text is static; NULL when
 * none of these happened. */
const char *tls_why(const struct tls *tls);

#endif
