/* link: -Wl,--wrap=ioctl,--wrap=now_read_ns */
#include "engine/unsent_time.h"

#include "suite.h"
#include "wrap.h"

#define MS UINT64_C(1000000)

static struct ev_loop *loop;
static struct stats stats;
static struct unsent_time sampled;
static uint64_t now_ns;
static int unsent; /* -1: it is no socket that could be asked */
static unsigned asked;
static int asked_fd;

WRAP(int, ioctl, int fd, unsigned long request, int *out)
{
    (void)request;
    asked++;
    asked_fd = fd;
    if (unsent < 0) {
        errno = EINVAL;
        return -1;
    }
    *out = unsent;
    return 0;
}

WRAP(uint64_t, now_read_ns, void)
{
    return now_ns;
}

static int set_up(void **state)
{
    (void)state;
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    memset(&stats, 0, sizeof(stats));
    now_ns = 1000 * MS;
    unsent = 0;
    asked = 0;
    if (!loop)
        return -1;
    unsent_time_init(&sampled, loop, &stats);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unsent_time_fini(&sampled);
    ev_loop_destroy(loop);
    return 0;
}

static struct distribution noted(void)
{
    struct distribution distribution = {0};

    histogram_add_to(&stats.unsent, &distribution);
    return distribution;
}

/* A response is handed over now. */
static void hand_over(int fd, uint64_t bytes)
{
    unsent_time_note_answer(&sampled, fd, bytes, now_ns);
}

/* Time goes by until the timer fires; in ms. */
static double fire(void)
{
    double after = ev_timer_remaining(loop, &sampled.timer);

    assert_true(ev_is_active(&sampled.timer));
    now_ns += (uint64_t)(after * 1e9);
    ev_timer_stop(loop, &sampled.timer);
    ev_invoke(loop, &sampled.timer, EV_TIMER);
    return after * 1000;
}

TEST(of_small_responses_one_in_many_is_looked_at)
{
    for (int i = 0; i < 10 * UNSENT_TIME_ANSWERS; i++)
        hand_over(7, UNSENT_TIME_LARGE_BYTES);
    assert_int_equal(asked, 10);
    assert_int_equal(asked_fd, 7);
    assert_int_equal(noted().count, 10);
    assert_false(ev_is_active(&sampled.timer)); /* all was sent at once */
}

TEST(each_large_one_is)
{
    for (int i = 0; i < 5; i++)
        hand_over(i, UNSENT_TIME_LARGE_BYTES + 1);
    assert_int_equal(noted().count, 5);
}

TEST(what_is_unsent_is_asked_for_until_it_is_not)
{
    double last = 0;
    struct distribution times;

    unsent = 5000;
    hand_over(7, 1000000);
    for (uint64_t begin = now_ns; now_ns - begin < 1000 * MS;) {
        double after = fire();

        assert_true(after >= last * 0.99); /* ever rarer */
        last = after;
    }
    assert_in_range(asked, 10, 80); /* a logarithm of the time */
    assert_true(last < 200);
    assert_int_equal(noted().count, 0);
    unsent = 0;
    fire();
    times = noted();
    assert_int_equal(times.count, 1);
    assert_in_range(times.max, 1000 * MS, 1300 * MS);
    assert_false(ev_is_active(&sampled.timer));
}

TEST(only_one_is_looked_at_at_a_time)
{
    unsent = 1;
    hand_over(7, 1000000);
    for (int i = 0; i < 1000; i++)
        hand_over(8, 1000000);
    assert_int_equal(asked, 1);
    assert_int_equal(asked_fd, 7);
    unsent = 0;
    fire();
    hand_over(8, 1000);
    assert_int_equal(asked_fd, 8);
}

TEST(one_whose_client_goes_on_is_given_up)
{
    unsent = 1;
    hand_over(7, 1000000);
    unsent_time_drop(&sampled, 8); /* somebody else */
    assert_true(ev_is_active(&sampled.timer));
    unsent_time_drop(&sampled, 7);
    assert_false(ev_is_active(&sampled.timer));
    assert_int_equal(noted().count, 0);
    hand_over(8, 1000000); /* there is room for another */
    assert_int_equal(asked_fd, 8);
}

TEST(what_cannot_be_asked_is_left_alone)
{
    unsent = -1;
    hand_over(7, 1000000);
    assert_false(ev_is_active(&sampled.timer));
    assert_int_equal(noted().count, 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
