/*
 * acme_order - obtains one certificate, from the request to the file (RFC 8555
 * 7.4):
 *
 *   begin:  the earlier order if it is still valid, or a new one
 *           |
 *   for each name:  valid already, or  put a challenge, tell, wait
 *           |
 *   finalize:  the request with our key; wait; fetch the chain
 *           |
 *   check it: our key, all names, in force now; then put it into live/
 *
 * Each step is noted before it is taken, so that a program that is killed and
 * started again goes on with the same order.
 *
 * Thread: its owner's; waits for the network, minutes at most.
 * Owns:   nothing beyond a call.
 */
#ifndef ACME_ACME_ORDER_H
#define ACME_ACME_ORDER_H

#include "acme/acme_job.h"

enum { ACME_AUTHORIZATIONS_MAX = MANAGED_NAMES_MAX };

MUST_USE enum acme_result acme_order_run(struct acme_job *job,
                                         struct acme_problem *problem);

/* Saves the record. Returns 0 or -errno. */
MUST_USE int acme_order_save(const struct acme_state *state, const char *name,
                             const struct acme_record *record);

/* Writes the id by which a record knows this set of names. False: no memory. */
MUST_USE bool acme_order_identify(const struct texts *names,
                                  char id_out[ACME_NAMES_ID_MAX + 1]);

#endif
