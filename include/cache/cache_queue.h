/*
 * cache_queue - a thread that does what workers must not wait for: all that a
 * cache writes to a disk, and what it reads to check.
 *
 * Jobs lie in whatever they are about and are run in the order in which they
 * were put. A job that has much to do does a part of it and puts itself again,
 * so that others get their turn.
 *
 * Thread: cache_queue_put() any; run() the queue's own; the rest the main
 *         thread's.
 * Owns:   the thread, never the jobs: the owner of a job keeps it alive until
 *         it runs.
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

/* Starts the thread. 0 or -errno. */
MUST_USE int cache_queue_create(struct cache_queue **queue_out);

/* Has the job run. False: the job is queued already, and nothing happens. */
bool cache_queue_put(struct cache_queue *queue, struct cache_job *job);

/* For run(): whether the queue ends soon, so that a job does only what it must;
 * and whether the time for that is over, too. */
bool cache_queue_is_ending(const struct cache_queue *queue);
bool cache_queue_is_late(const struct cache_queue *queue);

/* Runs the jobs that are queued, and ends the thread. Only jobs may still put
 * themselves. */
void cache_queue_stop(struct cache_queue *queue);

/* Stops it if that has not been done. NULL is accepted. */
void cache_queue_destroy(struct cache_queue *queue);

#endif
