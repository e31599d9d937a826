/*
 * kv_redis_listing - a page of keys while it is made, shared by its files. Each
 * calls only those below it; on_settled tells the upper ones that all calls are
 * over.
 *
 *   kv_redis_list.c           the steps of a page
 *   kv_redis_listing_look.c   asks for the values of the keys found
 *   kv_redis_listing_round.c  the next few keys of each partition, and which
 *                             of them are surely the next of all
 */
#ifndef KV_REDIS_KV_REDIS_LISTING_PRIV_H
#define KV_REDIS_KV_REDIS_LISTING_PRIV_H

#include "kv/kv_page.h"
#include "kv/redis/kv_redis_priv.h"

/* The next keys of one partition. */
struct kv_redis_run {
    struct kv_redis_call call;
    struct bytes *keys; /* lie in the listing's arena `round` */
    size_t count;
    size_t at;
    bool is_full; /* more may follow */
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
    /* Called when all calls are over. */
    void (*on_settled)(struct kv_redis_listing *listing);
    size_t waits; /* calls it waits for */
    bool is_starting;
    enum kv_outcome outcome;
    unsigned rounds;
    bool is_end;
    size_t step; /* keys to ask of each partition */
    struct arena round;
    struct arena looks_arena;
    struct kv_redis_look *looks; /* one per entry, while values are asked for */
    struct bytes *firsts;
    size_t first_count;
    char min[KV_KEY_BYTES_MAX + 1]; /* both in ZRANGEBYLEX's form */
    size_t min_len;
    char max[KV_KEY_BYTES_MAX + 1];
    size_t max_len;
    char last[KV_KEY_BYTES_MAX]; /* the last key listed */
    size_t last_len;
    bool is_last_prefix;
    struct kv_redis_run runs[KV_REDIS_PARTITIONS];
};

/* --- kv_redis_listing_look.c ---------------------------------------------- */

/* Asks for the value's metadata of each entry of the page. */
void kv_redis_listing_begin_looks(struct kv_redis_listing *listing);

/* Removes entries without a value. If one stood for a common prefix, the page
 * ends there: it is unknown whether others have the prefix. False: no
 * memory. */
bool kv_redis_listing_sift(struct kv_redis_listing *listing);

/* --- kv_redis_listing_round.c --------------------------------------------- */

/* Starts a call whose partition is set; the page waits for its end. */
void kv_redis_listing_start(struct kv_redis_listing *listing,
                            struct kv_redis_call *call);

/* Notes that one of the calls is over. */
void kv_redis_listing_settle(struct kv_redis_listing *listing,
                             enum kv_outcome outcome);

/* Sets the range of the next keys, behind the last one listed. False: there can
 * be none. */
bool kv_redis_listing_set_range(struct kv_redis_listing *listing,
                                struct bytes after, bool is_prefix);

/* Asks all partitions for their next few keys. */
void kv_redis_listing_begin_round(struct kv_redis_listing *listing);

/* Adds those keys of the round to the page that surely come next, yet without
 * metadata. False: no memory. */
bool kv_redis_listing_merge(struct kv_redis_listing *listing);

#endif
