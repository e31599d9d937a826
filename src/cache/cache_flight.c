#include <stdlib.h>

#include "cache/cache_store_priv.h"

struct cache_flight {
    struct list list_node; /* in shard->flights until the flight has ended */
    struct list waits;
    unsigned refs;
    enum cache_outcome outcome;
    int64_t begun_s;
    uint64_t hash;
    uint64_t variant;
    size_t key_len;
    char key[];
};

/* --- Fetching ------------------------------------------------------------ */

static struct cache_flight *find_flight(struct cache_shard *shard,
                                        uint64_t hash, uint64_t variant,
                                        struct bytes key)
{
    for (struct list *at = shard->flights.next; at != &shard->flights;
         at = at->next) {
        struct cache_flight *flight = OWNER_OF(at, struct cache_flight,
                                               list_node);

        if (flight->hash == hash && flight->variant == variant &&
            bytes_eq((struct bytes){flight->key, flight->key_len}, key))
            return flight;
    }
    return NULL;
}

static struct cache_flight *begin_flight(struct cache_shard *shard,
                                         uint64_t hash, uint64_t variant,
                                         struct bytes key, int64_t now_s)
{
    struct cache_flight *flight = malloc(sizeof(*flight) + key.len);

    if (!flight)
        return NULL;
    *flight = (struct cache_flight){.refs = 1,
                                    .begun_s = now_s,
                                    .hash = hash,
                                    .variant = variant,
                                    .key_len = key.len};
    memcpy(flight->key, key.data, key.len);
    list_init(&flight->waits);
    list_put_first(&shard->flights, &flight->list_node);
    return flight;
}

enum cache_join cache_store_join(struct cache_store *store, struct bytes key,
                                 const struct cache_found *found, int64_t now_s,
                                 struct cache_wait *wait,
                                 struct cache_flight **flight_out)
{
    uint64_t hash = cache_hash_of(store, key);
    struct cache_shard *shard = cache_shard_of(store, hash);
    const struct cache_mark *mark = cache_mark_of(shard, hash);
    enum cache_join join = CACHE_LEAD;
    struct cache_flight *flight;

    pthread_mutex_lock(&shard->mutex);
    flight = find_flight(shard, hash, found->variant, key);
    if (flight) {
        join = CACHE_WAIT;
        flight->refs += wait ? 1 : 0;
        if (wait)
            cache_wait_in(&flight->waits, wait);
    } else if (shard->version != found->version) {
        join = CACHE_LOOK;
    } else if ((mark->hash == hash && mark->until_s > now_s) ||
               !(flight = begin_flight(shard, hash, found->variant, key,
                                       now_s))) {
        join = CACHE_ALONE;
    }
    *flight_out = flight;
    pthread_mutex_unlock(&shard->mutex);
    return join;
}

bool cache_flight_has_waits(struct cache_store *store,
                            const struct cache_flight *flight)
{
    struct cache_shard *shard = cache_shard_of(store, flight->hash);
    bool has_waits;

    pthread_mutex_lock(&shard->mutex);
    has_waits = flight->refs > 1;
    pthread_mutex_unlock(&shard->mutex);
    return has_waits;
}

/* Drops a reference; the shard is locked. Returns the flight if the caller has
 * to free it after unlocking the shard, otherwise NULL. */
static struct cache_flight *drop_flight(struct cache_flight *flight)
{
    return --flight->refs == 0 ? flight : NULL;
}

/* Makes those who wait for the flight look again; the shard is locked. The
 * flight itself lasts until its leader ends it. */
static void let_go_on(struct cache_flight *flight, enum cache_outcome outcome)
{
    list_drop(&flight->list_node);
    flight->outcome = outcome;
    cache_wait_tell(&flight->waits);
}

/* Ends the flight that has replaced a late one, because the late one has ended
 * after all. Those who wait for the replacement look again. The shard is
 * locked. */
static void end_next(struct cache_shard *shard, const struct cache_flight *late)
{
    struct cache_flight *next = find_flight(shard, late->hash, late->variant,
                                            (struct bytes){late->key,
                                                           late->key_len});

    if (next)
        let_go_on(next, CACHE_OUTCOME_STORED);
}

