#include "files/compressor.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/now.h"
#include "base/units.h"
#include "files/compressor_index_priv.h"
#include "files/compressor_share_priv.h"

enum { THREAD_NICE = 19 }; /* workers get the processor first */

struct compressor {
    pthread_mutex_t mutex; /* guards the members below, except threads and
                              atomics */
    pthread_cond_t changed;
    struct list queues[CODEC_SLOW + 1]; /* waiting jobs by effort, the oldest
                                           first */
    struct list settled;                /* settled jobs, the oldest first */
    size_t pending[CODEC_SLOW + 1];     /* jobs queued or running, by effort */
    size_t descriptors[CODEC_SLOW + 1]; /* descriptors of these jobs */
    uint64_t text_bytes;                /* bytes of copied texts of these
                                           jobs */
    size_t settled_count;
    uint64_t shelf_bytes; /* bytes of settled results */
    struct stats_compress counts;
    struct counter *told; /* borrowed; receives `counts` */
    struct compressor_index index;
    unsigned workers;
    atomic_bool stops;
    struct codec_meter meter;
    struct compressor_share share;
    clockid_t clocks[COMPRESSOR_THREADS_MAX]; /* clocks of the threads' CPU
                                                 times */
    size_t clock_count;
    unsigned thread_count;
    pthread_t threads[COMPRESSOR_THREADS_MAX];
};

static struct compressor_job *job_at(struct list *list_node)
{
    return OWNER_OF(list_node, struct compressor_job, list_node);
}

/* --- The shelf, with the mutex held -------------------------------------- */

static uint64_t body_bytes(const struct compressor_job *job)
{
    return job->body ? job->body->len : 0;
}

static void drop_settled(struct compressor *compressor,
                         struct compressor_job *job)
{
    compressor->settled_count--;
    compressor->shelf_bytes -= body_bytes(job);
    compressor_index_drop(&compressor->index, job);
    list_drop(&job->list_node);
    compressor_job_destroy(job);
}

static void count_pending(struct compressor *compressor,
                          const struct compressor_job *job, int sign)
{
    compressor->pending[job->effort] += (size_t)sign;
    if (job->text)
        compressor->text_bytes += (uint64_t)sign * job->stamp.bytes;
    compressor->descriptors[job->effort] += (size_t)sign *
                                            compressor_job_descriptors(job);
}

/* Drops the oldest settled jobs while the shelf is too full, but never the
 * newest. A result that is longer than the whole shelf stays until the next one
 * comes: otherwise it would be ordered again and again, and never fetched. */
static void make_room_beside(struct compressor *compressor,
                             const struct compressor_job *newest)
{
    while (job_at(compressor->settled.next) != newest &&
           (compressor->settled_count > COMPRESSOR_SHELF_MAX ||
            compressor->shelf_bytes > COMPRESSOR_SHELF_BYTES_MAX))
        drop_settled(compressor, job_at(compressor->settled.next));
}

static void settle(struct compressor *compressor, struct compressor_job *job,
                   enum compressor_job_state state)
{
    count_pending(compressor, job, -1);
    compressor_job_drop_text(job);
    job->state = state;
    compressor->counts.made += state == COMPRESSOR_JOB_READY;
    compressor->counts.hopeless += state == COMPRESSOR_JOB_HOPELESS;
    compressor->counts.failed += state == COMPRESSOR_JOB_FAILED;
    if (state == COMPRESSOR_JOB_READY) {
        compressor->counts.bytes_in += job->stamp.bytes;
        compressor->counts.bytes_out += job->body->len;
    }
    list_put_last(&compressor->settled, &job->list_node);
    compressor->settled_count++;
    compressor->shelf_bytes += body_bytes(job);
    make_room_beside(compressor, job);
}

static void tell(struct compressor *compressor)
{
    struct stats_compress *counts = &compressor->counts;
    uint64_t held = compressor->shelf_bytes + compressor->text_bytes;
    uint64_t most = held + codec_meter_take_max(&compressor->meter);

    counts->queued = compressor->pending[CODEC_QUICK] +
                     compressor->pending[CODEC_SLOW];
    counts->memory_bytes = held + codec_meter_read(&compressor->meter);
    if (counts->memory_bytes_max < most)
        counts->memory_bytes_max = most;
    stats_set_compress(compressor->told, counts);
}

/* --- The threads --------------------------------------------------------- */

static uint64_t read_cpu_ns(clockid_t clock)
{
    struct timespec used;

    if (clock_gettime(clock, &used) == -1)
        return 0;
    return (uint64_t)used.tv_sec * NS_PER_S + (uint64_t)used.tv_nsec;
}

/* Returns the processor time of all threads of this process except the
 * compressor's. */
