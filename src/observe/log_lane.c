#include "observe/log_lane.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/now.h"
#include "base/units.h"

/* --- What lanes have in common --------------------------------------------- */

int log_shared_init(struct log_shared *shared, enum log_overflow overflow)
{
    pthread_condattr_t attr;

    *shared = (struct log_shared){.overflow = overflow};
    shared->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (shared->wake_fd == -1)
        return -errno;
    atomic_init(&shared->waiting, 0);
    pthread_mutex_init(&shared->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&shared->changed, &attr);
    pthread_condattr_destroy(&attr);
    return 0;
}

void log_shared_fini(struct log_shared *shared)
{
    pthread_cond_destroy(&shared->changed);
    pthread_mutex_destroy(&shared->mutex);
    close(shared->wake_fd);
}

void log_shared_wake(const struct log_shared *shared)
{
    uint64_t one = 1;

    if (write(shared->wake_fd, &one, sizeof(one)) == -1)
        log_error("access log: eventfd: %s", strerror(errno));
}

void log_shared_hurry(struct log_shared *shared, uint64_t until_ms)
{
    pthread_mutex_lock(&shared->mutex);
    shared->until_ms = until_ms;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->mutex);
}

/* --- The worker's side ------------------------------------------------------- */

int log_lane_init(struct log_lane *lane, struct log_shared *shared)
{
    *lane = (struct log_lane){.shared = shared};
    lane->memory = malloc((size_t)LOG_BLOCKS * LOG_BLOCK_BYTES);
    if (!lane->memory)
        return -ENOMEM;
    for (unsigned i = 0; i < LOG_BLOCKS; i++)
        lane->free[i] = lane->memory + (size_t)i * LOG_BLOCK_BYTES;
    lane->free_count = LOG_BLOCKS;
    return 0;
}

void log_lane_fini(struct log_lane *lane)
{
    free(lane->memory);
    lane->memory = NULL;
}

/* Whether there is a block to fill. Sequentially consistent with what
 * log_lane_give_back() does: of a worker that counts itself as waiting and
 * then finds none, and a writing thread that gives one back and then looks
 * for who waits, one sees the other. */
static bool reclaim(struct log_lane *lane)
{
    unsigned given_back = atomic_load(&lane->given_back);

    while (lane->reclaimed != given_back)
        lane->free[lane->free_count++] =
            lane->ring[lane->reclaimed++ % LOG_BLOCKS].data;
    return lane->free_count > 0;
}

static bool wait_for_block(struct log_lane *lane)
{
    struct log_shared *shared = lane->shared;
    bool has_block;

    pthread_mutex_lock(&shared->mutex);
    atomic_fetch_add(&shared->waiting, 1);
    while (!(has_block = reclaim(lane))) {
        struct timespec until = {
            .tv_sec = (time_t)(shared->until_ms / MS_PER_S),
            .tv_nsec = (long)(shared->until_ms % MS_PER_S) * NS_PER_MS};

        if (shared->until_ms == 0)
            pthread_cond_wait(&shared->changed, &shared->mutex);
        else if (pthread_cond_timedwait(&shared->changed, &shared->mutex,
                                        &until) == ETIMEDOUT)
            break;
    }
    atomic_fetch_sub(&shared->waiting, 1);
    pthread_mutex_unlock(&shared->mutex);
    return has_block;
}

struct buf *log_lane_begin(struct log_lane *lane)
{
    if (lane->lines.data)
        return &lane->lines;
    if (lane->free_count == 0 && !reclaim(lane) &&
        (lane->shared->overflow == LOG_OVERFLOW_DROP ||
         !wait_for_block(lane))) {
        atomic_store_explicit(&lane->dropped_lines,
                              log_lane_dropped_lines(lane) + 1,
                              memory_order_relaxed);
        return NULL;
    }
    buf_init(&lane->lines, lane->free[--lane->free_count], LOG_BLOCK_BYTES,
             LOG_BLOCK_BYTES);
    return &lane->lines;
}

void log_lane_flush(struct log_lane *lane)
{
    unsigned flushed = atomic_load_explicit(&lane->flushed,
                                            memory_order_relaxed);

    if (!lane->lines.data || lane->lines.len == 0)
        return;
    lane->ring[flushed % LOG_BLOCKS] = (struct log_block){lane->lines.data,
                                                          lane->lines.len};
    lane->lines.data = NULL;
    atomic_store_explicit(&lane->flushed, flushed + 1, memory_order_release);
    log_shared_wake(lane->shared);
}

/* --- The writing thread's side ------------------------------------------------ */

bool log_lane_peek(struct log_lane *lane, struct log_block *block_out)
{
    unsigned at = atomic_load_explicit(&lane->given_back, memory_order_relaxed);

    if (at == atomic_load_explicit(&lane->flushed, memory_order_acquire))
        return false;
    *block_out = lane->ring[at % LOG_BLOCKS];
    return true;
}

void log_lane_give_back(struct log_lane *lane)
{
    struct log_shared *shared = lane->shared;

    atomic_fetch_add(&lane->given_back, 1);
    if (atomic_load(&shared->waiting) > 0) {
        pthread_mutex_lock(&shared->mutex);
        pthread_cond_broadcast(&shared->changed);
        pthread_mutex_unlock(&shared->mutex);
    }
}
