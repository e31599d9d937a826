/* link: -Wl,--wrap=timer_create,--wrap=timer_settime,--wrap=timer_delete */
/* alone: what is told of the time used is compared with it. */
#include "observe/profile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/units.h"
#include "suite.h"
#include "wrap.h"

enum {
    BURN_MS = 200,
    /* The kernel's tick is 10 ms at most; a sanitizer may put some off. */
    SAMPLES_MIN = BURN_MS / 10 / 2,
    SAMPLES_MAX = BURN_MS * 5 / 4
};

static struct stats_profile profile;

/* --- Failing calls, and timers left behind ------------------------------- */

static int create_error;
static int set_error;
static atomic_int timers; /* that there are */

WRAP(int, timer_create, clockid_t clock, struct sigevent *event, timer_t *out)
{
    int result;

    if (create_error != 0) {
        errno = create_error;
        return -1;
    }
    result = __real_timer_create(clock, event, out);
    timers += result == 0 ? 1 : 0;
    return result;
}

WRAP(int, timer_settime, timer_t timer, int flags, const struct itimerspec *to,
     struct itimerspec *old)
{
    if (set_error != 0) {
        errno = set_error;
        return -1;
    }
    return __real_timer_settime(timer, flags, to, old);
}

WRAP(int, timer_delete, timer_t timer)
{
    timers--;
    errno = EINVAL; /* nobody may look at it */
    return __real_timer_delete(timer);
}

static int set_up(void **state)
{
    (void)state;
    profile = (struct stats_profile){0};
    create_error = set_error = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    profile_stop();
    return timers == 0 ? 0 : -1;
}

/* --- Helpers ------------------------------------------------------------- */

static uint64_t cpu_ns(void)
{
    struct timespec used;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0)
        abort();
    return (uint64_t)used.tv_sec * NS_PER_S + (uint64_t)used.tv_nsec;
}

/* Uses so much of the processor's time in that phase. */
static void burn(enum stats_phase phase, unsigned ms)
{
    enum stats_phase before = profile_enter(phase);
    uint64_t end_ns = cpu_ns() + (uint64_t)ms * NS_PER_MS;

    while (cpu_ns() < end_ns)
        ;
    profile_leave(before);
}

static uint64_t count_all(const struct stats_profile *of)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < STATS_PHASE_COUNT; i++)
        count += counter_read(&of->samples[i]);
    return count;
}

/* At least four of five, and as many as there should be. */
static bool is_mostly(const struct stats_profile *of, enum stats_phase phase)
{
    uint64_t count = counter_read(&of->samples[phase]);

    return count >= SAMPLES_MIN && count <= SAMPLES_MAX &&
           count * 5 >= count_all(of) * 4;
}

static enum stats_phase phase_now(void)
{
    enum stats_phase phase = profile_enter(STATS_PHASE_OTHER);

    profile_leave(phase);
    return phase;
}

/* --- Phases -------------------------------------------------------------- */

static void *tell_phase(void *phase_out)
{
    *(enum stats_phase *)phase_out = phase_now();
    return NULL;
}

TEST(a_thread_begins_with_something_other)
{
    enum stats_phase phase = STATS_PHASE_READ;
    enum stats_phase before = profile_enter(STATS_PHASE_SEND);
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, tell_phase, &phase), 0);
    pthread_join(thread, NULL);
    profile_leave(before);
    assert_int_equal(before, STATS_PHASE_OTHER);
    assert_int_equal(phase, STATS_PHASE_OTHER);
}

TEST(the_phase_around_comes_back)
{
    enum stats_phase outer = profile_enter(STATS_PHASE_SCHEDULE);
    enum stats_phase middle = profile_enter(STATS_PHASE_SEND);
    enum stats_phase inner = profile_enter(STATS_PHASE_LOOKUP);

    assert_int_equal(phase_now(), STATS_PHASE_LOOKUP);
    profile_leave(inner);
    assert_int_equal(phase_now(), STATS_PHASE_SEND);
    profile_leave(middle);
    assert_int_equal(phase_now(), STATS_PHASE_SCHEDULE);
    profile_leave(outer);
    assert_int_equal(phase_now(), STATS_PHASE_OTHER);
}

