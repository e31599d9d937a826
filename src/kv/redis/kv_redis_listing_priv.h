/*
 * kv_redis_listing - a page of keys while it comes about, and what its files
 * share. Each calls only those below it; that all calls are over goes up by
 * on_settled.
 *
 *   kv_redis_list.c           the way of a page
 *   kv_redis_listing_look.c   what is kept under the keys that were found
 *   kv_redis_listing_round.c  the next few keys of each partition, and which of
 *                             them are surely the next of all
 */
#ifndef KV_REDIS_KV_REDIS_LISTING_PRIV_H
#define KV_REDIS_KV_REDIS_LISTING_PRIV_H

#include "kv/kv_page.h"
#include "kv/redis/kv_redis_priv.h"

/* The keys that one partition has next. */
struct kv_redis_run {
    struct kv_redis_call call;
    struct bytes *keys; /* in the round's arena */
    size_t count;
    size_t at;
    bool is_full; /* there may be more behind them */
};

struct kv_redis_look;

/*
 * round: all partitions are asked for their next few keys, which are merged
 *        as far as they surely are the next of all;  up to ROUNDS_MAX times
 * looks: each key is asked for its size, type, ...; what has none is dropped
 */
struct kv_redis_listing {
    struct kv_redis_question question;
    struct kv_redis_client *client;
    struct kv_page *page;
    /* Whatever was waited for is there. */
    void (*on_settled)(struct kv_redis_listing *listing);
    size_t waits; /* for so many calls */
    bool is_starting;
    enum kv_outcome outcome;
    unsigned rounds;
    bool is_end;
    size_t step; /* keys of each partition */
    struct arena round;
    struct arena looks_arena;
    struct kv_redis_look *looks; /* one an entry, when all of these are there */
    struct bytes *firsts;
    size_t first_count;
    char min[KV_KEY_BYTES_MAX + 1]; /* as ZRANGEBYLEX has them */
    size_t min_len;
    char max[KV_KEY_BYTES_MAX + 1];
    size_t max_len;
    char last[KV_KEY_BYTES_MAX]; /* told; where the next round begins */
    size_t last_len;
    bool is_last_prefix;
    struct kv_redis_run runs[KV_REDIS_PARTITIONS];
};

/* --- kv_redis_listing_look.c ---------------------------------------------- */

/* Asks for what is kept under each entry of the page. */
void kv_redis_listing_begin_looks(struct kv_redis_listing *listing);

/* Entries without a value go. Where such a one stood for a common prefix, the
 * page ends: others may have it, or not. False: no memory. */
bool kv_redis_listing_sift(struct kv_redis_listing *listing);

/* --- kv_redis_listing_round.c --------------------------------------------- */

/* Starts a call, whose partition is set: the page waits for it. */
void kv_redis_listing_start(struct kv_redis_listing *listing,
                            struct kv_redis_call *call);

/* Notes that one of the calls is over. */
void kv_redis_listing_settle(struct kv_redis_listing *listing,
                             enum kv_outcome outcome);

/* Sets where the next keys are, by the last one that was told; false: there are
 * none. */
bool kv_redis_listing_set_range(struct kv_redis_listing *listing,
                                struct bytes after, bool is_prefix);

/* Asks all partitions for their next few keys. */
void kv_redis_listing_begin_round(struct kv_redis_listing *listing);

/* Adds what of the round surely comes next to the page; what is known of these
 * entries comes later. False: no memory. */
bool kv_redis_listing_merge(struct kv_redis_listing *listing);

#endif
