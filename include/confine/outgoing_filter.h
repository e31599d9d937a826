/*
 * outgoing_filter - refuses system calls, by seccomp, that a process which only
 * connects to others does not need.
 *
 * The process cannot listen, accept, start a program, inspect other processes,
 * change its user, or mount. Which calls libraries need to connect and to look
 * up names is unknown; so this filter lists what is refused, not, as the
 * server's (seccomp_filter.h), what is allowed.
 *
 * Thread: the main thread's; enter before there is a second one.
 */
#ifndef CONFINE_OUTGOING_FILTER_H
#define CONFINE_OUTGOING_FILTER_H

#include "base/bytes.h"

/* Enters the filter for good, and sets no_new_privs. Returns 0 or -errno. */
MUST_USE int outgoing_filter_enter(void);

#endif
