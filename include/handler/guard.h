/*
 * guard - lets in those who have a password: HTTP Basic authentication (RFC
 * 7617), whose answer may take a while.
 *
 * What was right a moment ago is right at once. Else the exchange is
 * pending, without even a head; when the verdict is there, it is answered as if
 * it had just come.
 *
 * Thread: one worker's.
 * Owns:   what waits, until its response is done with.
 */
#ifndef HANDLER_GUARD_H
#define HANDLER_GUARD_H

#include "auth/password_client.h"
#include "http/exchange.h"

/* Answers exchange, now that its password has been judged. */
typedef void (*guard_fn)(void *context, struct exchange *exchange,
                         const struct htpasswd *htpasswd,
                         enum password_verdict verdict);

struct guard {
    struct password_client *client;
    const struct server_defaults *defaults;
    /* Answers an exchange that has waited for htpasswd: PASSWORD_RIGHT lets it
     * in, all else is for guard_refuse(). */
    guard_fn resume;
    /* Whatever waits may have got its verdict: it is to be looked at. */
    void (*wake)(void *wake_context);
    void *context;
    void *wake_context;
};

/* True: the exchange is let in. False: it has been answered (401, 503), or
 * waits and will be resumed. realm is valid (http/basic_auth.h). */
MUST_USE bool guard_admits(const struct guard *guard, struct exchange *exchange,
                           struct htpasswd *htpasswd, struct bytes realm);

/* 401, with the question for a password; for PASSWORD_BUSY 503. */
void guard_refuse(const struct guard *guard, struct exchange *exchange,
                  enum password_verdict verdict, struct bytes realm);

#endif
