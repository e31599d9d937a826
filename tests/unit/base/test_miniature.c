/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=pages_open,--wrap=now_read_ns */

#include "suite.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>

#include "base/miniature.h"
#include "base/now.h"
#include "unit/draw.h"
#include "unit/memory.h"
#include "wrap.h"

enum { KEYS = 20000, ASKED = 120000 };

static struct miniature *miniature;
static struct miniature_asked asked;

static void open_miniature(uint64_t bytes_max, uint64_t budget_ns)
{
    asked = (struct miniature_asked){0};
    miniature = miniature_create(&(struct miniature_options){
        .bytes_max = bytes_max,
        .entries_max = SIZE_MAX / 64,
        .memory_max = MINIATURE_MEMORY,
        .budget_ns = budget_ns,
        .asked = &asked});
    assert_non_null(miniature);
}

static int end(void **state)
{
    (void)state;
    miniature_destroy(miniature);
    miniature = NULL;
    return 0;
}

/* What the file cache does for each request. */
static void ask(uint64_t key, uint64_t bytes)
{
    asked.requests++;
    asked.bytes += bytes;
    if (miniature_samples(miniature, key, bytes))
        miniature_ask(miniature, key, bytes);
}

/* --- Traces -------------------------------------------------------------- */

enum sizes { SIZES_EQUAL, SIZES_LOG_NORMAL, SIZES_PARETO };

static struct {
    uint64_t keys[KEYS];
    uint64_t bytes[KEYS];
    uint64_t bytes_in_all;
    int asked[ASKED];
} trace;

static double draw_share(void)
{
    return (double)(draw_bits() >> 11) * 0x1p-53;
}

/* With what an entry has besides. */
static uint64_t draw_bytes(enum sizes sizes)
{
    double share = draw_share();
    double power = 1.3 * sqrt(-2 * log(1 - share)) * cos(6.2832 * draw_share());

    switch (sizes) {
    case SIZES_EQUAL:
        return 1024;
    case SIZES_LOG_NORMAL:
        return 600 + (uint64_t)exp(8 + power);
    case SIZES_PARETO: /* 1 KiB to 1 MiB */
        break;
    }
    return 600 + (uint64_t)(1024 / pow(1 - share * 0.9995, 1 / 1.1));
}

/* Keys follow a Zipf law: the k-th is asked for in proportion to 1/k^alpha. */
static void draw_trace(double alpha, enum sizes sizes, uint64_t seed)
{
    static double reach[KEYS];
    double sum = 0;

    draw_seed = seed;
    trace.bytes_in_all = 0;
    for (int i = 0; i < KEYS; i++) {
        reach[i] = sum += pow(i + 1, -alpha);
        trace.keys[i] = draw_bits();
        trace.bytes[i] = draw_bytes(sizes);
        trace.bytes_in_all += trace.bytes[i];
    }
    for (int i = 0; i < ASKED; i++) {
        double lot = draw_share() * sum;
        int low = 0;

        for (int high = KEYS - 1; low < high;) {
            int middle = (low + high) / 2;

            if (reach[middle] <= lot)
                low = middle + 1;
            else
                high = middle;
        }
        trace.asked[i] = low;
    }
}

static void ask_trace(void)
{
    for (int i = 0; i < ASKED; i++)
        ask(trace.keys[trace.asked[i]], trace.bytes[trace.asked[i]]);
}

struct misses {
    uint64_t count;
    uint64_t bytes;
};

/* What a cache really misses. */
static struct misses run_cache(enum evict_policy policy, uint64_t bytes_max)
{
    static struct evict_node nodes[KEYS];
    static bool inside[KEYS];
    struct evict *evict = evict_create(policy, bytes_max, KEYS);
    struct misses misses = {0};
    struct evict_node *victim;

    assert_non_null(evict);
    memset(inside, 0, sizeof(inside));
    for (int i = 0; i < ASKED; i++) {
        int key = trace.asked[i];

        if (inside[key]) {
            evict_hit(evict, &nodes[key]);
            continue;
        }
        misses.count++;
        misses.bytes += trace.bytes[key];
        nodes[key].bytes = trace.bytes[key];
        assert_true(evict_insert(evict, &nodes[key]));
        inside[key] = true;
        while ((victim = evict_take_victim(evict)))
            inside[victim - nodes] = false;
    }
    while (evict_take_next(evict))
        ;
    evict_destroy(evict);
    return misses;
}

/* --- Against the truth --------------------------------------------------- */

struct errors {
    double sum;
    double most;
    int count;
    int above; /* two points */
};

