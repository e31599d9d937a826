/*
 * cache_queue - a thread that does what workers must not wait for: it writes
 * all that a cache keeps on a disk, and reads files to check them.
 *
 * Jobs lie in the objects that they are about, and run in the order in which
 * they were put. A job that has much to do does a part of it and puts itself
 * again, so that others get their turn.
 *
 * Thread: cache_queue_put() any; run() in the queue's thread; the rest for the
 *         main thread.
 * Owns:   the thread, never the jobs: the owner of a job keeps it alive until
 *         it has run.
 */
#ifndef CACHE_CACHE_QUEUE_H
#define CACHE_CACHE_QUEUE_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/list.h"

enum {
    CACHE_QUEUE_END_MS = 3000 /* how long jobs may go on while the queue ends */
};

struct cache_job {
    struct list list_node; /* private, like the next */
    bool is_queued;
    void (*run)(struct cache_job *job);
};

struct cache_queue; /* opaque */

static inline void cache_job_init(struct cache_job *job,
                                  void (*run)(struct cache_job *job))
{
    list_init(&job->list_node);
    job->is_queued = false;
    job->run = run;
}

/* Starts the thread. Returns 0 or -errno. */
MUST_USE int cache_queue_create(struct cache_queue **queue_out);

/* Puts the job at the end of the queue, whose thread will run it. Returns
 * false, and does nothing, when the job is queued already. */
bool cache_queue_put(struct cache_queue *queue, struct cache_job *job);

/* Jobs call these while they run. cache_queue_is_ending(): whether the queue is
 * being stopped; a job then does only what must be done. cache_queue_is_late():
 * whether the stop began CACHE_QUEUE_END_MS ago or earlier; a job then leaves
 * out even that. */
bool cache_queue_is_ending(const struct cache_queue *queue);
bool cache_queue_is_late(const struct cache_queue *queue);

/* Runs the jobs that are queued, and ends the thread. Only jobs themselves may
 * still put jobs. */
void cache_queue_stop(struct cache_queue *queue);

/* Stops the queue if that has not been done. NULL is accepted. */
void cache_queue_destroy(struct cache_queue *queue);

#endif
