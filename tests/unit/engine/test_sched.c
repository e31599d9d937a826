/* link: -Wl,--wrap=malloc */
#include "engine/sched.h"

#include "suite.h"
#include "unit/draw.h"
#include "unit/memory.h"

enum { ITEMS = 40 };

static struct sched sched;
static struct sched_item items[ITEMS];

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < ITEMS; i++)
        items[i] = (struct sched_item){0};
    sched_init(&sched, SCHED_POLICY_SRPT, (struct sched_bounds){0});
    return sched_reserve(&sched, ITEMS);
}

static int tear_down(void **state)
{
    (void)state;
    sched_fini(&sched);
    return 0;
}

/* Whoever waits leaves. */
static void use(enum sched_policy policy, uint64_t bound)
{
    for (int i = 0; i < ITEMS; i++)
        sched_drop(&sched, &items[i]);
    sched_fini(&sched);
    sched_init(&sched, policy, (struct sched_bounds){.bytes = bound});
    assert_int_equal(sched_reserve(&sched, ITEMS), 0);
}

/* A new response of so many bytes waits. */
static void arrive(int number, uint64_t bytes_left)
{
    sched_arrive(&sched, &items[number], 1, bytes_left, false);
    sched_put(&sched, &items[number], bytes_left);
}

/* Whose turn it is, -1: nobody's. */
static int take(void)
{
    const struct sched_item *item = sched_take(&sched);

    return item ? (int)(item - items) : -1;
}

static void assert_order(const int *numbers, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(take(), numbers[i]);
    assert_int_equal(take(), -1);
}

static bool goes_first(int number, uint64_t bytes_left)
{
    return sched_goes_first(&sched, &items[number], bytes_left);
}

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

/* --- srpt's bound -------------------------------------------------------- */

/* One large response waits; small ones come in bursts, as many as can pass it.
 * Returns the bytes of those that did. */
static uint64_t flood(uint64_t bound, uint64_t bytes, uint64_t small,
                      int in_burst)
{
    uint64_t passed = 0;

    use(SCHED_POLICY_SRPT, bound);
    arrive(0, bytes);
    for (;;) {
        for (int i = 1; i <= in_burst; i++)
            arrive(i, small);
        for (int i = 1; i <= in_burst; i++) {
            if (take() == 0)
                return passed;
            passed += small;
            if (passed > 1000 * bytes)
                return UINT64_MAX;
        }
    }
}

TEST(a_flood_of_small_ones_passes_only_so_much)
{
    static const uint64_t bounds[] = {1, 2, 5, 64, 256};

    for (int i = 0; i < 5; i++) {
        for (int burst = 1; burst < ITEMS; burst += 19) {
            const uint64_t b = 1000000;
            uint64_t k = bounds[i];
            uint64_t passed = flood(k, b, 100, burst);

            assert_true(passed < (k + 1) * b);
            /* What came with the large one counts as its own: K - 1. */
            assert_in_range(passed, (k - 1) * b * 99 / 100, (k - 1) * b);
        }
    }
}

TEST(without_a_bound_a_flood_passes_for_ever)
{
    assert_true(flood(0, 10000, 100, 7) == UINT64_MAX);
}

TEST(a_shorter_one_passes_in_spite_of_the_bound)
{
    static const int order[] = {1, 2, 0};

    use(SCHED_POLICY_SRPT, 256);
    arrive(0, 100000);
    arrive(1, 10);
    arrive(2, 1000);
    assert_order(order, 3);
}

/* Bytes left, and of whom came later, bytes that were sent while it waited. */
static struct {
    uint64_t bytes;
    uint64_t left;
    uint64_t passed;
    uint64_t number;
    bool is_away; /* its client takes nothing for now */
} jobs[ITEMS];

static void send_and_count(int at, uint64_t quantum)
{
    uint64_t sent = jobs[at].left < quantum ? jobs[at].left : quantum;

    jobs[at].left -= sent;
    for (int i = 0; i < ITEMS; i++)
        if (jobs[i].left > 0 && !jobs[i].is_away &&
            jobs[i].number < jobs[at].number)
            jobs[i].passed += sent;
}

static void serve_and_count(uint64_t quantum)
{
    int at = take();

    if (at < 0)
        return;
    send_and_count(at, quantum);
    jobs[at].is_away = draw(4) == 0;
    if (jobs[at].left > 0 && !jobs[at].is_away)
        sched_put(&sched, &items[at], jobs[at].left);
}

/* What is short and the very next does not go through the queue. */
static void arrive_and_count(int at, uint64_t bytes, uint64_t number,
                             uint64_t quantum)
{
    memset(&jobs[at], 0, sizeof(jobs[at]));
    jobs[at].bytes = jobs[at].left = bytes;
    jobs[at].number = number;
    sched_arrive(&sched, &items[at], 1, bytes, false);
    if (bytes <= quantum && goes_first(at, bytes))
        send_and_count(at, quantum);
    else
        sched_put(&sched, &items[at], bytes);
}