static uint64_t read_others_ns(const struct compressor *compressor)
{
    uint64_t others = read_cpu_ns(CLOCK_PROCESS_CPUTIME_ID);

    for (size_t i = 0; i < compressor->clock_count; i++)
        others -= read_cpu_ns(compressor->clocks[i]);
    return others;
}

static struct compressor_job *take_job(struct compressor *compressor,
                                       enum codec_effort effort)
{
    struct compressor_job *job = job_at(compressor->queues[effort].next);

    list_drop(&job->list_node);
    job->state = COMPRESSOR_JOB_RUNNING;
    return job;
}

/* Takes a waiting job that may start now. Returns NULL if there is none. Sets
 * *counts_out to true if the job's end must be told to
 * compressor_share_end(). */
static struct compressor_job *start_job(struct compressor *compressor,
                                        bool *counts_out)
{
    *counts_out = false;
    if (!list_is_empty(&compressor->queues[CODEC_QUICK]))
        return take_job(compressor, CODEC_QUICK);
    if (list_is_empty(&compressor->queues[CODEC_SLOW]))
        return NULL;
    compressor_share_look(&compressor->share, now_read_ns(),
                          read_others_ns(compressor));
    return compressor_share_begin(&compressor->share, counts_out)
               ? take_job(compressor, CODEC_SLOW)
               : NULL;
}

/* Waits until something has changed. While a slow job waits, the wait also ends
 * after COMPRESSOR_SHARE_LOOK_MS: the job may be allowed to begin then. */
static void await_job(struct compressor *compressor)
{
    struct timespec until;
    uint64_t until_ns;

    if (list_is_empty(&compressor->queues[CODEC_SLOW])) {
        pthread_cond_wait(&compressor->changed, &compressor->mutex);
        return;
    }
    until_ns = now_read_ns() + (uint64_t)COMPRESSOR_SHARE_LOOK_MS * NS_PER_MS;
    until = (struct timespec){.tv_sec = (time_t)(until_ns / NS_PER_S),
                              .tv_nsec = (long)(until_ns % NS_PER_S)};
    (void)pthread_cond_timedwait(&compressor->changed, &compressor->mutex,
                                 &until);
}

static bool is_stopping(const struct compressor *compressor)
{
    return atomic_load_explicit(&compressor->stops, memory_order_relaxed);
}

/* Does one job. The caller holds the mutex, which is released meanwhile: until
 * the job is settled, no other thread touches its result. */
static void do_job(struct compressor *compressor, struct compressor_job *job,
                   bool counts, uint64_t *noted_ns)
{
    enum compressor_job_state state;
    uint64_t used_ns, before_ns = *noted_ns;

    pthread_mutex_unlock(&compressor->mutex);
    state = compressor_job_run(job, &compressor->stops, &compressor->meter);
    *noted_ns = read_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    pthread_mutex_lock(&compressor->mutex);
    used_ns = *noted_ns - before_ns;
    settle(compressor, job, state);
    compressor->counts.cpu_ns += used_ns;
    if (counts)
        compressor_share_end(&compressor->share, used_ns);
    tell(compressor);
}

static void *run(void *context)
{
    struct compressor *compressor = context;
    uint64_t noted_ns = 0;
    clockid_t clock;

    /* On Linux this sets the priority of this thread alone. If that fails, the
     * thread competes with the workers as an equal. */
    (void)setpriority(PRIO_PROCESS, 0, THREAD_NICE);
    pthread_mutex_lock(&compressor->mutex);
    if (pthread_getcpuclockid(pthread_self(), &clock) == 0)
        compressor->clocks[compressor->clock_count++] = clock;
    while (!is_stopping(compressor)) {
        bool counts;
        struct compressor_job *job = start_job(compressor, &counts);

        if (job)
            do_job(compressor, job, counts, &noted_ns);
        else
            await_job(compressor);
    }
    pthread_mutex_unlock(&compressor->mutex);
    return NULL;
}

/* --- For workers --------------------------------------------------------- */

/* Whether the queue has room for an order. Slow orders may wait for long, so
 * their number is limited to leave room for quick ones. */
static bool has_room(const struct compressor *compressor,
                     const struct compress_order *order)
{
    const size_t *pending = compressor->pending;
    const size_t *descriptors = compressor->descriptors;
    size_t wanted = (size_t)!order->text.data +
                    (size_t)(order->dictionary != NULL);

    if (order->effort == CODEC_SLOW &&
        (pending[CODEC_SLOW] == COMPRESSOR_SLOW_MAX ||
         descriptors[CODEC_SLOW] + wanted > COMPRESSOR_SLOW_DESCRIPTORS_MAX))
        return false;
    return pending[CODEC_QUICK] + pending[CODEC_SLOW] < COMPRESSOR_QUEUE_MAX &&
           (wanted == 0 ||
            descriptors[CODEC_QUICK] + descriptors[CODEC_SLOW] + wanted <=
                COMPRESSOR_DESCRIPTORS_MAX);
}

