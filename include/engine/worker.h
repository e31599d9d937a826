/*
 * worker - one thread: its loop, mailbox, connections, handler and caches;
 * runs turns until it is stopped.
 *
 * A turn: wait for events (not at all while responses are queued), handle
 * them, let the scheduler send, free what was closed.
 *
 * What a worker serves can change while it runs: exchanges that have begun end
 * as they began (handler/sites/sites.h), later ones see the new service.
 *
 * Thread: worker_create() to worker_join() the main thread's; worker_give(),
 *         worker_wake(), worker_closed() and worker_reading() the
 *         acceptor's;
 *         worker_command() any.
 * Owns:   everything it runs on.
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

/* A proxy and its prefix; struct proxied (handler/sites/sites.h) is like it. */
struct worker_proxy {
    const char *const *said_in;
    struct bytes prefix;
    struct proxy_options options; /* the worker fills in defaults and pipes */
    struct upstream_probe_options probe; /* no path: no probes */
    /* The options of its cache; the worker fills in the rest, if it has a
     * store. */
    struct cached_options cached;
};

/* What may change while a worker runs. The worker fills in clock and mounts. */
struct worker_service {
    struct sites_options sites;
    struct password_check *password_check;   /* borrowed; NULL: not needed */
    struct bytes status_prefix;              /* of every site; empty: none */
    bool has_status;                         /* some site has a status page */
    struct status_audience status_audience;  /* borrowed, as what sites names */
    struct kv_access kv_access;              /* of all stores; borrowed */
    const struct stats_upstreams *upstreams; /* for status; borrowed */
    const struct stats_certificates *certificates; /* for status; borrowed */
    const struct worker_proxy *proxied;            /* borrowed */
    size_t proxied_count;            /* WORKER_PROXIES_MAX at most */
    struct tls_trust *proxied_trust; /* of proxies; borrowed until prepared;
                                        NULL: none needs it */
    const struct cidrs *proxies;     /* the trusted ones; borrowed */
    bool proxies_introduce;          /* conn_set.h */
    struct tls_table *tls; /* borrowed until it is prepared; NULL: nothing comes
                              over TLS */
    struct conn_limits limits; /* connections_max stays as it was at first */
};

/* A key-value store of all workers, and its prefix. */
struct worker_store {
    struct bytes prefix;
    bool codes_values; /* values are compressed for clients that take codings */
    struct kv_lmdb *lmdb;   /* NULL: the store is in Redis */
    struct kv_redis *redis; /* NULL: the store is in LMDB */
};

struct worker_options {
    struct worker_service service;           /* at first */
    const struct stats_shared *shared_stats; /* for status; borrowed */
    struct history *history;                 /* for status; borrowed */
    enum sched_policy schedule;
    struct sched_bounds bounds;        /* of srpt */
    struct link_shared *link;          /* borrowed, of all workers */
    size_t number;                     /* of this worker, from 0 */
    size_t streams_max;                /* compressed at a time, at most */
    size_t pipes_max;                  /* open at a time, for proxies */
    struct address_count *addresses;   /* of all workers; NULL: not counted */
    const struct worker_store *stores; /* borrowed while the worker lives */
    size_t store_count;                /* WORKER_STORES_MAX at most */
    struct cache_store *cache; /* of what proxies answer, of all workers, for as
                                  long as it lives; NULL: nothing is kept */
    struct kv_options kv;      /* of each store; the worker itself sets client,
                                  stats, access, prefix, defaults and wake */
    const struct access_log *access_log;
    struct stats *stats; /* borrowed, this worker's */
    bool is_profiled;    /* its time is sampled */
    bool is_crowded;     /* there are more workers than CPUs */
    /* Called on the worker's thread when it has drained. */
    void (*on_drained)(void *context);
    /* Called likewise when the worker has taken a change; NULL: nobody waits
     * for that. */
    void (*on_changed)(void *context);
    void *context;
};

enum worker_command {
    WORKER_DRAIN = 1,  /* finish what is under way, then end */
    WORKER_STOP = 2,   /* end at once */
    WORKER_CHANGE = 4, /* for worker_apply() only */
    /* Drains as WORKER_DRAIN does, but an idle connection may send one more
     * request. */
    WORKER_LEAVE = 8
};

struct worker;        /* opaque */
struct worker_change; /* opaque */

/* Makes all a worker needs, but starts no thread. NULL: no memory or no
 * descriptors. options is copied. */
MUST_USE struct worker *worker_create(const struct worker_options *options);
void worker_destroy(struct worker *worker); /* joined, or never started */

/* 0 or -errno. */
MUST_USE int worker_start(struct worker *worker);
void worker_join(struct worker *worker);

/* Hands a connection over, without waking. False: its mailbox is full; the
 * caller keeps the descriptor. */
MUST_USE bool worker_give(struct worker *worker, const struct mail *mail);
void worker_wake(struct worker *worker);

void worker_command(struct worker *worker, unsigned commands);

/* Prepares to serve service, the first of two steps, so that all workers change
 * or none. Main thread. NULL: no memory; service->sites.on_gone is not called
 * then. */
MUST_USE struct worker_change *worker_prepare(
    struct worker *worker, const struct worker_service *service);

/* Takes over change: the worker serves it from its next turn on, or logs that
 * there is no memory for that. */
void worker_apply(struct worker *worker, struct worker_change *change);

/* Destroys change, which has not been applied. */
void worker_discard(struct worker_change *change);

/* Whether all that was applied has been taken, or refused with a line in the
 * log: the main thread's. */
bool worker_has_changed(const struct worker *worker);

/* Whether the last of them was refused: the worker serves as before. */
bool worker_has_refused(const struct worker *worker);

/* How many connections given so far have been closed again. */
uint64_t worker_closed(const struct worker *worker);

/* How many of its connections wait for a request. */
size_t worker_reading(const struct worker *worker);

#endif
