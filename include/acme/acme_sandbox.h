/*
 * acme_sandbox - confines the program to its folder: files by Landlock
 * (confine/landlock_domain.h), system calls by seccomp
 * (confine/outgoing_filter.h).
 *
 * Thread: the main thread's; entered before there is a second one.
 */
#ifndef ACME_ACME_SANDBOX_H
#define ACME_ACME_SANDBOX_H

#include "config/options.h"

/* Enters the sandbox that --sandbox asks for. Returns EX_OK, or an exit status
 * after a line in the log. With `strict`, it fails if the kernel does not
 * support the whole sandbox. */
MUST_USE int acme_sandbox_enter(const struct options *options);

#endif
