
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "cache/cache_store_priv.h"
#include "cache/cache_vary.h"

/* --- Coming and going ---------------------------------------------------- */

int cache_store_create(struct cache_store **store_out,
                       const struct cache_store_options *options)
{
    struct cache_store *store = aligned_alloc(64, sizeof(*store));
    int err = -ENOMEM;

    if (!store)
        return err;
    memset(store, 0, sizeof(*store));
    store->options = *options;
    cache_purges_init(&store->purges);
    for (size_t i = 0; i < CACHE_SHARDS; i++) {
        struct cache_shard *shard = &store->shards[i];

        pthread_mutex_init(&shard->mutex, NULL);
        list_init(&shard->flights);
        shard->evict = evict_create(options->policy, UINT64_MAX, SIZE_MAX);
        if (options->disk.folder)
            shard->awake = evict_create(EVICT_SIEVE, UINT64_MAX, SIZE_MAX);
        if (!shard->evict || (options->disk.folder && !shard->awake))
            goto destroy;
    }
    err = siphash_make_key(&store->secret);
    if (err == 0 && options->disk.folder)
        err = cache_disk_open(&store->disk, &options->disk);
    if (err != 0)
        goto destroy;
    if (store->disk) {
        store->bodies.spooling = cache_disk_spooling(store->disk);
        cache_disk_start(store->disk, &cache_store_disk_events, store);
    }
    *store_out = store;
    return 0;

destroy:
    cache_store_destroy(store);
    return err;
}

void cache_store_stop(struct cache_store *store)
{
    if (store && store->disk)
        cache_disk_stop(store->disk);
}

void cache_store_leave(struct cache_store *store)
{
    if (store && store->disk)
        cache_disk_leave(store->disk);
}

void cache_store_destroy(struct cache_store *store)
{
    cache_store_stop(store);
    for (size_t i = 0; store && i < CACHE_SHARDS; i++) {
        struct cache_shard *shard = &store->shards[i];

        for (size_t k = 0; k < CACHE_BUCKETS; k++) {
            while (shard->buckets[k]) {
                struct cache_entry *entry = cache_index_take(store, shard,
                                                             shard->buckets[k]);

                cache_entry_release(&entry);
            }
        }
        evict_destroy(shard->evict);
        evict_destroy(shard->awake);
        pthread_mutex_destroy(&shard->mutex);
    }
    if (store) {
        cache_disk_close(store->disk);
        cache_purges_fini(&store->purges);
    }
    free(store);
}

const struct cache_store_options *cache_store_options_of(
    const struct cache_store *store)
{
    return &store->options;
}

/* --- Finding ------------------------------------------------------------- */

/* The values that a request has for the names of an entry. Entries with the
 * same names share these values. */
struct selection {
    const struct request *request;
    struct bytes names; /* names of the fields whose values `value` has */
    bool is_valid;
    struct buf value;
    char storage[CACHE_VARIANT_BYTES_MAX];
};

static void selection_init(struct selection *selection,
                           const struct request *request)
{
    selection->request = request;
    selection->names = BYTES("");
    selection->is_valid = true;
    buf_init(&selection->value, selection->storage, sizeof(selection->storage),
             CACHE_VARIANT_BYTES_MAX);
}

static bool is_selected(struct selection *selection,
                        const struct cache_entry *entry)
{
    if (!bytes_eq(selection->names, entry->names)) {
        selection->names = entry->names;
        selection->value.len = 0;
        selection->value.failed = false;
        selection->is_valid = cache_vary_put(entry->names, selection->request,
                                             &selection->value);
    }
    return selection->is_valid &&
           bytes_eq(buf_bytes(&selection->value), entry->variant) &&
           (entry->codings.len == 0 ||
            cache_vary_takes(selection->request, entry->codings));
}

/* Returns a hash of the variant that a request selects; 0 for answers that do
 * not vary. It tells the flights of one key apart: requests for different
 * variants do not wait for each other. */
static uint64_t hash_of_variant(const struct cache_store *store,
                                const struct selection *selection)
{
    return selection->names.len == 0
               ? 0
               : siphash_of(&store->secret, buf_bytes(&selection->value))
                     .words[0];
}

/* Gives the entry its body, and returns NULL. If another worker has given it a
 * body meanwhile, that body stays, and a reference to it is returned. */
static struct cache_body *put_awake(struct cache_store *store,
                                    struct cache_shard *shard,
                                    struct cache_entry *entry,
                                    struct cache_body *body)
{
    struct cache_body *others;

    pthread_mutex_lock(&shard->mutex);
    others = entry->body ? cache_body_acquire(entry->body) : NULL;
    if (!others && entry->is_indexed) {
        entry->body = cache_body_acquire(body);
        cache_index_note_awake(store, shard, entry);
    }
    pthread_mutex_unlock(&shard->mutex);
    return others;
}

/* Reads the found entry's body, which sleeps on a disk, or begins to read it.
 * An entry whose body cannot be read counts as not found. */
