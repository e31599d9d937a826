#include "engine/unsent_time.h"

#include "base/now.h"
#include "base/units.h"
#include "io/socket_state.h"
#include "observe/profile.h"

enum { STEP_NS = 1000000, STEP_SHARE = 8 };

/* Asks how many bytes of the socket are unsent. If there are any, asks again
 * later. */
static void look(struct unsent_time *unsent_time)
{
    uint64_t passed_ns = now_read_ns() - unsent_time->handed_ns;
    uint64_t step_ns = passed_ns / STEP_SHARE;
    int unsent = socket_count_unsent(unsent_time->fd);

    if (unsent == -1) {
        unsent_time_end(unsent_time); /* the socket is not TCP */
        return;
    }
    if (unsent == 0) {
        stats_note_unsent(unsent_time->stats, passed_ns);
        unsent_time_end(unsent_time);
        return;
    }
    if (step_ns < STEP_NS)
        step_ns = STEP_NS;
    ev_timer_set(&unsent_time->timer, (double)step_ns / NS_PER_S, 0.);
    ev_timer_start(unsent_time->loop, &unsent_time->timer);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);

    (void)loop;
    (void)events;
    look(timer->data);
    profile_leave(before);
}

void unsent_time_begin(struct unsent_time *unsent_time, int fd, uint64_t now_ns)
{
    unsent_time->answers = 0;
    unsent_time->fd = fd;
    unsent_time->handed_ns = now_ns;
    look(unsent_time);
}

void unsent_time_end(struct unsent_time *unsent_time)
{
    unsent_time->fd = -1;
    ev_timer_stop(unsent_time->loop, &unsent_time->timer);
}

void unsent_time_init(struct unsent_time *unsent_time, struct ev_loop *loop,
                      struct stats *stats)
{
    *unsent_time = (struct unsent_time){.loop = loop, .stats = stats, .fd = -1};
    ev_timer_init(&unsent_time->timer, on_timer, 0., 0.);
    unsent_time->timer.data = unsent_time;
}

void unsent_time_fini(struct unsent_time *unsent_time)
{
    unsent_time_end(unsent_time);
}
