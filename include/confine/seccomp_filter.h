/*
 * seccomp_filter - limits which system calls the process can make, by seccomp.
 *
 * The list of allowed calls (seccomp_filter.c) is what a running server uses.
 * It has no exec, no new process, no ptrace, no executable memory, no signal to
 * others, no change of owners or modes by path, no setuid bits, and no sockets
 * other than TCP over IPv4 and IPv6, and, where they are needed, unix sockets
 * and UDP. Privileges are dropped before the filter is entered.
 *
 * A call outside of the list fails with EPERM, and the kernel writes it to its
 * audit log; with `kills`, SIGSYS ends the process instead. clone3 fails with
 * ENOSYS, so that the C library falls back to clone, whose flags a filter can
 * see. A unix socket that is not allowed fails with EPERM in any case, since a
 * new listener is tried before the broker is asked for it.
 *
 * Thread: the main thread's. The filter covers the calling thread and those
 *         that it starts later, so it is entered before there is a second one.
 */
#ifndef CONFINE_SECCOMP_FILTER_H
#define CONFINE_SECCOMP_FILTER_H

#include "base/bytes.h"

/* Enters the filter for good, and sets no_new_privs. UDP sockets are allowed
 * only with `sends_udp`, unix sockets only with `opens_unix`. Returns 0 or
 * -errno: -EINVAL, -ENOSYS or -ECANCELED if the kernel has no seccomp
 * filters. */
MUST_USE int seccomp_filter_enter(bool kills, bool sends_udp, bool opens_unix);

#endif
