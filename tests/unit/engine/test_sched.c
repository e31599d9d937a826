/* link: -Wl,--wrap=malloc */
#include "engine/sched.h"

#include "suite.h"
#include "unit/draw.h"
#include "unit/engine/sched_fixture.h"
#include "unit/memory.h"

/* --- srpt ---------------------------------------------------------------- */

TEST(fewest_bytes_left_sends_first)
{
    static const uint64_t bytes[] = {500, 3, UINT64_MAX, 0, 42};
    static const int order[] = {3, 1, 4, 0, 2};

    for (int i = 0; i < 5; i++)
        arrive(i, bytes[i]);
    assert_order(order, 5);
}

TEST(equal_sizes_leave_in_the_order_they_came)
{
    for (int i = 0; i < ITEMS; i++)
        arrive(ITEMS - 1 - i, 1000);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(take(), ITEMS - 1 - i);
}

TEST(what_is_put_back_keeps_its_time_of_arrival)
{
    static const int order[] = {0, 1};

    arrive(0, 90);
    arrive(1, 100);
    assert_int_equal(take(), 0);
    sched_put(&sched, &items[0], 100); /* a stream that has grown, say */
    assert_order(order, 2);
}

TEST(a_large_one_that_is_nearly_done_goes_before_a_medium_one)
{
    static const int order[] = {0, 1};

    arrive(0, 1000000);
    assert_int_equal(take(), 0);
    sched_put(&sched, &items[0], 10);
    arrive(1, 5000);
    assert_order(order, 2);
}

/* --- Streams ------------------------------------------------------------- */

/* Streams that always have more, served a quantum at a time. */
static void assert_least_attained_first(enum sched_policy policy)
{
    uint64_t sent[5] = {0};

    use(policy, 0);
    for (int i = 0; i < 5; i++) {
        sched_arrive(&sched, &items[i], 1, 0, true);
        sched_put(&sched, &items[i], 0);
    }
    for (int step = 0; step < 2000; step++) {
        int at = take();

        for (int i = 0; i < 5; i++)
            assert_true(sent[at] <= sent[i]);
        sent[at] += 1 + draw(1000);
        sched_put(&sched, &items[at], sent[at]);
    }
}

TEST(streams_go_by_what_they_have_had)
{
    draw_seed = 2003;
    assert_least_attained_first(SCHED_POLICY_SRPT);
    assert_least_attained_first(SCHED_POLICY_FSP);
}

TEST(a_stream_passes_until_it_has_had_what_others_have_left)
{
    static const enum sched_policy policies[] = {SCHED_POLICY_SRPT,
                                                 SCHED_POLICY_FSP};

    for (int i = 0; i < 2; i++) {
        uint64_t sent = 0;

        use(policies[i], 0);
        arrive(0, 5000);
        sched_arrive(&sched, &items[1], 1, 0, true);
        sched_put(&sched, &items[1], 0);
        while (take() == 1) {
            sent += 100;
            sched_put(&sched, &items[1], sent);
        }
        assert_in_range(sent, 5000, 5100);
    }
}

/* --- fifo ---------------------------------------------------------------- */

TEST(fifo_sends_in_the_order_they_came)
{
    static const int order[] = {2, 0, 1};

    use(SCHED_POLICY_FIFO, 0);
    arrive(2, 900);
    arrive(0, 5);
    arrive(1, 100);
    assert_order(order, 3);
}

TEST(fifo_lets_the_first_go_on_to_its_end)
{
    use(SCHED_POLICY_FIFO, 0);
    arrive(0, 900);
    arrive(1, 1);
    for (uint64_t left = 800; left > 0; left -= 100) {
        assert_int_equal(take(), 0);
        sched_put(&sched, &items[0], left);
    }
    assert_int_equal(take(), 0);
    assert_int_equal(take(), 1);
}

/* --- fair ---------------------------------------------------------------- */

TEST(fair_gives_each_its_turn)
{
    use(SCHED_POLICY_FAIR, 0);
    for (int i = 0; i < 5; i++)
        arrive(i, (uint64_t)(1000 - i));
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 5; i++) {
            assert_int_equal(take(), i);
            sched_put(&sched, &items[i], 7);
        }
    }
}

TEST(fair_lets_a_new_one_wait_for_those_who_wait)
{
    static const int order[] = {1, 0, 2};

    use(SCHED_POLICY_FAIR, 0);
    arrive(0, 10);
    arrive(1, 10);
    assert_int_equal(take(), 0);
    sched_put(&sched, &items[0], 10);
    arrive(2, 1);
    assert_order(order, 3);
}

/* --- All ----------------------------------------------------------------- */

TEST(who_gives_up_is_not_taken)
{
    static const int order[] = {0, 2};

    for (int i = 0; i < 3; i++)
        arrive(i, 10);
    sched_drop(&sched, &items[1]);
    sched_drop(&sched, &items[1]);
    sched_drop(&sched, &items[3]); /* never was inside */
    assert_order(order, 2);
    assert_true(sched_is_empty(&sched));
}

TEST(when_nobody_waits_everybody_goes_first)
{
    static const enum sched_policy policies[] = {SCHED_POLICY_SRPT,
                                                 SCHED_POLICY_FSP,
                                                 SCHED_POLICY_FIFO,
                                                 SCHED_POLICY_FAIR};

    for (int i = 0; i < 4; i++) {
        use(policies[i], 5);
        sched_arrive(&sched, &items[0], 1, UINT64_MAX, false);
        assert_true(goes_first(0, UINT64_MAX));
    }
}

