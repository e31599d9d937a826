/*
 * acme_issue - the last steps of an order: makes the key, requests the
 * certificate, and checks it before it is used.
 *
 * Thread: the owner's; functions wait for the network.
 */
#ifndef ACME_ACME_ISSUE_H
#define ACME_ACME_ISSUE_H

#include "acme/acme_job.h"

/* Makes and saves the key of the job's certificate. */
MUST_USE enum acme_result acme_issue_make_key(const struct acme_job *job,
                                              struct acme_problem *problem);

/* Whether the job's key has been saved, and can be read. */
bool acme_issue_has_key(const struct acme_job *job);

/* Removes the job's key, which the certificate's file now contains. */
void acme_issue_forget_key(const struct acme_job *job);

/* Sends the certificate request to `url`, the order's "finalize" URL. */
MUST_USE enum acme_result acme_issue_finalize(const struct acme_job *job,
                                              const char *url,
                                              struct acme_problem *problem);

/* Fetches the certificate from `url`, checks it, and saves it in live/ if it is
 * valid. */
MUST_USE enum acme_result acme_issue_take(const struct acme_job *job,
                                          const char *url,
                                          struct acme_problem *problem);

/* Checks whether a chain fits `key` and `names`, and is in force at now_s. If
 * not, `fault` gets the reason; otherwise "". */
void acme_issue_judge(struct bytes chain, struct bytes key,
                      const struct texts *names, int64_t now_s,
                      char fault[ACME_FAULT_MAX]);

#endif
