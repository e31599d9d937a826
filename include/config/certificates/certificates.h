/*
 * certificates - reads the certificates of a configuration, and arranges them
 * by the names of its sites in a table, from which workers show them to
 * clients.
 *
 * A site has certificates of its own, or uses those of the top level. A client
 * that names no site gets the certificate of the site for unknown hosts, or
 * else that of the first site with a certificate. If several certificates in a
 * list have the same names, but keys of different kinds, the client's abilities
 * decide between them.
 *
 * Thread: the main thread's; any thread may use the table.
 * Owns:   what was read, and a reference to the table.
 */
#ifndef CONFIG_CERTIFICATES_CERTIFICATES_H
#define CONFIG_CERTIFICATES_CERTIFICATES_H

#include "config/certificates/certificate_files.h"
#include "config/faults.h"
#include "config/options.h"
#include "io/tls/tls_context.h"

/* --test warns of a certificate that ends within this time. */
enum { CERTIFICATES_WARN_S = 14 * 24 * 3600 };

struct certificates; /* opaque */

/* Reads all certificates that `options` names; `options` must outlive the
 * result. `tickets` is used if no file of ticket keys is named. `before` is the
 * last reading, or NULL. Returns 0, -EINVAL with the bad lines in `faults`, or
 * -ENOMEM. If no certificate is named, sets *certificates_out to NULL.
 * `warnings` gets problems that are no faults: for example, a file cannot be
 * read again and keeps its earlier content. */
MUST_USE int certificates_create(struct certificates **certificates_out,
                                 const struct options *options,
                                 struct tls_tickets *tickets,
                                 const struct certificates *before,
                                 struct faults *faults,
                                 struct faults *warnings);
void certificates_destroy(struct certificates *certificates);

struct tls_table *certificates_table(const struct certificates *certificates);

/* Whether a file has changed since it was read. */
bool certificates_are_old(const struct certificates *certificates);

/* certificates_look() returns a number that changes when any file changes, or
 * becomes accessible. certificates_find_closed() returns the path of a file
 * that this process may not read, or NULL. */
uint64_t certificates_look(const struct certificates *certificates);
const char *certificates_find_closed(const struct certificates *certificates);

/* --- Reports ------------------------------------------------------------- */

/* Makes the warnings of --test: bad chains, certificates that expire soon,
 * hosts of sites that no certificate covers. now_s is in seconds since the
 * epoch. */
void certificates_check(const struct certificates *certificates, int64_t now_s,
                        struct faults *warnings);

/* Facts about the certificate of a site. If the site has several certificates,
 * the facts are of the one that expires first. */
struct certificate_term {
    const char *site; /* the site's name; "*" if there are no sites */
    const char *path;
    int64_t ends_at;                           /* 0 for a placeholder */
    const struct tls_certificate *certificate; /* NULL for a placeholder */
    bool is_placeholder; /* the site has no certificate yet (managed.h) */
};

/* Fills in *term_out for the site with that number, counted from 0. Returns
 * false if there are no more sites. */
bool certificates_term(const struct certificates *certificates, size_t number,
                       struct certificate_term *term_out);

#endif
