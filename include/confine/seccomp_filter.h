/*
 * seccomp_filter - limits which system calls the process can make, by seccomp.
 *
 * The list of allowed calls (seccomp_filter.c) is what a running server uses.
 * It has no exec, no new process, no ptrace, no sockets other than unix sockets
 * and TCP over IPv4 and IPv6 (and UDP where names are looked up), no executable
 * memory, no signal to others, no change of owners or modes by path, no setuid
 * bits. Privileges are dropped before the filter is entered.
 *
 * A call outside of the list fails with EPERM, and the kernel writes it to its
 * audit log; with `kills`, SIGSYS ends the process instead. clone3 fails with
 * ENOSYS, so that the C library falls back to clone, whose flags a filter can
 * see.
 *
 * Thread: the main thread's. The filter covers the calling thread and those
 *         that it starts later, so it is entered before there is a second one.
 */
#ifndef CONFINE_SECCOMP_FILTER_H
#define CONFINE_SECCOMP_FILTER_H

#include "base/bytes.h"

/* Enters the filter for good, and sets no_new_privs. UDP sockets are allowed
 * only with `sends_udp`. Returns 0 or -errno: -EINVAL, -ENOSYS or -ECANCELED if
 * the kernel has no seccomp filters. */
MUST_USE int seccomp_filter_enter(bool kills, bool sends_udp);

#endif
