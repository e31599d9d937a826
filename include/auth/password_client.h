/*
 * password_client - one worker's way to ask whether passwords are right.
 *
 * A password that was right recently (password_cache) is accepted at once. All
 * other questions go to the threads of password_check; equal questions share
 * one check.
 *
 * Thread: the worker's.
 * Owns:   its cache. A struct password_wait belongs to the caller.
 */
#ifndef AUTH_PASSWORD_CLIENT_H
#define AUTH_PASSWORD_CLIENT_H

#include "auth/htpasswd.h"
#include "auth/password_check.h"
#include "base/address.h"
#include "base/list.h"
#include "io/mailbox.h"

enum password_verdict {
    PASSWORD_RIGHT,
    PASSWORD_WRONG,
    PASSWORD_LATER, /* wait->on_done gets the verdict later */
    PASSWORD_BUSY   /* too many questions wait; to be answered by 503 */
};

struct password_question {
    struct htpasswd *htpasswd;
    struct bytes user;
    struct bytes password;
    const struct address *asker; /* the client's address */
    uint64_t now_ms;             /* on the monotonic clock */
};

/* Embedded in an object that waits for a verdict. The struct must not move
 * until on_done() or password_client_cancel() is called. */
struct password_wait {
    struct list list_node;    /* private to password_client */
    struct password_job *job; /* private to password_client */
    /* Called in the worker's loop, with PASSWORD_RIGHT, PASSWORD_WRONG or
     * PASSWORD_BUSY. The callback may ask again, cancel other waits, and free
     * the struct. */
    void (*on_done)(struct password_wait *wait, enum password_verdict verdict);
};

struct password_client; /* opaque */

/* Creates a worker's client, which borrows `check` and `mailbox`. The mailbox
 * may be destroyed only after password_check_stop(). Returns 0 or -ENOMEM. */
MUST_USE int password_client_create(struct password_client **client_out,
                                    struct password_check *check,
                                    struct mailbox *mailbox);

/* Destroys a client. All its questions must have been cancelled or answered,
 * and password_check_stop() must have been called. NULL is accepted. */
void password_client_destroy(struct password_client *client);

/* Asks a question, which is copied. If the result is PASSWORD_LATER,
 * wait->on_done, which the caller has set, will get the verdict; it is never
 * called before this function returns. With other results, `wait` is unused. */
MUST_USE enum password_verdict password_client_ask(
    struct password_client *client, const struct password_question *question,
    struct password_wait *wait);

/* Stops waiting: wait->on_done will not be called. */
void password_client_cancel(struct password_client *client,
                            struct password_wait *wait);

#endif
