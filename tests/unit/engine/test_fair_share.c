/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "engine/fair_share.h"

#include "suite.h"
#include "unit/draw.h"
#include "unit/memory.h"

enum { INSIDE_MAX = 200, UNIT = 1 << FAIR_SHARE_FRACTION_BITS };

static struct fair_share share;

static int set_up(void **state)
{
    (void)state;
    fair_share_init(&share);
    return fair_share_reserve(&share, INSIDE_MAX);
}

static int tear_down(void **state)
{
    (void)state;
    allocations_left = -1;
    fair_share_fini(&share);
    return 0;
}

/* The heap's invariant, and that every node inside is another. */
static void assert_is_sound(void)
{
    static bool is_used[100000];

    assert_int_equal(share.heap.count + share.free_count, share.capacity);
    for (uint32_t i = 0; i < share.capacity; i++)
        is_used[i] = false;
    for (uint32_t i = 0; i < share.heap.count; i++) {
        const struct heap_item *item = &share.heap.items[i];

        assert_in_range(item->node - share.nodes, 0, share.capacity - 1);
        assert_false(is_used[item->node - share.nodes]);
        is_used[item->node - share.nodes] = true;
        assert_int_equal(item->node->index, i + 1);
        assert_true(item->key >= share.now);
        assert_true(i == 0 || share.heap.items[(i - 1) / 2].key <= item->key);
    }
    for (uint32_t i = 0; i < share.free_count; i++) {
        assert_in_range(share.free_nodes[i], 0, share.capacity - 1);
        assert_false(is_used[share.free_nodes[i]]);
        is_used[share.free_nodes[i]] = true;
    }
}

static uint64_t count_backlog(void)
{
    uint64_t backlog = 0;

    for (uint32_t i = 0; i < share.heap.count; i++)
        backlog += share.heap.items[i].key - share.now;
    return backlog;
}

/* --- By hand ------------------------------------------------------------- */

TEST(alone_a_response_gets_every_byte)
{
    assert_int_equal(fair_share_arrive(&share, 100), 100 * UNIT);
    fair_share_advance(&share, 99);
    assert_int_equal(share.heap.count, 1);
    assert_int_equal(share.now, 99 * UNIT);
    fair_share_advance(&share, 1);
    assert_int_equal(share.heap.count, 0);
}

TEST(two_get_half_each)
{
    assert_int_equal(fair_share_arrive(&share, 100), 100 * UNIT);
    fair_share_advance(&share, 40); /* 60 left */
    assert_int_equal(fair_share_arrive(&share, 10), 50 * UNIT);
    fair_share_advance(&share, 18);
    assert_int_equal(share.now, 49 * UNIT);
    assert_int_equal(share.heap.count, 2);
    fair_share_advance(&share, 2);
    assert_int_equal(share.heap.count, 1);
    fair_share_advance(&share, 50);
    assert_int_equal(share.heap.count, 0);
}

TEST(bytes_for_nobody_are_forgotten)
{
    fair_share_advance(&share, 1000);
    assert_int_equal(share.now, 0);
    assert_int_equal(fair_share_arrive(&share, 7), 7 * UNIT);
    fair_share_advance(&share, 1000);
    assert_int_equal(share.now, 7 * UNIT);
}

TEST(immense_numbers_do_not_overflow)
{
    for (int i = 0; i < 3; i++) {
        uint64_t before = share.now;

        assert_true(fair_share_arrive(&share, UINT64_MAX) >= share.now);
        fair_share_arrive(&share, 5);
        fair_share_advance(&share, UINT64_MAX);
        assert_true(share.now >= before);
        assert_is_sound();
    }
}

/* --- Against a naive model ----------------------------------------------- */

/* Processor sharing as it is defined: all that are inside get as much. */
struct model {
    double left;
    uint64_t finish; /* as fair_share says */
};

static struct model model[INSIDE_MAX];
static double model_now; /* V, in bytes */

static void model_advance(double bytes)
{
    for (;;) {
        int count = 0;
        double each = 0;

        for (int i = 0; i < INSIDE_MAX; i++) {
            if (model[i].left <= 0)
                continue;
            if (count++ == 0 || model[i].left < each)
                each = model[i].left;
        }
        if (count == 0 || bytes <= 1e-9)
            return;
        if (each > bytes / count)
            each = bytes / count;
        model_now += each;
        bytes -= each * count;
        for (int i = 0; i < INSIDE_MAX; i++) {
            model[i].left -= model[i].left > 0 ? each : 0;
            if (model[i].left < 1e-7)
                model[i].left = 0;
        }
    }
}

