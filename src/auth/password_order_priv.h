/*
 * password_order_priv - whose question is answered next, and whose is given up
 * when there is no room for all.
 *
 * Networks are served in turns, and in a network its addresses: a job has a
 * turn that is one behind its network's last, but not before the turn that the
 * threads are at. So whoever asks for the first time waits for one question of
 * each of the others, however many they have put.
 *
 *   put    A A A A  B B  C        turns of A: 1 2 3 4, of B: 1 2, of C: 1
 *   start  A B C  A B  A  A
 *
 * Room is made by the busiest; among equals by one of those whose last answer
 * was "wrong", and else by any of them, by lot: or those who came first would
 * keep their places by asking again at once.
 *
 * Thread: any, with the mutex of password_check held.
 */
#ifndef AUTH_PASSWORD_ORDER_PRIV_H
#define AUTH_PASSWORD_ORDER_PRIV_H

#include "auth/password_check_priv.h"

/* The networks that are remembered as having had wrong passwords. */
enum { PASSWORD_FAILED_SETS = 256, PASSWORD_FAILED_WAYS = 4 };

struct password_order {
    struct siphash_key secret;
    struct password_job *jobs; /* all that there are; borrowed */
    size_t job_count;
    struct list queued;
    struct list running;
    uint64_t turn;  /* of the last that was started */
    uint64_t draws; /* so far */
    /* Networks whose last answer was "wrong", each in the set that its hash
     * names, the latest first; 0: none. */
    uint64_t failed[PASSWORD_FAILED_SETS][PASSWORD_FAILED_WAYS];
};

/* A question has an answer for somebody; a look at the file has none. */
static inline bool password_job_is_question(const struct password_job *job)
{
    return job->mailbox != NULL;
}

/* How many jobs an asker has. */
struct password_load {
    unsigned network; /* with others of its network */
    unsigned own;
};

struct password_load password_order_load(const struct password_order *order,
                                         uint64_t asker);

/* Queues the job; a look at a file goes before all questions. */
void password_order_put(struct password_order *order, struct password_job *job);

/* Moves the next one that is not being answered already to those that run;
 * NULL: none. */
struct password_job *password_order_start(struct password_order *order);

/* Remembers whether asker was right. */
void password_order_note(struct password_order *order, uint64_t asker,
                         bool is_right);

/* The question that is to be given up for one of asker's; NULL: none. */
struct password_job *password_order_find_victim(struct password_order *order,
                                                uint64_t asker);

#endif
