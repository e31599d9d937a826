/*
 * acme_job - a certificate that is to be had, and what it is to be had with.
 *
 * Thread: its owner's.
 * Owns:   nothing; all is borrowed.
 */
#ifndef ACME_ACME_JOB_H
#define ACME_ACME_JOB_H

#include "acme/acme_challenge.h"
#include "acme/acme_record.h"
#include "acme/acme_renewal.h"
#include "config/certificates/managed.h"

struct acme_job {
    struct acme_state *state;
    struct acme_client *client; /* with an account */
    const struct acme_settings *settings;
    const struct acme_hook *hook; /* NULL: there is none */
    const struct managed_certificate *certificate;
    struct acme_record *record;
    const char *challenge;                  /* the type to try */
    char replaces[ACME_IDENTIFIER_MAX + 1]; /* RFC 9773 5; "": nothing */
    bool is_invalid; /* out: the authority found the challenge wrong */
};

/* Whether the job has that name, or all below it: nothing is shown, nor put
 * into DNS, of another that an authority might like. */
bool acme_job_is_for(const struct acme_job *job, struct bytes name);

/* Keeps the lock, which has a time limit, while there is waiting. */
MUST_USE enum acme_result acme_job_stay(const struct acme_job *job,
                                        struct acme_problem *problem);

#endif
