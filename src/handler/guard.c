#include "handler/guard.h"

#include <stdlib.h>

#include "http/basic_auth.h"

#define BUSY_LINE "Retry-After: 5\r\nCache-Control: no-store\r\n"

/* An exchange whose password is being checked. */
struct visitor {
    /* Must be the first member, since it is cast to struct visitor. */
    struct pending pending;
    struct password_wait wait;
    const struct guard *guard;
    struct exchange *exchange;
    const struct htpasswd *htpasswd;
    enum password_verdict verdict;
};

static struct answer look(struct pending *pending)
{
    struct visitor *visitor = (struct visitor *)pending;
    const struct guard *guard = visitor->guard;
    struct exchange *exchange = visitor->exchange;
    const struct htpasswd *htpasswd = visitor->htpasswd;
    enum password_verdict verdict = visitor->verdict;

    if (verdict == PASSWORD_LATER)
        return (struct answer){.state = ANSWER_LATER};
    exchange->pending = NULL;
    free(visitor);
    guard->resume(guard->context, exchange, htpasswd, verdict);
    return (struct answer){.state = ANSWER_READY};
}

static void destroy(struct pending *pending)
{
    struct visitor *visitor = (struct visitor *)pending;

    if (visitor->verdict == PASSWORD_LATER)
        password_client_cancel(visitor->guard->client, &visitor->wait);
    free(visitor);
}

static void on_done(struct password_wait *wait, enum password_verdict verdict)
{
    struct visitor *visitor = OWNER_OF(wait, struct visitor, wait);

    visitor->verdict = verdict;
    exchange_wake(visitor->exchange);
}

/* Makes the exchange wait for its password check. Returns NULL when there is no
 * memory. */
static struct visitor *make_wait(const struct guard *guard,
                                 struct exchange *exchange,
                                 const struct htpasswd *htpasswd)
{
    struct visitor *visitor = malloc(sizeof(*visitor));

    if (visitor)
        *visitor = (struct visitor){.pending = {.look = look,
                                                .destroy = destroy},
                                    .wait = {.on_done = on_done},
                                    .guard = guard,
                                    .exchange = exchange,
                                    .htpasswd = htpasswd,
                                    .verdict = PASSWORD_LATER};
    return visitor;
}

static bool check(const struct guard *guard, struct exchange *exchange,
                  struct htpasswd *htpasswd, struct bytes realm,
                  const struct basic_auth *auth)
{
    struct password_question question = {
        .htpasswd = htpasswd,
        .user = auth->user,
        .password = auth->password,
        .asker = exchange->peer,
        .now_ms = guard->defaults->now->mono_ms};
    struct visitor *visitor = make_wait(guard, exchange, htpasswd);
    enum password_verdict verdict = PASSWORD_BUSY;

    if (visitor)
        verdict = password_client_ask(guard->client, &question, &visitor->wait);
    if (verdict == PASSWORD_LATER) {
        exchange->pending = &visitor->pending;
        return false;
    }
    free(visitor);
    if (verdict != PASSWORD_RIGHT)
        guard_refuse(guard, exchange, verdict, realm);
    return verdict == PASSWORD_RIGHT;
}

void guard_refuse(const struct guard *guard, struct exchange *exchange,
                  enum password_verdict verdict, struct bytes realm)
{
    char storage[BASIC_AUTH_REALM_BYTES_MAX * 2 + 100];
    struct buf fields;

    if (verdict == PASSWORD_BUSY) {
        response_make_error(&exchange->response, 503, BYTES(BUSY_LINE),
                            guard->defaults);
        return;
    }
    buf_init(&fields, storage, sizeof(storage), RESPONSE_HEAD_BYTES_MAX / 2);
    basic_auth_put_challenge(&fields, realm);
    response_make_error(&exchange->response, fields.failed ? 500 : 401,
                        fields.failed ? BYTES("") : buf_bytes(&fields),
                        guard->defaults);
    buf_fini(&fields);
}

bool guard_admits(const struct guard *guard, struct exchange *exchange,
                  struct htpasswd *htpasswd, struct bytes realm)
{
    struct basic_auth auth;
    bool is_admitted = false;

    if (basic_auth_read(&auth, &exchange->request) == BASIC_AUTH_GIVEN)
        is_admitted = check(guard, exchange, htpasswd, realm, &auth);
    else
        guard_refuse(guard, exchange, PASSWORD_WRONG, realm);
    basic_auth_wipe(&auth);
    return is_admitted;
}
