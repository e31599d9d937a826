#include "unit/kv/kv_cache_fixture.h"

struct kv_cache *cache;

static void open_cache(enum evict_policy policy, uint64_t bytes_max,
                       unsigned groups)
{
    const struct kv_cache_options options = {policy, bytes_max, groups};

    assert_int_equal(kv_cache_create(&cache, &options), 0);
}

int set_up(void **state)
{
    (void)state;
    open_cache(EVICT_LRU, GROUP_BYTES, 1);
    return 0;
}

int tear_down(void **state)
{
    (void)state;
    kv_cache_destroy(cache);
    cache = NULL;
    return 0;
}

void reopen_cache(enum evict_policy policy, uint64_t bytes_max, unsigned groups)
{
    kv_cache_destroy(cache);
    open_cache(policy, bytes_max, groups);
}

struct kv_value *make_value(uint64_t revision, size_t bytes)
{
    struct kv_value *value = kv_value_create(0, bytes);

    assert_non_null(value);
    value->meta.revision = revision;
    memset(kv_value_room(value), (int)(revision & 0xFF), bytes);
    return value;
}

struct kv_cache_ticket expect_miss(struct bytes key)
{
    struct kv_cache_ticket ticket;

    assert_null(kv_cache_acquire(cache, key, &ticket));
    return ticket;
}

void offer(struct bytes key, const struct kv_cache_ticket *ticket,
           uint64_t revision, size_t bytes)
{
    struct kv_value *value = make_value(revision, bytes);

    kv_cache_fill(cache, key, ticket, value);
    kv_value_release(&value);
}

void read_in(struct bytes key, uint64_t revision, size_t bytes)
{
    struct kv_cache_ticket ticket = expect_miss(key);

    offer(key, &ticket, revision, bytes);
}

uint64_t revision_of(struct bytes key)
{
    struct kv_cache_ticket ticket;
    struct kv_value *value = kv_cache_acquire(cache, key, &ticket);
    uint64_t revision = value ? value->meta.revision : 0;

    for (size_t i = 0; value && i < value->data.len; i++)
        assert_int_equal((unsigned char)value->data.data[i], revision & 0xFF);
    kv_value_release(&value);
    return revision;
}

void make_key(unsigned number, char key[static 16])
{
    snprintf(key, 16, "key-%u", number);
}
