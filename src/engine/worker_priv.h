/*
 * worker_priv - what the files of a worker share: worker.c, which runs it,
 * worker_change.c, which says what it serves, worker_proxies.c, which has the
 * proxies of that, and worker_what_if.c, which has other orders tried.
 */
#ifndef ENGINE_WORKER_PRIV_H
#define ENGINE_WORKER_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/worker.h"

/* One worker's way to a store. */
struct worker_kv {
    struct kv_client *client;
    struct kv *kv;
};

/* The proxies of one service. */
struct worker_proxies {
    struct server_defaults defaults;
    size_t count;
    struct proxy *items[WORKER_PROXIES_MAX];
    struct cached *cached[WORKER_PROXIES_MAX];  /* NULL: a proxy has no cache */
    struct proxied proxied[WORKER_PROXIES_MAX]; /* as the sites know them */
    /* The probes of the first worker only, until another service follows. */
    struct upstream_probe *probes[WORKER_PROXIES_MAX];
    bool needs_resolver;
    struct tls_connector *tls; /* NULL: no server is asked over TLS */
    /* The service's sites are gone, but other workers still read what the
     * caches fetch: these proxies are in leaving. */
    bool is_leaving;
    struct worker_proxies *next_leaving;
    struct worker *worker;
    /* Called when the sites of the service are gone. */
    void (*on_gone)(void *context);
    void *context;
};

/* How things stood when a sample of what_if began. */
struct worker_sample {
    uint64_t held;
    uint64_t sent;
    uint64_t sent_elsewhere;
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
    struct encoder encoder;           /* compresses answers on their way */
    struct file_cache_counts earlier; /* counts of earlier sites' caches */
    struct status *status;            /* NULL: no site has a status page */
    struct worker_kv kvs[WORKER_STORES_MAX];
    struct server_defaults kv_defaults;
    struct cache_port cache_port;
    struct password_client *client; /* NULL: not needed so far */
    /* The main thread's view of status; NULL: not needed so far. */
    struct status *made;
    struct resolver *resolver;        /* NULL: not needed so far */
    struct tls_buffers *upstream_tls; /* NULL: not needed so far */
    struct pipes pipes;               /* of all proxies, leaving ones too */
    struct proxy_held held;           /* of all proxies, leaving ones too */
    struct worker_proxies *proxies;   /* the sites', which end them; or NULL */
    struct worker_proxies *leaving;   /* those of sites that are gone */
    _Atomic(struct worker_change *) change; /* made, not taken yet; or NULL */
    uint64_t applied;      /* changes applied so far; the main thread's */
    atomic_ullong taken;   /* the latest change taken, or refused */
    atomic_ullong refused; /* the latest change refused */
    struct access_log_buffer access_log;
    pthread_t thread;
    uint64_t started_ns;
    struct worker_sample sample;
    bool is_stopping;
};

/* Takes samples, each second, and tells what they say. */
void worker_tick_what_if(struct worker *worker);

/* Takes the change that was applied last; what has begun keeps the earlier
 * sites. Worker's thread. 0; -errno: nothing has changed. */
int worker_take_change(struct worker *worker);

/* Makes the proxies of service, whose sites get them and will end them. NULL:
 * no memory, or there are none. */
MUST_USE struct worker_proxies *worker_proxies_create(
    struct worker *worker, struct worker_service *service);

/* Starts proxies on the worker's thread, or before that runs. 0 or -errno. */
MUST_USE int worker_proxies_start(struct worker *worker,
                                  struct worker_proxies *proxies);

/* Ends the probes, as only proxies in force have. NULL is ok, also below. */
void worker_proxies_retire(struct worker_proxies *proxies);

/* Each second: ends fetches that nobody awaits, also of leaving proxies. */
void worker_proxies_tick(const struct worker *worker);

/* Whether the proxies, or those in leaving, fetch what others want. */
bool worker_proxies_are_needed(const struct worker *worker);

/* Ends the proxies in leaving, whatever they fetch. */
void worker_proxies_end_leaving(struct worker *worker);

/* Destroys proxies that sites have never had. */
void worker_proxies_destroy(struct worker_proxies *proxies);

#endif
