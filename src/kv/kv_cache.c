#include "kv/kv_cache.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    CACHE_LINE = 64,
    /* 16 KiB of versions. The writes of one commit rarely have more than 1024
     * keys, so at most a quarter of the slots is in use. */
    SLOTS_LOG = 12,
    SLOTS = 1 << SLOTS_LOG,
    MALLOC_BYTES = 16, /* overhead of an allocation */
    KEY_BYTES_LEAST = 8,
    BUCKETS_MIN = 8
};

struct cached_value {
    struct evict_node node;
    uint64_t hash; /* hash of the key */
    /* the next entry in the bucket, or in a list of entries to be freed */
    struct cached_value *next;
    struct kv_value *value;
    size_t key_len;
    char key[];
};

struct group {
    /* guards the fields below, and the group's slots in `versions` */
    _Alignas(CACHE_LINE) pthread_mutex_t mutex;
    struct evict *evict;
    struct cached_value **buckets;
    size_t mask;
    uint64_t hits;
    uint64_t misses;
    uint64_t fills;
    uint64_t evictions;
};

struct kv_cache {
    /* secret of the hash, since clients choose the keys */
    struct siphash_key secret;
    uint64_t entry_bytes_max;
    unsigned group_count;
    struct group *groups;
    uint32_t versions[SLOTS]; /* the slots of a group are neighbours */
    /* Slots whose version is odd, because a write is under way. */
    uint16_t begun[SLOTS];
    unsigned begun_count;
};

_Static_assert((int)KV_CACHE_GROUPS_MAX <= (int)SLOTS, "a slot for each group");

/* --- Where a key is ------------------------------------------------------- */

/* Selects the slot by one word of the hash; the other word selects the bucket
 * in the group. */
static unsigned slot_of(const struct siphash *hash)
{
    return (unsigned)(hash->words[1] & (SLOTS - 1));
}

static struct group *group_of(const struct kv_cache *cache, unsigned slot)
{
    return &cache->groups[slot * cache->group_count >> SLOTS_LOG];
}

/* Returns the address of the pointer to the key's entry. The pointer is NULL if
 * there is no such entry. */
static struct cached_value **find(const struct group *group, uint64_t hash,
                                  struct bytes key)
{
    struct cached_value **list_node = &group->buckets[hash & group->mask];

    while (*list_node &&
           ((*list_node)->hash != hash ||
            !bytes_eq((struct bytes){(*list_node)->key, (*list_node)->key_len},
                      key)))
        list_node = &(*list_node)->next;
    return list_node;
}

/* --- Entries -------------------------------------------------------------- */

static uint64_t footprint(size_t key_len, const struct kv_value *value)
{
    return sizeof(struct cached_value) + key_len + sizeof(*value) +
           value->type.len + value->data.len + 2 * (uint64_t)MALLOC_BYTES;
}

static struct cached_value *create_entry(struct bytes key, uint64_t hash,
                                         struct kv_value *value)
{
    struct cached_value *entry = malloc(sizeof(*entry) + key.len);

    if (!entry)
        return NULL;
    *entry = (struct cached_value){.node = {.bytes = footprint(key.len, value)},
                                   .hash = hash,
                                   .value = kv_value_acquire(value),
                                   .key_len = key.len};
    memcpy(entry->key, key.data, key.len);
    return entry;
}

/* Frees a list of entries. Called without the group's lock, since freeing takes
 * time. */
static void destroy_entries(struct cached_value *entry)
{
    while (entry) {
        struct cached_value *next = entry->next;

        kv_value_release(&entry->value);
        free(entry);
        entry = next;
    }
}

/* Removes the entry *list_node from the index, and puts the entry at the head
 * of the list `others`. Returns this list. */
static struct cached_value *unlink_entry(struct cached_value **list_node,
                                         struct cached_value *others)
{
    struct cached_value *entry = *list_node;

    *list_node = entry->next;
    entry->next = others;
    return entry;
}