TEST(nothing_is_ever_passed_by_more_than_the_bound)
{
    static const uint64_t bounds[] = {1, 2, 8, 100};

    draw_seed = 1968;
    for (int run = 0; run < 40; run++) {
        uint64_t k = bounds[run % 4];
        uint64_t quantum = 1 + draw(3000);

        use(SCHED_POLICY_SRPT, k);
        memset(jobs, 0, sizeof(jobs));
        for (uint64_t step = 1; step < 5000; step++) {
            int at = (int)draw(ITEMS);

            if (jobs[at].left == 0 && draw(2) == 0) {
                arrive_and_count(at, 1 + draw(1u << draw(17)), step, quantum);
            } else if (jobs[at].left > 0 && jobs[at].is_away) {
                jobs[at].is_away = false;
                sched_put(&sched, &items[at], jobs[at].left);
            } else {
                serve_and_count(quantum);
            }
            for (int i = 0; i < ITEMS; i++)
                assert_true(jobs[i].bytes == 0 ||
                            jobs[i].passed < (k + 1) * jobs[i].bytes);
        }
    }
}

TEST(immense_responses_do_not_overflow_the_key)
{
    static const int order[] = {1, 3, 0, 2};

    use(SCHED_POLICY_SRPT, 1 << 20);
    arrive(0, UINT64_MAX / 2);
    sched_drop(&sched, &items[0]);
    sched_put(&sched, &items[0], UINT64_MAX / 2);
    arrive(1, 1000);
    arrive(2, UINT64_MAX / 4);
    arrive(3, 10);
    assert_order(order, 4);
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

/* --- fsp ----------------------------------------------------------------- */

TEST(fsp_goes_by_the_finish_under_fair_sharing)
{
    struct fair_share share;
    uint64_t finish[ITEMS] = {0};

    draw_seed = 2004;
    use(SCHED_POLICY_FSP, 0);
    fair_share_init(&share);
    assert_int_equal(fair_share_reserve(&share, 10000), 0);
    for (int step = 0; step < 5000; step++) {
        int at = (int)draw(ITEMS);

        if (finish[at] == 0) {
            uint64_t bytes = 1 + draw(1u << draw(17));

            finish[at] = fair_share_arrive(&share, bytes);
            arrive(at, bytes);
            assert_true(sched_key(&sched, &items[at], 1) == finish[at]);
        } else if (draw(3) == 0) {
            uint64_t sent = draw(20000);
            int first = take();

            for (int i = 0; i < ITEMS; i++)
                assert_true(finish[i] == 0 || finish[first] <= finish[i]);
            finish[first] = 0;
            sched_forget(&sched, sent);
            fair_share_advance(&share, sent);
        }
    }
    fair_share_fini(&share);
}

/* The same responses under processor sharing: what each still has to get. */
static struct {
    double left;
    double end; /* on the clock of bytes sent; 0: not yet */
} shared_jobs[ITEMS];

static void share_evenly(double from, double bytes)
{
    while (bytes > 1e-9) {
        int count = 0;
        double each = 0;

        for (int i = 0; i < ITEMS; i++) {
            if (shared_jobs[i].left <= 0)
                continue;
            if (count++ == 0 || shared_jobs[i].left < each)
                each = shared_jobs[i].left;
        }
        if (count == 0)
            return;
        if (each > bytes / count)
            each = bytes / count;
        from += each * count;
        bytes -= each * count;
        for (int i = 0; i < ITEMS; i++) {
            if (shared_jobs[i].left <= 0)
                continue;
            shared_jobs[i].left -= each;
            if (shared_jobs[i].left < 1e-7) {
                shared_jobs[i].left = 0;
                shared_jobs[i].end = from;
            }
        }
    }
}

/* One quantum here and as many bytes there. A response that ended there must
 * have ended here, but for a quantum. */
static void serve_and_share(double *clock, uint64_t quantum)
{
    int at = take();
    uint64_t sent;

    if (at < 0)
        return;
    sent = jobs[at].left < quantum ? jobs[at].left : quantum;
    jobs[at].left -= sent;
    sched_forget(&sched, sent);
    share_evenly(*clock, (double)sent);
    *clock += (double)sent;
    if (jobs[at].left > 0)
        sched_put(&sched, &items[at], jobs[at].left);
    for (int i = 0; i < ITEMS; i++)
        if (jobs[i].left > 0 && shared_jobs[i].end > 0)
            assert_true(*clock <= shared_jobs[i].end + (double)quantum);
}

TEST(fsp_ends_none_later_than_fair_sharing_would)
{
    draw_seed = 2005;
    for (int run = 0; run < 30; run++) {
        uint64_t quantum = 1 + draw(3000);
        double clock = 0;
        unsigned busy = 2 + draw(40); /* from idling to always crowded */

        use(SCHED_POLICY_FSP, 0);
        memset(jobs, 0, sizeof(jobs));
        memset(shared_jobs, 0, sizeof(shared_jobs));
        for (int step = 0; step < 5000; step++) {
            int at = (int)draw(ITEMS);

            if (draw(busy) > 1) {
                serve_and_share(&clock, quantum);
            } else if (jobs[at].left == 0 && shared_jobs[at].left <= 0) {
                jobs[at].left = 1 + draw(1u << draw(17));
                shared_jobs[at].left = (double)jobs[at].left;
                shared_jobs[at].end = 0;
                arrive(at, jobs[at].left);
            }
        }
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
