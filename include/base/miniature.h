/*
 * miniature - what a cache would have hit, were it larger, smaller or under
 * another policy: simulations of it in miniature (Waldspurger, Park,
 * Garthwaite, Ahmad: "Efficient MRC Construction with SHARDS", FAST 2015;
 * Waldspurger, Saemundsson, Ahmad, Park: "Cache Modeling and Optimization using
 * Miniature Simulations", ATC 2017).
 *
 * Whether a key is sampled is decided by its hash, so that all requests for it
 * are seen or none. The sampled ones go through a model for each size and
 * policy, made of the same evict that real caches are made of.
 *
 * Few keys are large, and these have most of the bytes: a sample of all keys
 * alike is far off in bytes. So a key is sampled with a probability of 1/w,
 * where w falls with its size; it stands for w keys like it and takes the room
 * of them:
 *
 *    w = W             up to `unit` bytes, about the mean of what is asked for
 *    w = W unit/bytes  above, 1 at least: the largest are all there
 *
 * What does not hit is added up with that weight, and set against all that was
 * asked for (told by the cache, not estimated): a key that is asked for most
 * hits everywhere, so that it matters little whether it is in the sample. That
 * is what SHARDS-adj is about.
 *
 * Each model has the same memory, and a W of its own, which is raised whenever
 * that would not do: keys that are not sampled any more go, and the others
 * stand for more. So a small model, in which few keys are at a time, sees more
 * of them.
 *
 * Simulating takes budget_ns of each second at most, and less of a second
 * before which little was asked for. When that is used up nothing is simulated,
 * nor counted, for the rest of the second; and models with many keys go on with
 * fewer, until it lasts for a second.
 *
 * Thread:    one owner at a time; no locks inside.
 * Owns:      its memory, MINIATURE_MEMORY at most; asked is borrowed.
 */
#ifndef BASE_MINIATURE_H
#define BASE_MINIATURE_H

#include "base/evict.h"

enum {
    MINIATURE_SIZES = 6,
    MINIATURE_POLICIES = EVICT_SIEVE + 1,
    MINIATURE_MODELS = MINIATURE_SIZES * MINIATURE_POLICIES,
    MINIATURE_MEMORY = 1 << 20
};

/* How large the models are, in quarters of the cache: 1, 2, 4, 8, 16, 64. */
extern const unsigned miniature_quarters[MINIATURE_SIZES];

/* What the cache was asked for since its start; the owner counts. */
struct miniature_asked {
    uint64_t requests;
    uint64_t bytes;
};

struct miniature_options {
    uint64_t bytes_max; /* of the cache, at least 1 */
    size_t entries_max;
    size_t memory_max;  /* MINIATURE_MEMORY at most */
    uint64_t budget_ns; /* 0: no limit */
    const struct miniature_asked *asked;
};

/* What was asked for lately, and what of that the models missed, by
 * miniature_model(). Sums of several may be added up. */
struct miniature_told {
    uint64_t requests;
    uint64_t bytes;
    uint64_t misses[MINIATURE_MODELS];
    uint64_t missed_bytes[MINIATURE_MODELS];
};

static inline unsigned miniature_model(enum evict_policy policy, unsigned size)
{
    return (unsigned)policy * MINIATURE_SIZES + size;
}

struct miniature; /* opaque */

/* NULL: no memory. */
MUST_USE struct miniature *miniature_create(const struct miniature_options
                                                *options);
void miniature_destroy(struct miniature *miniature);

/* Whether any model samples a key, which is a hash that clients cannot choose.
 * Once false it stays so. */
bool miniature_samples(const struct miniature *miniature, uint64_t key,
                       uint64_t bytes);

/* Notes one request for a sampled key, which the owner has counted in asked
 * before. */
void miniature_ask(struct miniature *miniature, uint64_t key, uint64_t bytes);

/* What the key leads to has changed: the next request for it misses. */
void miniature_forget(struct miniature *miniature, uint64_t key);

/* Opens the budget again, each second. */
void miniature_tick(struct miniature *miniature);

void miniature_tell(const struct miniature *miniature,
                    struct miniature_told *told_out);

#endif
