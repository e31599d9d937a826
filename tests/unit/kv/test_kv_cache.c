/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=siphash_make_key */
#include "unit/kv/kv_cache_fixture.h"

#include "unit/draw.h"
#include "unit/memory.h"
#include "wrap.h"

/* --- Memory and chance, in the test's hands ------------------------------- */

static int chance_err;

WRAP(int, siphash_make_key, struct siphash_key *key)
{
    return chance_err != 0 ? chance_err : __real_siphash_make_key(key);
}

static int heal_and_tear_down(void **state)
{
    allocations_left = -1;
    chance_err = 0;
    return tear_down(state);
}

static void write_key(struct bytes key)
{
    kv_cache_begin_write(cache, key);
    kv_cache_end_writes(cache);
}

/* --- Keeping -------------------------------------------------------------- */

TEST(what_was_read_once_is_inside)
{
    static char longest[KV_KEY_BYTES_MAX];
    const struct bytes keys[] = {BYTES("a"),
                                 BYTES("ab"),
                                 BYTES("a\0b"),
                                 BYTES("a\0c"),
                                 BYTES("\xff"),
                                 {longest, sizeof(longest)},
                                 {longest, sizeof(longest) - 1}};
    const size_t count = sizeof(keys) / sizeof(*keys);

    memset(longest, 'x', sizeof(longest));
    for (size_t i = 0; i < count; i++)
        read_in(keys[i], i + 1, 10 * i);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(revision_of(keys[i]), i + 1);
    assert_int_equal(kv_cache_count(cache).entries, count);
}

TEST(a_type_and_all_that_is_known_come_too)
{
    struct kv_cache_ticket ticket = expect_miss(BYTES("key"));
    struct kv_value *value = kv_value_create(10, 4);
    struct kv_value *found;

    memcpy(kv_value_room(value), "text/plainblue", 14);
    value->meta = (struct kv_meta){7, 8, 9};
    kv_cache_fill(cache, BYTES("key"), &ticket, value);
    found = kv_cache_acquire(cache, BYTES("key"), &ticket);
    assert_ptr_equal(found, value); /* and nothing was copied */
    kv_value_release(&value);
    assert_true(bytes_eq(found->type, BYTES("text/plain")));
    assert_true(bytes_eq(found->data, BYTES("blue")));
    assert_int_equal(found->meta.expires_ms, 9);
    kv_value_release(&found);
}

TEST(what_a_reader_holds_stays_when_the_key_goes)
{
    struct kv_cache_ticket ticket;
    struct kv_value *held;

    read_in(BYTES("key"), 7, 100);
    held = kv_cache_acquire(cache, BYTES("key"), &ticket);
    write_key(BYTES("key"));
    assert_int_equal(revision_of(BYTES("key")), 0);
    kv_cache_destroy(cache);
    cache = NULL;
    assert_int_equal(held->meta.revision, 7);
    assert_int_equal(held->data.data[99], 7);
    kv_value_release(&held);
}

TEST(of_two_who_read_it_at_once_the_first_fills)
{
    struct kv_cache_ticket first = expect_miss(BYTES("key"));
    struct kv_cache_ticket second = expect_miss(BYTES("key"));

    offer(BYTES("key"), &first, 7, 100);
    offer(BYTES("key"), &second, 7, 100);
    assert_int_equal(revision_of(BYTES("key")), 7);
    assert_int_equal(kv_cache_count(cache).fills, 1);
    assert_int_equal(kv_cache_count(cache).entries, 1);
}

TEST(hits_misses_and_fills_are_counted)
{
    struct kv_cache_counts counts;

    read_in(BYTES("a"), 1, 100);
    read_in(BYTES("b"), 2, 100);
    assert_int_equal(revision_of(BYTES("a")), 1);
    assert_int_equal(revision_of(BYTES("a")), 1);
    assert_int_equal(revision_of(BYTES("c")), 0);
    write_key(BYTES("b"));
    counts = kv_cache_count(cache);
    assert_int_equal(counts.hits, 2);
    assert_int_equal(counts.misses, 3);
    assert_int_equal(counts.fills, 2);
    assert_int_equal(counts.evictions, 0);
    assert_int_equal(counts.entries, 1);
    assert_true(counts.bytes > 100 && counts.bytes < 500);
}

/* --- Limits --------------------------------------------------------------- */

TEST(a_value_beyond_an_eighth_of_a_group_is_not_kept)
{
    const size_t bytes_max = GROUP_BYTES / KV_CACHE_VALUE_PART;
    size_t besides;

    read_in(BYTES("key"), 1, 0);
    besides = kv_cache_count(cache).bytes;
    write_key(BYTES("key"));
    for (unsigned groups = 1; groups <= 4; groups += 3) {
        reopen_cache(EVICT_LRU, (uint64_t)groups * GROUP_BYTES, groups);
        read_in(BYTES("key"), 1, bytes_max - besides + 1);
        assert_int_equal(revision_of(BYTES("key")), 0);
        read_in(BYTES("key"), 2, bytes_max - besides);
        assert_int_equal(revision_of(BYTES("key")), 2);
    }
}

