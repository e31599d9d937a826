#include <hiredis/async.h>

#include "kv/redis/kv_redis_connection_priv.h"

enum { GREETING_BYTES_MAX = 16384 };

/* --- Setting it up -------------------------------------------------------- */

static void finish_greeting(struct kv_connection *connection)
{
    if (--connection->greetings_left > 0)
        return;
    ev_timer_stop(connection->options.loop, &connection->timer);
    connection->stage = KV_CONNECTION_GREETED;
    connection->failures = 0;
    connection->up_since_ms = connection->options.now->mono_ms;
    connection->options.hooks.on_up(connection->options.hooks.context);
}

static void on_greeted(redisAsyncContext *context, void *reply, void *about)
{
    struct kv_connection *connection = context->data;
    const struct kv_reply *answer = reply;
    struct bytes text = kv_reply_text(answer);
    size_t *sha_bytes = about;
    char why[200];

    if (!connection)
        return;
    if (!answer) {
        kv_connection_end(connection, context->errstr);
        return;
    }
    if (kv_reply_kind(answer) != KV_REPLY_TEXT ||
        (sha_bytes &&
         (text.len == 0 || text.len > KV_CONNECTION_SHA_BYTES_MAX))) {
        size_t len = text.len < sizeof(why) - 1 ? text.len : sizeof(why) - 1;

        if (len > 0)
            memcpy(why, text.data, len);
        why[len] = '\0';
        kv_connection_lose(connection,
                           len > 0 ? why : "it does not speak our protocol");
        return;
    }
    if (sha_bytes) {
        *sha_bytes = text.len;
        memcpy(connection->shas[sha_bytes - connection->sha_bytes], text.data,
               text.len);
    }
    finish_greeting(connection);
}

static bool greet(struct kv_connection *connection, struct buf *command,
                  kv_connection_reply_fn on_reply, size_t *sha_bytes)
{
    struct bytes text;
    bool is_sent;

    buf_put(command, (struct bytes){"", 1}); /* NUL: see kv_connection_give() */
    text = (struct bytes){command->data, command->len - 1};
    is_sent = !command->failed &&
              kv_connection_give(connection, on_reply, sha_bytes, text);
    command->len = 0;
    connection->greetings_left += is_sent;
    return is_sent;
}

/* --- Listening ------------------------------------------------------------ */

/* Handles a listener's replies: first ["psubscribe", pattern, 1], then
 * ["pmessage", pattern, channel, event] for each event. */
static void on_heard(redisAsyncContext *context, void *reply, void *about)
{
    struct kv_connection *connection = context->data;
    const struct kv_connection_hooks *hooks;
    const struct kv_reply *answer = reply;

    (void)about;
    if (!connection)
        return;
    if (!answer) {
        kv_connection_end(connection, context->errstr);
        return;
    }
    hooks = &connection->options.hooks;
    if (connection->stage == KV_CONNECTION_GREETED)
        hooks->on_heard(hooks->context, kv_reply_text(kv_reply_at(answer, 2)),
                        kv_reply_text(kv_reply_at(answer, 3)));
    else if (kv_reply_kind(answer) == KV_REPLY_LIST)
        finish_greeting(connection);
    else
        kv_connection_lose(connection, "it does not let us listen");
}

/* Whether `flags` (notify-keyspace-events) make Redis send all events that we
 * need: K (by key) with g (deletions), h (hashes), x (expiries) and e
 * (evictions), or K with A (all). */
static bool tells_enough(struct bytes flags)
{
    static const char needed[] = "ghxe";
    bool has_all = memchr(flags.data, 'A', flags.len) != NULL;

    for (size_t i = 0; i < sizeof(needed) - 1 && !has_all; i++)
        if (!memchr(flags.data, needed[i], flags.len))
            return false;
    return memchr(flags.data, 'K', flags.len) != NULL;
}

static bool listen_to(struct kv_connection *connection)
{
    char storage[GREETING_BYTES_MAX];
    struct buf command;
    bool is_sent;

    buf_init(&command, storage, sizeof(storage), sizeof(storage));
    kv_command_begin(&command, 2);
    kv_command_put(&command, BYTES("PSUBSCRIBE"));
    kv_command_put(&command, bytes_of(connection->options.pattern));
    is_sent = greet(connection, &command, on_heard, NULL);
    buf_fini(&command);
    return is_sent;
}

/* Handles the reply that says for which changes of keys Redis sends events. If
 * there are too few kinds, the connection never comes up, but does not count as
 * failed. */
static void on_flags(redisAsyncContext *context, void *reply, void *about)
{
    struct kv_connection *connection = context->data;
    const struct kv_reply *answer = reply;
    struct bytes flags = kv_reply_text(kv_reply_at(answer, 1));

    (void)about;
    if (!connection)
        return;
    if (!answer) {
        kv_connection_end(connection, context->errstr);
        return;
    }
    if (!flags.data || !tells_enough(flags)) {
        connection->options.hooks.on_mute(connection->options.hooks.context);
        return;
    }
    if (!listen_to(connection))
        kv_connection_lose(connection, "out of memory");
    else
        finish_greeting(connection);
}

/* --- All of it ------------------------------------------------------------ */

/* Sends several commands at once: AUTH and SELECT if needed, then the scripts
 * or, for a listener, asks Redis which events it sends. */
bool kv_connection_greet(struct kv_connection *connection)
{
    const struct kv_redis_url *url = connection->options.url;
    char storage[GREETING_BYTES_MAX];
    struct buf command;
    bool is_sent = true;

    buf_init(&command, storage, sizeof(storage), sizeof(storage));
    connection->greetings_left = 0;
    if (url->password[0] != '\0') {
        kv_command_begin(&command, url->user[0] != '\0' ? 3 : 2);
        kv_command_put(&command, BYTES("AUTH"));
        if (url->user[0] != '\0')
            kv_command_put(&command, bytes_of(url->user));
        kv_command_put(&command, bytes_of(url->password));
        is_sent = greet(connection, &command, on_greeted, NULL);
    }
    if (url->db > 0 && is_sent) {
        kv_command_begin(&command, 2);
        kv_command_put(&command, BYTES("SELECT"));
        kv_command_put_number(&command, url->db);
        is_sent = greet(connection, &command, on_greeted, NULL);
    }
    if (connection->options.pattern && is_sent) {
        kv_command_begin(&command, 3);
        kv_command_put(&command, BYTES("CONFIG"));
        kv_command_put(&command, BYTES("GET"));
        kv_command_put(&command, BYTES("notify-keyspace-events"));
        is_sent = greet(connection, &command, on_flags, NULL);
        buf_fini(&command);
        return is_sent;
    }
    for (unsigned i = 0; i < KV_SCRIPTS && is_sent; i++) {
        kv_command_begin(&command, 3);
        kv_command_put(&command, BYTES("SCRIPT"));
        kv_command_put(&command, BYTES("LOAD"));
        kv_command_put_script(&command, (enum kv_script)i);
        is_sent = greet(connection, &command, on_greeted,
                        &connection->sha_bytes[i]);
    }
    buf_fini(&command);
    return is_sent;
}
