/*
 * deadline - many time limits on one timer: a hashed timing wheel (Varghese,
 * Lauck, SOSP 1987, scheme 6), with lazy moves.
 *
 * A limit that moves to a time later than its node's slot only stores the new
 * time: the node is moved when its old slot comes by. So a busy connection
 * costs one store a request, and the wheel looks at an idle connection at most
 * once in 131 s, the time that it takes to go around.
 *
 *   slot:  0 .. 1023, each DEADLINE_TICK_MS wide (together about 131 s)
 *
 * The timer expires when the next slot in use comes by, and not before, so that
 * a server whose clients are idle sleeps.
 *
 * Invariant: a linked node stands in a slot that comes by no later than its
 *            limit (rounded up to a tick). Nothing expires early.
 * Thread:    the one of the loop.
 * Owns:      the timer, never the nodes.
 */
#ifndef IO_DEADLINE_H
#define IO_DEADLINE_H

#include <ev.h>

#include "base/list.h"
#include "base/now.h"

enum { DEADLINE_TICK_MS = 128, DEADLINE_SLOTS = 1024 };

struct deadline {
    struct list list_node;
    uint64_t at_ms;   /* when the limit expires */
    uint64_t slot_ms; /* when the node's slot comes by; at most at_ms */
};

typedef void (*deadline_fn)(void *context, struct deadline *expired);

struct deadline_wheel {
    struct ev_loop *loop;
    ev_timer timer;
    const struct now *now;
    deadline_fn on_expired;
    void *context;
    uint64_t tick; /* the last tick handled */
    /* The tick at which the timer expires; UINT64_MAX when the timer is
     * stopped, 0 while ticks are being handled. */
    uint64_t due;
    size_t count;
    uint64_t used[DEADLINE_SLOTS / 64]; /* a bit for each slot in use */
    struct list slots[DEADLINE_SLOTS];
};

/* Prepares a wheel on which no limit is set yet. `now` is the loop's clock,
 * which the loop refreshes each turn. */
void deadline_wheel_init(struct deadline_wheel *wheel, struct ev_loop *loop,
                         const struct now *now, deadline_fn on_expired,
                         void *context);
void deadline_wheel_fini(struct deadline_wheel *wheel);

static inline void deadline_init(struct deadline *deadline)
{
    list_init(&deadline->list_node);
}

/* Private: puts `deadline` into the slot for its at_ms. */
void deadline_place(struct deadline_wheel *wheel, struct deadline *deadline);

/* Sets a limit, or moves the one that was set. */
static inline void deadline_set(struct deadline_wheel *wheel,
                                struct deadline *deadline, uint64_t at_ms)
{
    deadline->at_ms = at_ms;
    if (list_is_empty(&deadline->list_node) || at_ms < deadline->slot_ms)
        deadline_place(wheel, deadline);
}

/* Takes the limit away, if one is set. */
void deadline_drop(struct deadline_wheel *wheel, struct deadline *deadline);

#endif
