#include <assert.h>
#include <ev.h>
#include <fcntl.h>
#include <stdlib.h>

/* Its functions are in the header, and cast as they please. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hiredis/adapters/libev.h>
#pragma GCC diagnostic pop

#include "backend/kv_redis_link_priv.h"

enum { OPEN_MS = 2000 /* to connect, and until all is set up */ };

static void open_connection(struct kv_link *link);

/* --- Opening -------------------------------------------------------------- */

static void on_connected(const redisAsyncContext *context, int status)
{
    struct kv_link *link = context->data;

    if (!link)
        return;
    if (status != REDIS_OK) {
        kv_link_end(link, context->c.errstr);
        return;
    }
    link->stage = KV_LINK_GREETING;
    /* The library does not bear that its context goes here; where this fails,
     * the timer ends it. */
    (void)kv_link_greet(link);
}

/* What it had to answer has been told already. */
static void on_disconnected(const redisAsyncContext *context, int status)
{
    struct kv_link *link = context->data;

    (void)status;
    if (link)
        kv_link_end(link, context->errstr && context->errstr[0] != '\0'
                              ? context->errstr
                              : "the connection was closed");
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct kv_link *link = timer->data;

    (void)loop;
    (void)events;
    if (link->stage == KV_LINK_RESTING)
        open_connection(link);
    else
        kv_link_lose(link, "it does not answer");
}

static void open_connection(struct kv_link *link)
{
    char host[ADDRESS_TEXT_MAX + 1];
    redisAsyncContext *context;

    host[address_format(&link->address, host)] = '\0';
    link->stage = KV_LINK_CONNECTING;
    link->bytes_given = 0;
    context = redisAsyncConnect(host, link->address.port);
    if (!context || context->err != 0) {
        char why[sizeof(context->c.errstr)] = "out of memory";

        if (context) {
            memcpy(why, context->c.errstr, sizeof(why));
            redisAsyncFree(context);
        }
        kv_link_end(link, why);
        return;
    }
    link->context = context;
    context->data = link;
    (void)fcntl(context->c.fd, F_SETFD, FD_CLOEXEC);
    (void)redisEnableKeepAlive(&context->c);
    /* The last of these begins to wait, so all else is there before. */
    (void)redisLibevAttach(link->options.loop, context);
    (void)redisAsyncSetDisconnectCallback(context, on_disconnected);
    (void)redisAsyncSetConnectCallback(context, on_connected);
    kv_link_set_timer(link, OPEN_MS);
}

/* --- Requests ------------------------------------------------------------- */

static void on_reply(redisAsyncContext *context, void *reply, void *about)
{
    struct kv_link *link = context->data;
    struct kv_link_request *request;

    (void)about;
    if (!link)
        return;
    if (!reply) {
        kv_link_end(link, context->errstr);
        return;
    }
    assert(!list_is_empty(&link->requests)); /* it is one answer per command */
    request = OWNER_OF(link->requests.next, struct kv_link_request, link);
    list_drop(&request->link);
    link->options.hooks.on_answer(request, reply); /* link may be gone */
}

bool kv_link_send(struct kv_link *link, struct kv_link_request *request,
                  struct bytes command, bool asking)
{
    assert(link->stage == KV_LINK_GREETED);
    if ((asking &&
         !kv_link_give(link, NULL, NULL, BYTES("*1\r\n$6\r\nASKING\r\n"))) ||
        !kv_link_give(link, on_reply, NULL, command))
        return false;
    request->ends_at = link->bytes_given;
    list_put_last(&link->requests, &request->link);
    return true;
}

/* --- Coming and going ----------------------------------------------------- */

enum kv_link_state kv_link_state(const struct kv_link *link)
{
    if (link->stage == KV_LINK_GREETED)
        return KV_LINK_UP;
    return link->failures == 0 ? KV_LINK_OPENING : KV_LINK_DOWN;
}

bool kv_link_is_idle(const struct kv_link *link)
{
    return list_is_empty(&link->requests);
}

const struct address *kv_link_address(const struct kv_link *link)
{
    return &link->address;
}

struct bytes kv_link_script(const struct kv_link *link, enum kv_script script)
{
    return (struct bytes){link->shas[script], link->sha_bytes[script]};
}

struct kv_link *kv_link_create(const struct kv_link_options *options,
                               const struct address *address)
{
    struct kv_link *link = calloc(1, sizeof(*link));

    if (!link)
        return NULL;
    link->options = *options;
    link->address = *address;
    link->random = now_read_ns() | 1;
    list_init(&link->requests);
    ev_init(&link->timer, on_timer);
    link->timer.data = link;
    kv_link_set_timer(link, 0); /* hooks are not called before this returns */
    return link;
}

void kv_link_destroy(struct kv_link *link)
{
    if (!link)
        return;
    ev_timer_stop(link->options.loop, &link->timer);
    list_drop(&link->requests);
    if (link->context) {
        link->context->data = NULL;
        redisAsyncFree(link->context);
    }
    free(link);
}