static void add_error(struct errors *errors, uint64_t told, uint64_t truth,
                      uint64_t of)
{
    double points = 100 * fabs((double)told - (double)truth) / (double)of;

    errors->sum += points;
    errors->most = fmax(errors->most, points);
    errors->count++;
    errors->above += points > 2;
}

/* Of all models, in points of the hit ratio and of the byte hit ratio. */
static void add_errors(struct errors *errors, uint64_t bytes_max)
{
    struct miniature_told told;

    miniature_tell(miniature, &told);
    assert_int_equal(told.requests, ASKED);
    assert_int_equal(told.bytes, asked.bytes);
    for (unsigned i = 0; i < MINIATURE_MODELS; i++) {
        struct misses misses =
            run_cache((enum evict_policy)(i / MINIATURE_SIZES),
                      bytes_max / 4 * miniature_quarters[i % MINIATURE_SIZES]);

        add_error(errors, told.misses[i], misses.count, told.requests);
        add_error(errors, told.missed_bytes[i], misses.bytes, told.bytes);
    }
}

/* A sample errs; how far is known. */
TEST(hit_ratios_are_told_within_two_points)
{
    static const double alphas[] = {0.8, 1.0};
    struct errors errors = {0};
    uint64_t seed = 20150216;

    for (int i = 0; i < 2; i++) {
        for (int sizes = SIZES_EQUAL; sizes <= SIZES_PARETO; sizes++) {
            draw_trace(alphas[i], (enum sizes)sizes, seed++);
            open_miniature(trace.bytes_in_all / 10, 0);
            ask_trace();
            add_errors(&errors, trace.bytes_in_all / 10);
            end(NULL);
        }
    }
    print_message("mean %.2f points, most %.2f, %d of %d above two\n",
                  errors.sum / errors.count, errors.most, errors.above,
                  errors.count);
    assert_true(errors.sum / errors.count < 0.8);
    assert_true(errors.above * 20 < errors.count);
    assert_true(errors.most < 3.5);
}

/* When all keys fit into the sample. */
/* burst: how many requests for a key come at once. */
static void check_small_cache(int burst)
{
    struct errors errors = {0};

    draw_trace(0.9, SIZES_LOG_NORMAL, 7);
    for (int i = 0; i < ASKED; i++)
        trace.asked[i] = trace.asked[i - i % burst] % 500;
    trace.bytes_in_all = 0;
    for (int i = 0; i < 500; i++)
        trace.bytes_in_all += trace.bytes[i];
    open_miniature(trace.bytes_in_all / 5, 0);
    ask_trace();
    add_errors(&errors, trace.bytes_in_all / 5);
    assert_true(errors.most == 0);
}

TEST(a_small_cache_is_told_exactly)
{
    check_small_cache(1);
}

TEST(bursts_for_a_key_are_told_exactly)
{
    check_small_cache(7);
}

/* --- Limits -------------------------------------------------------------- */

