/*
 * guard - asks clients for a password: HTTP Basic authentication (RFC 7617).
 * Checking a password may take a while.
 *
 * A password that was right a moment ago is accepted at once. For any other
 * password the exchange becomes pending before a head is made. When the verdict
 * comes, the exchange is answered like a new one.
 *
 * Thread: one worker's.
 * Owns:   the check that an exchange waits for, until its response is over.
 */
#ifndef HANDLER_GUARD_H
#define HANDLER_GUARD_H

#include "auth/password_client.h"
#include "http/exchange.h"

/* Answers an exchange after its password was checked. */
typedef void (*guard_fn)(void *context, struct exchange *exchange,
                         const struct htpasswd *htpasswd,
                         enum password_verdict verdict);

struct guard {
    struct password_client *client;
    const struct server_defaults *defaults;
    /* Answers an exchange that has waited for a check against htpasswd.
     * `resume` admits the exchange if the verdict is PASSWORD_RIGHT, and
     * otherwise calls guard_refuse(). */
    guard_fn resume;
    void *context;
};

/* Returns true if the exchange is admitted. Returns false if it was answered
 * (401, 503), or waits and will be resumed. `realm` must be valid
 * (http/basic_auth.h). */
MUST_USE bool guard_admits(const struct guard *guard, struct exchange *exchange,
                           struct htpasswd *htpasswd, struct bytes realm);

/* Answers 503 if the verdict is PASSWORD_BUSY. Any other verdict gets 401, by
 * which the client asks its user for a password for `realm`. */
void guard_refuse(const struct guard *guard, struct exchange *exchange,
                  enum password_verdict verdict, struct bytes realm);

#endif
