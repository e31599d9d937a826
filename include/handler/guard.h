/*
 * guard - asks clients for a password: HTTP Basic authentication (RFC 7617),
 * which may take a while.
 *
 * A password that was right a moment ago is accepted at once. Otherwise the
 * exchange is pending, without even a head; when the verdict comes, it is
 * answered like a new one.
 *
 * Thread: one worker's.
 * Owns:   waiting checks, until their response is over.
 */
#ifndef HANDLER_GUARD_H
#define HANDLER_GUARD_H

#include "auth/password_client.h"
#include "http/exchange.h"

/* Answers exchange after its password was checked. */
typedef void (*guard_fn)(void *context, struct exchange *exchange,
                         const struct htpasswd *htpasswd,
                         enum password_verdict verdict);

struct guard {
    struct password_client *client;
    const struct server_defaults *defaults;
    /* Answers an exchange that has waited for htpasswd: with PASSWORD_RIGHT it
     * is admitted; all other verdicts go to guard_refuse(). */
    guard_fn resume;
    /* Makes waiting exchanges look again: one may have its verdict. */
    void (*wake)(void *wake_context);
    void *context;
    void *wake_context;
};

/* True: the exchange is admitted. False: it was answered (401, 503), or waits
 * and will be resumed. realm is valid (http/basic_auth.h). */
MUST_USE bool guard_admits(const struct guard *guard, struct exchange *exchange,
                           struct htpasswd *htpasswd, struct bytes realm);

/* Answers 401, which asks for a password; 503 for PASSWORD_BUSY. */
void guard_refuse(const struct guard *guard, struct exchange *exchange,
                  enum password_verdict verdict, struct bytes realm);

#endif
