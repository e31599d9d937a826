#include "io/resolver.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "io/resolver_priv.h"

enum {
    /* How many look-ups begin before the loop goes on, since each reads
     * /etc/hosts. */
    ASKS_PER_TURN = 16,
    /* The kernel's tick, by which the clock of struct now may lag behind. */
    TICK_MS = 10
};

/* --- Looking up ----------------------------------------------------------- */

static void wait_for_next(struct resolver_name *name, uint64_t delay_ms)
{
    name->ends_ms = name->resolver->now->mono_ms + delay_ms;
    heap_put(&name->resolver->due, &name->due_node, name->ends_ms, 0);
}

/* Draws a delay: 1 s at first, doubled each time up to 20 s, plus a random part
 * of up to a half, so that many workers do not ask in step. */
static uint64_t draw_retry_ms(struct resolver_name *name)
{
    struct resolver *resolver = name->resolver;
    unsigned doublings = name->failures < 6 ? name->failures - 1 : 5;
    uint64_t ms = (uint64_t)RESOLVER_RETRY_MIN_MS << doublings;
    uint64_t bits;

    if (ms > RESOLVER_RETRY_MAX_MS * 2 / 3)
        ms = RESOLVER_RETRY_MAX_MS * 2 / 3;
    resolver->draws++;
    bits = siphash_of(&resolver->key,
                      (struct bytes){(const char *)&resolver->draws,
                                     sizeof(resolver->draws)})
               .words[0];
    return ms + bits % (ms / 2 + 1);
}

static void bring_news(struct resolver_name *name)
{
    list_drop(&name->news_link);
    list_put_last(&name->resolver->news, &name->news_link);
}

static void note_failure(struct resolver_name *name, const char *why)
{
    name->why = why;
    if (name->failures++ == 0)
        log_warning("resolve '%s': %s%s", name->host, why,
                    name->count > 0 ? "; its old addresses stay" : "");
    if (name->state == RESOLVER_ASKING) {
        name->state = RESOLVER_FAILED;
        bring_news(name);
    }
    wait_for_next(name, draw_retry_ms(name));
}

static void note_found(struct resolver_name *name,
                       const struct address_merge *merge, uint64_t ttl_ms)
{
    struct address addresses[RESOLVER_ADDRESSES_MAX];
    bool is_other;
    size_t count = address_merge_finish(merge, addresses, &is_other);

    if (count == 0) {
        note_failure(name, "no address that can be connected to");
        return;
    }
    if (name->failures > 0)
        log_notice("resolve '%s': found again", name->host);
    name->failures = 0;
    name->why = NULL;
    name->state = RESOLVER_KNOWN;
    if (is_other) {
        name->count = count;
        memcpy(name->addresses, addresses, count * sizeof(*addresses));
        bring_news(name);
    }
    wait_for_next(name, ttl_ms);
}

/* --- The loop's part ------------------------------------------------------ */

/* Sets the timer to expire when c-ares or a name is due. */
static void set_timer(struct resolver *resolver)
{
    const struct heap_item *first = heap_first(&resolver->due);
    uint64_t now_ms = resolver->now->mono_ms;
    uint64_t delay_ms = resolver_ares_left_ms(resolver);

    if (first && first->key <= now_ms)
        delay_ms = 0;
    else if (first && first->key - now_ms + TICK_MS < delay_ms)
        delay_ms = first->key - now_ms + TICK_MS;
    if (!list_is_empty(&resolver->news))
        delay_ms = 0;
    if (delay_ms == UINT64_MAX) {
        ev_timer_stop(resolver->loop, &resolver->timer);
        return;
    }
    /* 0 would stop the timer. */
    resolver->timer.repeat = delay_ms > 0 ? (double)delay_ms / 1000 : 1e-6;
    ev_timer_again(resolver->loop, &resolver->timer);
}

static void ask_for_due(struct resolver *resolver)
{
    for (unsigned i = 0; i < ASKS_PER_TURN; i++) {
        const struct heap_item *first = heap_first(&resolver->due);

        if (!first || first->key > resolver->now->mono_ms)
            return;
        resolver_ares_ask(OWNER_OF(heap_take(&resolver->due),
                                   struct resolver_name, due_node));
    }
}

