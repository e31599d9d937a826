#include "io/deadline.h"

#include "suite.h"
#include "unit/draw.h"

enum {
    NODES = 200,
    TICK = DEADLINE_TICK_MS,
    ONCE_AROUND_MS = DEADLINE_TICK_MS * DEADLINE_SLOTS
};

/* No tick begins here. */
static const uint64_t begin_ms = 1000000;

static struct ev_loop *loop;
static struct now now;
static struct deadline_wheel wheel;
static struct deadline nodes[NODES];

/* What has expired since the last look. */
static unsigned expired_count;
static struct deadline *last_expired;
static void (*and_then)(struct deadline *expired);

static void on_expired(void *context, struct deadline *expired)
{
    assert_ptr_equal(context, &nodes);
    assert_true(expired->at_ms <= now.mono_ms);
    assert_true(list_is_empty(&expired->list_node));
    expired_count++;
    last_expired = expired;
    if (and_then)
        and_then(expired);
}

static int set_up(void **state)
{
    (void)state;
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    now.mono_ms = begin_ms;
    expired_count = 0;
    last_expired = NULL;
    and_then = NULL;
    for (int i = 0; i < NODES; i++)
        deadline_init(&nodes[i]);
    if (loop)
        deadline_wheel_init(&wheel, loop, &now, on_expired, &nodes);
    return loop ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    deadline_wheel_fini(&wheel);
    ev_loop_destroy(loop);
    return 0;
}

/* The timer's turn, at that time; how many expire. */
static unsigned tick_at(uint64_t at_ms)
{
    unsigned before = expired_count;

    now.mono_ms = at_ms;
    if (ev_is_active(&wheel.timer))
        ev_invoke(loop, &wheel.timer, EV_TIMER);
    return expired_count - before;
}

/* The same, every tick from the present to that time. */
static unsigned run_to(uint64_t at_ms)
{
    unsigned before = expired_count;

    while (now.mono_ms + TICK < at_ms)
        tick_at(now.mono_ms + TICK);
    tick_at(at_ms);
    return expired_count - before;
}

static void set(int number, uint64_t at_ms)
{
    deadline_set(&wheel, &nodes[number], at_ms);
}

/* One expires, and then; a tick late at most. */
static void assert_expires(uint64_t at_ms)
{
    assert_int_equal(run_to(at_ms - 1), 0);
    assert_int_equal(run_to(at_ms + TICK), 1);
}

/* --- One limit ------------------------------------------------------------ */

TEST(nothing_expires_early)
{
    for (uint64_t ms = 1; ms < 3 * TICK; ms++) {
        set(0, now.mono_ms + ms);
        assert_int_equal(run_to(now.mono_ms + ms - 1), 0);
        deadline_drop(&wheel, &nodes[0]);
    }
}

TEST(a_limit_is_at_most_a_tick_late)
{
    for (uint64_t ms = 0; ms < 3 * TICK; ms++) {
        set(0, now.mono_ms + ms);
        assert_int_equal(run_to(now.mono_ms + ms + TICK), 1);
        assert_ptr_equal(last_expired, &nodes[0]);
    }
}

TEST(a_limit_in_the_past_expires_with_the_next_tick)
{
    set(0, now.mono_ms - 5 * TICK);
    assert_int_equal(tick_at(now.mono_ms + TICK), 1);
}

TEST(what_has_expired_expires_once)
{
    set(0, now.mono_ms + TICK);
    assert_int_equal(run_to(now.mono_ms + 2 * ONCE_AROUND_MS), 1);
}

TEST(a_limit_beyond_once_around_is_kept)
{
    uint64_t at_ms = now.mono_ms + 3 * ONCE_AROUND_MS + 77;

    set(0, at_ms);
    assert_expires(at_ms);
}

TEST(nothing_expires_after_drop)
{
    set(0, now.mono_ms + TICK);
    deadline_drop(&wheel, &nodes[0]);
    deadline_drop(&wheel, &nodes[0]);
    assert_int_equal(run_to(now.mono_ms + 10 * TICK), 0);
}

/* --- Moving --------------------------------------------------------------- */

