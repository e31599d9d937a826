#include "engine/worker_priv.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/pages.h"
#include "base/units.h"
#include "engine/h1/h1.h"
#include "io/loop.h"
#include "observe/profile.h"

enum {
    MAILBOX_CAPACITY = 1024,
    STACK_BYTES = 512 * 1024,
    TICK_S = 1 /* how often logs and counts are handed over */
};

_Static_assert((int)WORKER_STORES_MAX <= (int)STATS_STORES_MAX,
               "each store has its counters");

static void on_woken(struct ev_loop *loop, ev_check *check, int events)
{
    struct worker *worker = check->data;

    (void)loop;
    (void)events;
    now_refresh(&worker->now);
    encoder_turn(&worker->encoder);
    if (worker->status)
        status_turn(worker->status);
}

/* --- Statistics ----------------------------------------------------------- */

static void tell_cache(const struct worker *worker)
{
    const struct file_cache_counts *earlier = &worker->earlier;
    struct file_cache_counts counts = sites_count_files(worker->sites);
    struct miniature_told told;
    struct stats_cache cache = {
        .hits = earlier->hits + counts.hits,
        .misses = earlier->misses + counts.misses,
        .evictions = earlier->evictions + counts.evictions,
        .coded = earlier->coded + counts.coded,
        .saved_bytes = earlier->saved_bytes + counts.saved_bytes,
        .bytes = counts.bytes,
        .entries = counts.entries};

    stats_set_cache(worker->options.stats, &cache);
    sites_tell_what_if(worker->sites, &told);
    stats_set_cache_if(worker->options.stats, &told);
}

static void tell_link(const struct worker *worker)
{
    const struct link_counters *counters = &worker->conns.shared.link.counters;
    struct link_state state;
    struct stats_link link;

    link_look(&worker->conns.shared.link, &state);
    link = (struct stats_link){.is_engaged = state.is_engaged,
                               .held = counters->held,
                               .held_bytes = counters->held_bytes,
                               .measured = counters->measured,
                               .limit_bytes = state.limit_bytes,
                               .rate = state.rate,
                               .delay_us = state.delay_us};
    stats_set_link(worker->options.stats, &link);
}

static void tell_cpu(const struct worker *worker)
{
    struct timespec used;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0)
        stats_set_cpu(&worker->options.stats->profile,
                      (uint64_t)used.tv_sec * NS_PER_S + (uint64_t)used.tv_nsec,
                      now_read_ns() - worker->started_ns);
}

/* Passes the link's rate on to client_share, since the rate bounds how long a
 * large response may stand still. */
static void note_rate(struct worker *worker)
{
    struct conn_shared *shared = &worker->conns.shared;
    struct link_state state;

    link_look(&shared->link, &state);
    client_share_set_rate(&shared->sched.clients, state.rate);
}

/* Updates those statistics that are not counted at each event. */
static void tell(const struct worker *worker)
{
    stats_tick(worker->options.stats, worker->now.mono_ms);
    tell_cache(worker);
    if (worker->options.link->mode != LINK_OFF)
        tell_link(worker);
    tell_cpu(worker);
}

/* --- A turn --------------------------------------------------------------- */

static void on_tick(struct ev_loop *loop, ev_timer *tick, int events)
{
    struct worker *worker = tick->data;
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);

    (void)loop;
    (void)events;
    access_log_tick(&worker->access_log);
    tell(worker);
    note_rate(worker);
    worker_tick_what_if(worker);
    profile_leave(before);
    if (worker->status && status_tick(worker->status))
        conn_set_wake(&worker->conns);
    for (size_t i = 0; i < worker->options.store_count; i++)
        kv_tick(worker->kvs[i].kv);
    worker_proxies_tick(worker);
    if (worker->options.cache && worker->options.number == 0)
        cache_store_end_late(worker->options.cache,
                             (int64_t)(worker->now.mono_ms / MS_PER_S));
}

/* Reads the link's timer, because it fires until it is read. Then lets the link
 * look again whether held-back bytes may go. */
static void on_link_timer(struct ev_loop *loop, ev_io *timer, int events)
{
    struct worker *worker = timer->data;
    enum stats_phase before;
    uint64_t times;

    (void)loop;
    (void)events;
    if (read(timer->fd, &times, sizeof(times)) == -1)
        return;
    worker->link_timer_runs = false;
    before = profile_enter(STATS_PHASE_SCHEDULE);
    link_tick(&worker->conns.shared.link);
    profile_leave(before);
}

/* Starts the link's timer, so that held-back bytes are soon looked at again. */
static void start_link_timer(struct worker *worker)
{
    struct itimerspec soon = {.it_value = {.tv_nsec = LINK_TICK_NS}};

    if (worker->link_timer_runs)
        return;
    worker->link_timer_runs = timerfd_settime(worker->link_timer.fd, 0, &soon,
                                              NULL) == 0;
    link_await(&worker->conns.shared.link);
}