/* 0 where another allocator counts otherwise. */
static size_t memory_in_use(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

TEST(a_mebibyte_is_enough)
{
    size_t before = memory_in_use();
    size_t pages_before = pages_bytes;
    size_t used;

    draw_trace(0.6, SIZES_PARETO, 3);
    open_miniature(trace.bytes_in_all / 16, 0);
    ask_trace();
    used = memory_in_use() - before + pages_bytes - pages_before;
    print_message("%zu bytes\n", used);
    assert_true(used <= MINIATURE_MEMORY);
    assert_true(before == 0 || used > MINIATURE_MEMORY / 2);
}

TEST(without_memory_there_is_none)
{
    const struct miniature_options options = {
        .bytes_max = 1000, .entries_max = 10, .memory_max = 1, .asked = &asked};

    for (allocations_left = 0;; allocations_left++) {
        long first = allocations_left;

        miniature = miniature_create(&options);
        allocations_left = first;
        if (miniature)
            break;
    }
    assert_true(allocations_left > MINIATURE_MODELS);
    allocations_left = -1;
}

/* A heap that cannot grow: the key is not kept. */
TEST(a_key_without_memory_misses_again)
{
    struct miniature_told told;

    open_miniature(1 << 20, 0);
    allocations_left = 0;
    ask(1, 1000);
    ask(1, 1000);
    allocations_left = -1;
    ask(1, 1000);
    ask(1, 1000);
    miniature_tell(miniature, &told);
    assert_int_equal(told.misses[miniature_model(EVICT_LRU, 0)], 1);
    assert_int_equal(told.misses[miniature_model(EVICT_GDSF, 0)], 3);
}

TEST(what_is_not_simulated_does_not_count)
{
    struct miniature_told told;

    open_miniature(1 << 20, 1); /* ns: less than one request takes */
    ask(1, 1000);
    for (int i = 0; i < 10; i++)
        ask(1, 1000);
    miniature_tell(miniature, &told);
    assert_int_equal(told.requests, 1);
    assert_int_equal(told.bytes, 1000);
    assert_int_equal(told.misses[0], 1);
    miniature_tick(miniature);
    ask(1, 1000);
    ask(1, 1000);
    miniature_tell(miniature, &told);
    assert_int_equal(told.requests, 2);
    assert_int_equal(told.misses[0], 1);
}

static int count_sampled(int keys)
{
    int count = 0;

    for (int i = 0; i < keys; i++)
        count += miniature_samples(miniature, trace.keys[i], 1000);
    return count;
}

/* Each look at the clock is so much later, two for one that is simulated; 0: as
 * it is. */
static uint64_t look_ns, looks;

WRAP(uint64_t, now_read_ns, void)
{
    looks++;
    return look_ns > 0 ? looks * look_ns : __real_now_read_ns();
}

/* How many of so many requests, for keys in turns, are simulated. */
static uint64_t count_simulated(unsigned requests)
{
    uint64_t before = looks;

    for (unsigned i = 0; i < requests; i++)
        ask(trace.keys[i % 100], 1000);
    return (looks - before) / 2;
}

/* So the rare requests of an idle server do not all bear the cost of it. */
TEST(the_budget_of_a_second_grows_with_what_was_asked_for_before)
{
    enum { BUDGET_NS = 1000000, EACH_NS = 1000 };

    draw_trace(1, SIZES_EQUAL, 5);
    open_miniature(1 << 20, BUDGET_NS);
    look_ns = EACH_NS;
    assert_int_equal(count_simulated(5000), BUDGET_NS / EACH_NS);
    miniature_tick(miniature);
    assert_int_equal(count_simulated(5000), (5000 * 50 + 50000) / EACH_NS);
    miniature_tick(miniature);
    miniature_tick(miniature); /* after a second of nothing */
    assert_int_equal(count_simulated(100000), 50000 / EACH_NS);
    miniature_tick(miniature);
    assert_int_equal(count_simulated(5000), BUDGET_NS / EACH_NS);
    look_ns = 0;
}

TEST(whoever_costs_too_much_is_sampled_less)
{
    enum { LOOP = 600 };

    draw_trace(1, SIZES_EQUAL, 11);
    open_miniature(LOOP * 1000 * 4, 1); /* ns: less than one request takes */
    for (int i = 0; i < LOOP; i++) {
        ask(trace.keys[i], 1000);
        miniature_tick(miniature);
    }
    assert_in_range(count_sampled(LOOP), 100, 200);
    for (int i = 0; i < 10000; i++) {
        ask(trace.keys[i % LOOP], 1000);
        miniature_tick(miniature);
    }
    assert_in_range(count_sampled(LOOP), 100, 200); /* and no fewer */
}

TEST(one_key_may_stand_for_more_than_a_model_may_have)
{
    enum { ENTRIES = 64, LARGE = 60000, SMALL = 400, SMALL_KEYS = 10000 };
    struct miniature_told told;

    draw_seed = 13;
    asked = (struct miniature_asked){0};
    miniature = miniature_create(&(struct miniature_options){
        .bytes_max = 2 * ENTRIES * LARGE,
        .entries_max = ENTRIES,
        .memory_max = MINIATURE_MEMORY / 16,
        .asked = &asked});
    assert_non_null(miniature);
    for (int i = 0; i < ENTRIES; i++) {
        for (int times = 0; times < 1000; times++)
            ask(UINT64_MAX, SMALL); /* so that most of what is asked is small */
        ask(draw_bits(), LARGE);
    }
    for (int i = 0; i < SMALL_KEYS; i++)
        ask(draw_bits(), SMALL);
    miniature_tell(miniature, &told);
    for (unsigned i = 0; i < MINIATURE_MODELS; i++)
        assert_in_range(told.misses[i], SMALL_KEYS / 2, SMALL_KEYS * 2);
}

TEST(what_has_changed_misses)
{
    struct miniature_told told;

    open_miniature(1 << 20, 0);
    ask(1, 1000);
    ask(1, 1000);
    miniature_forget(miniature, 1);
    miniature_forget(miniature, 2);
    ask(1, 1000);
    ask(1, 1001); /* another version */
    ask(1, 1001);
    miniature_tell(miniature, &told);
    for (unsigned i = 0; i < MINIATURE_MODELS; i++) {
        assert_int_equal(told.misses[i], 3);
        assert_int_equal(told.missed_bytes[i], 3001);
    }
}

SUITE(.each_end = end);
