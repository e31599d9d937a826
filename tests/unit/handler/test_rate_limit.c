/* link: -Wl,--wrap=aligned_alloc,--wrap=getrandom */
#include "handler/rate_limit.h"

#include <limits.h>
#include <pthread.h>

#include "suite.h"
#include "unit/memory.h"
#include "unit/random.h"

#define START_MS UINT64_C(1000000000)

static struct rate_limit *make(const char *text, uint32_t burst, size_t entries)
{
    struct rate_limit *limit = NULL;
    struct rate rate;

    assert_true(rate_parse(&rate, bytes_of(text)));
    assert_int_equal(rate_limit_create(&limit, rate, burst, entries), 0);
    return limit;
}

static struct address address_of(const char *text)
{
    struct address address;

    assert_true(address_parse(&address, bytes_of(text)));
    return address;
}

static struct address ipv4_of(uint32_t number)
{
    struct address address = {.family = ADDRESS_IPV4};

    memcpy(address.octets, &number, sizeof(number));
    return address;
}

/* Each in a /64 of its own. */
static struct address ipv6_of(uint32_t number)
{
    struct address address = {.family = ADDRESS_IPV6, .octets = {0x20, 1}};

    memcpy(address.octets + 4, &number, sizeof(number));
    return address;
}

TEST(rates_are_read)
{
    static const struct {
        const char *text;
        struct rate rate;
    } cases[] = {
        {"1/s", {1, 1000}},
        {"10/s", {10, 1000}},
        {"300/m", {300, 60000}},
        {"1000/h", {1000, 3600000}},
        {"1000000/s", {1000000, 1000}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct rate rate;

        if (!rate_parse(&rate, bytes_of(cases[i].text)))
            fail_msg("not read: %s", cases[i].text);
        assert_int_equal(rate.count, cases[i].rate.count);
        assert_int_equal(rate.period_ms, cases[i].rate.period_ms);
    }
}

TEST(what_is_no_rate_is_refused)
{
    static const char *const cases[] = {"",
                                        "/",
                                        "/s",
                                        "1",
                                        "1/",
                                        "1s",
                                        "0/s",
                                        "01/s",
                                        "-1/s",
                                        "+1/s",
                                        "1/d",
                                        "1/S",
                                        "1/sec",
                                        "1.5/s",
                                        " 1/s",
                                        "1/s ",
                                        "1 /s",
                                        "1000001/s",
                                        "99999999999999999999/s"};
    struct rate rate;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (rate_parse(&rate, bytes_of(cases[i])))
            fail_msg("taken for a rate: '%s'", cases[i]);
}

TEST(a_burst_passes_and_then_the_rate)
{
    struct rate_limit *limit = make("2/s", 3, 64);
    struct address a = address_of("192.0.2.1");

    for (int i = 0; i < 3; i++)
        assert_int_equal(rate_limit_take(limit, &a, START_MS), 0);
    assert_int_equal(rate_limit_take(limit, &a, START_MS), 1);
    assert_int_equal(rate_limit_take(limit, &a, START_MS + 499), 1);
    assert_int_equal(rate_limit_take(limit, &a, START_MS + 500), 0);
    assert_int_equal(rate_limit_take(limit, &a, START_MS + 500), 1);
    /* After a long time it is a burst again, and no more. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(rate_limit_take(limit, &a, START_MS + 100000), 0);
    assert_int_equal(rate_limit_take(limit, &a, START_MS + 100000), 1);
    rate_limit_destroy(limit);
}

TEST(whoever_waits_as_told_is_let_in)
{
    static const char *const rates[] = {"1/h", "7/h", "1/m", "59/m", "3/s"};

    for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
        struct rate_limit *limit = make(rates[i], 1, 8);
        struct address a = address_of("192.0.2.1");
        uint32_t wait;

        assert_int_equal(rate_limit_take(limit, &a, START_MS), 0);
        wait = rate_limit_take(limit, &a, START_MS + 1);
        assert_in_range(wait, 1, 3600);
        if (wait > 1)
            assert_int_not_equal(rate_limit_take(limit, &a,
                                                 START_MS + 1000 * (wait - 1)),
                                 0);
        assert_int_equal(rate_limit_take(limit, &a, START_MS + 1 + 1000 * wait),
                         0);
        rate_limit_destroy(limit);
    }
}

TEST(being_refused_costs_nothing)
{
    struct rate_limit *limit = make("1/s", 1, 8);
    struct address a = address_of("192.0.2.1");

    assert_int_equal(rate_limit_take(limit, &a, START_MS), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(rate_limit_take(limit, &a, START_MS + 999), 1);
    assert_int_equal(rate_limit_take(limit, &a, START_MS + 1000), 0);
    rate_limit_destroy(limit);
}

TEST(an_ipv6_network_of_64_bits_is_one_client)
{
    struct rate_limit *limit = make("1/s", 1, 64);
    struct address first = address_of("2001:db8::1");
    struct address same = address_of("2001:db8::ffff:ffff:ffff:ffff");
    struct address other = address_of("2001:db8:0:1::1");
    struct address ipv4 = address_of("32.1.13.184"); /* 2001:db8 */
    struct address next_ipv4 = address_of("32.1.13.185");
    struct address local = {.family = ADDRESS_UNIX};
    struct address unknown = {.family = ADDRESS_UNKNOWN};

    assert_int_equal(rate_limit_take(limit, &first, START_MS), 0);
    assert_int_equal(rate_limit_take(limit, &same, START_MS), 1);
    assert_int_equal(rate_limit_take(limit, &other, START_MS), 0);
    assert_int_equal(rate_limit_take(limit, &ipv4, START_MS), 0);
    assert_int_equal(rate_limit_take(limit, &next_ipv4, START_MS), 0);
    assert_int_equal(rate_limit_take(limit, &local, START_MS), 0);
    assert_int_equal(rate_limit_take(limit, &local, START_MS), 1);
    assert_int_equal(rate_limit_take(limit, &unknown, START_MS), 0);
    assert_int_equal(rate_limit_take(limit, &unknown, START_MS), 1);
    rate_limit_destroy(limit);
}

TEST(a_clock_that_is_a_little_behind_gives_nothing_away)
{
    struct rate_limit *limit = make("1/s", 1, 8);
    struct address a = address_of("192.0.2.1");

    assert_int_equal(rate_limit_take(limit, &a, START_MS + 10), 0);
    assert_int_not_equal(rate_limit_take(limit, &a, START_MS), 0);
    assert_int_not_equal(rate_limit_take(limit, &a, START_MS + 1009), 0);
    assert_int_equal(rate_limit_take(limit, &a, START_MS + 1010), 0);
    rate_limit_destroy(limit);
}

/* --- Against a bucket that is filled drop by drop ------------------------- */

enum { CLIENTS = 6, STEPS = 20000 };

struct model {
    uint64_t drops; /* a token is period_ms of them, count come in a ms */
    uint64_t at_ms;
};

static uint64_t next_random(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

static bool model_takes(struct model *model, struct rate rate, uint32_t burst,
                        uint64_t now_ms)
{
    uint64_t full = (uint64_t)burst * rate.period_ms;

    model->drops += (now_ms - model->at_ms) * rate.count;
    model->at_ms = now_ms;
    if (model->drops > full)
        model->drops = full;
    if (model->drops < rate.period_ms)
        return false;
    model->drops -= rate.period_ms;
    return true;
}

static void run_model(struct rate rate, uint32_t burst, uint64_t *random)
{
    struct rate_limit *limit = NULL;
    struct model models[CLIENTS];
    uint64_t now_ms = START_MS;
    uint64_t pace = rate.period_ms / rate.count / CLIENTS + 1;

    assert_int_equal(rate_limit_create(&limit, rate, burst, 4096), 0);
    for (size_t i = 0; i < CLIENTS; i++)
        models[i] = (struct model){(uint64_t)burst * rate.period_ms, now_ms};
    for (int i = 0; i < STEPS; i++) {
        uint32_t client = (uint32_t)(next_random(random) % CLIENTS);
        struct address address = client % 2 ? ipv4_of(client) : ipv6_of(client);
        bool may;

        if (next_random(random) % 3 > 0)
            now_ms += next_random(random) % (2 * pace + 1);
        if (next_random(random) % 1000 == 0)
            now_ms += pace * CLIENTS * burst;
        may = model_takes(&models[client], rate, burst, now_ms);
        assert_int_equal(rate_limit_take(limit, &address, now_ms) == 0, may);
    }
    rate_limit_destroy(limit);
}

TEST(it_does_as_a_naive_bucket_would)
{
    static const struct rate rates[] = {
        {1, 1000}, {3, 1000}, {7, 60000}, {1000, 3600000}, {1000000, 1000}};
    uint64_t random = 88172645463325252u;

    for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
        run_model(rates[i], 1, &random);
        run_model(rates[i], 5, &random);
        run_model(rates[i], RATE_BURST_MAX, &random);
    }
}

/* --- Sprayed addresses ---------------------------------------------------- */

TEST(sprayed_addresses_do_not_set_free_who_is_held_back)
{
    struct rate_limit *limit = make("1/s", 20, 256);
    struct address greedy = address_of("192.0.2.1");

    for (int i = 0; i < 20; i++)
        assert_int_equal(rate_limit_take(limit, &greedy, START_MS), 0);
    assert_int_not_equal(rate_limit_take(limit, &greedy, START_MS), 0);
    for (uint32_t i = 0; i < 100000; i++) {
        struct address sprayed = ipv6_of(i);

        assert_int_equal(rate_limit_take(limit, &sprayed, START_MS), 0);
    }
    assert_int_not_equal(rate_limit_take(limit, &greedy, START_MS), 0);
    rate_limit_destroy(limit);
}

TEST(sprayed_addresses_cost_an_honest_client_nothing)
{
    struct rate_limit *limit = make("10/s", 5, 64);
    struct address honest = address_of("192.0.2.1");
    uint32_t sprayed_count = 0;

    for (uint64_t ms = 0; ms < 20000; ms++) {
        for (int i = 0; i < 10; i++) {
            struct address sprayed = ipv6_of(sprayed_count++);

            assert_int_equal(rate_limit_take(limit, &sprayed, START_MS + ms),
                             0);
        }
        if (ms % 100 == 0)
            assert_int_equal(rate_limit_take(limit, &honest, START_MS + ms), 0);
    }
    rate_limit_destroy(limit);
}

/* --- Many threads --------------------------------------------------------- */

enum { THREADS = 4, TAKES_EACH = 20000, BURST = 30000, SHARED_ADDRESSES = 2 };

struct taker {
    pthread_t thread;
    struct rate_limit *limit;
    unsigned taken[SHARED_ADDRESSES];
};

static void *take_many(void *context)
{
    struct taker *taker = context;

    for (uint32_t i = 0; i < TAKES_EACH; i++) {
        for (uint32_t a = 0; a < SHARED_ADDRESSES; a++) {
            struct address address = ipv4_of(a);

            taker->taken[a] += rate_limit_take(taker->limit, &address,
                                               START_MS) == 0;
        }
    }
    return NULL;
}

TEST(many_threads_share_one_bucket)
{
    struct rate_limit *limit = make("1/h", BURST, 1024);
    struct taker takers[THREADS];

    for (uint32_t i = 0; i < THREADS; i++) {
        takers[i] = (struct taker){.limit = limit};
        assert_int_equal(pthread_create(&takers[i].thread, NULL, take_many,
                                        &takers[i]),
                         0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(takers[i].thread, NULL);
    for (size_t a = 0; a < SHARED_ADDRESSES; a++) {
        unsigned sum = 0;

        for (size_t i = 0; i < THREADS; i++)
            sum += takers[i].taken[a];
        assert_int_equal(sum, BURST);
    }
    rate_limit_destroy(limit);
}

TEST(without_memory_or_chance_there_is_no_limit)
{
    struct rate_limit *limit = NULL;
    struct rate rate = {1, 1000};

    for (int i = 0; i < 2; i++) {
        allocations_left = i;
        assert_int_equal(rate_limit_create(&limit, rate, 1, 1), -ENOMEM);
    }
    allocations_left = -1;
    random_failures_left = UINT_MAX;
    assert_int_equal(rate_limit_create(&limit, rate, 1, 1), -ENOSYS);
    random_failures_left = 0;
    assert_null(limit);
    rate_limit_destroy(NULL);
}
