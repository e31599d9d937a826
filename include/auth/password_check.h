/*
 * password_check - the queue of passwords to be checked, and a few threads that
 * do nothing else: a worker would stand still for tens of milliseconds each
 * time. A thread compares a password with its hash by htpasswd_check()
 * (htpasswd.h).
 *
 *   worker: password_client --job--> [ queue ] --> thread --> htpasswd_check()
 *              ^                                   |
 *              +------------- mailbox <-- note ----+
 *
 * Floods of wrong passwords do no harm but to each other: there are
 * PASSWORD_JOBS jobs, an address (or /64 of IPv6) has PASSWORD_JOBS_EACH of
 * them at most, and the threads yield to workers when there is work for both.
 * Networks (an address, or a /48 of IPv6) are answered in turns, and in each
 * its addresses. When all jobs are taken, a network that asks much makes room
 * for one that asks little: of the busiest network, and there of the busiest
 * address, the last waiting question is given up. Among equally busy ones it is
 * a network that was wrong the last time; when none of them was, nor the
 * newcomer, the lot decides. A client whose question is given up, or finds no
 * room, is told to come back later.
 *
 * A question that has been asked already is answered together with the first.
 *
 * Workers speak with it through password_client.h alone.
 *
 * Thread: create, stop and destroy the main thread's.
 * Owns:   the threads and the jobs.
 */
#ifndef AUTH_PASSWORD_CHECK_H
#define AUTH_PASSWORD_CHECK_H

#include "base/bytes.h"

enum {
    PASSWORD_THREADS_MAX = 8,
    PASSWORD_JOBS = 64, /* waiting, under way, or on the way back */
    PASSWORD_JOBS_EACH = 8
};

struct password_check; /* opaque */

/* Starts 1 to PASSWORD_THREADS_MAX threads. 0 or -errno. */
MUST_USE int password_check_create(struct password_check **check_out,
                                   unsigned thread_count);

/* Ends the threads, each after the check it is at: nothing is sent to any
 * mailbox from then on, and what waits is never answered. To be called before
 * a mailbox that a client has goes. A second call does nothing. */
void password_check_stop(struct password_check *check);

/* Stops the threads, if that has not been done. All clients must be gone. NULL
 * is accepted. */
void password_check_destroy(struct password_check *check);

#endif
