#include "cache/cache_store_priv.h"

static void on_kept(void *context, struct cache_entry *entry,
                    struct cache_file *file)
{
    struct cache_store *store = context;
    struct cache_shard *shard = cache_shard_of(store, entry->hash);
    bool is_settled;

    pthread_mutex_lock(&shard->mutex);
    if (entry->is_indexed && !entry->file && file) {
        entry->file = file;
        file = NULL;
        /* The entry may have been purged softly meanwhile. */
        if (atomic_load_explicit(&entry->is_purged, memory_order_relaxed))
            cache_disk_change(store->disk, entry, entry->file);
    }
    is_settled = entry->is_settled;
    pthread_mutex_unlock(&shard->mutex);
    if (file)
        cache_disk_forget(store->disk, file);
    cache_file_release(&file);
    if (!is_settled)
        cache_index_settle(store, entry);
}

static void on_lost(void *context, struct cache_entry *entry)
{
    cache_store_drop(context, entry);
}

/* Finds the newest entry with the key and variant of `entry`. The shard is
 * locked. */
static struct cache_entry *find_same(struct cache_shard *shard,
                                     const struct cache_entry *entry)
{
    struct cache_entry *at = *cache_bucket_of(shard, entry->hash);

    while (at && !(cache_entry_has_key(at, entry->hash, entry->key) &&
                   bytes_eq(at->names, entry->names) &&
                   bytes_eq(at->variant, entry->variant)))
        at = at->next;
    return at;
}

/* Tells how this process has purged the entry before it was found on the disk.
 * An entry whose key was made invalid counts as purged. The entry's shard is
 * locked. */
static enum cache_purged said_against(struct cache_store *store,
                                      struct cache_shard *shard,
                                      const struct cache_entry *entry)
{
    return *cache_epoch_of(shard, entry->hash) != 0
               ? CACHE_PURGED
               : cache_purges_since(&store->purges, 0, entry);
}

/* Takes in an entry that another process has left on the disk. If this process
 * has put a newer entry of the same variant since, the newer one stays. */
static bool on_found(void *context, struct cache_entry *entry,
                     struct cache_file *file)
{
    struct cache_store *store = context;
    struct cache_entry *gone = NULL, *same;
    struct cache_shard *shard;
    bool is_wanted = true, is_new = false;
    enum cache_purged purged;

    entry->hash = cache_hash_of(store, entry->key);
    shard = cache_shard_of(store, entry->hash);
    pthread_mutex_lock(&shard->mutex);
    same = find_same(shard, entry);
    purged = said_against(store, shard, entry);
    if (same && same->file && same->file->name.serial == file->name.serial) {
        is_new = false; /* the entry is known already */
    } else if (same && same->facts.born_s >= entry->facts.born_s) {
        is_wanted = false;
    } else if (purged == CACHE_PURGED) {
        is_wanted = false;
    } else {
        entry->file = cache_file_acquire(file);
        gone = cache_index_insert_found(store, shard, entry);
        is_new = true;
        if (purged == CACHE_PURGED_SOFTLY) {
            atomic_store_explicit(&entry->is_purged, true,
                                  memory_order_relaxed);
            cache_disk_change(store->disk, entry, file);
        }
    }
    pthread_mutex_unlock(&shard->mutex);
    cache_index_release(store, gone);
    if (is_new)
        cache_index_settle(store, entry);
    return is_wanted;
}

const struct cache_disk_events cache_store_disk_events = {on_kept, on_lost,
                                                          on_found};
