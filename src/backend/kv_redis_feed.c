#include <stdio.h>
#include <stdlib.h>

#include "backend/kv_redis_priv.h"

enum { EVENTS_BYTES = 256 << 10, PATIENCE_MS = 5000 };

static struct kv_redis_desk *desk_of(struct kv_desk *desk)
{
    return OWNER_OF(desk, struct kv_redis_desk, desk);
}

/* --- Those who watch ------------------------------------------------------ */

/* Answers those who wait; those who do not are told, too, that it is over. */
static void give_up(struct kv_redis_feed *feed, enum kv_outcome outcome,
                    bool all)
{
    for (struct list *at = feed->watches.next; at != &feed->watches;
         at = at->next) {
        struct kv_watch *watch = OWNER_OF(at, struct kv_watch, link);
        bool was_waiting = watch->outcome == KV_UNDONE;

        if (!was_waiting && !(all && watch->outcome == KV_FOUND))
            continue;
        watch->outcome = outcome;
        if (was_waiting)
            watch->on_done(watch);
        else
            watch->on_change(watch);
    }
}

static void begin_all(struct kv_redis_feed *feed)
{
    for (struct list *at = feed->watches.next; at != &feed->watches;
         at = at->next) {
        struct kv_watch *watch = OWNER_OF(at, struct kv_watch, link);

        if (watch->outcome != KV_UNDONE)
            continue;
        kv_events_begin(feed->events, watch, 0);
        watch->outcome = KV_FOUND;
        watch->on_done(watch);
    }
}

static void end_patience(struct kv_redis_desk *desk)
{
    desk->feed.is_patient = false;
    deadline_drop(&desk->wheel, &desk->feed.patience);
}

/* --- Listeners ------------------------------------------------------------ */

static void on_mute(void *context)
{
    struct kv_redis_desk *desk = context;

    desk->feed.state = KV_REDIS_FEED_DEAF;
    give_up(&desk->feed, KV_UNSUPPORTED, true);
}

static void on_up(void *context)
{
    kv_redis_feed_look(context);
}

static void on_down(void *context, const struct kv_link *link, const char *why)
{
    struct kv_redis_desk *desk = context;

    (void)why; /* its other links say that, too */
    desk->feed.state = KV_REDIS_FEED_DEAF;
    if (kv_link_state(link) == KV_LINK_DOWN)
        give_up(&desk->feed, KV_UNREACHABLE, false);
}

static bool has_node(const struct kv_redis_desk *desk,
                     const struct address *node)
{
    const struct kv_slot_map *map = &desk->route.map;

    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (map->has[i] && kv_redis_is_same_node(&map->nodes[i], node))
            return true;
    return false;
}

static struct kv_link *find_listener(const struct kv_redis_feed *feed,
                                     const struct address *node)
{
    for (size_t i = 0; i < feed->link_count; i++)
        if (kv_redis_is_same_node(kv_link_address(feed->links[i]), node))
            return feed->links[i];
    return NULL;
}

static void drop_listeners(struct kv_redis_desk *desk, bool all)
{
    struct kv_redis_feed *feed = &desk->feed;
    size_t kept = 0;

    for (size_t i = 0; i < feed->link_count; i++) {
        if (!all && has_node(desk, kv_link_address(feed->links[i])))
            feed->links[kept++] = feed->links[i];
        else
            kv_link_destroy(feed->links[i]);
    }
    feed->link_count = kept;
}

static struct kv_link *add_listener(struct kv_redis_desk *desk,
                                    const struct address *node)
{
    struct kv_redis_feed *feed = &desk->feed;
    struct kv_link_options options = {.loop = desk->loop,
                                      .now = desk->now,
                                      .url = &desk->store->url,
                                      .pattern = feed->pattern,
                                      .hooks = {.on_up = on_up,
                                                .on_down = on_down,
                                                .on_heard = kv_redis_feed_hear,
                                                .on_mute = on_mute,
                                                .context = desk}};
    struct kv_link *link = NULL;

    if (feed->link_count < KV_REDIS_NODES_MAX)
        link = kv_link_create(&options, node);
    if (link)
        feed->links[feed->link_count++] = link;
    return link;
}

