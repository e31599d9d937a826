/*
 * kv_cache_fixture - a cache of values, and what a store would give to it.
 */
#ifndef UNIT_KV_CACHE_FIXTURE_H
#define UNIT_KV_CACHE_FIXTURE_H

#include "kv/kv_cache.h"

#include "suite.h"

enum { GROUP_BYTES = 1 << 16, POLICIES = EVICT_SIEVE + 1 };

extern struct kv_cache *cache;

int set_up(void **state);
int tear_down(void **state);
void reopen_cache(enum evict_policy policy, uint64_t bytes_max,
                  unsigned groups);

/* What the store would give: bytes of data that tell the revision. */
struct kv_value *make_value(uint64_t revision, size_t bytes);

struct kv_cache_ticket expect_miss(struct bytes key);
void offer(struct bytes key, const struct kv_cache_ticket *ticket,
           uint64_t revision, size_t bytes);
void read_in(struct bytes key, uint64_t revision, size_t bytes);

/* 0: it is not inside. */
uint64_t revision_of(struct bytes key);

void make_key(unsigned number, char key[static 16]);

#endif
