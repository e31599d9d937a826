#include "engine/drain.h"

#include "base/now.h"
#include "base/units.h"
#include "io/socket_state.h"
#include "observe/profile.h"

enum { STEP_NS = 1000000, STEP_SHARE = 8 };

/* Looks, and comes back later if that is not the end of it. */
static void look(struct drain *drain)
{
    uint64_t passed_ns = now_read_ns() - drain->handed_ns;
    uint64_t step_ns = passed_ns / STEP_SHARE;
    int unsent = socket_count_unsent(drain->fd);

    if (unsent == -1) {
        drain_end(drain); /* no TCP socket */
        return;
    }
    if (unsent == 0) {
        stats_note_drain(drain->stats, passed_ns);
        drain_end(drain);
        return;
    }
    if (step_ns < STEP_NS)
        step_ns = STEP_NS;
    ev_timer_set(&drain->timer, (double)step_ns / NS_PER_S, 0.);
    ev_timer_start(drain->loop, &drain->timer);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);

    (void)loop;
    (void)events;
    look(timer->data);
    profile_leave(before);
}

void drain_begin(struct drain *drain, int fd, uint64_t now_ns)
{
    drain->answers = 0;
    drain->fd = fd;
    drain->handed_ns = now_ns;
    look(drain);
}

void drain_end(struct drain *drain)
{
    drain->fd = -1;
    ev_timer_stop(drain->loop, &drain->timer);
}

void drain_init(struct drain *drain, struct ev_loop *loop, struct stats *stats)
{
    *drain = (struct drain){.loop = loop, .stats = stats, .fd = -1};
    ev_timer_init(&drain->timer, on_timer, 0., 0.);
    drain->timer.data = drain;
}

void drain_fini(struct drain *drain)
{
    drain_end(drain);
}
