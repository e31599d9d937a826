#include "observe/profile.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id /* missing from some glibc versions */
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* The time between samples. A server's usual periods (1 ms, 10 ms, ...) are no
 * multiples of this time. A sample takes about 3 microseconds, so sampling
 * costs at most 0.3 %. */
enum { STEP_NS = 997000 };

_Thread_local volatile sig_atomic_t profile_phase = STATS_PHASE_OTHER;

/* Where this thread's samples are counted; NULL while not sampling. */
static _Thread_local struct stats_profile *volatile sampled;
static _Thread_local timer_t timer;

/* Counts a sample. This signal handler calls no function that could change
 * errno. The signal may come after its timer was deleted; `sampled` is then
 * NULL. */
static void on_step(int number)
{
    struct stats_profile *profile = sampled;

    (void)number;
    if (profile)
        stats_note_sample(profile, (enum stats_phase)profile_phase);
}

int profile_start(struct stats_profile *profile)
{
    const struct timespec step = {.tv_nsec = STEP_NS};
    const struct itimerspec steps = {.it_interval = step, .it_value = step};
    /* SA_RESTART: interrupted system calls restart. A wait of libev may end
     * early, which does no harm. */
    struct sigaction action = {.sa_handler = on_step, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGPROF};
    int err;

    event.sigev_notify_thread_id = gettid();
    /* The handler is never removed, since no thread knows whether it is the
     * last one that samples. */
    if (sigaction(SIGPROF, &action, NULL) == -1 ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == -1)
        return -errno;
    sampled = profile;
    if (timer_settime(timer, 0, &steps, NULL) == 0)
        return 0;
    err = -errno;
    profile_stop();
    return err;
}

void profile_stop(void)
{
    if (!sampled)
        return;
    sampled = NULL;
    timer_delete(timer);
}