static void wake(struct cache_store *store, struct cache_shard *shard,
                 struct cache_found *found, struct cache_file *file)
{
    struct cache_entry *entry = found->entry;
    bool has_room = file->length <= CACHE_BODY_MEMORY_MAX ||
                    cache_index_has_files(store);
    struct cache_body *others = NULL;
    bool is_lost = false;

    if (has_room)
        found->body = cache_disk_wake(store->disk, file, &store->bodies,
                                      &is_lost);
    if (found->body)
        others = put_awake(store, shard, entry, found->body);
    if (others) {
        cache_body_release(&found->body);
        found->body = others;
    } else if (found->body &&
               cache_body_state_of(found->body) == CACHE_BODY_FILLING) {
        cache_disk_check(store->disk, entry, file, found->body);
    }
    if (!found->body) {
        if (is_lost) /* otherwise it can be read when there is room */
            cache_store_drop(store, entry);
        cache_entry_release(&found->entry);
    }
    cache_index_make_room(store);
}

void cache_store_find(struct cache_store *store, struct bytes key,
                      const struct request *request,
                      struct cache_found *found_out)
{
    uint64_t hash = cache_hash_of(store, key);
    struct cache_shard *shard = cache_shard_of(store, hash);
    struct cache_file *file = NULL; /* the file, if the body sleeps there */
    struct cache_entry *entry;
    struct selection selection;

    *found_out = (struct cache_found){.entry = NULL};
    selection_init(&selection, request);
    pthread_mutex_lock(&shard->mutex);
    for (entry = *cache_bucket_of(shard, hash); entry; entry = entry->next)
        if (cache_entry_has_key(entry, hash, key) &&
            is_selected(&selection, entry))
            break;
    if (entry) {
        if (entry->is_settled)
            evict_hit(shard->evict, &entry->node);
        if (entry->is_awake)
            evict_hit(shard->awake, &entry->waking);
        found_out->entry = cache_entry_acquire(entry);
        found_out->body = entry->body ? cache_body_acquire(entry->body) : NULL;
        if (!entry->body && entry->has_body)
            file = cache_file_acquire(entry->file);
    }
    found_out->version = shard->version;
    if (!entry || entry->names.len > 0)
        found_out->variant = hash_of_variant(store, &selection);
    pthread_mutex_unlock(&shard->mutex);
    buf_fini(&selection.value);
    if (file)
        wake(store, shard, found_out, file);
    cache_file_release(&file);
}

void cache_found_release(struct cache_found *found)
{
    cache_entry_release(&found->entry);
    cache_body_release(&found->body);
}

/* Returns how many bytes of memory the bodies being filled may have. */
static uint64_t memory_max(const struct cache_store *store)
{
    return store->disk ? CACHE_AWAKE_BYTES_MAX : store->options.bytes_max;
}

/* Returns how many bytes of a body with that length lie in memory while it is
 * filled. */
static uint64_t memory_of(const struct cache_store *store, uint64_t length)
{
    const struct cache_spooling *spooling = store->bodies.spooling;

    return spooling && cache_folder_takes(spooling->folder) &&
                   length > CACHE_SPOOL_PENDING_MAX
               ? CACHE_SPOOL_PENDING_MAX
               : length;
}

/* Whether `more` bytes of further bodies would be too many. All bodies together
 * may have twice the bytes that may be kept, because a body that was given up
 * stays in memory as long as a client reads it, however slowly. */
static bool is_full(const struct cache_store *store, uint64_t more)
{
    return atomic_load_explicit(&store->bodies.filling, memory_order_relaxed) +
               atomic_load_explicit(&store->bodies.whole,
                                    memory_order_relaxed) +
               more >
           2 * memory_max(store);
}

bool cache_store_is_full(const struct cache_store *store)
{
    return is_full(store, 0);
}

bool cache_store_has_room(struct cache_store *store, uint64_t length)
{
    uint64_t filling = atomic_load_explicit(&store->bodies.filling,
                                            memory_order_relaxed);

    if (length != CACHE_LENGTH_UNKNOWN && length > store->options.object_max)
        return false;
    if (length == CACHE_LENGTH_UNKNOWN)
        length = CACHE_BODY_MEMORY_MAX;
    if (length > store->options.bytes_max ||
        filling + memory_of(store, length) > memory_max(store) ||
        is_full(store, memory_of(store, length)))
        return false;
    return length <= CACHE_BODY_MEMORY_MAX || cache_index_has_files(store);
}

struct cache_body *cache_store_make_body(struct cache_store *store,
                                         uint64_t length)
{
    return cache_body_create(length, &store->bodies);
}

/* --- Keeping ------------------------------------------------------------- */

struct cache_epoch cache_store_epoch(struct cache_store *store,
                                     struct bytes key)
{
    uint64_t hash = cache_hash_of(store, key);
    struct cache_shard *shard = cache_shard_of(store, hash);
    struct cache_epoch epoch = {.purges = atomic_load(&store->purges.count)};

