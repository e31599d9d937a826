/*
 * acme_job - a certificate to be obtained, and all that its order needs.
 *
 * Thread: the owner's.
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
    struct acme_client *client; /* its account is open */
    const struct acme_settings *settings;
    const struct acme_hook *hook; /* NULL: no acme-dns-command */
    const struct managed_certificate *certificate;
    struct acme_record *record;
    const char *challenge; /* the type of challenge to try */
    /* The id of the certificate to be replaced (RFC 9773 5), or "". */
    char replaces[ACME_IDENTIFIER_MAX + 1];
    bool is_invalid; /* result: the authority rejected the challenge */
};

/* Returns true if the job's certificate is for `name`, or for "*." followed by
 * `name`. Challenges for other names are never answered, even if the authority
 * asks. */
bool acme_job_is_for(const struct acme_job *job, struct bytes name);

/* Renews the lock, which would expire during a long wait. Returns ACME_DONE, or
 * ACME_FAILED if another machine has taken over. */
MUST_USE enum acme_result acme_job_stay(const struct acme_job *job,
                                        struct acme_problem *problem);

#endif
