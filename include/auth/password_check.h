/*
 * password_check - the queue of passwords to be checked, and a few threads that
 * do nothing but check them, since each check would stop a worker for tens of
 * milliseconds. A thread compares a password with its hash by htpasswd_check()
 * (htpasswd.h).
 *
 *   worker: password_client --job--> [ queue ] --> thread --> htpasswd_check()
 *              ^                                   |
 *              +------------- mailbox <-- note ----+
 *
 * A flood of wrong passwords hurts only its sender: there are PASSWORD_JOBS
 * jobs, an address (or /64 of IPv6) has PASSWORD_JOBS_EACH of them at most, and
 * the threads run at a lower priority than workers. Networks (an address, or a
 * /48 of IPv6) are answered in turns, and in each its addresses. When all jobs
 * are taken, a network that asks much makes room for one that asks little: the
 * last waiting question of the busiest address in the busiest network is given
 * up. Among equally busy networks, one whose last password was wrong loses; if
 * none was wrong, nor the newcomer, chance decides. A client whose question is
 * given up, or finds no room, is told to come back later.
 *
 * Equal questions that wait at the same time share one job.
 *
 * Workers speak with it through password_client.h alone.
 *
 * Thread: the main thread creates, stops and destroys.
 * Owns:   the threads and the jobs.
 */
#ifndef AUTH_PASSWORD_CHECK_H
#define AUTH_PASSWORD_CHECK_H

#include "base/bytes.h"

enum {
    PASSWORD_THREADS_MAX = 8,
    PASSWORD_JOBS = 64, /* waiting, being checked, or on the way back */
    PASSWORD_JOBS_EACH = 8
};

struct password_check; /* opaque */

/* Starts 1 to PASSWORD_THREADS_MAX threads. 0 or -errno. */
MUST_USE int password_check_create(struct password_check **check_out,
                                   unsigned thread_count);

/* Ends the threads, each after its present check. Waiting questions are never
 * answered, and no mailbox gets anything any more; so this comes before any
 * client's mailbox is destroyed. A second call does nothing. */
void password_check_stop(struct password_check *check);

/* Stops the threads if that has not been done. All clients must be destroyed
 * already. NULL is accepted. */
void password_check_destroy(struct password_check *check);

#endif