/* Makes a job of the order, if there is room. A slow order that finds no room
 * is not counted as refused, since there is a quick result to send
 * meanwhile. */
static enum compressor_answer place(struct compressor *compressor,
                                    const struct compress_order *order,
                                    uint64_t hash)
{
    bool has = has_room(compressor, order);
    struct compressor_job *job = NULL;

    if (!has && order->effort == CODEC_SLOW)
        return COMPRESSOR_LATER;
    if (has)
        job = compressor_job_create(order);
    if (!job) {
        compressor->counts.refused++;
        return COMPRESSOR_REFUSED;
    }
    job->hash = hash;
    compressor_index_put(&compressor->index, job);
    list_put_last(&compressor->queues[order->effort], &job->list_node);
    count_pending(compressor, job, 1);
    pthread_cond_signal(&compressor->changed);
    return COMPRESSOR_LATER;
}

static struct coded_body *fetch(struct compressor *compressor,
                                struct compressor_job *job)
{
    struct coded_body *body = job->body;

    coded_body_hold(body);
    if (++job->fetched >= compressor->workers)
        drop_settled(compressor, job);
    return body;
}

static enum compressor_answer ask(struct compressor *compressor,
                                  const struct compress_order *order,
                                  uint64_t now_ms, struct coded_body **body_out)
{
    uint64_t hash = compressor_index_hash(order);
    struct compressor_job *job = compressor_index_find(&compressor->index,
                                                       order, hash);

    if (!job)
        return place(compressor, order, hash);
    switch (job->state) {
    case COMPRESSOR_JOB_QUEUED:
    case COMPRESSOR_JOB_RUNNING:
        return COMPRESSOR_LATER;
    case COMPRESSOR_JOB_READY:
        *body_out = fetch(compressor, job);
        return COMPRESSOR_READY;
    case COMPRESSOR_JOB_HOPELESS:
        return COMPRESSOR_HOPELESS;
    case COMPRESSOR_JOB_FAILED:
        break;
    }
    if (job->failed_ms == 0) /* this is the first question since the failure */
        job->failed_ms = now_ms;
    if (now_ms - job->failed_ms >= COMPRESSOR_RETRY_MS)
        drop_settled(compressor, job);
    return COMPRESSOR_REFUSED;
}

enum compressor_answer compressor_ask(struct compressor *compressor,
                                      const struct compress_order *order,
                                      uint64_t now_ms,
                                      struct coded_body **body_out)
{
    enum compressor_answer answer;

    pthread_mutex_lock(&compressor->mutex);
    answer = ask(compressor, order, now_ms, body_out);
    tell(compressor);
    pthread_mutex_unlock(&compressor->mutex);
    return answer;
}

/* --- Coming and going ---------------------------------------------------- */

/* Makes timed waits use the monotonic clock, which nobody can set. */
static void init_changed(pthread_cond_t *changed)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(changed, &attr);
    pthread_condattr_destroy(&attr);
}

int compressor_create(struct compressor **compressor_out, unsigned threads,
                      unsigned workers,
                      struct counter told[STATS_COMPRESS_NUMBERS])
{
    struct compressor *compressor = calloc(1, sizeof(*compressor));
    int err = 0;

    assert(threads >= 1 && threads <= COMPRESSOR_THREADS_MAX && workers >= 1);
    if (!compressor)
        return -ENOMEM;
    compressor->workers = workers;
    compressor->told = told;
    atomic_init(&compressor->stops, false);
    for (int effort = CODEC_QUICK; effort <= CODEC_SLOW; effort++)
        list_init(&compressor->queues[effort]);
    list_init(&compressor->settled);
    pthread_mutex_init(&compressor->mutex, NULL);
    init_changed(&compressor->changed);
    while (err == 0 && compressor->thread_count < threads) {
        err = -pthread_create(&compressor->threads[compressor->thread_count],
                              NULL, run, compressor);
        if (err == 0)
            compressor->thread_count++;
    }
    if (err == 0)
        *compressor_out = compressor;
    else
        compressor_destroy(compressor);
    return err;
}

void compressor_stop(struct compressor *compressor)
{
    pthread_mutex_lock(&compressor->mutex);
    atomic_store_explicit(&compressor->stops, true, memory_order_relaxed);
    pthread_cond_broadcast(&compressor->changed);
    pthread_mutex_unlock(&compressor->mutex);
    for (; compressor->thread_count > 0; compressor->thread_count--)
        pthread_join(compressor->threads[compressor->thread_count - 1], NULL);
}

void compressor_destroy(struct compressor *compressor)
{
    if (!compressor)
        return;
    compressor_stop(compressor);
    compressor_index_destroy_jobs(&compressor->index);
    pthread_cond_destroy(&compressor->changed);
    pthread_mutex_destroy(&compressor->mutex);
    free(compressor);
}
