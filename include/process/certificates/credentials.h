/*
 * credentials - what a generation uses for TLS with clients: the sites'
 * certificates, and the keys of session tickets.
 *
 * Certificates are read when the generation is made, and again when their files
 * change; all generations share the keys of tickets.
 *
 * Thread: used by the main thread; any thread may use the table, the keys of
 *         tickets and the stats.
 * Owns:   everything except the options.
 */
#ifndef PROCESS_CERTIFICATES_CREDENTIALS_H
#define PROCESS_CERTIFICATES_CREDENTIALS_H

#include <stdio.h>

#include "config/certificates/certificates.h"
#include "io/tls/tls_tickets.h"
#include "observe/stats_certificates.h"
#include "process/certificates/local_https.h"

/* Environment variable of a successor: the number of a descriptor from which
 * the keys of tickets are read. */
#define CREDENTIALS_TICKETS_VARIABLE "SPRINTD_TICKETS"

struct credentials {
    const struct options *options; /* borrowed */
    struct local_https *https;     /* NULL if --https is not used */
    /* the keys of tickets; NULL if an option names a file of keys */
    struct tls_tickets *tickets;
    struct certificates *certificates; /* NULL without certificates */
    struct stats_certificates stats;   /* facts about certificates in force */
};

/* Reads the files that the options name, and first makes the file of --https if
 * needed. The options must outlive the credentials. `before` is the credentials
 * in force, or NULL at the start. If the process is no longer root, a file that
 * only root may read keeps the content that it has in `before`. Returns EX_OK,
 * or a status of sysexits.h after writing lines to `errors`.
 * credentials_close() is needed in any case. */
MUST_USE int credentials_open(struct credentials *credentials,
                              struct options *options,
                              const struct credentials *before, FILE *errors);
void credentials_close(struct credentials *credentials);

/* Returns a descriptor from which a successor reads the keys of tickets; the
 * caller closes it. Returns -1 if the successor must make keys of its own. */
MUST_USE int credentials_hand_on(const struct credentials *credentials);

/* Reads sprintd-acme's files again (config/certificates/managed_told.h), for
 * the statistics. */
void credentials_note(struct credentials *credentials);

/* Returns the table for workers' contexts, or NULL without certificates. */
struct tls_table *credentials_table(const struct credentials *credentials);

/* credentials_read() reads the files again, and returns like
 * credentials_open(). credentials_replace() puts the new certificates in force,
 * and returns the certificates that were in force before. */
MUST_USE int credentials_read(const struct credentials *credentials,
                              struct certificates **certificates_out,
                              FILE *errors);
MUST_USE struct certificates *credentials_replace(
    struct credentials *credentials, struct certificates *certificates);

#endif
