/*
 * tls_context - what a worker shows to clients that speak TLS: which
 * certificates for which name, and by which rules.
 *
 *   tls_table      the names, certificates and authorities of a configuration
 *                  (declared here, defined in src/io/tls/tls_table.c): made
 *                  once, constant, shared by all workers
 *   tls_context    a table in OpenSSL's form, one per worker, because workers
 *                  that share an SSL_CTX wait for each other's counters
 *   tls_set        the certificates for the same names, of which a connection
 *                  shows one that its client can check
 *
 *        ClientHello --> its name --> tls_table --> tls_set --> SSL_CTX
 *
 * A connection gets its set before a session is resumed, and a session can be
 * resumed only with the set that it was begun with. So a session that was begun
 * without a client's certificate cannot go on where a certificate is asked for.
 *
 * A connection keeps what it needs of its context. The context may be destroyed
 * before the connection, but the table may not (tls_table_acquire).
 *
 * Thread: a table is made by the main thread, and counted by any; a context is
 *         made by any thread, and then used by its worker.
 * Owns:   a table owns its certificates and texts; a context holds its table.
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

/* Whether clients are asked for a certificate, and whether they must show
 * one. */
enum tls_client { TLS_CLIENT_NONE, TLS_CLIENT_REQUEST, TLS_CLIENT_REQUIRE };

/* --- The table ------------------------------------------------------------ */

struct tls_table; /* opaque; counted */
struct tls_set;   /* opaque; lives as long as its table */

/* Makes a table, which holds `tickets`. Returns NULL when memory is short. */
MUST_USE struct tls_table *tls_table_create(enum tls_profile profile,
                                            struct tls_tickets *tickets);

/* Makes the table offer HTTP/2 to clients, too (ALPN). */
void tls_table_offer_http2(struct tls_table *table);

/* Lets the kernel make the TLS records of large files, if it can
 * (tls_kernel.h). */
void tls_table_use_kernel(struct tls_table *table);
struct tls_table *tls_table_acquire(struct tls_table *table);
void tls_table_release(struct tls_table **table_ref);

/* Sets the folder of the certificates that answer challenges (tls_challenge.h).
 * Returns false when memory is short. */
MUST_USE bool tls_table_set_challenges(struct tls_table *table,
                                       const char *folder);

/* What a set is made of. The first set of a table is for clients that name no
 * host, and for every name that no other set has. */
struct tls_set_options {
    const char *name; /* the site's, for messages; copied */
    struct tls_certificate *const *certificates; /* held */
    size_t certificate_count;
    enum tls_client client;
    struct bytes client_ca; /* PEM of authorities, copied; empty: none */
};

/* Adds a set. *number_out gets the set's number, which counts from 0. Returns
 * 0, -EINVAL or -ENOMEM. With -EINVAL `fault` says what is wrong. */
MUST_USE int tls_table_add(struct tls_table *table,
                           const struct tls_set_options *options,
                           size_t *number_out, char fault[TLS_FAULT_MAX]);

/* Gives the set with the number `set` one more name, `host`, which is copied:
 * "example.org", an address, or "*.example.org", where "*" stands for one
 * label. A name that another set has stays with that set. Returns false when
 * memory is short. */
MUST_USE bool tls_table_name(struct tls_table *table, size_t set,
                             struct bytes host);

/* Returns the set of the site to which requests for `host` lead. "*" stands for
 * any number of labels, as it does in hosts of sites. Returns NULL if no set
 * has such a name. */
const struct tls_set *tls_table_find_site(const struct tls_table *table,
                                          struct bytes host);

/* Returns the set for a client that names `host`. A final dot, a port and
 * letter case make no difference. At most two names are searched for. */
const struct tls_set *tls_table_find(const struct tls_table *table,
                                     struct bytes host);

/* --- The set of a connection --------------------------------------------- */

/* Whether a request for `host` may be answered over a connection that got
 * `set`, which may be of this table or of a former one. If false, the answer is
 * 421 (RFC 9110 15.5.20): the host has a set of its own with other
 * certificates, or its clients have to show a certificate. `set` is NULL for a
 * connection in clear text. */
bool tls_table_serves(const struct tls_table *table, const struct tls_set *set,
                      struct bytes host);

/* Whether a client that got the set was asked for a certificate. */
bool tls_set_asks(const struct tls_set *set);

/* Returns the number that tls_table_add() gave. */
size_t tls_set_number(const struct tls_set *set);

/* --- The context ---------------------------------------------------------- */

struct tls_context; /* opaque */

/* Returns NULL when memory is short, or when OpenSSL refuses; `fault` says what
 * is wrong. */
MUST_USE struct tls_context *tls_context_create(struct tls_table *table,
                                                char fault[TLS_FAULT_MAX]);
void tls_context_destroy(struct tls_context *context);

#endif
