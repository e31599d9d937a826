/*
 * outgoing_filter - uses seccomp to refuse system calls that are unnecessary
 * for a process that only connects to others.
 *
 * The process cannot listen, accept, start a program, inspect other processes,
 * change its user, or mount; as root it opens no unix sockets, either. It is
 * unknown which calls the libraries need to connect and to look up names. So
 * this filter lists refused calls, unlike the server's filter
 * (seccomp_filter.h), which lists allowed ones.
 *
 * Thread: the main thread's; enter before there is a second one.
 */
#ifndef CONFINE_OUTGOING_FILTER_H
#define CONFINE_OUTGOING_FILTER_H

#include "base/bytes.h"

/* Enters the filter for good, and sets no_new_privs. Returns 0 or -errno. */
MUST_USE int outgoing_filter_enter(void);

#endif
