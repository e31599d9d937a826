/*
 * password_check_priv - jobs, which clients and threads pass to each other.
 *
 *   FREE -take-> TAKEN -put-> QUEUED -> RUNNING -> DONE -note-> client -give->
 *                                |  another's answer ^                 FREE
 *                                +-------------------+                  ^
 *                                +-> GIVEN_UP -note-> client ------give---+
 *
 * Thread: any may call each function. A job's fields belong to the client that
 *         has taken it, except link and state, which check's mutex guards, and
 *         those that say otherwise. A thread reads the rest while the job is
 *         RUNNING.
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
    PASSWORD_JOB_GIVEN_UP /* given up to make room; no longer counted */
};

struct password_job {
    struct mailbox_note note; /* first; says that it is DONE or GIVEN_UP */
    struct list list_node;    /* linked into free, queued or running jobs */
    enum password_job_state state;
    uint64_t asker; /* address_key; set when taken */
    /* Used by password_order, from QUEUED on. */
    uint64_t turn;     /* its network's turn among all networks */
    uint64_t own_turn; /* its address's turn in the network */
    /* Set when DONE or GIVEN_UP, before the note is sent. */
    enum password_verdict verdict;
    /* Used by the client. */
    struct mailbox *mailbox;
    struct htpasswd *htpasswd; /* a reference */
    struct siphash digest;     /* names the question: password_client.c */
    struct list client_link;
    struct list waits;
    void *client;
    uint64_t asked_ms;
    uint16_t user_len;
    uint16_t password_len;
    char user[HTPASSWD_NAME_BYTES_MAX];
    char password[HTPASSWD_PASSWORD_BYTES_MAX];
};

/* The key of digests, the same for all clients, so that equal questions are
 * found. */
const struct siphash_key *password_check_secret(const struct password_check
                                                    *check);

/* Takes a free job, or that of another asker's question, which is given up for
 * it. NULL: there is none for this asker, or the threads were stopped. */
struct password_job *password_check_take(struct password_check *check,
                                         uint64_t asker);

/* Queues the job; when it is checked, job->note is sent to job->mailbox. */
void password_check_put(struct password_check *check, struct password_job *job);

/* Tells that nobody waits for the job. True: it was only queued, and is free
 * now. */
MUST_USE bool password_check_cancel(struct password_check *check,
                                    struct password_job *job);

/* Gives back and wipes a job that is TAKEN or DONE. */
void password_check_give(struct password_check *check,
                         struct password_job *job);

/* Makes a thread call htpasswd_refresh() before anything else. If too many
 * calls wait already, it does nothing, and the file becomes due again. */
void password_check_refresh(struct password_check *check,
                            struct htpasswd *htpasswd);

#endif