/* Tells the owners of names that there is news. Each name is taken off the list
 * before its owner is told, since the owner may close any name. */
static void tell_news(struct resolver *resolver)
{
    resolver->is_telling = true;
    while (!list_is_empty(&resolver->news)) {
        struct resolver_name *name = OWNER_OF(resolver->news.next,
                                              struct resolver_name, news_link);

        list_drop(&name->news_link);
        name->on_change(name->context, name);
    }
    resolver->is_telling = false;
}

static void end_turn(struct resolver *resolver)
{
    tell_news(resolver);
    set_timer(resolver);
}

static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct resolver *resolver = timer->data;

    (void)loop;
    (void)events;
    resolver_ares_mind_time(resolver);
    ask_for_due(resolver);
    end_turn(resolver);
}

/* --- Creation ------------------------------------------------------------- */

int resolver_create(struct resolver **resolver_out,
                    const struct resolver_options *options)
{
    static const struct resolver_events events = {.on_failure = note_failure,
                                                  .on_found = note_found,
                                                  .on_turn_end = end_turn};
    struct resolver *resolver = calloc(1, sizeof(*resolver));
    int err;

    if (!resolver)
        return -ENOMEM;
    resolver->events = &events;
    resolver->loop = options->loop;
    resolver->now = options->now;
    ev_init(&resolver->timer, on_time);
    resolver->timer.data = resolver;
    list_init(&resolver->names);
    list_init(&resolver->news);
    heap_init(&resolver->due);
    if ((err = siphash_make_key(&resolver->key)) != 0 ||
        (err = resolver_ares_open(resolver, options)) != 0) {
        resolver_destroy(resolver);
        return err;
    }
    *resolver_out = resolver;
    return 0;
}

void resolver_destroy(struct resolver *resolver)
{
    if (!resolver)
        return;
    assert(!resolver->is_telling);
    while (!list_is_empty(&resolver->names))
        resolver_name_close(OWNER_OF(resolver->names.next, struct resolver_name,
                                     list_node));
    resolver_ares_close(resolver);
    ev_timer_stop(resolver->loop, &resolver->timer);
    heap_fini(&resolver->due);
    free(resolver);
}

/* --- Names ---------------------------------------------------------------- */

int resolver_name_open(struct resolver_name **name_out,
                       struct resolver *resolver, struct bytes host,
                       uint16_t port, resolver_fn on_change, void *context)
{
    struct resolver_name *name;
    struct address literal;
    bool is_literal = address_parse(&literal, host);

    if (!is_literal && !host_name_is_valid(host))
        return -EINVAL;
    if (resolver->name_count == RESOLVER_NAMES_MAX)
        return -ENOSPC;
    if (heap_reserve(&resolver->due, resolver->name_count + 1) != 0 ||
        !(name = calloc(1, sizeof(*name))))
        return -ENOMEM;
    name->resolver = resolver;
    name->on_change = on_change;
    name->context = context;
    name->port = port;
    list_init(&name->news_link);
    list_put_last(&resolver->names, &name->list_node);
    resolver->name_count++;
    if (is_literal) {
        literal.port = port;
        name->addresses[name->count++] = literal;
        name->state = RESOLVER_KNOWN;
    } else {
        /* The name is in lower case, or c-ares would not know "localhost". */
        for (size_t i = 0; i < host.len; i++)
            name->host[i] = byte_lower(host.data[i]);
        resolver_ares_ask(name);
        list_drop(&name->news_link);
        set_timer(resolver);
    }
    *name_out = name;
    return 0;
}

void resolver_name_close(struct resolver_name *name)
{
    if (!name)
        return;
    list_drop(&name->list_node);
    list_drop(&name->news_link);
    heap_drop(&name->resolver->due, &name->due_node);
    name->resolver->name_count--;
    if (name->is_asking)
        name->is_closed = true;
    else
        free(name);
}

enum resolver_state resolver_name_state(const struct resolver_name *name)
{
    return name->state;
}

const struct address *resolver_name_addresses(const struct resolver_name *name,
                                              size_t *count_out)
{
    *count_out = name->count;
    return name->addresses;
}

uint64_t resolver_name_ends_ms(const struct resolver_name *name)
{
    return name->ends_ms;
}

const char *resolver_name_why(const struct resolver_name *name)
{
    return name->why;
}