TEST(moving_later_leaves_the_node_where_it_stands)
{
    struct list *before;

    set(1, now.mono_ms + 10 * TICK);
    set(0, now.mono_ms + 10 * TICK);
    set(2, now.mono_ms + 10 * TICK);
    before = nodes[0].list_node.next;
    set(0, now.mono_ms + 500 * TICK);
    assert_ptr_equal(nodes[0].list_node.next, before);
    assert_ptr_equal(before, &nodes[2].list_node);
}

TEST(what_moved_later_expires_at_its_new_time)
{
    uint64_t at_ms = now.mono_ms + 500 * TICK;

    set(0, now.mono_ms + 10 * TICK);
    set(0, at_ms);
    assert_expires(at_ms);
}

TEST(what_moved_earlier_expires_at_its_new_time)
{
    uint64_t at_ms = now.mono_ms + 10 * TICK;

    set(0, now.mono_ms + 500 * TICK);
    set(0, at_ms);
    assert_expires(at_ms);
}

TEST(what_moved_to_and_fro_expires_at_its_last_time)
{
    uint64_t at_ms = now.mono_ms + 20 * TICK;

    set(0, now.mono_ms + 10 * TICK);
    set(0, now.mono_ms + 500 * TICK);
    set(0, at_ms);
    assert_expires(at_ms);
}

/* --- From within the callback --------------------------------------------- */

static void set_again(struct deadline *expired)
{
    if (expired_count < 5)
        deadline_set(&wheel, expired, now.mono_ms);
}

TEST(what_is_set_while_expiring_waits_for_a_later_tick)
{
    and_then = set_again;
    set(0, now.mono_ms);
    set(1, now.mono_ms);
    for (unsigned i = 0; i < 3; i++)
        assert_true(tick_at(now.mono_ms + TICK) <= 2);
    assert_int_equal(run_to(now.mono_ms + 10 * TICK), 0);
    assert_int_equal(expired_count, 6);
}

static void drop_others(struct deadline *expired)
{
    for (int i = 0; i < NODES; i++)
        if (&nodes[i] != expired)
            deadline_drop(&wheel, &nodes[i]);
}

TEST(what_is_dropped_while_expiring_does_not_expire)
{
    and_then = drop_others;
    for (int i = 0; i < NODES; i++)
        set(i, now.mono_ms + TICK);
    assert_int_equal(run_to(now.mono_ms + 3 * TICK), 1);
}

/* --- The timer ------------------------------------------------------------ */

TEST(the_timer_runs_while_there_is_a_limit)
{
    assert_false(ev_is_active(&wheel.timer));
    set(0, now.mono_ms + TICK);
    set(1, now.mono_ms + TICK);
    deadline_drop(&wheel, &nodes[0]);
    assert_true(ev_is_active(&wheel.timer));
    assert_int_equal(run_to(now.mono_ms + 3 * TICK), 1);
    assert_false(ev_is_active(&wheel.timer));
}

/* How often the timer runs until that time, each time when it wants to. */
static unsigned count_runs(uint64_t until_ms)
{
    unsigned runs = 0;

    for (;; runs++) {
        double wait_s = wheel.timer.repeat;

        if (!ev_is_active(&wheel.timer) ||
            now.mono_ms + (uint64_t)(wait_s * 1000) > until_ms)
            return runs;
        tick_at(now.mono_ms + (uint64_t)(wait_s * 1000));
    }
}

TEST(the_timer_sleeps_until_something_is_due)
{
    uint64_t until_ms = now.mono_ms + 900 * TICK;

    set(0, now.mono_ms + 300 * TICK);
    set(1, now.mono_ms + 300 * TICK);
    set(2, now.mono_ms + 700 * TICK);
    assert_int_equal(count_runs(until_ms), 2);
    assert_int_equal(expired_count, 3);
}

TEST(a_limit_that_is_dropped_wakes_once_at_most)
{
    uint64_t until_ms = now.mono_ms + 900 * TICK;

    for (int i = 1; i < NODES; i++)
        set(i, now.mono_ms + (unsigned)i * TICK);
    set(0, until_ms - 2 * TICK);
    for (int i = 1; i < NODES; i++)
        deadline_drop(&wheel, &nodes[i]);
    assert_int_equal(count_runs(until_ms), 2);
    assert_int_equal(expired_count, 1);
}

