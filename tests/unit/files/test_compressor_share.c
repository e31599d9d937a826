#include "files/compressor_share_priv.h"

#include "base/units.h"
#include "suite.h"

/* Time goes on by so many milliseconds; the others have had so many of them. */
struct clock {
    uint64_t now_ns;
    uint64_t others_ns;
};

static void pass(struct compressor_share *share, struct clock *clock,
                 uint64_t ms, uint64_t others_ms)
{
    clock->now_ns += ms * NS_PER_MS;
    clock->others_ns += others_ms * NS_PER_MS;
    compressor_share_look(share, clock->now_ns, clock->others_ns);
}

static const struct clock start = {.now_ns = 5000 * (uint64_t)NS_PER_MS,
                                   .others_ns = 100 * (uint64_t)NS_PER_MS};

static struct compressor_share begun(struct clock *clock)
{
    struct compressor_share share = {0};

    *clock = start;
    compressor_share_look(&share, clock->now_ns, clock->others_ns);
    share.left_ns = 0; /* what came of starting */
    return share;
}

static bool begins(struct compressor_share *share)
{
    bool counts;
    bool does = compressor_share_begin(share, &counts);

    if (does && counts)
        compressor_share_end(share, 0);
    return does;
}

TEST(nothing_begins_before_it_is_known_what_the_others_do)
{
    struct clock clock;
    struct compressor_share share = begun(&clock);

    assert_false(begins(&share));
    pass(&share, &clock, COMPRESSOR_SHARE_LOOK_MS - 1, 0);
    assert_false(begins(&share));
}

TEST(in_idle_time_any_number_begins)
{
    struct clock clock;
    struct compressor_share share = begun(&clock);
    bool counts;

    pass(&share, &clock, 100, 12);
    for (int i = 0; i < 100; i++) {
        assert_true(compressor_share_begin(&share, &counts));
        assert_false(counts);
    }
}

TEST(an_eighth_of_a_cpu_is_not_idle)
{
    struct clock clock;
    struct compressor_share share = begun(&clock);
    bool counts;

    pass(&share, &clock, 100, 13);
    assert_true(compressor_share_begin(&share, &counts)); /* a twentieth */
    assert_true(counts);
    assert_false(begins(&share)); /* one at a time */
    compressor_share_end(&share, 13 * NS_PER_MS / 20);
    assert_false(begins(&share));
}

/* What orders have taken in the end, beside others that always have half a CPU:
 * a twentieth of that, and one order. */
TEST(in_the_long_run_orders_take_a_twentieth_of_what_the_others_take)
{
    enum { ORDER_MS = 16, LOOKS = 10000 };
    struct clock clock;
    struct compressor_share share = begun(&clock);
    uint64_t taken_ms = 0;
    bool counts;

    for (int i = 0; i < LOOKS; i++) {
        pass(&share, &clock, 100, 50);
        if (!compressor_share_begin(&share, &counts))
            continue;
        assert_true(counts);
        compressor_share_end(&share, ORDER_MS * NS_PER_MS);
        taken_ms += ORDER_MS;
    }
    assert_in_range(taken_ms, LOOKS * 50 / 20 - ORDER_MS,
                    LOOKS * 50 / 20 + ORDER_MS);
}

TEST(one_long_order_is_made_up_for_before_the_next)
{
    struct clock clock;
    struct compressor_share share = begun(&clock);
    bool counts;
    int looks = 0;

    pass(&share, &clock, 100, 100);
    assert_true(compressor_share_begin(&share, &counts));
    compressor_share_end(&share, 1000 * (uint64_t)NS_PER_MS);
    while (!begins(&share)) {
        pass(&share, &clock, 100, 100);
        looks++;
    }
    assert_in_range(looks, 199, 201); /* a second is a twentieth of 20 */
}

TEST(what_is_kept_for_later_has_an_end)
{
    struct clock clock;
    struct compressor_share share = begun(&clock);
    bool counts;

    for (int i = 0; i < 1000; i++)
        pass(&share, &clock, 100, 200);
    assert_true(compressor_share_begin(&share, &counts));
    compressor_share_end(&share, COMPRESSOR_SHARE_SAVED_MS * NS_PER_MS);
    assert_false(begins(&share));
}

/* Nobody has looked for ten quiet seconds, at whose end requests came. */
TEST(an_old_look_does_not_tell_that_it_is_idle)
{
    struct clock clock;
    struct compressor_share share = begun(&clock);
    bool counts;

    pass(&share, &clock, 10000, 100);
    assert_true(compressor_share_begin(&share, &counts));
    assert_true(counts);
    compressor_share_end(&share, 5 * NS_PER_MS);
    assert_false(begins(&share));
    pass(&share, &clock, 100, 0);
    assert_true(compressor_share_begin(&share, &counts));
    assert_false(counts);
}

TEST(a_clock_that_goes_back_gives_nothing)
{
    struct clock clock;
    struct compressor_share share = begun(&clock);

    share.is_idle = false;
    clock.now_ns += 2000 * (uint64_t)NS_PER_MS;
    compressor_share_look(&share, clock.now_ns, clock.others_ns - 50);
    assert_false(begins(&share));
}
