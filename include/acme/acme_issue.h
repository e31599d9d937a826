/*
 * acme_issue - the end of an order: our key, the request with it, and the
 * certificate, which is judged before it stands for anything.
 *
 * Thread: its owner's; waits.
 */
#ifndef ACME_ACME_ISSUE_H
#define ACME_ACME_ISSUE_H

#include "acme/acme_job.h"

/* Makes a key for the certificate of the job, and keeps it. */
MUST_USE enum acme_result acme_issue_make_key(const struct acme_job *job,
                                              struct acme_problem *problem);

/* Whether the job has a key that is whole. */
bool acme_issue_has_key(const struct acme_job *job);

/* Removes the job's key: the certificate's file has it now. */
void acme_issue_forget_key(const struct acme_job *job);

/* Sends the certificate request to the order's address. */
MUST_USE enum acme_result acme_issue_finalize(const struct acme_job *job,
                                              const char *url,
                                              struct acme_problem *problem);

/* Fetches the certificate, and has it in live/ if there is nothing wrong with
 * it. */
MUST_USE enum acme_result acme_issue_take(const struct acme_job *job,
                                          const char *url,
                                          struct acme_problem *problem);

/* What is wrong with a chain for that key and these names; "": nothing. */
void acme_issue_judge(struct bytes chain, struct bytes key,
                      const struct texts *names, int64_t now_s,
                      char fault[ACME_FAULT_MAX]);

#endif
