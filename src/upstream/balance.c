#include "upstream/balance.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "upstream/balance_priv.h"

/* A snapshot of a server that may be chosen, taken when the choice began:
 * changes by other workers must not make a sum differ from its parts. */
struct server_choice {
    size_t server;
    uint64_t weight; /* 20 bits: see balance_weight() */
    uint64_t active; /* 32 bits */
};

struct candidates {
    size_t count;
    uint64_t weight; /* sum of all weights; 26 bits */
    struct server_choice all[BALANCE_SERVERS_MAX];
};

static uint64_t bit_of(size_t server)
{
    return UINT64_C(1) << server;
}

/* --- Policies: each returns the number of a candidate -------------------- */

static void gather(const struct balance *balance, uint64_t set, uint64_t now_ms,
                   struct candidates *candidates)
{
    candidates->count = 0;
    candidates->weight = 0;
    for (size_t i = 0; i < balance->count; i++) {
        uint64_t weight;

        if ((set & bit_of(i)) == 0)
            continue;
        weight = balance_weight(balance, i, now_ms);
        candidates->all[candidates->count++] = (struct server_choice){
            i, weight, BALANCE_LOAD(&balance->shared[i].active)};
        candidates->weight += weight;
    }
}

static size_t choose_in_turn(struct balance *balance,
                             const struct candidates *candidates)
{
    size_t chosen = 0;

    for (size_t i = 0; i < candidates->count; i++) {
        const struct server_choice *candidate = &candidates->all[i];

        balance->current[candidate->server] += (int64_t)candidate->weight;
        if (balance->current[candidate->server] >
            balance->current[candidates->all[chosen].server])
            chosen = i;
    }
    balance->current[candidates->all[chosen].server] -=
        (int64_t)candidates->weight;
    return chosen;
}

static bool is_busier(const struct server_choice *a,
                      const struct server_choice *b)
{
    return a->active * b->weight > b->active * a->weight;
}

/* Keeps only the candidates with the fewest active requests per weight. */
static void keep_idlest(struct candidates *candidates)
{
    struct server_choice idlest = candidates->all[0];
    size_t kept = 0;

    for (size_t i = 1; i < candidates->count; i++)
        if (is_busier(&idlest, &candidates->all[i]))
            idlest = candidates->all[i];
    candidates->weight = 0;
    for (size_t i = 0; i < candidates->count; i++) {
        if (is_busier(&candidates->all[i], &idlest))
            continue;
        candidates->weight += candidates->all[i].weight;
        candidates->all[kept++] = candidates->all[i];
    }
    candidates->count = kept;
}

static size_t draw_one(struct balance *balance,
                       const struct candidates *candidates)
{
    uint64_t at = balance_draw(balance) % candidates->weight;
    size_t drawn = 0;

    while (at >= candidates->all[drawn].weight)
        at -= candidates->all[drawn++].weight;
    return drawn;
}

static size_t choose_of_two(struct balance *balance,
                            struct candidates *candidates)
{
    size_t last = candidates->count - 1;
    size_t first = draw_one(balance, candidates);
    struct server_choice drawn = candidates->all[first];
    size_t second;

    /* The second server is drawn from the others. */
    candidates->all[first] = candidates->all[last];
    candidates->all[last] = drawn;
    candidates->count--;
    candidates->weight -= drawn.weight;
    second = draw_one(balance, candidates);
    return is_busier(&drawn, &candidates->all[second]) ? second : last;
}

/* Returns the server's rendezvous time for this hash; the server with the
 * earliest time is chosen. Times are exponentially distributed with the weight
 * as rate, so a server is earliest with a probability of weight / sum of
 * weights (Efraimidis, Spirakis, IPL 2006). */
static double rendezvous(const struct balance *balance, uint64_t hash,
                         const struct server_choice *candidate)
{
    uint64_t bits =
        balance_mix(hash ^
                    balance_mix(balance->servers[candidate->server].name_hash));
    /* 53 bits plus half a step make a number between 0 and 1 that is never 0
     * and never 1. */
    double even = ((double)(bits >> 11) + 0.5) * 0x1p-53;

    return -log(even) / (double)candidate->weight;
}

/* Whether the server's active requests, plus the new one, are at most 1.25
 * times its fair share of all active requests, rounded up. At least one server
 * is always within this bound: otherwise the sum of all would exceed 1.25 times
 * itself. */
static bool is_within_bound(const struct candidates *candidates,
                            const struct server_choice *candidate,
                            uint64_t active)
{
    /* Neither product overflows: 2 + 32 + 26 bits, and 3 + 39 + 20 bits. */
    return 4 * candidate->active * candidates->weight <
           5 * (active + 1) * candidate->weight;
}

