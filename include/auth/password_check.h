/*
 * password_check - a queue of passwords to check, and a few threads that do
 * nothing else, since each check would block a worker for tens of milliseconds.
 * A thread compares a password with its hash by htpasswd_check() (htpasswd.h).
 *
 *   worker: password_client --job--> [ queue ] --> thread --> htpasswd_check()
 *              ^                                   |
 *              +------------- mailbox <-- note ----+
 *
 * A flood of wrong passwords hurts only its sender. There are PASSWORD_JOBS
 * jobs; a client address (or /64 of IPv6) has at most PASSWORD_JOBS_EACH of
 * them, and the threads run at a lower priority than workers. Networks take
 * turns, and so do the addresses inside each network. A network is a /48 of
 * IPv6, or a single IPv4 address.
 *
 * When all jobs are taken, a network with many questions makes room for a
 * network with few: the last waiting question of the busiest address in the
 * busiest network is dropped. If several networks are equally busy, one whose
 * last password was wrong loses its question. If no such network exists, and
 * the newcomer's last password was not wrong either, chance decides. A client
 * whose question was dropped, or found no room, is told to come back later.
 *
 * Equal questions that wait at the same time share one job.
 *
 * Workers use this module only through password_client.h.
 *
 * Thread: the main thread creates, stops and destroys.
 * Owns:   the threads and the jobs.
 */
#ifndef AUTH_PASSWORD_CHECK_H
#define AUTH_PASSWORD_CHECK_H

#include "base/bytes.h"

enum {
    PASSWORD_THREADS_MAX = 8,
    PASSWORD_JOBS = 64, /* those waiting, being checked, or on their way back */
    PASSWORD_JOBS_EACH = 8
};

struct password_check; /* opaque */

/* Starts 1 to PASSWORD_THREADS_MAX threads. Returns 0 or -errno. */
MUST_USE int password_check_create(struct password_check **check_out,
                                   unsigned thread_count);

/* Ends the threads, each after its current check. Waiting questions are never
 * answered, and no mailbox gets another note; so this must be called before any
 * client's mailbox is destroyed. A second call does nothing. */
void password_check_stop(struct password_check *check);

/* Stops the threads if they still run. All clients must have been destroyed.
 * NULL is accepted. */
void password_check_destroy(struct password_check *check);

#endif
