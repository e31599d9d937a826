/*
 * password_order_priv - decides which question is answered next, and which is
 * dropped when there is no room for all.
 *
 * Networks take turns, and so do the addresses inside a network. A job's turn
 * is a number: one more than the turn of its network's last job, and at least
 * the turn of the job that was started last. So a newcomer waits for one
 * question of each other network, however many questions these have queued.
 *
 *   put    A A A A  B B  C        turns of A: 1 2 3 4, of B: 1 2, of C: 1
 *   start  A B C  A B  A  A
 *
 * To make room, a question of the busiest asker is dropped. Among equally busy
 * askers, one whose last password was wrong loses; otherwise chance decides.
 * Without chance, the first askers would keep their places by asking again at
 * once.
 *
 * Thread: any, with the mutex of password_check held.
 */
#ifndef AUTH_PASSWORD_ORDER_PRIV_H
#define AUTH_PASSWORD_ORDER_PRIV_H

#include "auth/password_check_priv.h"

/* Sets and ways for remembering networks whose last password was wrong. */
enum { PASSWORD_FAILED_SETS = 256, PASSWORD_FAILED_WAYS = 4 };

struct password_order {
    struct siphash_key secret;
    struct password_job *jobs; /* all jobs; borrowed */
    size_t job_count;
    struct list queued;
    struct list running;
    uint64_t turn;  /* turn of the job started last */
    uint64_t draws; /* random numbers drawn so far */
    /* Networks whose last password was wrong; 0: free. A network's hash selects
     * its set, and each set begins with the latest network. */
    uint64_t failed[PASSWORD_FAILED_SETS][PASSWORD_FAILED_WAYS];
};

/* Whether the job is a question, which has an asker, rather than a refresh of a
 * file. */
static inline bool password_job_is_question(const struct password_job *job)
{
    return job->mailbox != NULL;
}

/* How many jobs wait or run for an asker. */
struct password_load {
    unsigned network; /* jobs of the asker's network, its own included */
    unsigned own;
};

struct password_load password_order_load(const struct password_order *order,
                                         uint64_t asker);

/* Queues the job; refreshes of files precede all questions. */
void password_order_put(struct password_order *order, struct password_job *job);

/* Starts the next job, and returns it; NULL if there is no job to start. Skips
 * a question while an equal one is being checked. */
struct password_job *password_order_start(struct password_order *order);

/* Remembers whether the asker's password was right. */
void password_order_note(struct password_order *order, uint64_t asker,
                         bool is_right);

/* Returns the question to drop for a new question of `asker`; NULL if `asker`
 * may not displace any. */
struct password_job *password_order_find_victim(struct password_order *order,
                                                uint64_t asker);

#endif
