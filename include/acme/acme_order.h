/*
 * acme_order - obtains one certificate, from the order to the file in live/
 * (RFC 8555 7.4):
 *
 *   begin:  continue the earlier order if it is still valid, or make a new one
 *           |
 *   for each name not authorized yet:  put the proof, tell the authority, wait
 *           |
 *   finalize:  send a certificate request with our key; wait; fetch the chain
 *           |
 *   check the chain: our key, all names, in force now; save it in live/
 *
 * The key and the order's URL are saved as soon as there are any. So a program
 * that is killed and started again continues the same order.
 *
 * Thread: the owner's; functions wait for the network, minutes at most.
 * Owns:   nothing beyond a call.
 */
#ifndef ACME_ACME_ORDER_H
#define ACME_ACME_ORDER_H

#include "acme/acme_job.h"

enum { ACME_AUTHORIZATIONS_MAX = MANAGED_NAMES_MAX };

MUST_USE enum acme_result acme_order_run(struct acme_job *job,
                                         struct acme_problem *problem);

/* Saves the certificate's record. Returns 0 or -errno. */
MUST_USE int acme_order_save(const struct acme_state *state, const char *name,
                             const struct acme_record *record);

/* Writes the id by which a record identifies a set of names. Returns false if
 * there is no memory. */
MUST_USE bool acme_order_identify(const struct texts *names,
                                  char id_out[ACME_NAMES_ID_MAX + 1]);

#endif