/* Virtual times agree but for rounding, and so does who is inside. */
static void assert_agrees(void)
{
    const double close = 0.05;
    double now = (double)share.now / UNIT;

    assert_true(now > model_now - close && now < model_now + close);
    for (int i = 0; i < INSIDE_MAX; i++) {
        double left = ((double)model[i].finish - (double)share.now) / UNIT;

        if (model[i].finish == 0)
            continue;
        if (model[i].left > 0)
            assert_true(left > model[i].left - close &&
                        left < model[i].left + close);
        else
            assert_true(left < close);
    }
}

TEST(finishes_are_those_of_processor_sharing)
{
    draw_seed = 2003;
    for (int run = 0; run < 20; run++) {
        unsigned crowd = 1 + draw(60);

        for (int step = 0; step < 3000; step++) {
            int at = (int)draw(INSIDE_MAX);

            if (draw(100) < crowd) {
                uint64_t bytes = 1 + draw(1u << draw(16));

                if (model[at].left > 0 || share.free_count == 0)
                    continue;
                model[at].left = (double)bytes;
                model[at].finish = fair_share_finish(&share, bytes);
                assert_true(fair_share_arrive(&share, bytes) ==
                            model[at].finish);
            } else {
                unsigned bytes = draw(1u << draw(18));

                fair_share_advance(&share, bytes);
                model_advance((double)bytes);
            }
            assert_agrees();
        }
        assert_is_sound();
        fair_share_advance(&share, UINT32_MAX);
        model_advance((double)UINT32_MAX);
        assert_int_equal(share.heap.count, 0);
    }
}

TEST(not_the_least_part_of_a_byte_is_lost)
{
    uint64_t backlog = 0;

    draw_seed = 2;
    for (int i = 0; i < 149; i++) {
        fair_share_arrive(&share, 1000000);
        backlog += UINT64_C(1000000) * UNIT;
    }
    for (int i = 0; i < 100000; i++) {
        unsigned bytes = draw(1000);

        fair_share_advance(&share, bytes);
        backlog -= (uint64_t)bytes * UNIT;
        assert_true(count_backlog() == backlog + share.rest);
    }
}

/* --- Room ---------------------------------------------------------------- */

TEST(without_room_the_next_to_finish_leaves_early)
{
    for (uint64_t i = 0; i < INSIDE_MAX; i++)
        fair_share_arrive(&share, 1000 + i);
    for (uint64_t i = 0; i < INSIDE_MAX; i++) {
        assert_int_equal(heap_first(&share.heap)->key, (1000 + i) * UNIT);
        fair_share_arrive(&share, 5000 + i);
        assert_int_equal(share.heap.count, INSIDE_MAX);
        assert_is_sound();
    }
    assert_int_equal(heap_first(&share.heap)->key, 5000 * UNIT);
}

TEST(without_any_room_a_finish_is_told_all_the_same)
{
    struct fair_share empty;

    fair_share_init(&empty);
    assert_int_equal(fair_share_arrive(&empty, 3), 3 * UNIT);
    fair_share_advance(&empty, 10);
    fair_share_fini(&empty);
}

TEST(growing_changes_nothing_but_the_room)
{
    struct fair_share still;

    draw_seed = 3;
    fair_share_init(&still);
    assert_int_equal(fair_share_reserve(&still, 50000), 0);
    for (size_t room = INSIDE_MAX; room < 20000; room += 1 + draw(300)) {
        assert_int_equal(fair_share_reserve(&share, room), 0);
        assert_is_sound();
        for (int i = 0; i < 20 && share.free_count > 0; i++) {
            uint64_t bytes = 1 + draw(100000);

            assert_true(fair_share_arrive(&share, bytes) ==
                        fair_share_arrive(&still, bytes));
        }
        fair_share_advance(&share, 300000);
        fair_share_advance(&still, 300000);
        assert_true(share.now == still.now);
        assert_int_equal(share.heap.count, still.heap.count);
    }
    assert_int_equal(fair_share_reserve(&share, 1), 0); /* never shrinks */
    assert_true(share.capacity > 1000);
    fair_share_fini(&still);
}

TEST(room_that_is_refused_leaves_all_as_it_was)
{
    for (int i = 0; i < INSIDE_MAX; i++)
        fair_share_arrive(&share, 10);
    for (int i = 0; i < 3; i++) {
        allocations_left = i > 0; /* the heap keeps what it was given */
        assert_int_equal(fair_share_reserve(&share, 5000), -ENOMEM);
        allocations_left = -1;
        assert_int_equal(share.capacity, INSIDE_MAX);
        assert_is_sound();
    }
    fair_share_advance(&share, 10 * INSIDE_MAX);
    assert_int_equal(share.heap.count, 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
