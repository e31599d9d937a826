#include <assert.h>
#include <ev.h>
#include <fcntl.h>
#include <stdlib.h>

/* The adapter for libev consists of functions in a header, which have unchecked
 * casts. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hiredis/adapters/libev.h>
#pragma GCC diagnostic pop

#include "kv/redis/kv_redis_connection_priv.h"

enum { OPEN_MS = 2000 /* time limit to connect and to set up */ };

static void open_connection(struct kv_connection *connection);

/* --- Opening -------------------------------------------------------------- */

static void on_connected(const redisAsyncContext *context, int status)
{
    struct kv_connection *connection = context->data;

    if (!connection)
        return;
    if (status != REDIS_OK) {
        kv_connection_end(connection, context->c.errstr);
        return;
    }
    connection->stage = KV_CONNECTION_GREETING;
    /* If the greeting cannot be sent, the timer ends the connection: hiredis's
     * context must not be freed in this callback. */
    (void)kv_connection_greet(connection);
}

static const char *find_why(const struct kv_connection *connection,
                            const redisAsyncContext *context)
{
    if (connection->why)
        return connection->why;
    return context->errstr && context->errstr[0] != '\0'
               ? context->errstr
               : "the connection was closed";
}

/* Ends the connection. hiredis has already called the callbacks of all
 * commands. */
static void on_disconnected(const redisAsyncContext *context, int status)
{
    struct kv_connection *connection = context->data;

    (void)status;
    if (connection)
        kv_connection_end(connection, find_why(connection, context));
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct kv_connection *connection = timer->data;

    (void)loop;
    (void)events;
    if (connection->stage == KV_CONNECTION_RESTING)
        open_connection(connection);
    else
        kv_connection_lose(connection, "it does not answer");
}

static void open_connection(struct kv_connection *connection)
{
    char host[ADDRESS_TEXT_MAX + 1];
    redisAsyncContext *context;

    host[address_format(&connection->address, host)] = '\0';
    connection->stage = KV_CONNECTION_CONNECTING;
    connection->bytes_given = 0;
    connection->why = NULL;
    context = redisAsyncConnect(host, connection->address.port);
    if (!context || context->err != 0) {
        char why[sizeof(context->c.errstr)] = "out of memory";

        if (context) {
            memcpy(why, context->c.errstr, sizeof(why));
            redisAsyncFree(context);
        }
        kv_connection_end(connection, why);
        return;
    }
    connection->context = context;
    context->data = connection;
    (void)fcntl(context->c.fd, F_SETFD, FD_CLOEXEC);
    (void)redisEnableKeepAlive(&context->c);
    if (!kv_connection_guard(context) ||
        (connection->target && !kv_connection_encrypt(connection))) {
        kv_connection_lose(connection, "out of memory");
        return;
    }
    /* hiredis watches the socket from redisAsyncSetConnectCallback() on, so
     * the loop is attached before. */
    if (!connection->target)
        (void)redisLibevAttach(connection->options.loop, context);
    (void)redisAsyncSetDisconnectCallback(context, on_disconnected);
    (void)redisAsyncSetConnectCallback(context, on_connected);
    kv_connection_set_timer(connection, OPEN_MS);
}

/* --- Requests ------------------------------------------------------------- */

static void on_reply(redisAsyncContext *context, void *reply, void *about)
{
    struct kv_connection *connection = context->data;
    struct kv_connection_request *request;

    (void)about;
    if (!connection)
        return;
    if (!reply) {
        kv_connection_end(connection, context->errstr);
        return;
    }
    /* each request gets one answer */
    assert(!list_is_empty(&connection->requests));
    request = OWNER_OF(connection->requests.next, struct kv_connection_request,
                       list_node);
    list_drop(&request->list_node);
    connection->options.hooks.on_answer(request,
                                        /* on_answer may free `connection` */
                                        reply);
}

bool kv_connection_send(struct kv_connection *connection,
                        struct kv_connection_request *request,
                        struct bytes command, bool asking)
{
    assert(connection->stage == KV_CONNECTION_GREETED);
    if ((asking && !kv_connection_give(connection, NULL, NULL,
                                       BYTES("*1\r\n$6\r\nASKING\r\n"))) ||
        !kv_connection_give(connection, on_reply, NULL, command))
        return false;
    request->ends_at = connection->bytes_given;
    list_put_last(&connection->requests, &request->list_node);
    return true;
}

/* --- Coming and going ----------------------------------------------------- */

enum kv_connection_state kv_connection_state(const struct kv_connection
                                                 *connection)
{
    if (connection->stage == KV_CONNECTION_GREETED)
        return KV_CONNECTION_UP;
    return connection->failures == 0 ? KV_CONNECTION_OPENING
                                     : KV_CONNECTION_DOWN;
}

bool kv_connection_is_idle(const struct kv_connection *connection)
{
    return list_is_empty(&connection->requests);
}

const struct address *kv_connection_address(const struct kv_connection
                                                *connection)
{
    return &connection->address;
}

struct bytes kv_connection_script(const struct kv_connection *connection,
                                  enum kv_script script)
{
    return (struct bytes){connection->shas[script],
                          connection->sha_bytes[script]};
}

struct kv_connection *kv_connection_create(
    const struct kv_connection_options *options, const struct address *address)
{
    struct kv_connection *connection = calloc(1, sizeof(*connection));

    if (!connection)
        return NULL;
    connection->options = *options;
    connection->address = *address;
    if (options->tls)
        connection->target = tls_target_create(options->tls,
                                               bytes_of(options->host));
    if (options->tls && !connection->target) {
        free(connection);
        return NULL;
    }
    connection->random = now_read_ns() | 1;
    list_init(&connection->requests);
    ev_init(&connection->timer, on_timer);
    connection->timer.data = connection;
    /* The timer begins to connect, so no hook is called before this function
     * returns. */
    kv_connection_set_timer(connection, 0);
    return connection;
}

void kv_connection_destroy(struct kv_connection *connection)
{
    if (!connection)
        return;
    ev_timer_stop(connection->options.loop, &connection->timer);
    list_drop(&connection->requests);
    if (connection->context) {
        connection->context->data = NULL;
        redisAsyncFree(connection->context);
    }
    tls_target_destroy(connection->target);
    free(connection);
}
