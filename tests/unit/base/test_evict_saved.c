/* What a byte saves: by hand, and against the other policies where what is kept
 * takes unlike times to have again. */

#include "evict_trace.h"
#include "unit/base/evict_cache.h"

enum { KEEPS = 1000, REQUESTS = 60000, BYTES_MAX = 1000000 };

static void insert(int id, uint64_t bytes, uint32_t cost, unsigned hits)
{
    cache.nodes[id].cost = cost;
    cache_insert(id, bytes);
    for (unsigned i = 0; i < hits; i++)
        cache_request(id, bytes);
}

/* Who goes next, whatever the limits. */
static int take(void)
{
    struct evict_node *node = evict_take_next(cache.evict);
    int id = (int)(node - cache.nodes);

    assert_non_null(node);
    cache.inside[id] = false;
    return id;
}

TEST(what_saves_least_per_byte_goes_first)
{
    static const struct {
        uint64_t bytes;
        uint32_t cost;
        unsigned hits;
    } cases[] = {
        /* in the order in which they go */
        {100000, 10, 0}, {10000, 10, 0},   {10000, 99, 0},
        {10000, 49, 3},  {1000, 49, 0},    {100, 0, 9},
        {1000, 499, 2},  {1000, 60000, 0}, {1000, 60000, 63},
    };
    enum { COUNT = sizeof(cases) / sizeof(*cases) };

    for (int shift = 0; shift < COUNT; shift++) { /* whoever came first */
        cache_open(EVICT_SAVED, UINT64_MAX, KEEPS);
        for (int i = 0; i < COUNT; i++) {
            int id = (i + shift) % COUNT;

            insert(id, cases[id].bytes, cases[id].cost, cases[id].hits);
        }
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(take(), i);
        assert_null(evict_take_next(cache.evict));
        cache_close();
    }
}

TEST(equals_go_in_the_order_of_their_use)
{
    cache_open(EVICT_SAVED, UINT64_MAX, KEEPS);
    for (int id = 0; id < 5; id++)
        insert(id, 100, 10, 64); /* more hits count no more */
    cache_request(0, 100);
    assert_int_equal(take(), 1);
    assert_int_equal(take(), 2);
    assert_int_equal(take(), 3);
    assert_int_equal(take(), 0);
    assert_int_equal(take(), 4); /* it was nobody's neighbour until now */
    cache_close();
}

TEST(who_is_not_asked_for_any_more_goes_in_the_end)
{
    int rounds = 0;

    cache_open(EVICT_SAVED, 1000, KEEPS);
    insert(0, 100, 10, 200);
    while (cache.inside[0] && rounds < 2000) {
        int id = 1 + rounds++ % 500;

        cache.nodes[id].cost = 10;
        cache_request(id, 100);
        cache_request(id, 100);
    }
    assert_in_range(rounds, 100, 1999);
    cache_close();
}

/* --- A simulation -------------------------------------------------------- */

/* How long the server behind takes for each: most a few milliseconds, some a
 * second; like sizes, independent of the popularity. */
static uint32_t cost_of(int id)
{
    static const uint32_t costs[] = {2, 2, 3, 5, 5, 8, 20, 50, 200, 1000};

    return costs[mix((uint64_t)id * 77 + 5) % 10];
}

struct spent {
    uint64_t milliseconds; /* of the server behind */
    unsigned hits;
};

static struct spent simulate(enum evict_policy policy, unsigned scan_every)
{
    static struct trace trace;
    struct spent spent = {0};

    trace.alpha = 0.9;
    trace.sizes = SIZES_ANY;
    trace.scan_every = scan_every;
    trace.scan_length = 1500;
    trace_begin(&trace, 20240417);
    cache_open(policy, BYTES_MAX, CACHE_IDS);
    for (int id = 0; id < IDS; id++)
        cache.nodes[id].cost = cost_of(id);
    for (unsigned i = 0; i < REQUESTS; i++) {
        int id = trace_next(&trace);

        if (cache_request(id, trace.bytes[id]))
            spent.hits += id < POPULAR;
        else if (id < POPULAR)
            spent.milliseconds += cost_of(id);
    }
    cache_close();
    return spent;
}

TEST(it_spends_least_of_the_servers_time_with_and_without_scans)
{
    static const unsigned scans[] = {0, 3000};
    static const char *const names[] = {"lru", "gdsf", "sieve", "saved"};

    for (size_t i = 0; i < 2; i++) {
        struct spent saved = simulate(EVICT_SAVED, scans[i]);

        for (int policy = 0; policy < POLICIES; policy++) {
            struct spent spent = simulate((enum evict_policy)policy, scans[i]);

            print_message("scan every %u: %s: %llu s, %u hits\n", scans[i],
                          names[policy],
                          (unsigned long long)spent.milliseconds / 1000,
                          spent.hits);
            if (policy != EVICT_SAVED)
                assert_true(saved.milliseconds * 10 < spent.milliseconds * 8);
        }
    }
}

TEST(a_scan_does_not_flush_what_is_asked_for)
{
    struct spent calm = simulate(EVICT_SAVED, 0);
    struct spent scanned = simulate(EVICT_SAVED, 3000);
    struct spent swept = simulate(EVICT_LRU, 3000);

    /* A third of these requests are the scans'. */
    assert_true(scanned.milliseconds < calm.milliseconds);
    assert_true(scanned.milliseconds * 2 < swept.milliseconds);
}
