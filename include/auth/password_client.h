/*
 * password_client - one worker's way to ask whether passwords are right.
 *
 * A password that was right a short while ago (password_cache) is answered at
 * once. Equal questions wait together; all others go to the threads of
 * password_check.
 *
 * Thread: the worker's.
 * Owns:   its cache. Waits belong to whoever asks.
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
    PASSWORD_LATER, /* wait->on_done tells later */
    PASSWORD_BUSY   /* too many are waiting: 503 */
};

struct password_question {
    struct htpasswd *htpasswd;
    struct bytes user;
    struct bytes password;
    const struct address *asker; /* the client, whose share of jobs this uses */
    uint64_t now_ms;             /* on the monotonic clock */
};

/* Embedded in what waits; must not move until on_done or cancel. */
struct password_wait {
    struct list list_node;    /* private to password_client */
    struct password_job *job; /* private to password_client */
    /* Called in the worker's loop, with PASSWORD_RIGHT, PASSWORD_WRONG or
     * PASSWORD_BUSY. It may ask anew, cancel others, and free wait. */
    void (*on_done)(struct password_wait *wait, enum password_verdict verdict);
};

struct password_client; /* opaque */

/* check and mailbox are borrowed: mailbox must outlive password_check_stop(). 0
 * or -ENOMEM. */
MUST_USE int password_client_create(struct password_client **client_out,
                                    struct password_check *check,
                                    struct mailbox *mailbox);

/* No question may be waiting (cancel it), and password_check_stop() must have
 * been called. NULL is accepted. */
void password_client_destroy(struct password_client *client);

/* The caller sets wait->on_done; wait is used for PASSWORD_LATER only. on_done
 * is never called from in here. The question is copied. */
MUST_USE enum password_verdict password_client_ask(
    struct password_client *client, const struct password_question *question,
    struct password_wait *wait);

/* Stops waiting: on_done will not be called. */
void password_client_cancel(struct password_client *client,
                            struct password_wait *wait);

#endif
