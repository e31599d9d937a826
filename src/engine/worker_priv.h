/*
 * worker_priv - what the two files of a worker share: worker.c, which runs it,
 * and worker_change.c, which says what it serves.
 */
#ifndef ENGINE_WORKER_PRIV_H
#define ENGINE_WORKER_PRIV_H

#include <pthread.h>

#include "engine/worker.h"

/* A store as this worker asks it. */
struct worker_kv {
    struct kv_desk *desk;
    struct kv *kv;
};

struct worker {
    struct conn_set conns; /* first: it holds the hot fields */
    struct now now;
    struct worker_options options;
    struct ev_loop *loop;
    ev_check check;
    ev_timer tick;
    ev_io link_timer; /* a timerfd: libev's own timers know milliseconds */
    bool link_timer_runs;
    struct mailbox *mailbox;
    struct sites *sites;
    struct file_cache_counts earlier; /* of the caches of earlier sites */
    struct status *status;            /* NULL: it is not asked for */
    struct worker_kv kvs[WORKER_STORES_MAX];
    struct response_style kv_style;
    struct password_desk *desk; /* NULL: nobody needed it so far */
    struct status *made;        /* the same, as the main thread knows it */
    _Atomic(struct worker_change *) change; /* made and not taken, or NULL */
    struct access_log_buffer access_log;
    pthread_t thread;
    uint64_t started_ns;
    bool is_stopping;
};

/* Serves what was applied last, from now on: the worker's. What was begun keeps
 * the earlier sites. */
void worker_take_change(struct worker *worker);

/* Has a worker, which is what context is, look at those that wait. */
void worker_wake_conns(void *context);

#endif