static struct cached_value *unlink_victims(struct group *group)
{
    struct cached_value *victims = NULL;
    struct evict_node *node;

    while ((node = evict_take_victim(group->evict))) {
        struct cached_value *entry = OWNER_OF(node, struct cached_value, node);
        struct cached_value **list_node =
            &group->buckets[entry->hash & group->mask];

        while (*list_node != entry)
            list_node = &(*list_node)->next;
        victims = unlink_entry(list_node, victims);
        group->evictions++;
    }
    return victims;
}

/* --- Reading -------------------------------------------------------------- */

struct kv_value *kv_cache_acquire(struct kv_cache *cache, struct bytes key,
                                  struct kv_cache_ticket *ticket)
{
    struct siphash hash = siphash_of(&cache->secret, key);
    unsigned slot = slot_of(&hash);
    struct group *group = group_of(cache, slot);
    struct kv_value *value = NULL;
    struct cached_value *entry;

    pthread_mutex_lock(&group->mutex);
    entry = *find(group, hash.words[0], key);
    if (entry) {
        evict_hit(group->evict, &entry->node);
        value = kv_value_acquire(entry->value);
        group->hits++;
    } else {
        group->misses++;
    }
    *ticket = (struct kv_cache_ticket){hash, cache->versions[slot]};
    pthread_mutex_unlock(&group->mutex);
    return value;
}

/* Puts `entry` into the group. Returns the list of entries to be freed: those
 * evicted, or `entry` itself if it was not accepted. */
static struct cached_value *insert(struct group *group,
                                   struct cached_value *entry)
{
    struct cached_value **list_node =
        find(group, entry->hash, (struct bytes){entry->key, entry->key_len});

    /* Another reader may have filled the same key at the same time. */
    if (*list_node || !evict_insert(group->evict, &entry->node))
        return entry;
    *list_node = entry;
    group->fills++;
    return unlink_victims(group);
}

void kv_cache_fill(struct kv_cache *cache, struct bytes key,
                   const struct kv_cache_ticket *ticket, struct kv_value *value)
{
    unsigned slot = slot_of(&ticket->hash);
    struct group *group = group_of(cache, slot);
    struct cached_value *entry;

    if ((ticket->version & 1) != 0 ||
        footprint(key.len, value) > cache->entry_bytes_max)
        return;
    entry = create_entry(key, ticket->hash.words[0], value);
    if (!entry)
        return;
    pthread_mutex_lock(&group->mutex);
    if (cache->versions[slot] == ticket->version)
        entry = insert(group, entry);
    pthread_mutex_unlock(&group->mutex);
    destroy_entries(entry);
}

/* --- Writing -------------------------------------------------------------- */

void kv_cache_begin_write(struct kv_cache *cache, struct bytes key)
{
    struct siphash hash = siphash_of(&cache->secret, key);
    unsigned slot = slot_of(&hash);
    struct group *group = group_of(cache, slot);
    struct cached_value *dropped = NULL;
    struct cached_value **list_node;

    pthread_mutex_lock(&group->mutex);
    if ((cache->versions[slot] & 1) == 0) {
        cache->versions[slot]++;
        cache->begun[cache->begun_count++] = (uint16_t)slot;
    }
    list_node = find(group, hash.words[0], key);
    if (*list_node) {
        evict_remove(group->evict, &(*list_node)->node);
        dropped = unlink_entry(list_node, NULL);
    }
    pthread_mutex_unlock(&group->mutex);
    destroy_entries(dropped);
}

void kv_cache_end_writes(struct kv_cache *cache)
{
    while (cache->begun_count > 0) {
        unsigned slot = cache->begun[--cache->begun_count];
        struct group *group = group_of(cache, slot);

        pthread_mutex_lock(&group->mutex);
        cache->versions[slot]++;
        pthread_mutex_unlock(&group->mutex);
    }
}

