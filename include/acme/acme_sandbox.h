/*
 * acme_sandbox - shuts the program up in its folder: files by Landlock
 * (confine/landlock_domain.h), calls by seccomp (confine/outgoing_filter.h).
 *
 * Thread: the main thread's; entered before there is a second one.
 */
#ifndef ACME_ACME_SANDBOX_H
#define ACME_ACME_SANDBOX_H

#include "config/options.h"

/* Enters the sandbox that --sandbox asks for. EX_OK, or a status after a line
 * in the log: under strict nothing may be missing. */
MUST_USE int acme_sandbox_enter(const struct options *options);

#endif
