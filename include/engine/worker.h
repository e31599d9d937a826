/*
 * worker - one thread with its loop, mailbox, connections, handler and caches.
 * The thread runs turns until it is stopped.
 *
 * In a turn the worker waits for events (unless responses are queued), handles
 * the events, lets the scheduler send, and frees closed connections.
 *
 * What a worker serves can change while it runs: exchanges that have begun keep
 * the sites with which they began (handler/sites/sites.h), later exchanges see
 * the new service.
 *
 * Thread: worker_give(), worker_wake(), worker_closed() and worker_reading()
 *         are for the acceptor, worker_command() is for any thread, and the
 *         rest for the main thread.
 * Owns:   everything that is not said to be borrowed.
 */
#ifndef ENGINE_WORKER_H
#define ENGINE_WORKER_H

#include "engine/conn_set.h"
#include "handler/cached/cached.h"
#include "handler/kv/kv.h"
#include "handler/proxy/proxy.h"
#include "handler/sites/sites.h"
#include "handler/status/status.h"
#include "io/mailbox.h"
#include "kv/lmdb/kv_lmdb.h"
#include "kv/redis/kv_redis.h"
#include "upstream/upstream_probe.h"

enum { WORKER_STORES_MAX = 8, WORKER_PROXIES_MAX = 256 };

/* A proxy and its prefix. The worker makes a struct proxied
 * (handler/sites/sites.h) of them. */
struct worker_proxy {
    const char *const *said_in;
    struct bytes prefix;
    struct proxy_options options; /* the worker fills in defaults and pipes */
    /* Probes are sent only if probe.path is set. */
    struct upstream_probe_options probe;
    /* The options of the proxy's cache, used if the worker has a cache store.
     * The worker fills in members that are its own. */
    struct cached_options cached;
};

/* What may change while a worker runs. The worker fills in the clock and the
 * mounts of `sites`. */
struct worker_service {
    struct sites_options sites;
    struct password_check *password_check; /* borrowed; NULL: no site asks for
                                              passwords */
    /* The prefix of the status pages of all sites; or empty. */
    struct bytes status_prefix;
    bool has_status;                         /* some site has a status page */
    struct status_audience status_audience;  /* borrowed */
    struct kv_access kv_access;              /* access to stores; borrowed */
    const struct stats_upstreams *upstreams; /* for the status page; borrowed */
    const struct stats_certificates *certificates; /* status page; borrowed */
    const struct worker_proxy *proxied;            /* borrowed */
    size_t proxied_count; /* WORKER_PROXIES_MAX at most */
    /* Which certificates of upstream servers are trusted. Borrowed until
     * worker_prepare() has returned; NULL: no server is asked over TLS. */
    struct tls_trust *proxied_trust;
    const struct cidrs *proxies; /* the trusted proxies; borrowed */
    bool proxies_introduce;      /* as in struct conn_set */
    /* Borrowed until worker_prepare() has returned; NULL: no listener speaks
     * TLS. */
    struct tls_table *tls;
    struct conn_limits limits; /* connections_max is fixed at the start */
};

/* A key-value store that all workers share, and its prefix. */
struct worker_store {
    struct bytes prefix;
    /* Values are compressed for clients that accept a content coding. */
    bool codes_values;
    struct kv_lmdb *lmdb;   /* NULL: the store is in Redis */
    struct kv_redis *redis; /* NULL: the store is in LMDB */
};

struct worker_options {
    struct worker_service service;           /* the first service */
    const struct stats_shared *shared_stats; /* for the status page; borrowed */
    struct history *history;                 /* for the status page; borrowed */
    enum sched_policy schedule;
    struct sched_bounds bounds;      /* bounds of srpt */
    struct link_shared *link;        /* borrowed; shared by all workers */
    size_t number;                   /* this worker's number, from 0 */
    size_t streams_max;              /* most answers compressed at a time */
    size_t pipes_max;                /* most pipes of proxies open at a time */
    struct address_count *addresses; /* all workers share it; NULL: no counts */
    const struct worker_store *stores; /* borrowed while the worker lives */
    size_t store_count;                /* WORKER_STORES_MAX at most */
    /* The store for answers of proxies. All workers share it, and it outlives
     * them; NULL: no cache. */
    struct cache_store *cache;
    /* Options of all stores. The worker fills in the members that differ
     * between workers or between stores. */
    struct kv_options kv;
    const struct access_log *access_log;
    struct stats *stats; /* borrowed, this worker's */
    bool is_profiled;    /* --profile: the worker's time is sampled */
    bool is_crowded;     /* there are more workers than CPUs */
    /* Called on the worker's thread before it ends. */
    void (*on_drained)(void *context);
    /* Called on the worker's thread when the worker has taken or refused a
     * change; NULL: nobody waits for changes. */
    void (*on_changed)(void *context);
    void *context;
};

enum worker_command {
    WORKER_DRAIN = 1,  /* finish what is under way, then end */
    WORKER_STOP = 2,   /* end at once */
    WORKER_CHANGE = 4, /* used by worker_apply() only */
    /* Drains, but a client on an idle connection may send one more request. */
    WORKER_LEAVE = 8
};

struct worker;        /* opaque */
struct worker_change; /* opaque */

/* Makes all that a worker needs, but starts no thread. Returns NULL when there
 * is no memory or no descriptor. `options` is copied. */
MUST_USE struct worker *worker_create(const struct worker_options *options);
void worker_destroy(struct worker *worker); /* the worker has been joined, or
                                               was never started */

/* Starts the thread. Returns 0 or -errno. */
MUST_USE int worker_start(struct worker *worker);
void worker_join(struct worker *worker);

/* Hands a connection over without waking the worker. Returns false when the
 * mailbox is full; the caller keeps the descriptor then. */
MUST_USE bool worker_give(struct worker *worker, const struct mail *mail);
void worker_wake(struct worker *worker);

void worker_command(struct worker *worker, unsigned commands);

/* Prepares the change to `service`; worker_apply() is the second step. Two
 * steps ensure that either all workers change or none does. Main thread only.
 * Returns NULL when there is no memory; service->sites.on_gone is not called
 * then. */
MUST_USE struct worker_change *worker_prepare(
    struct worker *worker, const struct worker_service *service);

/* Takes over `change`, which the worker serves from its next turn on. A worker
 * that cannot do so logs the reason and serves as before. */
void worker_apply(struct worker *worker, struct worker_change *change);

/* Destroys `change`, which has not been applied. */
void worker_discard(struct worker_change *change);

/* Whether the worker has taken or refused the last change given to
 * worker_apply(). Main thread only. */
bool worker_has_changed(const struct worker *worker);

/* Whether the worker has refused the last change given to worker_apply(), and
 * serves as before. */
bool worker_has_refused(const struct worker *worker);

/* Returns how many connections given to the worker have been closed. */
uint64_t worker_closed(const struct worker *worker);

/* Returns how many of the worker's connections wait for a request. */
size_t worker_reading(const struct worker *worker);

#endif
