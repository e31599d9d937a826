/* The policies against evict_model.h, and against each other. */

#include "evict_model.h"
#include "unit/base/evict_cache.h"

static const char *const policy_names[] = {"lru", "gdsf", "sieve", "saved"};

/* --- Against the papers ------------------------------------------------- */

static const struct workload {
    const char *name;
    double alpha;
    enum sizes sizes;
    unsigned scan_every;
    unsigned scan_length;
    uint64_t bytes_max;
    size_t entries_max;
} workloads[] = {
    {"equal sizes, 300 fit", 0.8, SIZES_EQUAL, 2000, 700, 38400, 10000},
    {"equal sizes, 20 fit", 1.0, SIZES_EQUAL, 0, 0, 2560, 10000},
    {"powers of two", 0.9, SIZES_POWERS, 3000, 500, 1000000, 10000},
    {"powers of two, few fit", 0.9, SIZES_POWERS, 3000, 50, 200000, 10000},
    {"300 entries", 1.0, SIZES_POWERS, 3000, 500, 1000000000, 300},
    {"both limits count", 0.9, SIZES_POWERS, 3000, 500, 1500000, 250},
    {"any size", 0.9, SIZES_ANY, 3000, 500, 1000000, 10000},
};

enum { WORKLOADS = sizeof(workloads) / sizeof(workloads[0]), REQUESTS = 15000 };

static void assert_same_victims(const struct model *model)
{
    assert_int_equal(cache.victim_count, model->victims.count);
    for (int i = 0; i < model->victims.count; i++)
        assert_int_equal(cache.victims[i], model->victims.ids[i]);
    assert_int_equal(evict_bytes(cache.evict), model_bytes(model));
    assert_int_equal(evict_entries(cache.evict), model_entries(model));
}

/* One request in 50 is followed by the owner dropping someone. Exactly: the
 * same victims in the same order. Otherwise, hits within 2 in 1000. */
static void compare_with_model(enum evict_policy policy,
                               const struct workload *workload, bool exactly)
{
    static struct model model;
    static struct trace trace;
    int hits = 0;
    int model_hits = 0;

    trace.alpha = workload->alpha;
    trace.sizes = workload->sizes;
    trace.scan_every = workload->scan_every;
    trace.scan_length = workload->scan_length;
    trace_begin(&trace, 20240416 + policy);
    print_message("%s, %s\n", policy_names[policy], workload->name);
    cache_open(policy, workload->bytes_max, workload->entries_max);
    model_begin(&model, policy, trace.bytes, workload->bytes_max,
                workload->entries_max);
    for (unsigned i = 0; i < REQUESTS; i++) {
        int id = trace_next(&trace);

        hits += cache_request(id, trace.bytes[id]);
        model_hits += model_request(&model, id);
        if (exactly)
            assert_same_victims(&model);
        if (i % 50 == 0) {
            id = draw_popular(&trace);
            cache_remove(id);
            model_remove(&model, id);
        }
    }
    cache_close();
    assert_in_range(abs(hits - model_hits), 0, exactly ? 0 : REQUESTS / 500);
    assert_in_range(hits, REQUESTS / 20, REQUESTS - REQUESTS / 20);
}

TEST(lru_takes_the_victims_that_a_naive_model_takes)
{
    for (int i = 0; i < WORKLOADS; i++)
        compare_with_model(EVICT_LRU, &workloads[i], true);
}

/* Sizes that are powers of two have priorities that are exact in both. */
TEST(gdsf_takes_the_victims_that_the_paper_names)
{
    for (int i = 0; i < WORKLOADS; i++)
        compare_with_model(EVICT_GDSF, &workloads[i],
                           workloads[i].sizes != SIZES_ANY);
}

TEST(sieve_takes_the_victims_that_the_paper_names)
{
    for (int i = 0; i < WORKLOADS; i++)
        compare_with_model(EVICT_SIEVE, &workloads[i], true);
}

/* --- Hit ratios --------------------------------------------------------- */

enum { PER_MILLE = 1000, RATIO_REQUESTS = 100000 };

/* Hits per mille of the requests. */
static int hit_ratio(enum evict_policy policy, enum sizes sizes,
                     unsigned scan_length, uint64_t bytes_max)
{
    static struct trace trace;
    int hits = 0;

    trace.alpha = 0.9;
    trace.sizes = sizes;
    trace.scan_every = 5000;
    trace.scan_length = scan_length;
    trace_begin(&trace, 19980101);
    cache_open(policy, bytes_max, 100000);
    for (int i = 0; i < RATIO_REQUESTS; i++) {
        int id = trace_next(&trace);

        hits += cache_request(id, trace.bytes[id]);
    }
    cache_close();
    return (int)((int64_t)hits * PER_MILLE / RATIO_REQUESTS);
}

/* One line of the table. A tenth of the popular bytes fits: 4,000 files of 128
 * bytes, or of 6.5 KiB on the average. */
static void measure(const char *name, enum sizes sizes, unsigned scan_length,
                    int ratios[POLICIES])
{
    uint64_t bytes_max = sizes == SIZES_EQUAL ? 128 * 400 : 2666000;

    print_message("%-24s", name);
    for (int policy = 0; policy < POLICIES; policy++) {
        ratios[policy] = hit_ratio((enum evict_policy)policy, sizes,
                                   scan_length, bytes_max);
        print_message("  %s %2d.%d %%", policy_names[policy],
                      ratios[policy] / 10, ratios[policy] % 10);
    }
    print_message("\n");
}

TEST(sieve_hits_more_than_lru_on_zipf)
{
    int hits[POLICIES];

    measure("equal sizes", SIZES_EQUAL, 0, hits);
    assert_true(hits[EVICT_SIEVE] > hits[EVICT_LRU]);
}

TEST(sieve_hits_more_than_lru_under_scans)
{
    int hits[POLICIES];

    measure("equal sizes, scans", SIZES_EQUAL, 1500, hits);
    assert_true(hits[EVICT_SIEVE] > hits[EVICT_LRU]);
    measure("sizes vary, scans", SIZES_ANY, 1500, hits);
    assert_true(hits[EVICT_SIEVE] > hits[EVICT_LRU]);
}

TEST(gdsf_hits_most_when_sizes_vary)
{
    int hits[POLICIES];

    measure("sizes vary", SIZES_ANY, 0, hits);
    assert_true(hits[EVICT_GDSF] > hits[EVICT_LRU]);
    assert_true(hits[EVICT_GDSF] > hits[EVICT_SIEVE]);
}
