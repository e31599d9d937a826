#include "io/deadline.h"

#include <string.h>

#include "base/units.h"

enum {
    WORD_BITS = 64,
    /* Added to each delay of the timer. The wheel's clock is coarser than the
     * loop's and lags behind by up to a kernel tick, so the timer would expire
     * a little too early, and have to run twice. */
    COARSE_MS = 10
};

_Static_assert(DEADLINE_SLOTS % WORD_BITS == 0, "a word is of whole slots");

/* --- Slots --------------------------------------------------------------- */

static struct list *slot_of(struct deadline_wheel *wheel, uint64_t tick)
{
    return &wheel->slots[tick % DEADLINE_SLOTS];
}

static uint64_t *word_of(struct deadline_wheel *wheel, uint64_t tick)
{
    return &wheel->used[tick % DEADLINE_SLOTS / WORD_BITS];
}

static void put(struct deadline_wheel *wheel, struct deadline *deadline,
                uint64_t tick)
{
    deadline->slot_ms = tick * DEADLINE_TICK_MS;
    list_put_last(slot_of(wheel, tick), &deadline->list_node);
    *word_of(wheel, tick) |= UINT64_C(1) << tick % WORD_BITS;
}

static void clear(struct deadline_wheel *wheel, uint64_t tick)
{
    *word_of(wheel, tick) &= ~(UINT64_C(1) << tick % WORD_BITS);
}

static void leave(struct deadline_wheel *wheel, struct deadline *deadline)
{
    uint64_t tick = deadline->slot_ms / DEADLINE_TICK_MS;

    list_drop(&deadline->list_node);
    if (list_is_empty(slot_of(wheel, tick)))
        clear(wheel, tick);
}

/* Returns the next tick whose slot has a node. */
static uint64_t next_tick(struct deadline_wheel *wheel)
{
    uint64_t tick = wheel->tick + 1;
    uint64_t end = wheel->tick + DEADLINE_SLOTS;

    while (tick < end) {
        uint64_t word = *word_of(wheel, tick) >> tick % WORD_BITS;

        if (word != 0)
            return tick + (uint64_t)__builtin_ctzll(word);
        tick += WORD_BITS - tick % WORD_BITS;
    }
    return end;
}

/* --- The timer ----------------------------------------------------------- */

/* Sets the timer to expire when `tick` comes. */
static void await(struct deadline_wheel *wheel, uint64_t tick)
{
    uint64_t due_ms = tick * DEADLINE_TICK_MS;
    uint64_t now_ms = wheel->now->mono_ms;
    uint64_t wait_ms = due_ms > now_ms ? due_ms - now_ms : 0;

    wheel->due = tick;
    wheel->timer.repeat = (double)(wait_ms + COARSE_MS) / MS_PER_S;
    ev_timer_again(wheel->loop, &wheel->timer);
}

static void start(struct deadline_wheel *wheel)
{
    wheel->tick = wheel->now->mono_ms / DEADLINE_TICK_MS;
    if (wheel->due > 0)
        wheel->due = UINT64_MAX;
}

void deadline_place(struct deadline_wheel *wheel, struct deadline *deadline)
{
    uint64_t tick;

    if (!list_is_empty(&deadline->list_node))
        leave(wheel, deadline);
    else if (wheel->count++ == 0)
        start(wheel);
    /* The tick is rounded up, and is never one that was handled already. A
     * limit that is more than one turn of the wheel away is looked at once in
     * each turn until then. */
    tick = (deadline->at_ms + DEADLINE_TICK_MS - 1) / DEADLINE_TICK_MS;
    if (tick <= wheel->tick)
        tick = wheel->tick + 1;
    else if (tick > wheel->tick + DEADLINE_SLOTS - 1)
        tick = wheel->tick + DEADLINE_SLOTS - 1;
    put(wheel, deadline, tick);
    if (tick < wheel->due)
        await(wheel, tick);
}

void deadline_drop(struct deadline_wheel *wheel, struct deadline *deadline)
{
    if (list_is_empty(&deadline->list_node))
        return;
    leave(wheel, deadline);
    if (--wheel->count == 0)
        ev_timer_stop(wheel->loop, &wheel->timer);
}

static void run_slot(struct deadline_wheel *wheel, uint64_t tick)
{
    struct list due;
    struct list *slot = slot_of(wheel, tick);

    /* The nodes are taken off first, because on_expired may put nodes into this
     * slot. */
    list_init(&due);
    list_put_before(slot, &due);
    list_drop(slot);
    clear(wheel, tick);
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
    uint64_t tick;

    (void)loop;
    (void)events;
    wheel->due = 0; /* the timer is set again at the end */
    while (wheel->count > 0 && (tick = next_tick(wheel)) <= now_tick) {
        wheel->tick = tick;
        run_slot(wheel, tick);
    }
    wheel->due = UINT64_MAX;
    if (wheel->count == 0)
        return;
    if (wheel->tick < now_tick)
        wheel->tick = now_tick;
    await(wheel, next_tick(wheel));
}

/* --- Coming and going ---------------------------------------------------- */

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
    memset(wheel->used, 0, sizeof(wheel->used));
    wheel->due = UINT64_MAX;
    ev_init(&wheel->timer, on_tick);
    wheel->timer.data = wheel;
}

void deadline_wheel_fini(struct deadline_wheel *wheel)
{
    ev_timer_stop(wheel->loop, &wheel->timer);
}
