/*
 * password_check_priv - jobs, which clients and threads hand to each other.
 *
 *   FREE -take-> TAKEN -put-> QUEUED -> RUNNING -> DONE -note-> client -give->
 *                                |  another's answer ^                 FREE
 *                                +-------------------+                  ^
 *                                +-> GIVEN_UP -note-> client ------give---+
 *
 * Thread: each function any; a job's fields belong to the client that has taken
 *         it, but for link and state, which check's mutex guards, and what
 *         says so. A thread reads the rest while the job is RUNNING.
 */
#ifndef AUTH_PASSWORD_CHECK_PRIV_H
#define AUTH_PASSWORD_CHECK_PRIV_H

#include "auth/htpasswd.h"
#include "auth/password_client.h"
#include "base/list.h"
#include "base/siphash.h"
#include "io/mailbox.h"

enum password_job_state {
    PASSWORD_JOB_FREE,
    PASSWORD_JOB_TAKEN,
    PASSWORD_JOB_QUEUED,
    PASSWORD_JOB_RUNNING,
    PASSWORD_JOB_DONE,
    PASSWORD_JOB_GIVEN_UP /* for the sake of another; no load any more */
};

struct password_job {
    struct mailbox_note note; /* first: says that it is DONE */
    struct list list_node;    /* free, queued or running */
    enum password_job_state state;
    uint64_t asker; /* address_key; set when taken */
    /* password_order's, from QUEUED on. */
    uint64_t turn;     /* of its network among all */
    uint64_t own_turn; /* of its address in the network */
    /* Once DONE or GIVEN_UP; written before the note is sent. */
    enum password_verdict verdict;
    /* The client's. */
    struct mailbox *mailbox;
    struct htpasswd *htpasswd; /* acquired */
    struct siphash digest;     /* of the question, see client */
    struct list client_link;
    struct list waits;
    void *client;
    uint64_t asked_ms;
    uint16_t user_len;
    uint16_t password_len;
    char user[HTPASSWD_NAME_BYTES_MAX];
    char password[HTPASSWD_PASSWORD_BYTES_MAX];
};

/* The key of digests: one for all clients, so that equal questions are seen. */
const struct siphash_key *password_check_secret(const struct password_check
                                                    *check);

/* A free job, or one that another asker's question made room for, which its
 * client is told; NULL: none, or none for that asker, or all has been
 * stopped. */
struct password_job *password_check_take(struct password_check *check,
                                         uint64_t asker);

/* Has it checked, and job->note sent to job->mailbox then. */
void password_check_put(struct password_check *check, struct password_job *job);

/* Nobody waits for the job any more. True: it was only queued, and is free now.
 */
MUST_USE bool password_check_cancel(struct password_check *check,
                                    struct password_job *job);

/* Gives a job back, wiped, that was TAKEN or is DONE. */
void password_check_give(struct password_check *check,
                         struct password_job *job);

/* Has htpasswd_refresh() called by a thread, before anything else; not, when
 * too many wait for that already: then it will be due again. */
void password_check_refresh(struct password_check *check,
                            struct htpasswd *htpasswd);

#endif
