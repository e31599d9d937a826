#include <stdlib.h>

#include "cache/cache_store_priv.h"

struct cache_flight {
    struct list list_node; /* in its shard, while it is under way */
    struct list waits;
    unsigned refs;
    enum cache_outcome outcome;
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
                                         struct bytes key)
{
    struct cache_flight *flight = malloc(sizeof(*flight) + key.len);

    if (!flight)
        return NULL;
    *flight = (struct cache_flight){
        .refs = 1, .hash = hash, .variant = variant, .key_len = key.len};
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
               !(flight = begin_flight(shard, hash, found->variant, key))) {
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

/* One reference less; the shard is locked. What is to be freed afterwards. */
static struct cache_flight *drop_flight(struct cache_flight *flight)
{
    return --flight->refs == 0 ? flight : NULL;
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
    list_drop(&flight->list_node);
    flight->outcome = outcome;
    if (outcome == CACHE_OUTCOME_ALONE)
        *cache_mark_of(shard, flight->hash) = (struct cache_mark){
            flight->hash, now_s + CACHE_ALONE_S};
    cache_wait_tell(&flight->waits);
    flight = drop_flight(flight);
    pthread_mutex_unlock(&shard->mutex);
    free(flight);
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
