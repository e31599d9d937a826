#include "process/handshake_storm.h"

#include "suite.h"

static struct handshake_storm storm;
static double now_s;

/* So many a second, for so long, one at a time. How often it has changed. */
static int come(double per_s, double seconds, size_t workers)
{
    int changes = 0;

    for (double end_s = now_s + seconds; now_s < end_s; now_s += 1 / per_s)
        changes += handshake_storm_note(&storm, now_s, 1, workers);
    return changes;
}

TEST(less_than_a_thousand_a_second_are_no_storm)
{
    assert_int_equal(come(1, 100, 1), 0);
    assert_int_equal(come(500, 10, 1), 0);
    assert_int_equal(come(980, 10, 1), 0);
    assert_int_equal(come(3900, 10, 4), 0);
    assert_false(storm.blows);
}

TEST(more_are_one_within_a_tenth_of_a_second)
{
    assert_int_equal(come(2000, 0.1, 1), 1);
    assert_true(storm.blows);
    assert_int_equal(come(2000, 10, 1), 0);
    assert_true(storm.blows);
}

TEST(as_many_for_more_workers_are_none)
{
    assert_int_equal(come(2000, 10, 4), 0);
    assert_int_equal(come(5000, 10, 4), 1);
    assert_true(storm.blows);
}

TEST(a_burst_counts_at_once)
{
    assert_false(handshake_storm_note(&storm, now_s, 64, 1));
    assert_true(handshake_storm_note(&storm, now_s, 64, 1));
    assert_true(storm.blows);
}

/* Else it would begin and end again and again. */
TEST(a_storm_ends_at_half_of_what_it_begins_with)
{
    assert_int_equal(come(1500, 1, 1), 1);
    assert_int_equal(come(700, 5, 1), 0);
    assert_true(storm.blows);
    assert_int_equal(come(400, 1, 1), 1);
    assert_false(storm.blows);
}

TEST(it_has_ended_when_something_comes_after_a_silence)
{
    assert_int_equal(come(1500, 1, 1), 1);
    assert_true(handshake_storm_note(&storm, now_s + 1, 1, 1));
    assert_false(storm.blows);
}

/* Connections in clear text count none, but tell that time has passed. */
TEST(what_is_no_handshake_ends_a_storm_too)
{
    assert_int_equal(come(1500, 1, 1), 1);
    assert_true(handshake_storm_note(&storm, now_s + 0.2, 0, 1) ||
                handshake_storm_note(&storm, now_s + 0.4, 0, 1));
    assert_false(storm.blows);
}

TEST(a_clock_that_is_set_back_begins_anew)
{
    assert_int_equal(come(1500, 1, 1), 1);
    now_s -= 1000;
    assert_true(handshake_storm_note(&storm, now_s, 1, 1));
    assert_false(storm.blows);
    assert_int_equal(come(500, 1, 1), 0);
    assert_int_equal(come(1500, 1, 1), 1);
}

static int begin(void **state)
{
    (void)state;
    storm = (struct handshake_storm){.blows = false};
    now_s = 1800000000;
    return 0;
}

SUITE(.each_begin = begin);