void cache_flight_end(struct cache_store *store,
                      struct cache_flight **flight_ref,
                      enum cache_outcome outcome, int64_t now_s)
{
    struct cache_flight *flight = *flight_ref;
    struct cache_shard *shard;

    *flight_ref = NULL;
    if (!flight)
        return;
    shard = cache_shard_of(store, flight->hash);
    pthread_mutex_lock(&shard->mutex);
    if (outcome == CACHE_OUTCOME_STORED && list_is_empty(&flight->list_node))
        end_next(shard, flight);
    let_go_on(flight, outcome);
    if (outcome == CACHE_OUTCOME_ALONE)
        cache_mark_anew(shard, flight->hash)->until_s = now_s + CACHE_ALONE_S;
    flight = drop_flight(flight);
    pthread_mutex_unlock(&shard->mutex);
    free(flight);
}

static void end_late(struct cache_shard *shard, int64_t now_s)
{
    for (struct list *at = shard->flights.next; at != &shard->flights;) {
        struct cache_flight *flight = OWNER_OF(at, struct cache_flight,
                                               list_node);

        at = at->next;
        if (flight->refs > 1 && now_s - flight->begun_s >= CACHE_LATE_S)
            let_go_on(flight, CACHE_OUTCOME_AGAIN);
    }
}

void cache_store_end_late(struct cache_store *store, int64_t now_s)
{
    for (size_t i = 0; i < CACHE_SHARDS; i++) {
        pthread_mutex_lock(&store->shards[i].mutex);
        end_late(&store->shards[i], now_s);
        pthread_mutex_unlock(&store->shards[i].mutex);
    }
}

enum cache_outcome cache_flight_peek(struct cache_store *store,
                                     const struct cache_flight *flight)
{
    struct cache_shard *shard = cache_shard_of(store, flight->hash);
    enum cache_outcome outcome;

    pthread_mutex_lock(&shard->mutex);
    outcome = flight->outcome;
    pthread_mutex_unlock(&shard->mutex);
    return outcome;
}

enum cache_outcome cache_flight_leave(struct cache_store *store,
                                      struct cache_flight **flight_ref,
                                      struct cache_wait *wait)
{
    struct cache_flight *flight = *flight_ref;
    struct cache_shard *shard = cache_shard_of(store, flight->hash);
    enum cache_outcome outcome;

    *flight_ref = NULL;
    cache_wait_cancel(wait, &shard->mutex);
    pthread_mutex_lock(&shard->mutex);
    outcome = flight->outcome;
    flight = drop_flight(flight);
    pthread_mutex_unlock(&shard->mutex);
    free(flight);
    return outcome;
}

/* --- Answers that nobody waits for --------------------------------------- */

static uint64_t hash_of_long(const struct cache_store *store, struct bytes key,
                             struct bytes variant)
{
    uint64_t hash = cache_hash_of(store, key);

    return variant.len > 0 ? hash ^ cache_hash_of(store, variant) : hash;
}

void cache_store_note_long(struct cache_store *store, struct bytes key,
                           struct bytes variant, int64_t now_s)
{
    uint64_t hash = hash_of_long(store, key, variant);
    struct cache_shard *shard = cache_shard_of(store, hash);

    pthread_mutex_lock(&shard->mutex);
    cache_mark_anew(shard, hash)->long_until_s = now_s + CACHE_LONG_S;
    pthread_mutex_unlock(&shard->mutex);
}

bool cache_store_was_long(struct cache_store *store, struct bytes key,
                          struct bytes variant, int64_t now_s)
{
    uint64_t hash = hash_of_long(store, key, variant);
    struct cache_shard *shard = cache_shard_of(store, hash);
    const struct cache_mark *mark = cache_mark_of(shard, hash);
    bool was_long;

    pthread_mutex_lock(&shard->mutex);
    was_long = mark->hash == hash && mark->long_until_s > now_s;
    pthread_mutex_unlock(&shard->mutex);
    return was_long;
}
