#include "io/deadline.h"

static struct list *slot_of(struct deadline_wheel *wheel, uint64_t tick)
{
    return &wheel->slots[tick % DEADLINE_SLOTS];
}

static void start(struct deadline_wheel *wheel)
{
    wheel->tick = wheel->now->mono_ms / DEADLINE_TICK_MS;
    ev_timer_again(wheel->loop, &wheel->timer);
}

void deadline_place(struct deadline_wheel *wheel, struct deadline *deadline)
{
    uint64_t tick;

    if (list_is_empty(&deadline->list_node)) {
        if (wheel->count++ == 0)
            start(wheel);
    } else {
        list_drop(&deadline->list_node);
    }
    /* Rounded up, and never into a slot already handled; what is further
     * than once around is looked at again in between. */
    tick = (deadline->at_ms + DEADLINE_TICK_MS - 1) / DEADLINE_TICK_MS;
    if (tick <= wheel->tick)
        tick = wheel->tick + 1;
    else if (tick > wheel->tick + DEADLINE_SLOTS - 1)
        tick = wheel->tick + DEADLINE_SLOTS - 1;
    deadline->slot_ms = tick * DEADLINE_TICK_MS;
    list_put_last(slot_of(wheel, tick), &deadline->list_node);
}

void deadline_drop(struct deadline_wheel *wheel, struct deadline *deadline)
{
    if (list_is_empty(&deadline->list_node))
        return;
    list_drop(&deadline->list_node);
    if (--wheel->count == 0)
        ev_timer_stop(wheel->loop, &wheel->timer);
}

static void run_slot(struct deadline_wheel *wheel, uint64_t tick)
{
    struct list due;
    struct list *slot = slot_of(wheel, tick);

    /* Taken off first: what expires may set limits, also in this slot. */
    list_init(&due);
    if (!list_is_empty(slot)) {
        list_put_before(slot, &due);
        list_drop(slot);
    }
    while (!list_is_empty(&due)) {
        struct deadline *deadline = OWNER_OF(due.next, struct deadline,
                                             list_node);

        if (deadline->at_ms > wheel->now->mono_ms) {
            deadline_place(wheel, deadline);
        } else {
            deadline_drop(wheel, deadline);
            wheel->on_expired(wheel->context, deadline);
        }
    }
}

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct deadline_wheel *wheel = timer->data;
    uint64_t now_tick = wheel->now->mono_ms / DEADLINE_TICK_MS;

    (void)loop;
    (void)events;
    /* After a long stop of the process every slot is due once. */
    if (now_tick - wheel->tick > DEADLINE_SLOTS)
        wheel->tick = now_tick - DEADLINE_SLOTS;
    while (wheel->tick < now_tick && wheel->count > 0)
        run_slot(wheel, ++wheel->tick);
}

void deadline_wheel_init(struct deadline_wheel *wheel, struct ev_loop *loop,
                         const struct now *now, deadline_fn on_expired,
                         void *context)
{
    wheel->loop = loop;
    wheel->now = now;
    wheel->on_expired = on_expired;
    wheel->context = context;
    wheel->tick = 0;
    wheel->count = 0;
    for (size_t i = 0; i < DEADLINE_SLOTS; i++)
        list_init(&wheel->slots[i]);
    ev_init(&wheel->timer, on_tick);
    wheel->timer.repeat = DEADLINE_TICK_MS / 1000.;
    wheel->timer.data = wheel;
}

void deadline_wheel_fini(struct deadline_wheel *wheel)
{
    ev_timer_stop(wheel->loop, &wheel->timer);
}
