#include "process/watchdog.h"

#include <limits.h>
#include <stdlib.h>

#include "base/log.h"

/* Workers note once a second that they are alive. On a busy machine a note may
 * be late, so stale_ms is at least STALE_MS_MIN. */
enum { STALE_MS_MIN = 3000, LOOKS_A_PERIOD = 4 };

struct watched {
    uint64_t noted; /* the worker's last note */
    uint64_t at_ms; /* when this note was first seen */
    bool is_stuck;
};

struct watchdog {
    const struct stats_shared *stats;
    uint64_t look_ms; /* time between two checks */
    uint64_t stale_ms;
    uint64_t due_ms;
    struct watched workers[];
};

struct watchdog *watchdog_create(const struct stats_shared *stats,
                                 uint64_t period_ms, uint64_t now_ms)
{
    size_t count = stats->options.worker_count;
    struct watchdog *watchdog =
        calloc(1, sizeof(*watchdog) + count * sizeof(watchdog->workers[0]));

    if (!watchdog)
        return NULL;
    watchdog->stats = stats;
    watchdog->look_ms = period_ms / LOOKS_A_PERIOD;
    if (watchdog->look_ms == 0)
        watchdog->look_ms = 1;
    if (watchdog->look_ms > INT_MAX)
        watchdog->look_ms = INT_MAX;
    watchdog->stale_ms = period_ms / 2 > STALE_MS_MIN ? period_ms / 2
                                                      : STALE_MS_MIN;
    watchdog->due_ms = now_ms;
    for (size_t i = 0; i < count; i++)
        watchdog->workers[i].at_ms = now_ms;
    return watchdog;
}

void watchdog_destroy(struct watchdog *watchdog)
{
    free(watchdog);
}

static bool is_moving(struct watched *worker, uint64_t noted, size_t number,
                      const struct watchdog *watchdog, uint64_t now_ms)
{
    uint64_t still_ms;

    if (worker->noted != noted) {
        if (worker->is_stuck)
            log_notice("worker %zu makes progress again", number);
        *worker = (struct watched){.noted = noted, .at_ms = now_ms};
        return true;
    }
    still_ms = now_ms - worker->at_ms;
    if (still_ms < watchdog->stale_ms)
        return true;
    if (!worker->is_stuck)
        log_error("worker %zu has been stuck for %llu ms: the watchdog is no "
                  "longer fed",
                  number, (unsigned long long)still_ms);
    worker->is_stuck = true;
    return false;
}

bool watchdog_tick(struct watchdog *watchdog, uint64_t now_ms,
                   int *pause_ms_out)
{
    const struct stats_shared *stats = watchdog ? watchdog->stats : NULL;
    bool all_move = true;

    *pause_ms_out = INT_MAX;
    if (!watchdog)
        return false;
    if (now_ms < watchdog->due_ms) {
        *pause_ms_out = (int)(watchdog->due_ms - now_ms);
        return false;
    }
    watchdog->due_ms = now_ms + watchdog->look_ms;
    *pause_ms_out = (int)watchdog->look_ms;
    if (atomic_load_explicit(&stats->is_draining, memory_order_relaxed))
        return true;
    for (size_t i = 0; i < stats->options.worker_count; i++) {
        uint64_t noted = counter_read(&stats->workers[i].profile.wall_ns);

        if (!is_moving(&watchdog->workers[i], noted, i, watchdog, now_ms))
            all_move = false;
    }
    return all_move;
}
