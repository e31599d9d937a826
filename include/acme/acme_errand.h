/*
 * acme_errand - what an operator wants of an authority at once: to revoke a
 * certificate (RFC 8555 7.6), another key for the account (7.3.5), no account
 * any more (7.3.6).
 *
 * Thread: the only one; waits.
 */
#ifndef ACME_ACME_ERRAND_H
#define ACME_ACME_ERRAND_H

#include "config/options.h"

/* Each of these returns the status to exit with, after a line on stdout or
 * stderr. */

/* Revokes the certificate that has that name, and takes it out of live/, so
 * that another is got. reason: RFC 5280 5.3.1. */
MUST_USE int acme_errand_revoke(const struct options *options, const char *name,
                                unsigned reason);

/* Give every account another key, or close it, with each authority. */
MUST_USE int acme_errand_roll(const struct options *options);
MUST_USE int acme_errand_deactivate(const struct options *options);

#endif
