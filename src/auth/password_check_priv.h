/*
 * password_check_priv - the jobs that clients and threads pass to each other.
 *
 *   FREE -take-> TAKEN -put-> QUEUED ---------> RUNNING ---------> DONE
 *    ^                         |  |                               ^  |
 *    |                         |  +-- equal question answered ----+  |
 *    |                         +----> GIVEN_UP                       |
 *    |                                   |                           |
 *    +----- give <----- client <----- note <-------------------------+
 *
 * Thread: any thread may call each function. The mutex of password_check guards
 *         the fields list_node and state of a job. The job's other fields are
 *         used by the client that has taken it, unless their comment says
 *         otherwise; while the job is RUNNING, a thread reads them, too.
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
    PASSWORD_JOB_GIVEN_UP /* dropped to make room for another question */
};

struct password_job {
    struct mailbox_note note; /* first member; sent if DONE or GIVEN_UP */
    struct list list_node;    /* linked into free, queued or running jobs */
    enum password_job_state state;
    uint64_t asker; /* the client's address_key; set when taken */
    /* Used by password_order, from QUEUED on. */
    uint64_t turn;     /* turn of the job's network among all networks */
    uint64_t own_turn; /* turn of the job's address in its network */
    /* Set when DONE or GIVEN_UP, before the note is sent. */
    enum password_verdict verdict;
    /* Used by the client. */
    struct mailbox *mailbox;
    struct htpasswd *htpasswd; /* a counted reference */
    struct siphash digest;     /* identifies the question */
    struct list client_link;
    struct list waits;
    void *client;
    uint64_t asked_ms;
    uint16_t user_len;
    uint16_t password_len;
    char user[HTPASSWD_NAME_BYTES_MAX];
    char password[HTPASSWD_PASSWORD_BYTES_MAX];
};

/* Returns the key of digests. All clients use the same key, so that equal
 * questions are recognized. */
const struct siphash_key *password_check_secret(const struct password_check
                                                    *check);

/* Takes a free job for a question of `asker`; another asker's question may be
 * dropped for it. Returns NULL if there is no job for this asker, or if the
 * threads were stopped. */
struct password_job *password_check_take(struct password_check *check,
                                         uint64_t asker);

/* Queues the job. When the question has been checked, job->note is sent to
 * job->mailbox. */
void password_check_put(struct password_check *check, struct password_job *job);

/* To be called when nobody waits for the job any more. Returns true if the job
 * was in the queue; it is free now. Returns false if its note will arrive
 * later. */
MUST_USE bool password_check_cancel(struct password_check *check,
                                    struct password_job *job);

/* Wipes and frees a job that was never queued, or whose note has arrived. A
 * thread also calls this function for a refresh that it has run. */
void password_check_give(struct password_check *check,
                         struct password_job *job);

/* Makes a thread call htpasswd_refresh() before it checks another password.
 * Does nothing if no job is free; the file will become due again. */
void password_check_refresh(struct password_check *check,
                            struct htpasswd *htpasswd);

#endif