static void empty(struct group *group)
{
    for (size_t i = 0; i <= group->mask; i++) {
        struct cached_value *first = group->buckets[i];

        for (struct cached_value *at = first; at; at = at->next)
            evict_remove(group->evict, &at->node);
        destroy_entries(first);
        group->buckets[i] = NULL;
    }
}

void kv_cache_suspend(struct kv_cache *cache)
{
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        struct group *group = group_of(cache, slot);

        pthread_mutex_lock(&group->mutex);
        if ((cache->versions[slot] & 1) == 0) {
            cache->versions[slot]++;
            cache->begun[cache->begun_count++] = (uint16_t)slot;
        }
        pthread_mutex_unlock(&group->mutex);
    }
    for (unsigned i = 0; i < cache->group_count; i++) {
        pthread_mutex_lock(&cache->groups[i].mutex);
        empty(&cache->groups[i]);
        pthread_mutex_unlock(&cache->groups[i].mutex);
    }
}

/* --- Counting ------------------------------------------------------------- */

struct kv_cache_counts kv_cache_count(struct kv_cache *cache)
{
    struct kv_cache_counts counts = {0};

    for (unsigned i = 0; i < cache->group_count; i++) {
        struct group *group = &cache->groups[i];

        pthread_mutex_lock(&group->mutex);
        counts.hits += group->hits;
        counts.misses += group->misses;
        counts.fills += group->fills;
        counts.evictions += group->evictions;
        counts.bytes += evict_bytes(group->evict);
        counts.entries += evict_entries(group->evict);
        pthread_mutex_unlock(&group->mutex);
    }
    return counts;
}

/* --- Coming and going ----------------------------------------------------- */

/* Initializes a group of bytes_max bytes. If all entries had the smallest size,
 * each bucket would have two entries. Most entries are larger, so chains are
 * short. Pages of unused buckets are never touched. */
static int init_group(struct group *group, enum evict_policy policy,
                      uint64_t bytes_max)
{
    static const struct kv_value smallest;
    size_t entries_max = bytes_max / footprint(KEY_BYTES_LEAST, &smallest) + 1;
    size_t buckets = BUCKETS_MIN;

    while (buckets < entries_max / 2)
        buckets *= 2;
    group->mask = buckets - 1;
    group->buckets = calloc(buckets, sizeof(struct cached_value *));
    group->evict = evict_create(policy, bytes_max, entries_max);
    pthread_mutex_init(&group->mutex, NULL);
    return group->buckets && group->evict ? 0 : -ENOMEM;
}

static void fini_group(struct group *group)
{
    if (group->buckets)
        empty(group);
    evict_destroy(group->evict);
    free(group->buckets);
    pthread_mutex_destroy(&group->mutex);
}

int kv_cache_create(struct kv_cache **cache_out,
                    const struct kv_cache_options *options)
{
    uint64_t share = options->bytes_max / options->groups;
    struct kv_cache *cache = calloc(1, sizeof(*cache));
    int err = -ENOMEM;

    assert(options->groups >= 1 && options->groups <= KV_CACHE_GROUPS_MAX);
    if (!cache)
        return err;
    cache->entry_bytes_max = share / KV_CACHE_VALUE_PART;
    cache->groups = aligned_alloc(CACHE_LINE,
                                  options->groups * sizeof(struct group));
    if (cache->groups) {
        memset(cache->groups, 0, options->groups * sizeof(struct group));
        err = siphash_make_key(&cache->secret);
    }
    while (err == 0 && cache->group_count < options->groups)
        err = init_group(&cache->groups[cache->group_count++], options->policy,
                         share > 0 ? share : 1);
    if (err != 0) {
        kv_cache_destroy(cache);
        return err;
    }
    *cache_out = cache;
    return 0;
}

void kv_cache_destroy(struct kv_cache *cache)
{
    if (!cache)
        return;
    for (unsigned i = 0; i < cache->group_count; i++)
        fini_group(&cache->groups[i]);
    free(cache->groups);
    free(cache);
}
