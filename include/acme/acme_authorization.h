/*
 * acme_authorization - proves control of one name of an order, unless the
 * authority accepts it already (RFC 8555 7.5).
 *
 * Thread: its owner's; waits, minutes at most.
 */
#ifndef ACME_ACME_AUTHORIZATION_H
#define ACME_ACME_AUTHORIZATION_H

#include "acme/acme_job.h"

/* challenge->url is the authorization's; the rest of it is scratch space. */
MUST_USE enum acme_result acme_authorization_show(
    struct acme_job *job, struct acme_challenge *challenge,
    struct acme_problem *problem);

#endif
