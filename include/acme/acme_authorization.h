/*
 * acme_authorization - proves to the authority that we control one name of an
 * order (RFC 8555 7.5). Does nothing if the authority has accepted the name
 * already.
 *
 * Thread: the owner's; functions wait for minutes at most.
 */
#ifndef ACME_ACME_AUTHORIZATION_H
#define ACME_ACME_AUTHORIZATION_H

#include "acme/acme_job.h"

/* Proves control of the name in one authorization. The caller sets
 * challenge->url to the authorization's URL; the other fields of `challenge`
 * are scratch space. */
MUST_USE enum acme_result acme_authorization_show(
    struct acme_job *job, struct acme_challenge *challenge,
    struct acme_problem *problem);

#endif