TEST(who_sends_before_an_earlier_one_overtakes)
{
    arrive(1, 300);
    arrive(2, 100);
    arrive(3, 200);
    assert_int_equal(take(), 2);
    assert_false(sched_overtakes(&sched, &items[2])); /* 3 is the next */
    assert_int_equal(take(), 3);
    assert_true(sched_overtakes(&sched, &items[3]));
    assert_int_equal(take(), 1);
    assert_false(sched_overtakes(&sched, &items[1]));
}

TEST(it_is_known_how_many_send_before)
{
    for (int i = 0; i < 10; i++)
        arrive(i, 100 * (uint64_t)i);
    sched_arrive(&sched, &items[10], 1, 450, false);
    assert_int_equal(sched_count_before(&sched, &items[10], 450), 5);
    assert_int_equal(sched_count_before(&sched, &items[10], 500), 6);
    assert_int_equal(sched_count_before(&sched, &items[10], 0), 1);
    use(SCHED_POLICY_FAIR, 0);
    for (int i = 0; i < 10; i++)
        arrive(i, 100);
    sched_arrive(&sched, &items[10], 1, 1, false);
    assert_int_equal(sched_count_before(&sched, &items[10], 1), 10);
}

TEST(streams_wait_without_bytes)
{
    sched_arrive(&sched, &items[0], 1, 0, true);
    sched_put(&sched, &items[0], 5000);
    arrive(1, 300);
    assert_int_equal(sched.bytes_waiting, 300);
    sched_drop(&sched, &items[0]);
    sched_drop(&sched, &items[0]);
    assert_int_equal(sched.bytes_waiting, 300);
    assert_int_equal(take(), 1);
    assert_int_equal(sched.bytes_waiting, 0);
}

TEST(room_that_is_refused_leaves_the_queue_as_it_was)
{
    arrive(0, 1);
    allocations_left = 0;
    assert_int_equal(sched_reserve(&sched, 100000), -ENOMEM);
    allocations_left = -1;
    assert_int_equal(take(), 0);
}

/* --- Against a naive model ----------------------------------------------- */

static struct {
    bool is_waiting;
    uint64_t bytes;
    uint64_t arrival;
    uint64_t turn;  /* when it was put */
    uint64_t stamp; /* bytes that had arrived before */
} model[ITEMS];

static uint64_t model_arrived;

static uint64_t model_key(int number)
{
    return sched.bound == 0
               ? model[number].bytes
               : model[number].bytes * sched.bound + model[number].stamp;
}

static bool model_is_before(int a, int b)
{
    switch (sched.policy) {
    case SCHED_POLICY_SRPT:
        if (model_key(a) != model_key(b))
            return model_key(a) < model_key(b);
        return model[a].arrival < model[b].arrival;
    case SCHED_POLICY_FIFO:
        return model[a].arrival < model[b].arrival;
    case SCHED_POLICY_FSP: /* see below */
        break;
    case SCHED_POLICY_FAIR:
        return model[a].turn < model[b].turn;
    }
    return false;
}

static int model_first(void)
{
    int first = -1;

    for (int i = 0; i < ITEMS; i++)
        if (model[i].is_waiting && (first < 0 || model_is_before(i, first)))
            first = i;
    return first;
}

static void assert_bytes_waiting(void)
{
    uint64_t bytes = 0;

    for (int i = 0; i < ITEMS; i++)
        if (model[i].is_waiting)
            bytes += model[i].bytes;
    assert_int_equal(sched.bytes_waiting, bytes);
}

/* Puts in, having asked whether it would be next. */
static void put_and_compare(int number, uint64_t time, bool is_new)
{
    bool said;

    model[number].bytes = draw(20); /* many are equal */
    if (is_new) {
        sched_arrive(&sched, &items[number], 1, model[number].bytes, false);
        model[number].arrival = time;
        model[number].stamp = model_arrived;
        model_arrived += model[number].bytes;
    }
    model[number].is_waiting = true;
    model[number].turn = time;
    said = goes_first(number, model[number].bytes);
    sched_put(&sched, &items[number], model[number].bytes);
    assert_int_equal(said, model_first() == number);
}

static void run_randomly(enum sched_policy policy, uint64_t bound,
                         uint64_t seed)
{
    draw_seed = seed;
    use(policy, bound);
    model_arrived = 0;
    for (uint64_t time = 1; time < 20000; time++) {
        int number = (int)draw(ITEMS);
        /* Long stretches of mostly coming and of mostly going. */
        bool is_growing = time / 200 % 2 == 0;

        if (draw(3) == 0) {
            int first = model_first();

            assert_int_equal(take(), first);
            if (first >= 0) {
                model[first].is_waiting = false;
                if (draw(2) == 0)
                    put_and_compare(first, time, false);
            }
        } else if (is_growing && !model[number].is_waiting) {
            put_and_compare(number, time, true);
        } else if (!is_growing && draw(2) == 0) {
            sched_drop(&sched, &items[number]);
            model[number].is_waiting = false;
        }
        assert_int_equal(sched_is_empty(&sched), model_first() < 0);
        assert_bytes_waiting();
    }
    for (int i = 0; i < ITEMS; i++) {
        sched_drop(&sched, &items[i]);
        model[i].is_waiting = false;
    }
}

TEST(goes_first_agrees_with_what_take_would_give)
{
    run_randomly(SCHED_POLICY_SRPT, 0, 1968);
    run_randomly(SCHED_POLICY_SRPT, 1, 1971);
    run_randomly(SCHED_POLICY_SRPT, 50, 1972);
    run_randomly(SCHED_POLICY_FIFO, 0, 1969);
    run_randomly(SCHED_POLICY_FAIR, 0, 1970);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
