#include "observe/log_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/now.h"
#include "base/units.h"

/* --- What rings have in common ------------------------------------------- */

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

void log_shared_end_soon(struct log_shared *shared, uint64_t until_ms)
{
    pthread_mutex_lock(&shared->mutex);
    shared->until_ms = until_ms;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->mutex);
}

/* --- The worker's side --------------------------------------------------- */

int log_ring_init(struct log_ring *ring, struct log_shared *shared)
{
    *ring = (struct log_ring){.shared = shared};
    ring->memory = malloc((size_t)LOG_BLOCKS * LOG_BLOCK_BYTES);
    if (!ring->memory)
        return -ENOMEM;
    for (unsigned i = 0; i < LOG_BLOCKS; i++)
        ring->free[i] = ring->memory + (size_t)i * LOG_BLOCK_BYTES;
    ring->free_count = LOG_BLOCKS;
    return 0;
}

void log_ring_fini(struct log_ring *ring)
{
    free(ring->memory);
    ring->memory = NULL;
}

/* Collects the blocks that were given back. Returns false if there is no block
 * to fill. The atomic operations here and in log_ring_give_back() are
 * sequentially consistent: a worker first counts itself as waiting and then
 * looks for a block; the writing thread first gives a block back and then looks
 * for waiting workers. So the worker sees the block, or the thread sees the
 * worker. */
static bool reclaim(struct log_ring *ring)
{
    unsigned given_back = atomic_load(&ring->given_back);

    while (ring->reclaimed != given_back)
        ring->free[ring->free_count++] =
            ring->ring[ring->reclaimed++ % LOG_BLOCKS].data;
    return ring->free_count > 0;
}

static bool wait_for_block(struct log_ring *ring)
{
    struct log_shared *shared = ring->shared;
    bool has_block;

    pthread_mutex_lock(&shared->mutex);
    atomic_fetch_add(&shared->waiting, 1);
    while (!(has_block = reclaim(ring))) {
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

struct buf *log_ring_begin(struct log_ring *ring)
{
    if (ring->lines.data)
        return &ring->lines;
    if (ring->free_count == 0 && !reclaim(ring) &&
        (ring->shared->overflow == LOG_OVERFLOW_DROP ||
         !wait_for_block(ring))) {
        atomic_store_explicit(&ring->dropped_lines,
                              log_ring_dropped_lines(ring) + 1,
                              memory_order_relaxed);
        return NULL;
    }
    buf_init(&ring->lines, ring->free[--ring->free_count], LOG_BLOCK_BYTES,
             LOG_BLOCK_BYTES);
    return &ring->lines;
}

void log_ring_flush(struct log_ring *ring)
{
    unsigned flushed = atomic_load_explicit(&ring->flushed,
                                            memory_order_relaxed);

    if (!ring->lines.data || ring->lines.len == 0)
        return;
    ring->ring[flushed % LOG_BLOCKS] = (struct log_block){ring->lines.data,
                                                          ring->lines.len};
    ring->lines.data = NULL;
    atomic_store_explicit(&ring->flushed, flushed + 1, memory_order_release);
    log_shared_wake(ring->shared);
}

/* --- The writing thread's side ------------------------------------------- */

bool log_ring_peek(struct log_ring *ring, struct log_block *block_out)
{
    unsigned at = atomic_load_explicit(&ring->given_back, memory_order_relaxed);

    if (at == atomic_load_explicit(&ring->flushed, memory_order_acquire))
        return false;
    *block_out = ring->ring[at % LOG_BLOCKS];
    return true;
}

void log_ring_give_back(struct log_ring *ring)
{
    struct log_shared *shared = ring->shared;

    atomic_fetch_add(&ring->given_back, 1);
    if (atomic_load(&shared->waiting) > 0) {
        pthread_mutex_lock(&shared->mutex);
        pthread_cond_broadcast(&shared->changed);
        pthread_mutex_unlock(&shared->mutex);
    }
}
