#include "kv/lmdb/kv_lmdb_priv.h"

static struct kv_lmdb_client *client_of(struct kv_client *client)
{
    return OWNER_OF(client, struct kv_lmdb_client, client);
}

/* Tells each watch that there are events. is_told is cleared first: if the
 * writer publishes events during the loop, it sends another message. */
static void on_changed(struct mailbox_note *note)
{
    struct kv_lmdb_client *client = OWNER_OF(note, struct kv_lmdb_client,
                                             changed);

    atomic_store(&client->is_told, false);
    for (struct list *at = client->watches.next; at != &client->watches;
         at = at->next) {
        struct kv_watch *watch = OWNER_OF(at, struct kv_watch, list_node);

        watch->on_change(watch);
    }
}

/* Sends messages to clients that have watches. A client counts a new watch
 * before it reads the events, and the writer reads the count after publishing
 * events. So either the watch sees the events, or the writer sees the watch. */
void kv_lmdb_tell_watchers(struct kv_lmdb *store)
{
    if (atomic_load(&store->watch_count) == 0)
        return;
    pthread_mutex_lock(&store->clients_mutex);
    for (struct list *at = store->clients.next; at != &store->clients;
         at = at->next) {
        struct kv_lmdb_client *client = OWNER_OF(at, struct kv_lmdb_client,
                                                 list_node);

        if (atomic_load(&client->watch_count) > 0 &&
            !atomic_exchange(&client->is_told, true))
            mailbox_send(client->mailbox, &client->changed);
    }
    pthread_mutex_unlock(&store->clients_mutex);
}

/* Reads the store's revision, because a client may have seen changes that are
 * committed but not published yet. The client can resume its watch from such a
 * change. */
bool kv_lmdb_watch(struct kv_client *base, struct kv_watch *watch)
{
    struct kv_lmdb_client *client = client_of(base);
    struct kv_events *events = client->store->events;
    uint64_t known = 0;

    list_put_last(&client->watches, &watch->list_node);
    atomic_fetch_add(&client->store->watch_count, 1);
    atomic_fetch_add(&client->watch_count, 1);
    if (watch->has_since && watch->since > kv_events_last(events))
        known = kv_lmdb_read_revision(client);
    kv_events_begin(events, watch, known);
    watch->outcome = KV_FOUND;
    return true;
}

void kv_lmdb_unwatch(struct kv_client *base, struct kv_watch *watch)
{
    struct kv_lmdb_client *client = client_of(base);

    list_drop(&watch->list_node);
    atomic_fetch_sub(&client->watch_count, 1);
    atomic_fetch_sub(&client->store->watch_count, 1);
}

void kv_lmdb_watch_init(struct kv_lmdb_client *client)
{
    list_init(&client->watches);
    client->changed.on_arrive = on_changed;
}