static void on_mail(void *context, const struct mail *mail)
{
    struct worker *worker = context;

    conn_set_open(&worker->conns, mail);
}

/* Ends streams of events, which would never end by themselves. */
static void drain_streams(struct worker *worker)
{
    if (worker->status)
        status_drain(worker->status);
    for (size_t i = 0; i < worker->options.store_count; i++)
        kv_drain(worker->kvs[i].kv);
}

static void take_change(struct worker *worker)
{
    (void)worker_take_change(worker); /* the function logs its errors */
    if (worker->options.on_changed)
        worker->options.on_changed(worker->options.context);
}

static void on_command(void *context, unsigned commands)
{
    struct worker *worker = context;

    if (commands & WORKER_STOP)
        worker->is_stopping = true;
    if (commands & WORKER_CHANGE)
        take_change(worker);
    if (commands & (WORKER_LEAVE | WORKER_DRAIN))
        drain_streams(worker);
    if (commands & WORKER_LEAVE)
        conn_set_leave(&worker->conns);
    if (commands & WORKER_DRAIN)
        conn_set_drain(&worker->conns);
}

static void start_profile(const struct worker *worker)
{
    int err = profile_start(&worker->options.stats->profile);

    if (err != 0)
        log_warning("--profile: worker %zu: %s", worker->options.number,
                    strerror(-err));
}

/* Asks the kernel not to let this worker interrupt others when it wakes
 * (SCHED_BATCH, sched(7)). Called when there are more workers than CPUs: then a
 * worker that waits until another has finished has more to do when it runs, and
 * so needs fewer turns. A failure is ignored, and the worker then runs as
 * usual. */
static void let_others_finish(void)
{
    static const struct sched_param none = {.sched_priority = 0};

    (void)sched_setscheduler(0, SCHED_BATCH, &none);
}

/* Sends to the stores all operations that this turn's requests have
 * gathered. */
static inline void flush_stores(const struct worker *worker)
{
    for (size_t i = 0; i < worker->options.store_count; i++)
        kv_client_flush(worker->kvs[i].client);
}

static void *run(void *context)
{
    struct worker *worker = context;
    struct conn_set *conns = &worker->conns;

    worker->started_ns = now_read_ns();
    if (worker->options.is_crowded)
        let_others_finish();
    if (worker->options.is_profiled)
        start_profile(worker);
    while (!worker->is_stopping &&
           !(conns->shared.context.is_draining && conns->count == 0 &&
             !worker_proxies_are_needed(worker))) {
        bool waits = (sched_is_empty(&conns->shared.sched) ||
                      conns->shared.is_held) &&
                     !conns->shared.has_work;

        ev_run(worker->loop, waits ? EVRUN_ONCE : EVRUN_NOWAIT);
        flush_stores(worker);
        conn_set_turn(conns);
        flush_stores(worker);
        if (conns->shared.is_held)
            start_link_timer(worker);
    }
    conn_set_close_all(conns);
    access_log_buffer_fini(&worker->access_log);
    tell(worker);
    profile_stop();
    worker->options.on_drained(worker->options.context);
    return NULL;
}

/* --- Coming and going ---------------------------------------------------- */

static int set_up_loop(struct worker *worker)
{
    struct mailbox_receiver receiver = {
        .on_mail = on_mail, .on_command = on_command, .context = worker};

    worker->loop = loop_create();
    if (!worker->loop)
        return -ENOMEM;
    /* This watcher runs before all others of a turn, so that they see the
     * present time. */
    ev_check_init(&worker->check, on_woken);
    ev_set_priority(&worker->check, EV_MAXPRI);
    worker->check.data = worker;
    ev_check_start(worker->loop, &worker->check);
    worker->mailbox = mailbox_create(worker->loop, MAILBOX_CAPACITY, receiver);
    if (!worker->mailbox)
        return -ENOMEM;
    cache_port_init(&worker->cache_port, worker->mailbox);
    ev_timer_init(&worker->tick, on_tick, TICK_S, TICK_S);
    worker->tick.data = worker;
    access_log_buffer_init(&worker->access_log, worker->options.access_log,
                           (unsigned)worker->options.number, &worker->now);
    ev_timer_start(worker->loop, &worker->tick);
    return 0;
}

static int set_up_link_timer(struct worker *worker)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

    if (fd == -1)
        return -errno;
    ev_io_init(&worker->link_timer, on_link_timer, fd, EV_READ);
    worker->link_timer.data = worker;
    if (worker->options.link->mode != LINK_OFF)
        ev_io_start(worker->loop, &worker->link_timer);
    return 0;
}

