#include "cache/cache_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/now.h"
#include "base/units.h"

struct cache_queue {
    pthread_mutex_t mutex; /* guards `jobs`, `changed`, and nodes of jobs */
    pthread_cond_t changed;
    struct list jobs;
    _Atomic uint64_t ends_ns; /* when jobs have to end; 0: the queue goes on */
    bool has_thread;
    pthread_t thread;
};

/* Waits for a job and takes it. Returns NULL when the queue is to end and no
 * job is left. The mutex is held. */
static struct cache_job *take(struct cache_queue *queue)
{
    struct cache_job *job;

    while (list_is_empty(&queue->jobs)) {
        if (cache_queue_is_ending(queue))
            return NULL;
        pthread_cond_wait(&queue->changed, &queue->mutex);
    }
    job = OWNER_OF(queue->jobs.next, struct cache_job, list_node);
    list_drop(&job->list_node);
    job->is_queued = false;
    return job;
}

static void *run(void *context)
{
    struct cache_queue *queue = context;
    struct cache_job *job;

    pthread_mutex_lock(&queue->mutex);
    while ((job = take(queue))) {
        pthread_mutex_unlock(&queue->mutex);
        job->run(job);
        pthread_mutex_lock(&queue->mutex);
    }
    pthread_mutex_unlock(&queue->mutex);
    return NULL;
}

int cache_queue_create(struct cache_queue **queue_out)
{
    struct cache_queue *queue = calloc(1, sizeof(*queue));
    int err;

    if (!queue)
        return -ENOMEM;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->changed, NULL);
    list_init(&queue->jobs);
    err = pthread_create(&queue->thread, NULL, run, queue);
    queue->has_thread = err == 0;
    if (err == 0)
        *queue_out = queue;
    else
        cache_queue_destroy(queue);
    return -err;
}

bool cache_queue_put(struct cache_queue *queue, struct cache_job *job)
{
    bool is_put;

    pthread_mutex_lock(&queue->mutex);
    is_put = !job->is_queued;
    if (is_put) {
        job->is_queued = true;
        list_put_last(&queue->jobs, &job->list_node);
        pthread_cond_signal(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    return is_put;
}

bool cache_queue_is_ending(const struct cache_queue *queue)
{
    return atomic_load_explicit(&queue->ends_ns, memory_order_relaxed) > 0;
}

bool cache_queue_is_late(const struct cache_queue *queue)
{
    uint64_t ends_ns = atomic_load_explicit(&queue->ends_ns,
                                            memory_order_relaxed);

    return ends_ns > 0 && now_read_ns() > ends_ns;
}

void cache_queue_stop(struct cache_queue *queue)
{
    if (!queue->has_thread)
        return;
    pthread_mutex_lock(&queue->mutex);
    atomic_store_explicit(&queue->ends_ns,
                          now_read_ns() +
                              (uint64_t)CACHE_QUEUE_END_MS * NS_PER_MS,
                          memory_order_relaxed);
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
    pthread_join(queue->thread, NULL);
    queue->has_thread = false;
}

void cache_queue_destroy(struct cache_queue *queue)
{
    if (!queue)
        return;
    cache_queue_stop(queue);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}
