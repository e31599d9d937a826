#include "backend/kv_lmdb_priv.h"

static struct kv_lmdb_desk *desk_of(struct kv_desk *desk)
{
    return OWNER_OF(desk, struct kv_lmdb_desk, desk);
}

/* The writer may tell again before all have been told: they see it all. */
static void on_changed(struct mailbox_note *note)
{
    struct kv_lmdb_desk *desk = OWNER_OF(note, struct kv_lmdb_desk, changed);

    atomic_store(&desk->is_told, false);
    for (struct list *at = desk->watches.next; at != &desk->watches;
         at = at->next) {
        struct kv_watch *watch = OWNER_OF(at, struct kv_watch, link);

        watch->on_change(watch);
    }
}

/* A watch is counted before it looks at the events, and the writer looks at the
 * count after it has published: one of them sees the other. */
void kv_lmdb_tell_watchers(struct kv_lmdb *store)
{
    if (atomic_load(&store->watch_count) == 0)
        return;
    pthread_mutex_lock(&store->desks_mutex);
    for (struct list *at = store->desks.next; at != &store->desks;
         at = at->next) {
        struct kv_lmdb_desk *desk = OWNER_OF(at, struct kv_lmdb_desk, link);

        if (atomic_load(&desk->watch_count) > 0 &&
            !atomic_exchange(&desk->is_told, true))
            mailbox_send(desk->mailbox, &desk->changed);
    }
    pthread_mutex_unlock(&store->desks_mutex);
}

/* What a reader has seen may not be published yet, but will be. */
bool kv_lmdb_watch(struct kv_desk *base, struct kv_watch *watch)
{
    struct kv_lmdb_desk *desk = desk_of(base);
    struct kv_events *events = desk->store->events;
    uint64_t known = 0;

    list_put_last(&desk->watches, &watch->link);
    atomic_fetch_add(&desk->store->watch_count, 1);
    atomic_fetch_add(&desk->watch_count, 1);
    if (watch->has_since && watch->since > kv_events_last(events))
        known = kv_lmdb_read_revision(desk);
    kv_events_begin(events, watch, known);
    watch->outcome = KV_FOUND;
    return true;
}

void kv_lmdb_unwatch(struct kv_desk *base, struct kv_watch *watch)
{
    struct kv_lmdb_desk *desk = desk_of(base);

    list_drop(&watch->link);
    atomic_fetch_sub(&desk->watch_count, 1);
    atomic_fetch_sub(&desk->store->watch_count, 1);
}

void kv_lmdb_watch_init(struct kv_lmdb_desk *desk)
{
    list_init(&desk->watches);
    desk->changed.on_arrive = on_changed;
}
