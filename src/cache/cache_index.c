#include "cache/cache_store_priv.h"

enum { FILES_TRIES = 64 };

/* --- Bodies in memory, of entries on disk -------------------------------- */

/* The shard is locked, as in all functions here that take a shard. */
void cache_index_note_awake(struct cache_store *store,
                            struct cache_shard *shard,
                            struct cache_entry *entry)
{
    if (!shard->awake || (!entry->body && !entry->ranges) || entry->is_awake)
        return;
    entry->waking.bytes = entry->ranges ? cache_ranges_memory(entry->ranges)
                                        : cache_body_memory(entry->body);
    entry->is_awake = evict_insert(shard->awake, &entry->waking);
    if (entry->is_awake)
        atomic_fetch_add_explicit(&store->awake, entry->waking.bytes,
                                  memory_order_relaxed);
}

static void forget_awake(struct cache_store *store, struct cache_entry *entry)
{
    entry->is_awake = false;
    atomic_fetch_sub_explicit(&store->awake, entry->waking.bytes,
                              memory_order_relaxed);
}

static void note_asleep(struct cache_store *store, struct cache_shard *shard,
                        struct cache_entry *entry)
{
    if (!entry->is_awake)
        return;
    evict_remove(shard->awake, &entry->waking);
    forget_awake(store, entry);
}

/* --- Taking out, letting in ---------------------------------------------- */

static uint64_t head_bytes(const struct cache_entry *entry)
{
    return sizeof(*entry) + entry->key.len + entry->names.len +
           entry->variant.len + entry->phrase.len + entry->lines.len +
           entry->hidden.len;
}

/* Takes an entry out of its bucket. Returns the store's reference, or NULL if
 * the entry was in no bucket. The shard is locked. */
static struct cache_entry *unlink_entry(struct cache_store *store,
                                        struct cache_shard *shard,
                                        struct cache_entry *entry)
{
    struct cache_entry **link = cache_bucket_of(shard, entry->hash);

    if (!entry->is_indexed)
        return NULL;
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    entry->is_indexed = false;
    entry->next = NULL;
    if (entry->is_settled)
        atomic_fetch_sub_explicit(&store->bytes, entry->node.bytes,
                                  memory_order_relaxed);
    atomic_fetch_sub_explicit(&store->entries, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&store->heads, head_bytes(entry),
                              memory_order_relaxed);
    note_asleep(store, shard, entry);
    return entry;
}

/* Takes an entry out of its bucket, and a settled one out of the eviction
 * policy, too. */
struct cache_entry *cache_index_take(struct cache_store *store,
                                     struct cache_shard *shard,
                                     struct cache_entry *entry)
{
    if (entry->is_indexed && entry->is_settled)
        evict_remove(shard->evict, &entry->node);
    return unlink_entry(store, shard, entry);
}

/* Releases an entry that was taken out of its bucket, and removes its file from
 * the disk. */
void cache_index_let_go(struct cache_store *store,
                        struct cache_entry **entry_ref)
{
    struct cache_entry *entry = *entry_ref;

    if (entry && entry->file)
        cache_disk_forget(store->disk, entry->file);
    cache_entry_release(entry_ref);
}

size_t cache_index_release(struct cache_store *store, struct cache_entry *entry)
{
    size_t count = 0;

    for (; entry; count++) {
        struct cache_entry *next = entry->next;

        entry->next = NULL;
        cache_index_let_go(store, &entry);
        entry = next;
    }
    return count;
}

/* Takes out the entries that `entry` replaces, and the oldest variant if there
 * are too many. Returns all that were taken out, chained by next. `entry` gets
 * the file of `earlier`. The shard is locked. */
static struct cache_entry *take_replaced(struct cache_store *store,
                                         struct cache_shard *shard,
                                         struct cache_entry *entry,
                                         const struct cache_entry *earlier)
{
    struct cache_entry *gone = NULL, *at = *cache_bucket_of(shard, entry->hash);
    unsigned variants = 0;

    while (at) {
        struct cache_entry *next = at->next;

        if (cache_entry_has_key(at, entry->hash, entry->key) &&
            ((bytes_eq(at->names, entry->names) &&
              bytes_eq(at->variant, entry->variant)) ||
             ++variants >= CACHE_VARIANTS_MAX)) {
            struct cache_entry *taken = cache_index_take(store, shard, at);

            if (earlier && taken == earlier) {
                entry->file = taken->file;
                taken->file = NULL;
            }
            taken->next = gone;
            gone = taken;
        }
        at = next;
    }
    return gone;
}