static int set_up_conns(struct worker *worker)
{
    struct conn_set *conns = &worker->conns;
    int err;

    conns->protocol = &h1_protocol;
    conns->shared.loop = worker->loop;
    conns->shared.context.now = &worker->now;
    conns->shared.context.limits = worker->options.service.limits;
    conns->shared.context.access_log = &worker->access_log;
    conns->shared.context.stats = worker->options.stats;
    conns->shared.addresses = worker->options.addresses;
    err = conn_set_init(conns, worker->options.schedule, worker->options.bounds,
                        worker->options.link, worker->options.number);
    if (err == 0)
        note_rate(worker);
    return err;
}

static struct kv_client *create_client(struct worker *worker,
                                       const struct worker_store *store)
{
    struct kv_client *client;

    if (!store->lmdb)
        return kv_redis_client_create(store->redis, worker->loop, &worker->now);
    client = kv_lmdb_client_create(store->lmdb, worker->mailbox, &worker->now);
    if (client)
        kv_lmdb_client_gather(client);
    return client;
}

static bool set_up_stores(struct worker *worker)
{
    const struct worker_options *options = &worker->options;
    struct kv_options kv = options->kv;

    worker->kv_defaults = options->service.sites.cache.defaults;
    worker->kv_defaults.now = &worker->now;
    kv.defaults = &worker->kv_defaults;
    for (size_t i = 0; i < options->store_count; i++) {
        struct worker_kv *mine = &worker->kvs[i];

        mine->client = create_client(worker, &options->stores[i]);
        kv.client = mine->client;
        kv.stats = &options->stats->stores[i];
        kv.prefix = options->stores[i].prefix;
        kv.codes_values = options->stores[i].codes_values;
        if (mine->client)
            mine->kv = kv_create(&kv);
        if (!mine->kv)
            return false;
    }
    return true;
}

static void tear_down_stores(struct worker *worker)
{
    for (size_t i = 0; i < worker->options.store_count; i++) {
        kv_destroy(worker->kvs[i].kv);
        kv_client_destroy(worker->kvs[i].client);
    }
}

/* Wakes the worker, so that its next turn goes on with the work that the
 * encoder has left over. */
static void turn_again(void *context)
{
    struct worker *worker = context;

    mailbox_wake(worker->mailbox);
}

struct worker *worker_create(const struct worker_options *options)
{
    struct worker *worker = pages_open(sizeof(*worker));

    if (!worker)
        return NULL;
    worker->options = *options;
    now_refresh(&worker->now);
    worker->link_timer.fd = -1;
    pipes_init(&worker->pipes, options->pipes_max);
    encoder_init(&worker->encoder, options->streams_max, turn_again, worker);
    if (set_up_loop(worker) == 0 && set_up_link_timer(worker) == 0 &&
        set_up_conns(worker) == 0 && set_up_stores(worker))
        atomic_store(&worker->change,
                     worker_prepare(worker, &options->service));
    if (atomic_load(&worker->change) && worker_take_change(worker) == 0)
        return worker;
    worker_destroy(worker);
    return NULL;
}

void worker_destroy(struct worker *worker)
{
    if (!worker)
        return;
    if (worker->conns.shared.loop)
        conn_set_fini(&worker->conns);
    tls_context_destroy(worker->conns.shared.tls);
    worker_discard(atomic_exchange(&worker->change, NULL));
    sites_release(&worker->sites);
    worker_proxies_end_leaving(worker);
    pipes_fini(&worker->pipes);
    if (worker->resolver)
        resolver_destroy(worker->resolver);
    tls_buffers_destroy(worker->upstream_tls);
    status_destroy(worker->made);
    tear_down_stores(worker);
    access_log_buffer_fini(&worker->access_log);
    password_client_destroy(worker->client);
    if (worker->mailbox)
        cache_port_fini(&worker->cache_port);
    mailbox_destroy(worker->mailbox);
    if (worker->link_timer.fd >= 0)
        close(worker->link_timer.fd);
    if (worker->loop)
        ev_loop_destroy(worker->loop);
    pages_close(worker, sizeof(*worker));
}

int worker_start(struct worker *worker)
{
    pthread_attr_t attr;
    int err = pthread_attr_init(&attr);

    if (err != 0)
        return -err;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    err = pthread_create(&worker->thread, &attr, run, worker);
    pthread_attr_destroy(&attr);
    return -err;
}

void worker_join(struct worker *worker)
{
    pthread_join(worker->thread, NULL);
}

bool worker_give(struct worker *worker, const struct mail *mail)
{
    return mailbox_put(worker->mailbox, mail);
}

void worker_wake(struct worker *worker)
{
    mailbox_wake(worker->mailbox);
}

void worker_command(struct worker *worker, unsigned commands)
{
    mailbox_command(worker->mailbox, commands);
}

uint64_t worker_closed(const struct worker *worker)
{
    return conn_set_closed(&worker->conns);
}

size_t worker_reading(const struct worker *worker)
{
    return conn_set_reading(&worker->conns);
}
