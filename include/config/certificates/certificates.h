/*
 * certificates - the certificates of a configuration: read, and arranged by the
 * names of its sites into a table that workers show to clients.
 *
 * Each site has its own, or those of the top. Clients that name none of them
 * get those of the site that answers for unknown hosts, or else those of the
 * first site that has some. Of several in a list, those with the same names and
 * keys of different kinds stand side by side.
 *
 * Thread: the main thread's; the table is any's.
 * Owns:   what was read, and a reference to the table.
 */
#ifndef CONFIG_CERTIFICATES_CERTIFICATES_H
#define CONFIG_CERTIFICATES_CERTIFICATES_H

#include "config/certificates/certificate_files.h"
#include "config/faults.h"
#include "config/options.h"
#include "io/tls/tls_context.h"

enum { CERTIFICATES_WARN_S = 14 * 24 * 3600 }; /* before one ends */

struct certificates; /* opaque */

/* Reads what options name, which outlive it. tickets: for where no file of keys
 * is told. before: what was read last, or NULL. 0, and *certificates_out is
 * NULL if none are told; -EINVAL: faults say why, each with its line; -ENOMEM.
 * warnings: what is no fault, such as files that could not be read again, and
 * stay as they were. */
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

/* A number that is another one when a file has changed, or another can be
 * looked at. */
uint64_t certificates_look(const struct certificates *certificates);
const char *certificates_find_closed(const struct certificates *certificates);

/* --- What to tell -------------------------------------------------------- */

/* What -t looks for: chains, terms, and names of sites that are not covered.
 * now_s: seconds of the epoch. */
void certificates_check(const struct certificates *certificates, int64_t now_s,
                        struct faults *warnings);

/* The certificate of a site that ends first. */
struct certificate_term {
    const char *site; /* its name; "*" where there are no sites */
    const char *path;
    int64_t ends_at;                           /* 0: of a placeholder */
    const struct tls_certificate *certificate; /* NULL: the same */
    bool is_placeholder; /* the site has no certificate yet (managed.h) */
};

/* The term of number, from 0; false: there are no more. */
bool certificates_term(const struct certificates *certificates, size_t number,
                       struct certificate_term *term_out);

#endif
