/*
 * kv_redis_listing - a page of keys while it is made; shared by the files
 * below. Each file calls only files below it in this list; on_settled tells the
 * upper files that all calls are over.
 *
 *   kv_redis_list.c           the steps of making a page
 *   kv_redis_listing_look.c   asks for the values of the found keys
 *   kv_redis_listing_round.c  asks for the next few keys of each partition, and
 *                             merges the keys that certainly come next
 */
#ifndef KV_REDIS_KV_REDIS_LISTING_PRIV_H
#define KV_REDIS_KV_REDIS_LISTING_PRIV_H

#include "kv/kv_page.h"
#include "kv/redis/kv_redis_priv.h"

/* The next keys of one partition. */
struct kv_redis_run {
    struct kv_redis_call call;
    struct bytes *keys; /* the found keys, in listing->round */
    size_t count;
    size_t at;
    bool is_full; /* the partition may have more keys */
};

struct kv_redis_look;

/*
 * round: all partitions are asked for their next few keys. The keys that
 *        certainly come next are merged into the page. Up to ROUNDS_MAX rounds.
 * looks: the size, the type and so on of each key's value are asked for. Keys
 *        without a value are dropped.
 */
struct kv_redis_listing {
    struct kv_redis_question question;
    struct kv_redis_client *client;
    struct kv_page *page;
    /* Called when all calls are over. */
    void (*on_settled)(struct kv_redis_listing *listing);
    size_t waits; /* number of calls under way */
    bool is_starting;
    enum kv_outcome outcome;
    unsigned rounds;
    bool is_end;
    size_t step; /* how many keys to ask each partition for */
    struct arena round;
    struct arena looks_arena;
    /* one look per entry, while values are asked for */
    struct kv_redis_look *looks;
    struct bytes *firsts;
    size_t first_count;
    /* from `min` to `max`: the range of the next keys, in ZRANGEBYLEX's form */
    char min[KV_KEY_BYTES_MAX + 1];
    size_t min_len;
    char max[KV_KEY_BYTES_MAX + 1];
    size_t max_len;
    char last[KV_KEY_BYTES_MAX]; /* the last key listed */
    size_t last_len;
    bool is_last_prefix;
    struct kv_redis_run runs[KV_REDIS_PARTITIONS];
};

/* --- kv_redis_listing_look.c ---------------------------------------------- */

/* Asks for the metadata of each entry's value. */
void kv_redis_listing_begin_looks(struct kv_redis_listing *listing);

/* Removes entries without a value from the page. If a removed entry is a common
 * prefix, the page ends there, because other keys may have the prefix. Returns
 * false if there is no memory. */
bool kv_redis_listing_sift(struct kv_redis_listing *listing);

/* --- kv_redis_listing_round.c --------------------------------------------- */

/* Starts a call, whose partition the caller has set. The page waits for the
 * call's end. */
void kv_redis_listing_start(struct kv_redis_listing *listing,
                            struct kv_redis_call *call);

/* Notes that one of the calls is over. */
void kv_redis_listing_settle(struct kv_redis_listing *listing,
                             enum kv_outcome outcome);

/* Sets the range of the next keys, which begins behind `after`, the last key or
 * prefix listed. Returns false if no key can follow. */
bool kv_redis_listing_set_range(struct kv_redis_listing *listing,
                                struct bytes after, bool is_prefix);

/* Asks all partitions for their next few keys. */
void kv_redis_listing_begin_round(struct kv_redis_listing *listing);

/* Adds the round's keys that certainly come next to the page, without metadata.
 * Returns false if there is no memory. */
bool kv_redis_listing_merge(struct kv_redis_listing *listing);

#endif
