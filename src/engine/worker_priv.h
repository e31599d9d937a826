/*
 * worker_priv - what the files of a worker share. worker.c runs the worker,
 * worker_change.c changes what it serves, worker_proxies.c has its proxies, and
 * worker_what_if.c samples other orders of sending.
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
    struct cached *cached[WORKER_PROXIES_MAX];  /* NULL: the proxy has no
                                                   cache */
    struct proxied proxied[WORKER_PROXIES_MAX]; /* the proxies as the sites know
                                                   them */
    /* The probes of upstream servers, which only the first worker has. They end
     * when another service follows. */
    struct upstream_probe *probes[WORKER_PROXIES_MAX];
    bool needs_resolver;
    struct tls_connector *tls; /* NULL: no upstream server speaks TLS */
    /* These proxies are in the worker's list `leaving`: their sites are gone,
     * but other workers still read what the caches of these proxies fetch. */
    bool is_leaving;
    struct worker_proxies *next_leaving;
    struct worker *worker;
    /* Called when the sites and proxies of the service are gone. */
    void (*on_gone)(void *context);
    void *context;
};

/* Counters at the time when a sample of what_if began. */
struct worker_sample {
    uint64_t held;
    uint64_t sent;
    uint64_t sent_elsewhere;
};

struct worker {
    struct conn_set conns; /* first, since its members are used most */
    struct now now;
    struct worker_options options;
    struct ev_loop *loop;
    ev_check check;
    ev_timer tick;
    ev_io link_timer; /* a timerfd, since libev's timers count ms */
    bool link_timer_runs;
    struct mailbox *mailbox;
    struct sites *sites;
    struct encoder encoder; /* compresses answers while they are sent */
    /* Counts of the file caches of sites that are gone. */
    struct file_cache_counts earlier;
    /* The status page that is served; NULL: no site has one. */
    struct status *status;
    struct worker_kv kvs[WORKER_STORES_MAX];
    struct server_defaults kv_defaults;
    struct cache_port cache_port;
    struct password_client *client; /* NULL until needed */
    /* The status page that worker_prepare() has made; NULL until needed. */
    struct status *made;
    struct resolver *resolver;        /* NULL until needed */
    struct tls_buffers *upstream_tls; /* NULL until needed */
    struct pipes pipes;               /* of all proxies, leaving ones too */
    struct proxy_held held;           /* of all proxies, leaving ones too */
    /* The proxies of the present sites, which end with the sites; or NULL. */
    struct worker_proxies *proxies;
    struct worker_proxies *leaving; /* proxies of sites that are gone */
    /* The change that was applied but not taken yet; or NULL. */
    _Atomic(struct worker_change *) change;
    uint64_t applied;      /* changes applied so far; main thread only */
    atomic_ullong taken;   /* number of the latest change taken or refused */
    atomic_ullong refused; /* number of the latest change refused */
    struct access_log_buffer access_log;
    pthread_t thread;
    uint64_t started_ns;
    struct worker_sample sample;
    bool is_stopping;
};

/* Called each second: begins and ends samples, and reports them. */
void worker_tick_what_if(struct worker *worker);

/* Takes the change that was applied last; exchanges that have begun keep the
 * earlier sites. Worker's thread. Returns 0, or -errno when nothing has
 * changed. */
int worker_take_change(struct worker *worker);

/* Makes the proxies of `service`, whose sites will use them and end them.
 * Returns NULL when there is no memory, or TLS cannot be set up. */
MUST_USE struct worker_proxies *worker_proxies_create(
    struct worker *worker, struct worker_service *service);

/* Starts proxies, on the worker's thread or before it runs. Returns 0 or
 * -errno. */
MUST_USE int worker_proxies_start(struct worker *worker,
                                  struct worker_proxies *proxies);

/* Ends the probes of proxies that are no longer in force. NULL is accepted. */
void worker_proxies_retire(struct worker_proxies *proxies);

/* Called each second: ends fetches that nobody awaits, also those of leaving
 * proxies. */
void worker_proxies_tick(const struct worker *worker);

/* Whether any proxy, in force or leaving, fetches something that another worker
 * still wants. */
bool worker_proxies_are_needed(const struct worker *worker);

/* Ends all leaving proxies and their fetches. */
void worker_proxies_end_leaving(struct worker *worker);

/* Destroys proxies that no sites use. NULL is accepted. */
void worker_proxies_destroy(struct worker_proxies *proxies);

#endif
