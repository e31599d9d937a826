#include "observe/history.h"

#include <math.h>
#include <pthread.h>

#include "base/pages.h"

struct history {
    /* Numbers of the last snapshot, used only by the thread that calls
     * history_note(). */
    uint64_t requests;
    uint64_t bytes_out;
    uint64_t hits;
    uint64_t misses;
    double hit_ratio;
    struct distribution total;
    struct distribution wait;
    struct distribution difference;
    struct distribution nothing; /* always empty */

    pthread_mutex_t mutex; /* guards `noted` and `points` */
    /* count of all points so far; the last point has the number noted - 1 */
    size_t noted;
    struct history_point points[HISTORY_POINTS_MAX];
};

struct history *history_create(void)
{
    struct history *history = pages_open(sizeof(*history));

    if (!history)
        return NULL;
    history->hit_ratio = NAN;
    pthread_mutex_init(&history->mutex, NULL);
    return history;
}

void history_destroy(struct history *history)
{
    if (!history)
        return;
    pthread_mutex_destroy(&history->mutex);
    pages_close(history, sizeof(*history));
}

/* Returns the increase from *previous to `present`, and sets *previous to
 * `present`. */
static uint64_t advance(uint64_t *previous, uint64_t present)
{
    uint64_t more = present > *previous ? present - *previous : 0;

    *previous = present;
    return more;
}

/* Returns the times recorded since *previous, and sets *previous to *present.
 * If the count has not changed, no time was recorded, and nothing is copied. */
static const struct distribution *advance_times(
    struct history *history, struct distribution *previous,
    const struct distribution *present)
{
    if (present->count == previous->count)
        return &history->nothing;
    history->difference = *present;
    distribution_subtract(&history->difference, previous);
    *previous = *present;
    return &history->difference;
}

/* Returns the hit ratio since the last point. Each worker reports its cache's
 * numbers once a second, at a time of its own. If there were requests, but no
 * worker has reported since the last point, the ratio stays as it was. */
static double advance_hit_ratio(struct history *history,
                                const struct stats_snapshot *snapshot)
{
    uint64_t hits = advance(&history->hits, snapshot->cache.hits);
    uint64_t misses = advance(&history->misses, snapshot->cache.misses);

    if (hits + misses > 0)
        history->hit_ratio = (double)hits / (double)(hits + misses);
    else if (snapshot->requests == history->requests)
        history->hit_ratio = NAN;
    return history->hit_ratio;
}

static void add_point(struct history *history,
                      const struct history_point *point)
{
    pthread_mutex_lock(&history->mutex);
    history->points[history->noted++ % HISTORY_POINTS_MAX] = *point;
    pthread_mutex_unlock(&history->mutex);
}

void history_note(struct history *history,
                  const struct stats_snapshot *snapshot)
{
    /* The hit ratio comes first, since it needs the old history->requests. */
    double hit_ratio = advance_hit_ratio(history, snapshot);
    struct history_point point = {
        .wall_ns = snapshot->wall_ns,
        .requests = advance(&history->requests, snapshot->requests),
        .bytes_out = advance(&history->bytes_out, snapshot->bytes_out),
        .hit_ratio = hit_ratio,
        .queue_depth = snapshot->queue_depth,
        .open = snapshot->open};
    const struct distribution *times = advance_times(history, &history->total,
                                                     &snapshot->total);

    point.total_p50_ns = distribution_quantile(times, 0.5);
    point.total_p90_ns = distribution_quantile(times, 0.9);
    point.total_p99_ns = distribution_quantile(times, 0.99);
    times = advance_times(history, &history->wait, &snapshot->wait);
    point.wait_p99_ns = distribution_quantile(times, 0.99);
    add_point(history, &point);
}

void history_note_nothing(struct history *history, int64_t wall_ns)
{
    struct history_point point = {.wall_ns = wall_ns, .hit_ratio = NAN};

    /* The points are read without the mutex, since only this thread writes
     * them. */
    if (history->noted > 0) {
        const struct history_point *last =
            &history->points[(history->noted - 1) % HISTORY_POINTS_MAX];

        point.queue_depth = last->queue_depth;
        point.open = last->open;
    }
    history->hit_ratio = NAN;
    add_point(history, &point);
}

size_t history_read(struct history *history, struct history_point *points,
                    size_t max)
{
    size_t count;

    pthread_mutex_lock(&history->mutex);
    count = history->noted < HISTORY_POINTS_MAX ? history->noted
                                                : HISTORY_POINTS_MAX;
    if (count > max)
        count = max;
    for (size_t i = 0; i < count; i++)
        points[i] =
            history->points[(history->noted - count + i) % HISTORY_POINTS_MAX];
    pthread_mutex_unlock(&history->mutex);
    return count;
}
