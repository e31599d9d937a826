/*
 * certificates - reads the certificates of a configuration, and arranges them
 * by the names of its sites in a table from which workers show them to clients.
 *
 * A site has certificates of its own, or those of the top. Clients that name no
 * site get those of the site for unknown hosts, or else those of the first site
 * that has any. Certificates in a list that have the same names and keys of
 * different kinds are alternatives.
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

enum { CERTIFICATES_WARN_S = 14 * 24 * 3600 }; /* before an expiry */

struct certificates; /* opaque */

/* Reads what options name; options must outlive it. tickets: used if no file of
 * keys is named. before: the last reading, or NULL. Returns 0, with
 * *certificates_out NULL if no certificate is named; -EINVAL, with the lines at
 * fault in faults; or -ENOMEM. warnings: what is no fault, such as a file that
 * cannot be read again and stays as it was. */
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
 * becomes accessible. */
uint64_t certificates_look(const struct certificates *certificates);
const char *certificates_find_closed(const struct certificates *certificates);

/* --- What to tell -------------------------------------------------------- */

/* Warns of what --test looks for: bad chains, certificates that end soon, names
 * of sites that no certificate covers. now_s: seconds since the epoch. */
void certificates_check(const struct certificates *certificates, int64_t now_s,
                        struct faults *warnings);

/* The certificate of a site that expires first. */
struct certificate_term {
    const char *site; /* its name; "*" where there are no sites */
    const char *path;
    int64_t ends_at;                           /* 0 for a placeholder */
    const struct tls_certificate *certificate; /* NULL for a placeholder */
    bool is_placeholder; /* the site has no certificate yet (managed.h) */
};

/* Returns the term with that number, from 0. False: there are no more. */
bool certificates_term(const struct certificates *certificates, size_t number,
                       struct certificate_term *term_out);

#endif
