/*
 * acme_errand - an operator's commands to an authority: revoke a certificate
 * (RFC 8555 7.6), change an account's key (7.3.5), close an account (7.3.6).
 *
 * Thread: the program's only thread; functions wait for the network.
 */
#ifndef ACME_ACME_ERRAND_H
#define ACME_ACME_ERRAND_H

#include "config/options.h"

/* Each function below returns the exit status, after a line on stdout or
 * stderr. */

/* Revokes the certificate for that name, and removes it from live/, so that a
 * new one is obtained. `reason` is a CRLReason (RFC 5280 5.3.1). */
MUST_USE int acme_errand_revoke(const struct options *options, const char *name,
                                unsigned reason);

/* acme_errand_roll() gives the account with each authority a new key.
 * acme_errand_deactivate() closes these accounts. */
MUST_USE int acme_errand_roll(const struct options *options);
MUST_USE int acme_errand_deactivate(const struct options *options);

#endif
