#include "observe/slowest.h"

#include <pthread.h>

#include "suite.h"
#include "unit/draw.h"

enum { FOUND_MAX = 2 * SLOWEST_COUNT, MINUTE_MS = SLOWEST_GENERATION_MS };

static struct slowest slowest;
static struct slow_request found[FOUND_MAX];

static int set_up(void **state)
{
    (void)state;
    slowest = (struct slowest){0};
    draw_seed = 1;
    slowest_tick(&slowest, 10 * MINUTE_MS);
    return 0;
}

/* Every part of it follows from total_ns, so that a mixture shows. */
static struct slow_request make(uint64_t total_ns)
{
    struct slow_request request = {.wall_ns = (int64_t)total_ns * 3,
                                   .total_ns = total_ns,
                                   .wait_ns = total_ns / 2,
                                   .body_bytes = ~total_ns,
                                   .status = (uint16_t)(total_ns % 500 + 100),
                                   .method = (uint8_t)(total_ns % 10),
                                   .target_len = SLOWEST_TARGET_MAX};

    for (size_t i = 0; i < SLOWEST_TARGET_MAX; i++)
        request.target[i] = (char)(total_ns >> i % 8 * 8);
    return request;
}

static bool is_whole(const struct slow_request *request)
{
    struct slow_request wanted = make(request->total_ns);

    return memcmp(&wanted, request, sizeof(wanted)) == 0;
}

static void note(uint64_t total_ns)
{
    struct slow_request request = make(total_ns);

    if (total_ns > slowest_threshold_ns(&slowest))
        slowest_put(&slowest, &request);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = ((const struct slow_request *)a)->total_ns;
    uint64_t y = ((const struct slow_request *)b)->total_ns;

    return (x < y) - (x > y); /* slowest first */
}

static unsigned read_sorted(void)
{
    unsigned count = slowest_read(&slowest, found);

    for (unsigned i = 0; i < count; i++)
        assert_true(is_whole(&found[i]));
    qsort(found, count, sizeof(*found), compare);
    return count;
}

TEST(at_first_there_are_none)
{
    assert_int_equal(slowest_read(&slowest, found), 0);
    slowest = (struct slowest){0}; /* never ticked */
    assert_int_equal(slowest_read(&slowest, found), 0);
}

TEST(a_request_comes_back_as_it_was_put)
{
    struct slow_request request = make(12345);

    slowest_put(&slowest, &request);
    assert_int_equal(slowest_read(&slowest, found), 1);
    assert_memory_equal(&found[0], &request, sizeof(request));
}

TEST(before_all_places_are_taken_everything_enters)
{
    for (unsigned i = 0; i < SLOWEST_COUNT; i++) {
        assert_int_equal(slowest_threshold_ns(&slowest), 0);
        note(1000 - i);
    }
    assert_int_equal(slowest_threshold_ns(&slowest), 1000 - SLOWEST_COUNT + 1);
    assert_int_equal(read_sorted(), SLOWEST_COUNT);
}

TEST(the_fastest_leaves_for_a_slower_one)
{
    for (unsigned i = 1; i <= SLOWEST_COUNT; i++)
        note(i * 10);
    note(10); /* no slower than the fastest: stays out */
    note(15);
    assert_int_equal(slowest_threshold_ns(&slowest), 15);
    assert_int_equal(read_sorted(), SLOWEST_COUNT);
    assert_int_equal(found[SLOWEST_COUNT - 1].total_ns, 15);
    assert_int_equal(found[0].total_ns, SLOWEST_COUNT * 10);
}

TEST(a_request_is_kept_for_one_to_two_minutes)
{
    note(777);
    slowest_tick(&slowest, 11 * MINUTE_MS - 1);
    assert_int_equal(read_sorted(), 1);
    slowest_tick(&slowest, 11 * MINUTE_MS);
    assert_int_equal(read_sorted(), 1);
    slowest_tick(&slowest, 12 * MINUTE_MS - 1);
    assert_int_equal(read_sorted(), 1);
    slowest_tick(&slowest, 12 * MINUTE_MS);
    assert_int_equal(read_sorted(), 0);
}

TEST(a_new_minute_lets_faster_ones_in_again)
{
    for (unsigned i = 0; i < SLOWEST_COUNT; i++)
        note(1000000);
    slowest_tick(&slowest, 11 * MINUTE_MS);
    note(5);
    assert_int_equal(read_sorted(), SLOWEST_COUNT + 1);
    assert_int_equal(found[SLOWEST_COUNT].total_ns, 5);
}

/* Against a list of all requests since the earlier generation began. */
TEST(they_are_the_slowest_of_all_since_the_minute_before)
{
    static struct slow_request all[40000];
    size_t previous = 0; /* where the generations begin in it */
    size_t present = 0;
    size_t count = 0;

    for (unsigned minute = 11; minute < 30; minute++) {
        for (unsigned n = draw(2000); n > 0; n--) {
            all[count] = make(1 + (draw_bits() >> (24 + draw(30))));
            note(all[count++].total_ns);
        }
        {
            static struct slow_request sorted[40000];
            size_t recent = count - previous;
            size_t known = recent < SLOWEST_COUNT ? recent : SLOWEST_COUNT;

            memcpy(sorted, all + previous, recent * sizeof(*sorted));
            qsort(sorted, recent, sizeof(*sorted), compare);
            assert_true(read_sorted() >= known);
            for (size_t i = 0; i < known; i++)
                assert_true(found[i].total_ns == sorted[i].total_ns);
        }
        slowest_tick(&slowest, (uint64_t)minute * MINUTE_MS);
        previous = present;
        present = count;
    }
}

/* --- A writer and a reader ----------------------------------------------- */

enum { ROUNDS = 100000 };

static atomic_bool is_over;

static void *put_many(void *context)
{
    (void)context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        note(1 + (draw_bits() >> 20)); /* mostly in a fresh generation */
        if (i % 64 == 0)
            slowest_tick(&slowest, (uint64_t)(11 + i / 64) * MINUTE_MS);
    }
    atomic_store(&is_over, true);
    return NULL;
}

TEST(a_reader_never_sees_a_mixture)
{
    unsigned mixtures = 0;
    unsigned seen = 0;
    pthread_t thread;

    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&thread, NULL, put_many, NULL), 0);
    do {
        unsigned count = slowest_read(&slowest, found);

        for (unsigned i = 0; i < count; i++)
            mixtures += !is_whole(&found[i]);
        seen += count;
    } while (!atomic_load(&is_over) || seen == 0);
    pthread_join(thread, NULL);
    assert_int_equal(mixtures, 0);
}

TEST(a_place_that_stays_half_written_is_given_up)
{
    note(500);
    note(600);
    /* As if the writer had lost its processor. */
    atomic_fetch_add(&slowest.slots[slowest.present][0].sequence, 1);
    assert_int_equal(slowest_read(&slowest, found), 1);
    assert_int_equal(found[0].total_ns, 600);
}

SUITE(.each_begin = set_up);
