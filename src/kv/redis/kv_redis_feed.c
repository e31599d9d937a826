#include <stdio.h>
#include <stdlib.h>

#include "kv/redis/kv_redis_priv.h"

enum { EVENTS_BYTES = 256 << 10, PATIENCE_MS = 5000 };

static struct kv_redis_client *client_of(struct kv_client *client)
{
    return OWNER_OF(client, struct kv_redis_client, client);
}

/* --- Those who watch ------------------------------------------------------ */

/* Ends all watches that were not answered yet; their answer is `outcome`. If
 * `all` is set, watches that were answered with KV_FOUND end, too. */
static void give_up(struct kv_redis_feed *feed, enum kv_outcome outcome,
                    bool all)
{
    for (struct list *at = feed->watches.next; at != &feed->watches;
         at = at->next) {
        struct kv_watch *watch = OWNER_OF(at, struct kv_watch, list_node);
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
        struct kv_watch *watch = OWNER_OF(at, struct kv_watch, list_node);

        if (watch->outcome != KV_UNDONE)
            continue;
        kv_events_begin(feed->events, watch, 0);
        watch->outcome = KV_FOUND;
        watch->on_done(watch);
    }
}

static void end_patience(struct kv_redis_client *client)
{
    client->feed.is_patient = false;
    deadline_drop(&client->wheel, &client->feed.patience);
}

/* --- Listeners ------------------------------------------------------------ */

static void on_mute(void *context)
{
    struct kv_redis_client *client = context;

    client->feed.state = KV_REDIS_FEED_DEAF;
    give_up(&client->feed, KV_UNSUPPORTED, true);
}

static void on_up(void *context)
{
    kv_redis_feed_look(context);
}

static void on_down(void *context, const struct kv_connection *connection,
                    const char *why)
{
    struct kv_redis_client *client = context;

    (void)why; /* connections that carry calls log the reason */
    client->feed.state = KV_REDIS_FEED_DEAF;
    if (kv_connection_state(connection) == KV_CONNECTION_DOWN)
        give_up(&client->feed, KV_UNREACHABLE, false);
}

static bool has_node(const struct kv_redis_client *client,
                     const struct address *node)
{
    const struct kv_slot_map *map = &client->route.map;

    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        if (map->has[i] && kv_redis_is_same_node(&map->nodes[i], node))
            return true;
    return false;
}

static struct kv_connection *find_listener(const struct kv_redis_feed *feed,
                                           const struct address *node)
{
    for (size_t i = 0; i < feed->connection_count; i++)
        if (kv_redis_is_same_node(kv_connection_address(feed->connections[i]),
                                  node))
            return feed->connections[i];
    return NULL;
}

static void drop_listeners(struct kv_redis_client *client, bool all)
{
    struct kv_redis_feed *feed = &client->feed;
    size_t kept = 0;

    for (size_t i = 0; i < feed->connection_count; i++) {
        if (!all &&
            has_node(client, kv_connection_address(feed->connections[i])))
            feed->connections[kept++] = feed->connections[i];
        else
            kv_connection_destroy(feed->connections[i]);
    }
    feed->connection_count = kept;
}

static struct kv_connection *add_listener(struct kv_redis_client *client,
                                          const struct address *node)
{
    struct kv_redis_feed *feed = &client->feed;
    struct kv_connection_options options = kv_redis_aim(client, node);
    struct kv_connection *connection = NULL;

    options.pattern = feed->pattern;
    options.hooks = (struct kv_connection_hooks){.on_up = on_up,
                                                 .on_down = on_down,
                                                 .on_heard = kv_redis_feed_hear,
                                                 .on_mute = on_mute,
                                                 .context = client};
    if (feed->connection_count < KV_REDIS_NODES_MAX)
        connection = kv_connection_create(&options, node);
    if (connection)
        feed->connections[feed->connection_count++] = connection;
    return connection;
}

/* Whether each partition's master has a listener that is up. Missing listeners
 * are made. */
