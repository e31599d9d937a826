/*
 * tls_context - what a worker shows to clients that speak TLS: which
 * certificates for which name, and by which rules.
 *
 *   tls_table      the names, certificates and authorities of a configuration
 *                  (declared here, in src/io/tls/tls_table.c): made once,
 *                  constant, shared by all workers
 *   tls_context    the same as OpenSSL has it, one per worker: workers that
 *                  share an SSL_CTX wait for each other's counters
 *   tls_set        the certificates for the same names; of them a connection
 *                  shows one that its client can check
 *
 *        ClientHello --> its name --> tls_table --> tls_set --> SSL_CTX
 *
 * A connection gets its set before a session is resumed, and a session can be
 * resumed only with the set it was begun with. So a session that was begun
 * without a client's certificate cannot go on where a certificate is asked for.
 *
 * A connection keeps what it needs of its context: the context may be destroyed
 * while it lasts, its table may not (tls_table_acquire).
 *
 * Thread: a table is made by the main thread and counted by any; a context is
 *         made by any thread, and then its worker's.
 * Owns:   a table its certificates and texts; a context holds its table.
 */
#ifndef IO_TLS_TLS_CONTEXT_H
#define IO_TLS_TLS_CONTEXT_H

#include <stddef.h>

#include "base/bytes.h"
#include "io/tls/tls_certificate.h"

struct tls_tickets;

enum { TLS_SETS_MAX = 4096, TLS_SET_CERTIFICATES_MAX = 8 };

enum tls_profile {
    TLS_PROFILE_INTERMEDIATE, /* TLS 1.2 and 1.3 */
    TLS_PROFILE_MODERN        /* TLS 1.3 */
};

/* Whether clients must show who they are. */
enum tls_client { TLS_CLIENT_NONE, TLS_CLIENT_REQUEST, TLS_CLIENT_REQUIRE };

/* --- The table ------------------------------------------------------------ */

struct tls_table; /* opaque; counted */
struct tls_set;   /* opaque; lives as long as its table */

/* NULL: no memory. The table holds tickets. */
MUST_USE struct tls_table *tls_table_create(enum tls_profile profile,
                                            struct tls_tickets *tickets);

/* Clients are offered HTTP/2, too (ALPN). */
void tls_table_offer_http2(struct tls_table *table);

/* The kernel makes the records of large files, where it can (tls_kernel.h). */
void tls_table_use_kernel(struct tls_table *table);
struct tls_table *tls_table_acquire(struct tls_table *table);
void tls_table_release(struct tls_table **table_ref);

/* Sets where certificates lie that answer challenges (tls_challenge.h). False:
 * no memory. */
MUST_USE bool tls_table_set_challenges(struct tls_table *table,
                                       const char *folder);

/* What a set is made of. The first set of a table is for every other name, and
 * for clients that name none. */
struct tls_set_options {
    const char *name; /* the site's, for messages; copied */
    struct tls_certificate *const *certificates; /* held */
    size_t certificate_count;
    enum tls_client client;
    struct bytes client_ca; /* PEM of authorities, copied; empty: none */
};

/* 0; -EINVAL, and fault says why; -ENOMEM. Sets are numbered from 0. */
MUST_USE int tls_table_add(struct tls_table *table,
                           const struct tls_set_options *options,
                           size_t *number_out, char fault[TLS_FAULT_MAX]);

/* Names a set: "example.org", an address, as a site's hosts or a certificate
 * have it, or "*.example.org", which is for one label more; host is copied. A
 * name that another set has already stays there. False: no memory. */
MUST_USE bool tls_table_name(struct tls_table *table, size_t set,
                             struct bytes host);

/* The set for a client that names host; a final dot, a port and letter case
 * make no difference. Constant time but for the search. */
const struct tls_set *tls_table_find(const struct tls_table *table,
                                     struct bytes host);

/* --- Of a connection ------------------------------------------------------ */

/* Whether a request for host may be answered over a connection that got this
 * set, of this table or of one that was in force before. False: the answer is
 * 421 (RFC 9110 15.5.20), since the host has a set of its own whose
 * certificates are others, or whose clients have to show a certificate. set
 * NULL: the connection is in clear. */
bool tls_table_serves(const struct tls_table *table, const struct tls_set *set,
                      struct bytes host);

/* Whether a client that got the set was asked for a certificate. */
bool tls_set_asks(const struct tls_set *set);

/* The number that tls_table_add() gave. */
size_t tls_set_number(const struct tls_set *set);

/* --- The context ---------------------------------------------------------- */

struct tls_context; /* opaque */

/* NULL: no memory, or OpenSSL refuses, and fault says what. */
MUST_USE struct tls_context *tls_context_create(struct tls_table *table,
                                                char fault[TLS_FAULT_MAX]);
void tls_context_destroy(struct tls_context *context);

#endif
