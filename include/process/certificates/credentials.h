/*
 * credentials - what a generation uses for TLS with clients: its sites'
 * certificates, and the keys of session tickets.
 *
 * Certificates are read when the generation is made, and again when their files
 * change; all generations share the keys of tickets.
 *
 * Thread: the main thread's; any may use the table, the keys of tickets and the
 *         stats.
 * Owns:   all but the options.
 */
#ifndef PROCESS_CERTIFICATES_CREDENTIALS_H
#define PROCESS_CERTIFICATES_CREDENTIALS_H

#include <stdio.h>

#include "config/certificates/certificates.h"
#include "io/tls/tls_tickets.h"
#include "observe/stats_certificates.h"
#include "process/certificates/local_https.h"

/* Environment variable of a successor: a descriptor with keys of tickets. */
#define CREDENTIALS_TICKETS_VARIABLE "SPRINTD_TICKETS"

struct credentials {
    const struct options *options;     /* borrowed */
    struct local_https *https;         /* NULL: not used */
    struct tls_tickets *tickets;       /* NULL: a file of keys is named */
    struct certificates *certificates; /* NULL: none are named */
    struct stats_certificates stats;   /* facts about certificates in force */
};

/* Reads what options name, which must outlive it; makes the file of --https
 * first, if needed. Files that only root may read stay as in before (NULL:
 * none) if the process is no longer root. Returns EX_OK, or a status after
 * lines on errors; credentials_close() is needed in any case. */
MUST_USE int credentials_open(struct credentials *credentials,
                              struct options *options,
                              const struct credentials *before, FILE *errors);
void credentials_close(struct credentials *credentials);

/* Returns a descriptor from which a successor reads the keys of tickets, to be
 * closed by the caller; -1: the successor makes keys of its own. */
MUST_USE int credentials_hand_on(const struct credentials *credentials);

/* Reads sprintd-acme's files again (config/certificates/managed_told.h), for
 * the statistics. */
void credentials_note(struct credentials *credentials);

/* Returns the table for workers' contexts; NULL: no certificates. */
struct tls_table *credentials_table(const struct credentials *credentials);

/* Reads the files again, for credentials_replace(), which puts certificates in
 * force and returns those replaced. Returns as credentials_open() does. */
MUST_USE int credentials_read(const struct credentials *credentials,
                              struct certificates **certificates_out,
                              FILE *errors);
MUST_USE struct certificates *credentials_replace(
    struct credentials *credentials, struct certificates *certificates);

#endif