/* Puts the entry into its bucket, at `link`. The shard is locked. */
static void let_in(struct cache_store *store, struct cache_shard *shard,
                   struct cache_entry *entry, struct cache_entry **link)
{
    entry->next = *link;
    *link = cache_entry_acquire(entry);
    entry->is_indexed = true;
    shard->version++;
    atomic_fetch_add_explicit(&store->entries, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&store->heads, head_bytes(entry),
                              memory_order_relaxed);
    if (cache_mark_of(shard, entry->hash)->hash == entry->hash)
        cache_mark_of(shard, entry->hash)->until_s = 0;
}

struct cache_entry *cache_index_insert(struct cache_store *store,
                                       struct cache_shard *shard,
                                       struct cache_entry *entry,
                                       const struct cache_entry *earlier)
{
    struct cache_entry *gone = take_replaced(store, shard, entry, earlier);

    let_in(store, shard, entry, cache_bucket_of(shard, entry->hash));
    return gone;
}

struct cache_entry *cache_index_insert_found(struct cache_store *store,
                                             struct cache_shard *shard,
                                             struct cache_entry *entry)
{
    struct cache_entry *gone = take_replaced(store, shard, entry, NULL);
    struct cache_entry **link = cache_bucket_of(shard, entry->hash);

    for (struct cache_entry *at = *link; at; at = at->next)
        if (cache_entry_has_key(at, entry->hash, entry->key) &&
            at->facts.date_s > entry->facts.date_s)
            link = &at->next;
    let_in(store, shard, entry, link);
    return gone;
}

bool cache_store_has_answer(struct cache_store *store, struct bytes key)
{
    uint64_t hash = cache_hash_of(store, key);
    struct cache_shard *shard = cache_shard_of(store, hash);
    const struct cache_entry *at;

    pthread_mutex_lock(&shard->mutex);
    at = *cache_bucket_of(shard, hash);
    while (at &&
           !(cache_entry_has_key(at, hash, key) && at->facts.status < 400))
        at = at->next;
    pthread_mutex_unlock(&shard->mutex);
    return at;
}

/* --- Room ---------------------------------------------------------------- */

static bool is_over(const struct cache_store *store)
{
    return atomic_load_explicit(&store->bytes, memory_order_relaxed) >
               store->options.bytes_max ||
           (store->disk &&
            atomic_load_explicit(&store->heads, memory_order_relaxed) >
                CACHE_HEADS_BYTES_MAX);
}

static bool has_too_many_files(const struct cache_store *store)
{
    return atomic_load_explicit(&store->bodies.files, memory_order_relaxed) >=
           store->options.files_max;
}

static bool is_memory_over(const struct cache_store *store)
{
    return store->disk &&
           atomic_load_explicit(&store->awake, memory_order_relaxed) >
               CACHE_AWAKE_BYTES_MAX;
}

/* Evicts the next entry of the next shard. Returns false when that shard has no
 * entry. */
static bool evict_one(struct cache_store *store)
{
    unsigned turn = atomic_fetch_add_explicit(&store->hand, 1,
                                              memory_order_relaxed);
    struct cache_shard *shard = &store->shards[turn % CACHE_SHARDS];
    struct cache_entry *entry = NULL;
    struct evict_node *node;

    pthread_mutex_lock(&shard->mutex);
    node = evict_take_next(shard->evict);
    if (node)
        entry = unlink_entry(store, shard,
                             OWNER_OF(node, struct cache_entry, node));
    pthread_mutex_unlock(&shard->mutex);
    if (!entry)
        return false;
    atomic_fetch_add_explicit(&store->evictions, 1, memory_order_relaxed);
    cache_index_let_go(store, &entry);
    return true;
}

/* Lets the next shard make room in memory. Its policy chooses an entry, whose
 * body leaves memory. An entry that is on no disk goes altogether. Returns
 * false when the shard has no body in memory. */