/* --- Samples ------------------------------------------------------------- */

TEST(samples_fall_into_the_phase_that_uses_the_time)
{
    for (unsigned i = 0; i < STATS_PHASE_COUNT; i += 3) {
        profile = (struct stats_profile){0};
        assert_int_equal(profile_start(&profile), 0);
        burn((enum stats_phase)i, BURN_MS);
        profile_stop();
        assert_true(is_mostly(&profile, (enum stats_phase)i));
    }
}

TEST(samples_are_shared_as_the_time_is)
{
    uint64_t parse;
    uint64_t send;

    assert_int_equal(profile_start(&profile), 0);
    for (unsigned i = 0; i < 20; i++) { /* one to three */
        burn(STATS_PHASE_PARSE, BURN_MS / 20);
        burn(STATS_PHASE_SEND, 3 * BURN_MS / 20);
    }
    profile_stop();
    parse = counter_read(&profile.samples[STATS_PHASE_PARSE]);
    send = counter_read(&profile.samples[STATS_PHASE_SEND]);
    assert_true(parse + send >= 4 * SAMPLES_MIN);
    /* A quarter, and what chance makes of it with few samples. */
    assert_true(parse * 100 >= (parse + send) * 10);
    assert_true(parse * 100 <= (parse + send) * 45);
}

TEST(who_waits_is_not_disturbed)
{
    const struct timespec pause = {.tv_nsec = 100 * NS_PER_MS};

    assert_int_equal(profile_start(&profile), 0);
    assert_int_equal(nanosleep(&pause, NULL), 0); /* EINTR would be -1 */
    profile_stop();
    assert_true(count_all(&profile) <= 2);
}

struct burner {
    struct stats_profile profile;
    enum stats_phase phase;
    int err;
};

static void *be_sampled(void *context)
{
    struct burner *burner = context;

    burner->err = profile_start(&burner->profile);
    burn(burner->phase, BURN_MS);
    profile_stop();
    return NULL;
}

TEST(each_thread_is_sampled_for_itself)
{
    struct burner burners[] = {{.phase = STATS_PHASE_READ},
                               {.phase = STATS_PHASE_LOG}};
    pthread_t threads[2];

    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, be_sampled,
                                        &burners[i]),
                         0);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(burners[i].err, 0);
        assert_true(is_mostly(&burners[i].profile, burners[i].phase));
    }
}

TEST(errno_is_left_alone)
{
    assert_int_equal(profile_start(&profile), 0);
    errno = ENOTTY;
    burn(STATS_PHASE_SEND, BURN_MS);
    assert_int_equal(errno, ENOTTY);
    profile_stop();
    assert_true(count_all(&profile) > 0);
}

/* --- Beginning and end --------------------------------------------------- */

TEST(there_are_none_before_and_after)
{
    uint64_t count;

    burn(STATS_PHASE_SEND, BURN_MS / 4);
    assert_int_equal(count_all(&profile), 0);
    assert_int_equal(profile_start(&profile), 0);
    assert_int_equal(timers, 1);
    burn(STATS_PHASE_SEND, BURN_MS / 4);
    profile_stop();
    assert_int_equal(timers, 0);
    count = count_all(&profile);
    raise(SIGPROF); /* one that was late */
    burn(STATS_PHASE_SEND, BURN_MS / 4);
    assert_int_equal(count_all(&profile), count);
    profile_stop(); /* twice does no harm */
}

TEST(without_a_timer_nothing_is_left_behind)
{
    create_error = EAGAIN;
    assert_int_equal(profile_start(&profile), -EAGAIN);
    assert_int_equal(timers, 0);
    create_error = 0;
    set_error = ENOTSUP;
    assert_int_equal(profile_start(&profile), -ENOTSUP);
    assert_int_equal(timers, 0);
    raise(SIGPROF);
    assert_int_equal(count_all(&profile), 0);
    set_error = 0;
    assert_int_equal(profile_start(&profile), 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
