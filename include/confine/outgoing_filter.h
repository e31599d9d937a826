/*
 * outgoing_filter - for a process that only connects to others: system calls
 * that it has no use for fail, by seccomp.
 *
 * It cannot listen, accept, start a program, look into other processes, change
 * whom it runs as, or what is mounted. What libraries do to connect and to find
 * names is theirs to know, and stays: that is why these are named, and not
 * those that are allowed, as for the server (seccomp_filter.h).
 *
 * Thread: the main thread's; enter before there is a second one.
 */
#ifndef CONFINE_OUTGOING_FILTER_H
#define CONFINE_OUTGOING_FILTER_H

#include "base/bytes.h"

/* Enters the filter, from which there is no way back, and sets no_new_privs. 0
 * or -errno. */
MUST_USE int outgoing_filter_enter(void);

#endif