TEST(a_cache_too_small_for_anything_keeps_nothing)
{
    reopen_cache(EVICT_SIEVE, 1, KV_CACHE_GROUPS_MAX);
    read_in(BYTES("key"), 1, 0);
    assert_int_equal(revision_of(BYTES("key")), 0);
    write_key(BYTES("key"));
}

TEST(every_policy_stays_within_its_bytes)
{
    static const unsigned groups[] = {1, 3, 64, 1000};

    for (size_t i = 0; i < (size_t)4 * POLICIES; i++) {
        const uint64_t bytes_max = (uint64_t)groups[i % 4] * GROUP_BYTES / 4;
        struct kv_cache_counts counts;

        reopen_cache((enum evict_policy)(i / 4), bytes_max, groups[i % 4]);
        for (unsigned k = 0; kv_cache_count(cache).evictions < 100; k++) {
            char key[16];

            make_key(k, key);
            read_in(bytes_of(key), k + 1, draw(1000));
            assert_true(kv_cache_count(cache).bytes <= bytes_max);
        }
        counts = kv_cache_count(cache);
        assert_int_equal(counts.fills - counts.evictions, counts.entries);
    }
}

TEST(what_is_used_again_and_again_stays)
{
    for (size_t i = 0; i < POLICIES; i++) {
        reopen_cache((enum evict_policy)i, GROUP_BYTES, 1);
        read_in(BYTES("hot"), 1, 500);
        for (unsigned k = 0; k < 1000; k++) {
            char key[16];

            make_key(k, key);
            assert_int_equal(revision_of(BYTES("hot")), 1);
            read_in(bytes_of(key), k + 1, 500);
        }
        assert_true(kv_cache_count(cache).evictions > 800);
    }
}

TEST(without_memory_there_is_no_cache)
{
    const struct kv_cache_options options = {EVICT_SIEVE, GROUP_BYTES, 3};
    struct kv_cache *other = NULL;
    int failures = 0;
    int err;

    do {
        allocations_left = failures;
        err = kv_cache_create(&other, &options);
        failures += err != 0;
    } while (err == -ENOMEM);
    allocations_left = -1;
    assert_int_equal(err, 0);
    assert_int_equal(failures, 2 + 3 * 2);
    kv_cache_destroy(other);
}

TEST(without_memory_a_value_is_not_kept)
{
    struct kv_cache_ticket ticket = expect_miss(BYTES("key"));
    struct kv_value *value = make_value(1, 10);

    allocations_left = 0;
    kv_cache_fill(cache, BYTES("key"), &ticket, value);
    allocations_left = -1;
    assert_int_equal(revision_of(BYTES("key")), 0);
    kv_cache_fill(cache, BYTES("key"), &ticket, value);
    assert_int_equal(revision_of(BYTES("key")), 1);
    kv_value_release(&value);
}

TEST(without_chance_there_is_no_cache)
{
    const struct kv_cache_options options = {EVICT_LRU, GROUP_BYTES, 3};
    struct kv_cache *other = NULL;

    chance_err = -ENOSYS;
    assert_int_equal(kv_cache_create(&other, &options), -ENOSYS);
}

/* --- Writes --------------------------------------------------------------- */

TEST(a_key_is_gone_as_soon_as_its_write_begins)
{
    read_in(BYTES("key"), 1, 10);
    read_in(BYTES("other"), 2, 10);
    kv_cache_begin_write(cache, BYTES("key"));
    assert_int_equal(revision_of(BYTES("key")), 0);
    assert_int_equal(revision_of(BYTES("other")), 2);
    kv_cache_end_writes(cache);
    read_in(BYTES("key"), 3, 10);
    assert_int_equal(revision_of(BYTES("key")), 3);
}

TEST(what_was_read_before_a_write_is_declined_after_it)
{
    struct kv_cache_ticket ticket = expect_miss(BYTES("key"));

    write_key(BYTES("key"));
    offer(BYTES("key"), &ticket, 1, 10);
    assert_int_equal(revision_of(BYTES("key")), 0);
}

TEST(what_is_read_during_a_write_is_declined)
{
    struct kv_cache_ticket before = expect_miss(BYTES("key"));
    struct kv_cache_ticket during;

    kv_cache_begin_write(cache, BYTES("key"));
    during = expect_miss(BYTES("key"));
    offer(BYTES("key"), &before, 1, 10);
    offer(BYTES("key"), &during, 1, 10);
    assert_int_equal(revision_of(BYTES("key")), 0);
    kv_cache_end_writes(cache);
    offer(BYTES("key"), &during, 1, 10);
    assert_int_equal(revision_of(BYTES("key")), 0);
}

TEST(many_writes_of_all_keys_end_together)
{
    reopen_cache(EVICT_LRU, 1 << 22, 7);
    for (unsigned round = 0; round < 3; round++) {
        char key[16];

        for (unsigned k = 0; k < 20000; k++) {
            make_key(k, key);
            kv_cache_begin_write(cache, bytes_of(key));
        }
        kv_cache_end_writes(cache);
        kv_cache_end_writes(cache); /* nothing to end */
        for (unsigned k = 0; k < 100; k++) {
            make_key(k, key);
            read_in(bytes_of(key), round + 1, 10);
            assert_int_equal(revision_of(bytes_of(key)), round + 1);
        }
    }
}

SUITE(.each_begin = set_up, .each_end = heal_and_tear_down);
