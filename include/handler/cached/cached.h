/*
 * cached - stands before a proxy: answers what the cache knows, has the proxy
 * asked for the rest, and keeps what may be kept (RFC 9111).
 *
 *   request --> key --> find --> fresh: answered at once
 *                         |----> stale, and it may be: answered, and asked anew
 *                         '----> ask --> flight: one fetches, all others wait
 *                                          |
 *   inner (a proxy) <--- fetch: an exchange of our own, with no client
 *        '--> head --> kept?  yes: entry and body, which all read along
 *                             no:  handed over to whoever asked first
 *
 * PURGE removes kept answers, for those who may ask for it
 * (cached_purge.c). Whether an answer may be kept, and for how long it is
 * fresh, is said in cache/cache_facts.h.
 *
 * A request that has a body, no key, or another method than GET and HEAD goes
 * past: to the proxy, as if there were no cache.
 *
 * Thread: one per worker; the store is everybody's.
 * Owns:   its fetches.
 */
#ifndef HANDLER_CACHED_CACHED_H
#define HANDLER_CACHED_CACHED_H

#include "cache/cache_key.h"
#include "cache/cache_store.h"
#include "handler/handler.h"
#include "handler/kv/kv_token.h"
#include "http/forwarded.h"
#include "http/relay/relay.h"
#include "http/reply.h"
#include "observe/stats.h"

struct cached_options {
    struct handler inner;      /* the proxy's */
    struct cache_store *store; /* borrowed */
    struct cache_port *port;   /* the worker's; borrowed */
    struct bytes name;         /* in Cache-Status: a token */
    struct cache_key_rules key;
    struct cache_parts bypass; /* a request with one of these goes past */
    const struct forwarded_trust *trust; /* NULL: no proxy is trusted */
    const struct kv_tokens *purgers; /* who may PURGE besides programs on this
                                        machine; NULL: nobody */
    const struct server_defaults *defaults;
    int64_t unreachable_s;  /* how long stale answers are good when no origin
                              answers */
    int64_t default_s;      /* lifetime of answers that say none; 0: none */
    struct counter *counts; /* the worker's, by struct stats_kept */
    bool names_requests;    /* X-Request-Id, as the proxy does */
    bool tells_client;      /* the proxy tells who has shown a certificate: what
                              comes by https is for one alone then */
    bool intercepts_errors; /* the proxy has the place's pages stand for errors
                                of the origin's */
    /* Called in the port's loop when a fetch has ended; NULL: nobody waits. */
    void (*on_fetch_over)(void *context);
    void *context;
};

struct cached; /* opaque */

/* NULL: no memory. */
MUST_USE struct cached *cached_create(const struct cached_options *options);

/* Ends whatever is being fetched. All exchanges are done. NULL is accepted. */
void cached_destroy(struct cached *cached);

/* Whether a fetch of this worker brings what others, of any worker, read or
 * wait for. */
bool cached_is_needed(const struct cached *cached);

struct handler cached_handler(struct cached *cached);

/* Ends what is asked for though nobody waits for it any more; to be called each
 * second or so. */
void cached_tick(struct cached *cached);

/* The proxy has been answered so, and passes that on by relay: what it makes
 * invalid goes (RFC 9111 4.4). */
void cached_note_reply(struct cached *cached, const struct exchange *exchange,
                       const struct reply *reply, const struct relay *relay);

#endif
