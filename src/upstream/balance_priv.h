/*
 * balance_priv - shared by balance.c (choosing) and balance_health.c (health).
 */
#ifndef UPSTREAM_BALANCE_PRIV_H
#define UPSTREAM_BALANCE_PRIV_H

#include "upstream/balance.h"

struct balance {
    struct balance_options options;
    const struct balance_server *servers;
    struct balance_server_shared *shared;
    size_t count;
    uint64_t backups;                     /* one bit for each backup */
    uint64_t random;                      /* state of splitmix64 */
    int64_t current[BALANCE_SERVERS_MAX]; /* each server's credit in round
                                             robin */
};

#define BALANCE_LOAD(number) \
    atomic_load_explicit((number), memory_order_relaxed)
#define BALANCE_STORE(number, value) \
    atomic_store_explicit((number), (value), memory_order_relaxed)

/* Returns a set bit for each server that is neither down nor ejected. If there
 * is no such server, returns a bit for each server that is not down. */
uint64_t balance_find_up(const struct balance *balance, uint64_t now_ms);

/* Returns the server's weight in thousandths; never 0. The weight is smaller
 * during a slow start. */
uint64_t balance_weight(const struct balance *balance, size_t server,
                        uint64_t now_ms);

/* Mixes the bits of `x` (the end of splitmix64; Steele, Lea, Flood, OOPSLA
 * 2014). */
static inline uint64_t balance_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t balance_draw(struct balance *balance)
{
    balance->random += UINT64_C(0x9e3779b97f4a7c15);
    return balance_mix(balance->random);
}

#endif
