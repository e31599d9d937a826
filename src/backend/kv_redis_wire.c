#include <hiredis/async.h>

#include "backend/kv_redis_link_priv.h"

enum {
    RETRY_MS_MIN = 50,
    RETRY_MS_MAX = 2000,
    STEADY_MS = 1000 /* up for so long, it was fine */
};

/* --- The end of a connection ---------------------------------------------- */

void kv_link_set_timer(struct kv_link *link, uint64_t ms)
{
    ev_timer_stop(link->options.loop, &link->timer);
    ev_timer_set(&link->timer, (double)ms / 1000, 0);
    ev_timer_start(link->options.loop, &link->timer);
}

/* xorshift64: many that lost the same node shall not come back at once. */
static uint64_t retry_ms(struct kv_link *link)
{
    unsigned shift = link->failures - 1 < 6 ? link->failures - 1 : 6;
    uint64_t ms = (uint64_t)RETRY_MS_MIN << shift;

    link->random ^= link->random << 13;
    link->random ^= link->random >> 7;
    link->random ^= link->random << 17;
    if (ms > RETRY_MS_MAX)
        ms = RETRY_MS_MAX;
    return ms / 2 + link->random % (ms / 2 + 1);
}

/* How much of what was given has left us. */
static uint64_t count_sent(const struct kv_link *link)
{
    const char *rest = link->context->c.obuf;

    return link->bytes_given - (rest ? sdslen((sds)(uintptr_t)rest) : 0);
}

/* Requests go back when the link is at rest already: they may be for another
 * one. A command that has not left whole cannot have run. */
void kv_link_end(struct kv_link *link, const char *why)
{
    const struct kv_link_hooks *hooks = &link->options.hooks;
    uint64_t sent = link->context ? count_sent(link) : 0;
    struct list back;

    list_init(&back);
    if (!list_is_empty(&link->requests)) {
        list_put_before(&link->requests, &back);
        list_drop(&link->requests);
    }
    if (link->context)
        link->context->data = NULL;
    link->context = NULL;
    if (link->stage != KV_LINK_GREETED)
        link->failures++;
    else if (link->options.now->mono_ms - link->up_since_ms >= STEADY_MS)
        link->short_lives = 0;
    else
        link->failures = link->short_lives++;
    link->stage = KV_LINK_RESTING;
    kv_link_set_timer(link, link->failures > 0 ? retry_ms(link) : 0);
    hooks->on_down(hooks->context, link, why);
    while (!list_is_empty(&back)) {
        struct kv_link_request *request =
            OWNER_OF(back.next, struct kv_link_request, link);

        list_drop(&request->link);
        hooks->on_return(request, request->ends_at <= sent);
    }
}

void kv_link_lose(struct kv_link *link, const char *why)
{
    redisAsyncContext *context = link->context;

    kv_link_end(link, why);
    if (context)
        redisAsyncFree(context);
}

bool kv_link_give(struct kv_link *link, kv_link_reply_fn on_reply, void *about,
                  struct bytes command)
{
    if (redisAsyncFormattedCommand(link->context, on_reply, about, command.data,
                                   command.len) != REDIS_OK)
        return false;
    link->bytes_given += command.len;
    return true;
}