static bool put_one_asleep(struct cache_store *store)
{
    unsigned turn = atomic_fetch_add_explicit(&store->awake_hand, 1,
                                              memory_order_relaxed);
    struct cache_shard *shard = &store->shards[turn % CACHE_SHARDS];
    struct cache_entry *gone = NULL;
    struct cache_body *body = NULL;
    struct evict_node *node;

    pthread_mutex_lock(&shard->mutex);
    node = evict_take_next(shard->awake);
    if (node) {
        struct cache_entry *entry = OWNER_OF(node, struct cache_entry, waking);

        forget_awake(store, entry);
        if (entry->file) {
            body = entry->body;
            entry->body = NULL;
        } else {
            gone = cache_index_take(store, shard, entry);
        }
    }
    pthread_mutex_unlock(&shard->mutex);
    cache_body_release(&body);
    cache_index_let_go(store, &gone);
    return node;
}

void cache_index_make_room(struct cache_store *store)
{
    unsigned failed = 0;

    while (is_over(store) && failed < CACHE_SHARDS)
        failed = evict_one(store) ? 0 : failed + 1;
    for (failed = 0; is_memory_over(store) && failed < CACHE_SHARDS;)
        failed = put_one_asleep(store) ? 0 : failed + 1;
}

bool cache_index_has_files(struct cache_store *store)
{
    for (unsigned tries = 0; tries < FILES_TRIES; tries++) {
        if (!has_too_many_files(store))
            return true;
        (void)(store->disk ? put_one_asleep(store) : evict_one(store));
    }
    return false;
}

static uint64_t footprint(const struct cache_entry *entry,
                          const struct cache_body *body)
{
    uint64_t bytes = body ? cache_body_footprint(body) : 0;

    if (entry->ranges)
        return head_bytes(entry) + cache_ranges_footprint(entry->ranges);
    return head_bytes(entry) +
           (!body && entry->file ? entry->file->length : bytes);
}

/* Returns a reference to the body of an entry that is not settled yet. The
 * reference is needed because others may put the entry asleep meanwhile.
 * Returns NULL when there is no body, or the entry is settled already. */
static struct cache_body *acquire_unsettled(struct cache_shard *shard,
                                            const struct cache_entry *entry)
{
    struct cache_body *body = NULL;

    pthread_mutex_lock(&shard->mutex);
    if (entry->is_indexed && !entry->is_settled && entry->body)
        body = cache_body_acquire(entry->body);
    pthread_mutex_unlock(&shard->mutex);
    return body;
}

/* Settles an entry whose body is complete. From now on its bytes count as kept,
 * and it can be evicted. */
void cache_index_settle(struct cache_store *store, struct cache_entry *entry)
{
    struct cache_shard *shard = cache_shard_of(store, entry->hash);
    struct cache_body *body = acquire_unsettled(shard, entry);
    struct cache_body *compact = body ? cache_body_compact(body) : NULL;
    struct cache_body *other = NULL;

    pthread_mutex_lock(&shard->mutex);
    if (entry->is_indexed && !entry->is_settled) {
        if (compact && entry->body == body) {
            other = entry->body;
            entry->body = compact;
            compact = NULL;
        }
        entry->node.bytes = footprint(entry, entry->body);
        entry->node.cost = entry->cost_ms;
        entry->is_settled = evict_insert(shard->evict, &entry->node);
        if (entry->is_settled)
            atomic_fetch_add_explicit(&store->bytes, entry->node.bytes,
                                      memory_order_relaxed);
        cache_index_note_awake(store, shard, entry);
    }
    pthread_mutex_unlock(&shard->mutex);
    cache_body_release(&other);
    cache_body_release(&compact);
    cache_body_release(&body);
    cache_index_make_room(store);
}

void cache_store_drop(struct cache_store *store, struct cache_entry *entry)
{
    struct cache_shard *shard = cache_shard_of(store, entry->hash);
    struct cache_entry *taken;

    pthread_mutex_lock(&shard->mutex);
    taken = cache_index_take(store, shard, entry);
    shard->version++;
    pthread_mutex_unlock(&shard->mutex);
    cache_index_let_go(store, &taken);
}