static size_t choose_by_hash(const struct balance *balance,
                             const struct candidates *candidates, uint64_t hash)
{
    double soonest = INFINITY;
    uint64_t active = 0;
    size_t chosen = 0;

    for (size_t i = 0; i < candidates->count; i++)
        active += candidates->all[i].active;
    for (size_t i = 0; i < candidates->count; i++) {
        const struct server_choice *candidate = &candidates->all[i];
        double when;

        if (!is_within_bound(candidates, candidate, active))
            continue;
        when = rendezvous(balance, hash, candidate);
        if (when < soonest) {
            soonest = when;
            chosen = i;
        }
    }
    return chosen;
}

static size_t choose(struct balance *balance, uint64_t set, uint64_t hash,
                     uint64_t now_ms)
{
    struct candidates candidates;
    size_t chosen = 0;

    gather(balance, set, now_ms, &candidates);
    assert(candidates.count > 0 && candidates.weight > 0);
    if (candidates.count == 1)
        return candidates.all[0].server;
    switch (balance->options.policy) {
    case BALANCE_ROUND_ROBIN:
        chosen = choose_in_turn(balance, &candidates);
        break;
    case BALANCE_LEAST_CONN:
        keep_idlest(&candidates);
        chosen = choose_in_turn(balance, &candidates);
        break;
    case BALANCE_RANDOM:
        chosen = choose_of_two(balance, &candidates);
        break;
    case BALANCE_HASH:
        chosen = choose_by_hash(balance, &candidates, hash);
        break;
    }
    return candidates.all[chosen].server;
}

/* --- Taking and giving ---------------------------------------------------- */

/* Counts a request at a server. Returns false if the server is at its limit. */
static bool take_place(const struct balance *balance, size_t server)
{
    _Atomic uint32_t *active = &balance->shared[server].active;
    uint32_t max = balance->servers[server].conns_max;
    uint32_t seen;

    if (max == 0) {
        atomic_fetch_add_explicit(active, 1, memory_order_relaxed);
        return true;
    }
    seen = BALANCE_LOAD(active);
    do {
        if (seen >= max)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(active, &seen, seen + 1,
                                                    memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static uint64_t without_full(const struct balance *balance, uint64_t set)
{
    for (size_t i = 0; i < balance->count; i++) {
        uint32_t max = balance->servers[i].conns_max;

        if (max > 0 && BALANCE_LOAD(&balance->shared[i].active) >= max)
            set &= ~bit_of(i);
    }
    return set;
}

int balance_take(struct balance *balance, uint64_t hash, uint64_t tried,
                 uint64_t now_ms)
{
    uint64_t left = balance_find_up(balance, now_ms) & ~tried;

    for (left = without_full(balance, left); left != 0;) {
        uint64_t first = left & ~balance->backups;
        size_t server = choose(balance, first != 0 ? first : left, hash,
                               now_ms);

        if (take_place(balance, server))
            return (int)server;
        left &= ~bit_of(server); /* another worker took the last place */
    }
    return -1;
}

/* --- Coming and going ----------------------------------------------------- */

/* Lets round robin begin at a server drawn by `seed`, because otherwise all
 * workers would ask the same server first. */
static void begin_elsewhere(struct balance *balance, uint64_t seed)
{
    struct candidates candidates;

    gather(balance, ~balance->backups, 0, &candidates);
    if (candidates.count == 0)
        return;
    for (uint64_t turns = seed % candidates.count; turns > 0; turns--)
        choose_in_turn(balance, &candidates);
}

struct balance *balance_create(const struct balance_options *options,
                               const struct balance_server *servers,
                               struct balance_server_shared *shared,
                               size_t count, uint64_t seed)
{
    struct balance *balance;

    assert(count >= 1 && count <= BALANCE_SERVERS_MAX);
    assert(options->fails_max == 0 ||
           (options->eject_ms > 0 && options->eject_max_ms > 0));
    balance = malloc(sizeof(*balance));
    if (!balance)
        return NULL;
    *balance = (struct balance){.options = *options,
                                .servers = servers,
                                .shared = shared,
                                .count = count,
                                .random = seed};
    for (size_t i = 0; i < count; i++) {
        assert(servers[i].weight >= 1 &&
               servers[i].weight <= BALANCE_WEIGHT_MAX);
        if (servers[i].is_backup)
            balance->backups |= bit_of(i);
    }
    begin_elsewhere(balance, seed);
    return balance;
}

void balance_destroy(struct balance *balance)
{
    free(balance);
}
