/*
 * credentials - what a generation shows to clients that speak TLS: the
 * certificates of its sites, and tickets by which clients come back.
 *
 * Certificates are read when the generation is made, and again when their files
 * change; the keys of tickets are the same in all generations.
 *
 * Thread: the main thread's; the table, the keys of tickets and the stats are
 *         any's.
 * Owns:   all of it, but the options.
 */
#ifndef PROCESS_CERTIFICATES_CREDENTIALS_H
#define PROCESS_CERTIFICATES_CREDENTIALS_H

#include <stdio.h>

#include "config/certificates/certificates.h"
#include "io/tls/tls_tickets.h"
#include "observe/stats_certificates.h"
#include "process/certificates/local_https.h"

/* The number of a descriptor, of a process that takes over. */
#define CREDENTIALS_TICKETS_VARIABLE "SPRINTD_TICKETS"

struct credentials {
    const struct options *options;     /* borrowed */
    struct local_https *https;         /* NULL: it is not used */
    struct tls_tickets *tickets;       /* unless a file of keys is told */
    struct certificates *certificates; /* NULL: none are told */
    struct stats_certificates stats;   /* of what is in force */
};

/* Reads what options name, which outlive it, after it has put the file of
 * --https there, if that is wanted. What only root may read is read
 * while this process is root; else it stays as it was before (NULL: there was
 * nothing). EX_OK, or a status after lines in errors; credentials_close() all
 * the same. */
MUST_USE int credentials_open(struct credentials *credentials,
                              struct options *options,
                              const struct credentials *before, FILE *errors);
void credentials_close(struct credentials *credentials);

/* A descriptor from which a successor reads the keys of tickets, which is the
 * caller's to close; -1: it will have keys of its own. */
MUST_USE int credentials_hand_on(const struct credentials *credentials);

/* Reads again what sprintd-acme tells (config/certificates/managed_told.h), for
 * the statistics. */
void credentials_note(struct credentials *credentials);

/* What workers make their contexts of; NULL: nothing is shown. */
struct tls_table *credentials_table(const struct credentials *credentials);

/* Reads the files again, for credentials_replace(), which takes certificates
 * over and gives those back that were in force. The same statuses. */
MUST_USE int credentials_read(const struct credentials *credentials,
                              struct certificates **certificates_out,
                              FILE *errors);
MUST_USE struct certificates *credentials_replace(
    struct credentials *credentials, struct certificates *certificates);

#endif
