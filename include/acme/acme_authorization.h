/*
 * acme_authorization - one name of an order is shown to be ours, unless the
 * authority knows that already (RFC 8555 7.5).
 *
 * Thread: its owner's; waits, minutes at most.
 */
#ifndef ACME_ACME_AUTHORIZATION_H
#define ACME_ACME_AUTHORIZATION_H

#include "acme/acme_job.h"

/* challenge->url is the authorisation's; the rest is room to work in. */
MUST_USE enum acme_result acme_authorization_show(
    struct acme_job *job, struct acme_challenge *challenge,
    struct acme_problem *problem);

#endif