TEST(an_earlier_limit_wakes_the_timer_earlier)
{
    uint64_t at_ms = now.mono_ms + 5 * TICK;

    set(0, now.mono_ms + 500 * TICK);
    set(1, at_ms);
    assert_int_equal(count_runs(at_ms + TICK), 1);
    assert_ptr_equal(last_expired, &nodes[1]);
    set(1, now.mono_ms + 600 * TICK);
    set(0, now.mono_ms + 2 * TICK); /* moved */
    assert_int_equal(count_runs(now.mono_ms + 4 * TICK), 1);
    assert_ptr_equal(last_expired, &nodes[0]);
}

TEST(a_wheel_that_stood_still_starts_at_the_present)
{
    set(0, now.mono_ms + TICK);
    run_to(now.mono_ms + 3 * TICK);
    now.mono_ms += 10 * (uint64_t)ONCE_AROUND_MS;
    set(0, now.mono_ms + 5 * TICK);
    assert_int_equal(run_to(now.mono_ms + 5 * TICK - 1), 0);
    assert_int_equal(run_to(now.mono_ms + TICK + 1), 1);
}

TEST(after_a_long_stop_all_that_is_due_expires_at_once)
{
    uint64_t stop_ms = 10 * (uint64_t)ONCE_AROUND_MS;

    for (int i = 0; i < NODES; i++)
        set(i, now.mono_ms + (uint64_t)i * 20 * TICK);
    set(7, now.mono_ms + stop_ms + 1);
    assert_int_equal(tick_at(now.mono_ms + stop_ms), NODES - 1);
    assert_int_equal(tick_at(now.mono_ms + 2 * TICK), 1);
    assert_ptr_equal(last_expired, &nodes[7]);
}

/* --- Against a naive model ------------------------------------------------ */

static struct {
    bool is_set;
    uint64_t at_ms;
    uint64_t latest_ms; /* at this time it must be over */
} model[NODES];

static void model_set(int number, uint64_t at_ms)
{
    uint64_t from_ms = at_ms > now.mono_ms ? at_ms : now.mono_ms;

    model[number].is_set = true;
    model[number].at_ms = at_ms;
    model[number].latest_ms = (from_ms / TICK + 1) * TICK;
}

static uint64_t draw_limit(void)
{
    static const unsigned spans_ms[] = {TICK, 30 * TICK, ONCE_AROUND_MS,
                                        5 * ONCE_AROUND_MS};

    return now.mono_ms - 10 + draw(spans_ms[draw(4)]);
}

static void check_with_model(struct deadline *expired)
{
    ptrdiff_t number = expired - nodes;

    assert_true(model[number].is_set);
    assert_int_equal(model[number].at_ms, expired->at_ms);
    model[number].is_set = false;
    if (draw(3) == 0) {
        deadline_set(&wheel, expired, draw_limit());
        model_set((int)number, expired->at_ms);
    }
}

static void advance(void)
{
    unsigned span_ms = draw(500) == 0 ? 3 * ONCE_AROUND_MS : 2 * TICK;

    now.mono_ms += draw(span_ms);
    if (draw(8) == 0)
        return; /* the turn was not the timer's */
    tick_at(now.mono_ms);
    for (int i = 0; i < NODES; i++) {
        assert_int_equal(!list_is_empty(&nodes[i].list_node), model[i].is_set);
        assert_true(!model[i].is_set || now.mono_ms < model[i].latest_ms);
    }
}

TEST(a_random_run_agrees_with_a_naive_model)
{
    draw_seed = 1987;
    and_then = check_with_model;
    for (int step = 0; step < 50000; step++) {
        int number = (int)draw(NODES);

        switch (draw(5)) {
        case 0:
            deadline_drop(&wheel, &nodes[number]);
            model[number].is_set = false;
            break;
        case 1:
        case 2:
            set(number, draw_limit());
            model_set(number, nodes[number].at_ms);
            break;
        default:
            advance();
            break;
        }
    }
    assert_true(expired_count > 1000);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
