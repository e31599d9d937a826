#include <stdlib.h>

#include "kv/kv_page.h"
#include "kv/redis/kv_redis_priv.h"

/*
 *   node --"hset", channel of a key--> item --HMGET--> event --> ring
 *
 * Items become events in the order in which they were heard, and only after
 * HMGET was answered. So the last event of a key shows the key's present state,
 * unless a later item of the key still waits for its answer. The engine does
 * not store notifications. So watchers are reset when a listener was lost or
 * too many items came, and no watch can be resumed.
 */
enum { ITEMS_MAX = 1024 /* heard but not yet reported, per client */ };

struct item {
    struct kv_redis_question
        question;          /* node of client->questions while the item lives */
    struct list list_node; /* linked into feed->items */
    struct kv_redis_call call;
    enum kv_event_kind kind;
    bool is_done;
    bool is_void; /* the item makes no event */
    uint64_t value_bytes;
    struct kv_meta meta;
    size_t key_len;
    size_t type_len;
    char key[KV_KEY_BYTES_MAX];
    char type[KV_TYPE_BYTES_MAX];
};

/* --- Those who watch ------------------------------------------------------ */

static void wake(struct kv_redis_feed *feed)
{
    for (struct list *at = feed->watches.next; at != &feed->watches;
         at = at->next) {
        struct kv_watch *watch = OWNER_OF(at, struct kv_watch, list_node);

        if (watch->outcome == KV_FOUND)
            watch->on_change(watch);
    }
}

static bool is_watched(const struct kv_redis_feed *feed, struct bytes key)
{
    for (const struct list *at = feed->watches.next; at != &feed->watches;
         at = at->next)
        if (kv_key_begins_with(key, OWNER_OF(at, struct kv_watch, list_node)
                                        ->prefix))
            return true;
    return false;
}

static void reset_all(struct kv_redis_feed *feed)
{
    feed->has_missed = false;
    kv_events_restart(feed->events, ++feed->number);
    wake(feed);
}

/* --- Items ---------------------------------------------------------------- */

static void destroy_item(struct kv_redis_question *question)
{
    struct item *item = OWNER_OF(question, struct item, question);

    list_drop(&question->list_node);
    list_drop(&item->list_node);
    free(item);
}

void kv_redis_feed_tell(struct kv_redis_client *client)
{
    struct kv_redis_feed *feed = &client->feed;
    uint64_t before = feed->number;

    while (!list_is_empty(&feed->items)) {
        struct item *item = OWNER_OF(feed->items.next, struct item, list_node);
        struct kv_entry entry = {.key = {item->key, item->key_len},
                                 .value_bytes = item->value_bytes,
                                 .meta = item->meta,
                                 .type = {item->type, item->type_len}};

        if (!item->is_done)
            break;
        if (!item->is_void)
            kv_events_put(feed->events, item->kind, ++feed->number, &entry);
        feed->item_count--;
        destroy_item(&item->question);
    }
    if (feed->number > before) {
        kv_events_publish(feed->events, feed->number);
        wake(feed);
    }
    if (feed->has_missed && list_is_empty(&feed->items))
        reset_all(feed);
}

static void put_question(struct kv_redis_call *call, struct buf *out)
{
    const struct item *item = OWNER_OF(call, struct item, call);
    static const char fields[] = "rmetn";

    kv_command_begin(out, 7);
    kv_command_put(out, BYTES("HMGET"));
    kv_command_put_joined(out, kv_redis_base(call->client, call->partition),
                          BYTES("k:"),
                          (struct bytes){item->key, item->key_len});
    for (size_t i = 0; i < sizeof(fields) - 1; i++)
        kv_command_put(out, (struct bytes){&fields[i], 1});
}

/* Fills the item from the reply about the key. If the key is gone, the item
 * becomes void, since a later item reports the removal. */
static void take_answer(struct item *item, const struct kv_reply *reply)
{
    struct kv_redis_client *client = item->call.client;
    struct bytes type;

    item->is_done = true;
    if (item->call.outcome != KV_FOUND) {
        item->is_void = client->feed.has_missed = true;
        return;
    }
    item->is_void = !kv_redis_read_meta(reply, &item->meta, &type,
                                        &item->value_bytes);
    if (item->is_void)
        return;
    item->type_len = type.len;
    memcpy(item->type, type.data, type.len);
}

static void on_answer(struct kv_redis_call *call, const struct kv_reply *reply)
{
    take_answer(OWNER_OF(call, struct item, call), reply);
    kv_redis_feed_tell(call->client);
}

static void add_item(struct kv_redis_client *client, enum kv_event_kind kind,
                     struct bytes key)
{
    struct kv_redis_feed *feed = &client->feed;
    struct item *item = feed->item_count < ITEMS_MAX ? calloc(1, sizeof(*item))
                                                     : NULL;

    if (!item) {
        feed->has_missed = true;
        return;
    }
    item->question.destroy = destroy_item;
    item->kind = kind;
    item->key_len = key.len;
    memcpy(item->key, key.data, key.len);
    list_put_last(&client->questions, &item->question.list_node);
    list_put_last(&feed->items, &item->list_node);
    feed->item_count++;
    item->is_done = kind != KV_EVENT_PUT;
    if (item->is_done)
        return;
    item->call = (struct kv_redis_call){.partition = kv_redis_partition(key),
                                        .may_repeat = true,
                                        .put = put_question,
                                        .on_end = on_answer};
    if (kv_redis_call_start(client, &item->call))
        take_answer(item, NULL);
}

/* --- What is heard -------------------------------------------------------- */

/* Reads the key from "__keyspace@0__:NAME:{n}:k:KEY". Returns false if the
 * channel has another form, or if n is not the key's partition. */
static bool read_channel(const struct kv_redis_client *client,
                         struct bytes channel, struct bytes *key_out)
{
    const char *end = channel.data + channel.len;
    const char *brace = channel.len > 0
                            ? memmem(channel.data, channel.len, "}:k:", 4)
                            : NULL;
    struct bytes base;

    if (!brace)
        return false;
    *key_out = bytes_between(brace + 4, end);
    if (key_out->len == 0 || key_out->len > KV_KEY_BYTES_MAX)
        return false;
    base = kv_redis_base(client, kv_redis_partition(*key_out));
    return (size_t)(brace + 2 - channel.data) >= base.len &&
           memcmp(brace + 2 - base.len, base.data, base.len) == 0;
}

static bool read_kind(struct bytes event, enum kv_event_kind *kind_out)
{
    static const struct {
        const char *event;
        enum kv_event_kind kind;
    } kinds[] = {{"hset", KV_EVENT_PUT},
                 {"del", KV_EVENT_DELETE},
                 {"expired", KV_EVENT_EXPIRE},
                 {"evicted", KV_EVENT_EXPIRE}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (!bytes_eq(event, bytes_of(kinds[i].event)))
            continue;
        *kind_out = kinds[i].kind;
        return true;
    }
    return false;
}

/* Handles a notification. Notifications are dropped while some nodes have no
 * listener, or after too many came: the reset that follows makes up for
 * them. */
void kv_redis_feed_hear(void *context, struct bytes channel, struct bytes event)
{
    struct kv_redis_client *client = context;
    struct kv_redis_feed *feed = &client->feed;
    enum kv_event_kind kind;
    struct bytes key;

    if (feed->state != KV_REDIS_FEED_HEARS || feed->has_missed ||
        !read_channel(client, channel, &key) || !read_kind(event, &kind) ||
        !is_watched(feed, key))
        return;
    add_item(client, kind, key);
    kv_redis_feed_tell(client);
}