    pthread_mutex_lock(&shard->mutex);
    epoch.invalidated = *cache_epoch_of(shard, hash);
    epoch.all_invalidated = shard->invalid_count;
    pthread_mutex_unlock(&shard->mutex);
    return epoch;
}

/* Whether the entry is still current: it was neither made invalid nor purged
 * since it was asked for. An entry that was purged softly is current, and gets
 * is_purged. The shard is locked. */
static bool is_current(struct cache_store *store, struct cache_shard *shard,
                       struct cache_entry *entry, struct cache_epoch epoch)
{
    if (cache_was_made_invalid(shard, entry->hash, epoch))
        return false;
    switch (cache_purges_since(&store->purges, epoch.purges, entry)) {
    case CACHE_PURGED_NOT:
        break;
    case CACHE_PURGED_SOFTLY:
        atomic_store_explicit(&entry->is_purged, true, memory_order_relaxed);
        break;
    case CACHE_PURGED:
        return false;
    }
    return true;
}

bool cache_store_is_current(struct cache_store *store,
                            struct cache_entry *entry, struct cache_epoch epoch)
{
    struct cache_shard *shard = cache_shard_of(store, entry->hash);
    bool is;

    pthread_mutex_lock(&shard->mutex);
    is = is_current(store, shard, entry, epoch);
    pthread_mutex_unlock(&shard->mutex);
    return is;
}

bool cache_store_put(struct cache_store *store, struct cache_entry *entry,
                     const struct cache_entry *earlier,
                     struct cache_epoch epoch)
{
    struct cache_entry *gone = NULL;
    bool is_in, is_on_disk = false;
    struct cache_shard *shard;

    entry->hash = cache_hash_of(store, entry->key);
    shard = cache_shard_of(store, entry->hash);
    pthread_mutex_lock(&shard->mutex);
    is_in = (!earlier || earlier->is_indexed) &&
            is_current(store, shard, entry, epoch);
    if (is_in)
        gone = cache_index_insert(store, shard, entry, earlier);
    if (is_in && entry->file) {
        is_on_disk = true;
        cache_disk_change(store->disk, entry, entry->file);
    }
    pthread_mutex_unlock(&shard->mutex);
    cache_index_release(store, gone);
    if (is_on_disk) /* the file of `earlier` is whole already */
        cache_index_settle(store, entry);
    return is_in;
}

/* Whether the entry need not be written to the disk, because it is there or has
 * left the store. *body_out becomes a reference to its body, or NULL. */
static bool is_on_disk(struct cache_store *store, struct cache_entry *entry,
                       struct cache_body **body_out)
{
    struct cache_shard *shard = cache_shard_of(store, entry->hash);
    bool is_there;

    pthread_mutex_lock(&shard->mutex);
    is_there = entry->file || !entry->is_indexed;
    *body_out = entry->body ? cache_body_acquire(entry->body) : NULL;
    pthread_mutex_unlock(&shard->mutex);
    return is_there;
}

void cache_store_settle(struct cache_store *store, struct cache_entry *entry)
{
    struct cache_body *body = NULL;
    bool is_there, is_spooled;

    if (entry->ranges) { /* parts of answers are never kept on a disk */
        cache_index_settle(store, entry);
        return;
    }
    is_there = store->disk && is_on_disk(store, entry, &body);
    is_spooled = !is_there && body && cache_body_is_spooled(body);
    if (!is_spooled) /* on_kept settles an entry with a spooled body */
        cache_index_settle(store, entry);
    if (store->disk && !is_there &&
        !cache_disk_keep(store->disk, entry, body) && is_spooled)
        cache_store_drop(store, entry);
    cache_body_release(&body);
}

size_t cache_store_invalidate(struct cache_store *store, struct bytes key)
{
    uint64_t hash = cache_hash_of(store, key);
    struct cache_shard *shard = cache_shard_of(store, hash);
    struct cache_entry *gone = NULL, *at;

    pthread_mutex_lock(&shard->mutex);
    for (at = *cache_bucket_of(shard, hash); at;) {
        struct cache_entry *next = at->next;

        if (cache_entry_has_key(at, hash, key)) {
            struct cache_entry *taken = cache_index_take(store, shard, at);

            taken->next = gone;
            gone = taken;
        }
        at = next;
    }
    cache_make_invalid(shard, hash);
    shard->version++;
    pthread_mutex_unlock(&shard->mutex);
    return cache_index_release(store, gone);
}

struct cache_store_counts cache_store_count(const struct cache_store *store)
{
    return (struct cache_store_counts){
        .entries = atomic_load_explicit(&store->entries, memory_order_relaxed),
        .bytes = atomic_load_explicit(&store->bytes, memory_order_relaxed),
        .files = atomic_load_explicit(&store->bodies.files,
                                      memory_order_relaxed),
        .evictions = atomic_load_explicit(&store->evictions,
                                          memory_order_relaxed),
        .disk = store->disk ? cache_disk_count(store->disk)
                            : (struct cache_disk_counts){.written = 0}};
}
