#include <hiredis/async.h>

#include "kv/redis/kv_redis_connection_priv.h"

enum {
    RETRY_MS_MIN = 50,
    RETRY_MS_MAX = 2000,
    STEADY_MS = 1000 /* a connection that was up this long works well */
};

/* --- The end of a connection ---------------------------------------------- */

void kv_connection_set_timer(struct kv_connection *connection, uint64_t ms)
{
    ev_timer_stop(connection->options.loop, &connection->timer);
    ev_timer_set(&connection->timer, (double)ms / 1000, 0);
    ev_timer_start(connection->options.loop, &connection->timer);
}

/* Returns a random pause before the next try (xorshift64): connections that
 * lost the same node must not come back all at once. */
static uint64_t retry_ms(struct kv_connection *connection)
{
    unsigned shift = connection->failures - 1 < 6 ? connection->failures - 1
                                                  : 6;
    uint64_t ms = (uint64_t)RETRY_MS_MIN << shift;

    connection->random ^= connection->random << 13;
    connection->random ^= connection->random >> 7;
    connection->random ^= connection->random << 17;
    if (ms > RETRY_MS_MAX)
        ms = RETRY_MS_MAX;
    return ms / 2 + connection->random % (ms / 2 + 1);
}

/* Returns how many of the connection's written bytes have been sent. */
static uint64_t count_sent(const struct kv_connection *connection)
{
    const char *rest = connection->context->c.obuf;

    return connection->bytes_given - (rest ? sdslen((sds)(uintptr_t)rest) : 0);
}

/* Ends the connection. Its requests are given back last, when the connection is
 * RESTING, since on_return may send them on another connection at once. A
 * command that was not sent whole cannot have run. */
void kv_connection_end(struct kv_connection *connection, const char *why)
{
    const struct kv_connection_hooks *hooks = &connection->options.hooks;
    uint64_t sent = connection->context ? count_sent(connection) : 0;
    struct list back;

    list_init(&back);
    if (!list_is_empty(&connection->requests)) {
        list_put_before(&connection->requests, &back);
        list_drop(&connection->requests);
    }
    if (connection->context)
        connection->context->data = NULL;
    connection->context = NULL;
    if (connection->stage != KV_CONNECTION_GREETED)
        connection->failures++;
    else if (connection->options.now->mono_ms - connection->up_since_ms >=
             STEADY_MS)
        connection->short_lives = 0;
    else
        connection->failures = connection->short_lives++;
    connection->stage = KV_CONNECTION_RESTING;
    kv_connection_set_timer(connection, connection->failures > 0
                                            ? retry_ms(connection)
                                            : 0);
    hooks->on_down(hooks->context, connection, why);
    while (!list_is_empty(&back)) {
        struct kv_connection_request *request =
            OWNER_OF(back.next, struct kv_connection_request, list_node);

        list_drop(&request->list_node);
        hooks->on_return(request, request->ends_at <= sent);
    }
}

void kv_connection_lose(struct kv_connection *connection, const char *why)
{
    redisAsyncContext *context = connection->context;

    kv_connection_end(connection, why);
    if (context)
        redisAsyncFree(context);
}

bool kv_connection_give(struct kv_connection *connection,
                        kv_connection_reply_fn on_reply, void *about,
                        struct bytes command)
{
    if (redisAsyncFormattedCommand(connection->context, on_reply, about,
                                   command.data, command.len) != REDIS_OK)
        return false;
    connection->bytes_given += command.len;
    return true;
}