static bool hears_all(struct kv_redis_client *client)
{
    const struct kv_slot_map *map = &client->route.map;
    bool hears = true;

    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++) {
        struct kv_connection *connection = NULL;

        if (map->has[i])
            connection = find_listener(&client->feed, &map->nodes[i]);
        if (map->has[i] && !connection)
            connection = add_listener(client, &map->nodes[i]);
        hears &= connection &&
                 kv_connection_state(connection) == KV_CONNECTION_UP;
    }
    return hears;
}

/* Returns true if all listeners may still connect soon: none has failed, or the
 * cluster's map is unknown and may still come. */
static bool may_hear_soon(struct kv_redis_client *client)
{
    const struct kv_redis_feed *feed = &client->feed;
    bool may_come = false;

    if (client->route.mode == KV_REDIS_UNKNOWN) {
        (void)kv_redis_route_find(client, 0, &may_come);
        return may_come;
    }
    for (size_t i = 0; i < feed->connection_count; i++)
        if (kv_connection_state(feed->connections[i]) == KV_CONNECTION_DOWN)
            return false;
    return true;
}

void kv_redis_feed_look(struct kv_redis_client *client)
{
    struct kv_redis_feed *feed = &client->feed;

    if (feed->state == KV_REDIS_FEED_OFF ||
        client->route.mode == KV_REDIS_UNKNOWN)
        return;
    drop_listeners(client, false);
    if (!hears_all(client)) {
        feed->state = KV_REDIS_FEED_DEAF;
        return;
    }
    if (feed->state == KV_REDIS_FEED_HEARS)
        return;
    feed->state = KV_REDIS_FEED_HEARS;
    feed->has_missed = true;
    kv_redis_feed_tell(client);
    end_patience(client);
    begin_all(feed);
}

void kv_redis_feed_on_deadline(struct kv_redis_client *client)
{
    client->feed.is_patient = false;
    if (client->feed.state == KV_REDIS_FEED_DEAF)
        give_up(&client->feed, KV_UNREACHABLE, false);
}

/* --- Watching ------------------------------------------------------------- */

bool kv_redis_watch(struct kv_client *base, struct kv_watch *watch)
{
    struct kv_redis_client *client = client_of(base);
    struct kv_redis_feed *feed = &client->feed;

    list_put_last(&feed->watches, &watch->list_node);
    watch->outcome = KV_UNDONE; /* KV_UNDONE: not answered yet */
    if (!feed->events)
        feed->events = kv_events_create(EVENTS_BYTES, false);
    if (!feed->events) {
        watch->outcome = KV_BUSY;
        return true;
    }
    if (feed->state == KV_REDIS_FEED_OFF) {
        feed->state = KV_REDIS_FEED_DEAF;
        kv_redis_feed_look(client);
    }
    if (feed->state == KV_REDIS_FEED_HEARS) {
        kv_events_begin(feed->events, watch, 0);
        watch->outcome = KV_FOUND;
        return true;
    }
    if (!may_hear_soon(client)) {
        watch->outcome = KV_UNREACHABLE;
        return true;
    }
    if (!feed->is_patient)
        deadline_set(&client->wheel, &feed->patience,
                     client->now->mono_ms + PATIENCE_MS);
    feed->is_patient = true;
    return false;
}

void kv_redis_unwatch(struct kv_client *base, struct kv_watch *watch)
{
    struct kv_redis_client *client = client_of(base);
    struct kv_redis_feed *feed = &client->feed;

    list_drop(&watch->list_node);
    if (!list_is_empty(&feed->watches))
        return;
    feed->state = KV_REDIS_FEED_OFF;
    drop_listeners(client, true);
    end_patience(client);
}

/* --- Coming and going ----------------------------------------------------- */

void kv_redis_feed_init(struct kv_redis_client *client)
{
    struct kv_redis_feed *feed = &client->feed;

    list_init(&feed->watches);
    list_init(&feed->items);
    deadline_init(&feed->patience);
    snprintf(feed->pattern, sizeof(feed->pattern), "__keyspace@%u__:%s:{*}:k:*",
             client->store->url.db, client->store->url.name);
}

void kv_redis_feed_fini(struct kv_redis_client *client)
{
    drop_listeners(client, true);
    kv_events_destroy(client->feed.events);
    client->feed.events = NULL;
}
