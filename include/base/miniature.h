/*
 * miniature - estimates how often a cache would hit if it were larger or
 * smaller, or had another policy. It simulates the cache in miniature
 * (Waldspurger, Park, Garthwaite, Ahmad: "Efficient MRC Construction with
 * SHARDS", FAST 2015; Waldspurger, Saemundsson, Ahmad, Park: "Cache Modeling
 * and Optimization using Miniature Simulations", ATC 2017).
 *
 * A key's hash decides whether the key is sampled, so that either all requests
 * for it are simulated or none. Sampled requests go through one model for each
 * size and policy. A model uses the same evict as real caches.
 *
 * A few large keys hold most of the bytes, so a uniform sample of keys would be
 * far off in bytes. Therefore a key is sampled with a probability of 1/w, where
 * w falls with the key's size. The sampled key stands for w keys of its size,
 * and takes the room of all these keys:
 *
 *    w = W             up to `unit` bytes, about the mean size of requests
 *    w = W unit/bytes  above, but at least 1: all of the largest are sampled
 *
 * Misses are added up with weight w, and compared with the total of all
 * requests, which the cache counts exactly. So it matters little whether the
 * sample has the few keys that are requested most often: they hit in every
 * model. SHARDS-adj needs a correction for such keys.
 *
 * Each model has the same amount of memory, and its own W. When the memory is
 * full, W is raised: keys that are no longer sampled are dropped, and the
 * others stand for more keys. So a small model, which holds few keys at a time,
 * samples a larger share of them.
 *
 * Simulating takes at most budget_ns of each second, and less if there were few
 * requests in the second before. When the budget is used up, nothing is
 * simulated or counted for the rest of the second, and models with many keys
 * continue with fewer, until the budget lasts for a second.
 *
 * Thread:    one owner at a time; no locks inside.
 * Owns:      its memory, at most MINIATURE_MEMORY; borrows `asked`.
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

/* The sizes of the models, in quarters of the cache: 1, 2, 4, 8, 16, 64. */
extern const unsigned miniature_quarters[MINIATURE_SIZES];

/* The requests to the cache since its start, counted by the owner. */
struct miniature_asked {
    uint64_t requests;
    uint64_t bytes;
};

struct miniature_options {
    uint64_t bytes_max; /* the cache's size, at least 1 */
    size_t entries_max;
    size_t memory_max;  /* at most MINIATURE_MEMORY */
    uint64_t budget_ns; /* time for each second; 0: no limit */
    const struct miniature_asked *asked;
};

/* The recent requests, and how many of them missed in each model, indexed by
 * miniature_model(). The counts of several miniatures may be added up. */
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

/* Returns NULL if there is no memory. */
MUST_USE struct miniature *miniature_create(const struct miniature_options
                                                *options);
void miniature_destroy(struct miniature *miniature);

/* Returns true if any model samples the key. `key` is a hash that clients
 * cannot choose, and `bytes` is the size of the key's entry. Once the result is
 * false for a key, it stays false. */
bool miniature_samples(const struct miniature *miniature, uint64_t key,
                       uint64_t bytes);

/* Simulates one request for a key for which miniature_samples() is true. The
 * owner has already counted the request in `asked`. */
void miniature_ask(struct miniature *miniature, uint64_t key, uint64_t bytes);

/* Tells the models that the key's content has changed: the next request for it
 * misses. */
void miniature_forget(struct miniature *miniature, uint64_t key);

/* Renews the budget of time. To be called once a second. */
void miniature_tick(struct miniature *miniature);

void miniature_tell(const struct miniature *miniature,
                    struct miniature_told *told_out);

#endif
