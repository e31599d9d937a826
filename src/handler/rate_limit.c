#include "handler/rate_limit.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/address_key.h"
#include "base/units.h"

enum {
    WAYS = 8, /* buckets of a set: they fill two cache lines */
    SHARDS = 64,
    CACHE_LINE = 64
};

/*
 * A bucket is one number: the time when the bucket will be full again. The
 * bucket has `burst` tokens minus the tokens that are still to come:
 *
 *   now            full_at        now + burst * token
 *    |--------------->|------------------->|
 *     tokens taken       tokens left
 *
 * Time is in units of 1/`count` ms, so that a token takes exactly period_ms
 * units. A number has room for 2^43 ms, 278 years, of 2^20 units each.
 */
struct token_bucket {
    uint64_t key;
    uint64_t full_at; /* in the past: the bucket is full, or not in use */
};

struct set {
    _Alignas(CACHE_LINE) struct token_bucket buckets[WAYS];
};

struct shard {
    _Alignas(CACHE_LINE) pthread_mutex_t mutex; /* guards the shard's sets */
};

struct rate_limit {
    struct shard shards[SHARDS];
    struct siphash_key secret;
    uint64_t token;  /* time units of one token */
    uint64_t burst;  /* time units of all tokens of a full bucket except one */
    uint32_t per_ms; /* time units per ms */
    uint64_t set_mask;
    struct set *sets; /* set i belongs to shard i % SHARDS */
};

_Static_assert(sizeof(struct token_bucket) == RATE_LIMIT_ENTRY_BYTES,
               "as told");

/* --- Rates ---------------------------------------------------------------- */

bool rate_parse(struct rate *rate, struct bytes text)
{
    uint32_t count = 0;

    if (text.len < 3 || text.data[text.len - 2] != '/' || *text.data == '0')
        return false;
    for (size_t i = 0; i < text.len - 2; i++) {
        if (!byte_is_digit(text.data[i]))
            return false;
        count = 10 * count + (uint32_t)(text.data[i] - '0');
        if (count > RATE_COUNT_MAX)
            return false;
    }
    switch (text.data[text.len - 1]) {
    case 's':
        *rate = (struct rate){count, MS_PER_S};
        return true;
    case 'm':
        *rate = (struct rate){count, 60 * MS_PER_S};
        return true;
    case 'h':
        *rate = (struct rate){count, 60 * 60 * MS_PER_S};
        return true;
    default:
        return false;
    }
}

/* --- Buckets -------------------------------------------------------------- */

/* Finds the bucket of a key. A key without a bucket gets the fullest one of the
 * set. */
static struct token_bucket *find_bucket(struct set *set, uint64_t key)
{
    struct token_bucket *fullest = &set->buckets[0];

    for (size_t i = 0; i < WAYS; i++) {
        struct token_bucket *bucket = &set->buckets[i];

        if (bucket->key == key)
            return bucket;
        if (bucket->full_at < fullest->full_at)
            fullest = bucket;
    }
    *fullest = (struct token_bucket){.key = key};
    return fullest;
}

/* Takes a token and returns 0, or returns how many time units must pass until
 * there is a token. */
static uint64_t take_token(const struct rate_limit *limit,
                           struct token_bucket *bucket, uint64_t now)
{
    uint64_t full_at = bucket->full_at > now ? bucket->full_at : now;

    if (full_at > now + limit->burst)
        return full_at - (now + limit->burst);
    bucket->full_at = full_at + limit->token;
    return 0;
}

uint32_t rate_limit_take(struct rate_limit *limit,
                         const struct address *address, uint64_t now_ms)
{
    uint64_t key = address_key_of(address);
    uint64_t at = address_key_hash(key, &limit->secret) & limit->set_mask;
    pthread_mutex_t *mutex = &limit->shards[at % SHARDS].mutex;
    uint64_t per_s = MS_PER_S * (uint64_t)limit->per_ms;
    uint64_t missing;

    pthread_mutex_lock(mutex);
    missing = take_token(limit, find_bucket(&limit->sets[at], key),
                         now_ms * limit->per_ms);
    pthread_mutex_unlock(mutex);
    return (uint32_t)((missing + per_s - 1) / per_s);
}

/* --- Coming and going ----------------------------------------------------- */

int rate_limit_create(struct rate_limit **limit_out, struct rate rate,
                      uint32_t burst, size_t entries)
{
    size_t set_count = 1;
    struct rate_limit *limit;
    int err;

    assert(rate.count >= 1 && rate.count <= RATE_COUNT_MAX);
    assert(burst >= 1 && burst <= RATE_BURST_MAX);
    assert(entries >= 1 && entries <= RATE_LIMIT_ENTRIES_MAX);
    while (set_count * WAYS < entries)
        set_count *= 2;
    limit = aligned_alloc(CACHE_LINE, sizeof(*limit));
    if (!limit)
        return -ENOMEM;
    *limit = (struct rate_limit){.token = rate.period_ms,
                                 .burst = (uint64_t)(burst - 1) *
                                          rate.period_ms,
                                 .per_ms = rate.count,
                                 .set_mask = set_count - 1};
    err = siphash_make_key(&limit->secret);
    if (err != 0)
        goto free_limit;
    limit->sets = aligned_alloc(CACHE_LINE, set_count * sizeof(*limit->sets));
    if (!limit->sets) {
        err = -ENOMEM;
        goto free_limit;
    }
    memset(limit->sets, 0, set_count * sizeof(*limit->sets));
    for (size_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&limit->shards[i].mutex, NULL);
    *limit_out = limit;
    return 0;

free_limit:
    free(limit);
    return err;
}

void rate_limit_destroy(struct rate_limit *limit)
{
    if (!limit)
        return;
    for (size_t i = 0; i < SHARDS; i++)
        pthread_mutex_destroy(&limit->shards[i].mutex);
    free(limit->sets);
    free(limit);
}