/* Whether each partition's master is listened to; makes what is missing. */
static bool hears_all(struct kv_redis_desk *desk)
{
    const struct kv_slot_map *map = &desk->route.map;
    bool hears = true;

    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        struct kv_link *link = NULL;

        if (map->has[i])
            link = find_listener(&desk->feed, &map->nodes[i]);
        if (map->has[i] && !link)
            link = add_listener(desk, &map->nodes[i]);
        hears &= link && kv_link_state(link) == KV_LINK_UP;
    }
    return hears;
}

/* Whether there is something to wait for. */
static bool may_hear_soon(struct kv_redis_desk *desk)
{
    const struct kv_redis_feed *feed = &desk->feed;
    bool may_come = false;

    if (desk->route.mode == KV_REDIS_UNKNOWN) {
        (void)kv_redis_route_find(desk, 0, &may_come);
        return may_come;
    }
    for (size_t i = 0; i < feed->link_count; i++)
        if (kv_link_state(feed->links[i]) == KV_LINK_DOWN)
            return false;
    return true;
}

void kv_redis_feed_look(struct kv_redis_desk *desk)
{
    struct kv_redis_feed *feed = &desk->feed;

    if (feed->state == KV_REDIS_FEED_OFF ||
        desk->route.mode == KV_REDIS_UNKNOWN)
        return;
    drop_listeners(desk, false);
    if (!hears_all(desk)) {
        feed->state = KV_REDIS_FEED_DEAF;
        return;
    }
    if (feed->state == KV_REDIS_FEED_HEARS)
        return;
    feed->state = KV_REDIS_FEED_HEARS;
    feed->has_missed = true;
    kv_redis_feed_tell(desk);
    end_patience(desk);
    begin_all(feed);
}

void kv_redis_feed_on_deadline(struct kv_redis_desk *desk)
{
    desk->feed.is_patient = false;
    if (desk->feed.state == KV_REDIS_FEED_DEAF)
        give_up(&desk->feed, KV_UNREACHABLE, false);
}

/* --- Watching ------------------------------------------------------------- */

bool kv_redis_watch(struct kv_desk *base, struct kv_watch *watch)
{
    struct kv_redis_desk *desk = desk_of(base);
    struct kv_redis_feed *feed = &desk->feed;

    list_put_last(&feed->watches, &watch->link);
    watch->outcome = KV_UNDONE; /* not answered */
    if (!feed->events)
        feed->events = kv_events_create(EVENTS_BYTES, false);
    if (!feed->events) {
        watch->outcome = KV_BUSY;
        return true;
    }
    if (feed->state == KV_REDIS_FEED_OFF) {
        feed->state = KV_REDIS_FEED_DEAF;
        kv_redis_feed_look(desk);
    }
    if (feed->state == KV_REDIS_FEED_HEARS) {
        kv_events_begin(feed->events, watch, 0);
        watch->outcome = KV_FOUND;
        return true;
    }
    if (!may_hear_soon(desk)) {
        watch->outcome = KV_UNREACHABLE;
        return true;
    }
    if (!feed->is_patient)
        deadline_set(&desk->wheel, &feed->patience,
                     desk->now->mono_ms + PATIENCE_MS);
    feed->is_patient = true;
    return false;
}

void kv_redis_unwatch(struct kv_desk *base, struct kv_watch *watch)
{
    struct kv_redis_desk *desk = desk_of(base);
    struct kv_redis_feed *feed = &desk->feed;

    list_drop(&watch->link);
    if (!list_is_empty(&feed->watches))
        return;
    feed->state = KV_REDIS_FEED_OFF;
    drop_listeners(desk, true);
    end_patience(desk);
}

/* --- Coming and going ----------------------------------------------------- */

void kv_redis_feed_init(struct kv_redis_desk *desk)
{
    struct kv_redis_feed *feed = &desk->feed;

    list_init(&feed->watches);
    list_init(&feed->items);
    deadline_init(&feed->patience);
    snprintf(feed->pattern, sizeof(feed->pattern), "__keyspace@%u__:%s:{*}:k:*",
             desk->store->url.db, desk->store->url.name);
}

void kv_redis_feed_fini(struct kv_redis_desk *desk)
{
    drop_listeners(desk, true);
    kv_events_destroy(desk->feed.events);
    desk->feed.events = NULL;
}
