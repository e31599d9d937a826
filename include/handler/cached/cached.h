/*
 * cached - the cache in front of a proxy. It answers from the cache if
 * possible, asks the proxy for the rest, and stores the answers that may be
 * stored (RFC 9111).
 *
 *   request --> key --> find --> fresh: answered at once
 *                         |----> stale, but usable: answered, and fetched anew
 *                         '----> ask --> flight: one fetches, all others wait
 *                                          |
 *   inner (a proxy) <--- fetch: an exchange without a client
 *        '--> head --> kept?  yes: entry and body, which all readers share
 *                             no:  handed over to whoever asked first
 *
 * PURGE removes stored answers, for clients that may purge (cached_purge.c).
 * cache/cache_facts.h decides whether an answer may be stored, and for how long
 * an answer is fresh.
 *
 * A request goes directly to the proxy if it has a body, has no key, or has
 * another method than GET or HEAD.
 *
 * Thread: one per worker; all workers share the store.
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
    struct handler inner;      /* handler of the proxy */
    struct cache_store *store; /* borrowed */
    struct cache_port *port;   /* the worker's; borrowed */
    struct bytes name;         /* our name in Cache-Status, a token */
    struct cache_key_rules key;
    struct cache_parts bypass; /* requests with such a part skip the cache */
    const struct forwarded_trust *trust; /* NULL: no proxy is trusted */
    /* Who may PURGE from other machines. NULL: nobody may. */
    const struct kv_tokens *purgers;
    const struct server_defaults *defaults;
    /* How long a stale answer may still be sent if no origin answers. */
    int64_t unreachable_s;
    int64_t default_s; /* lifetime of answers that name no lifetime; 0: none */
    /* The worker's counters, in the order of struct stats_kept. */
    struct counter *counts;
    bool names_requests;    /* sets X-Request-Id, as the proxy does */
    bool tells_client;      /* the proxy tells servers who the client is, by its
                               certificate: an answer over https is for this
                               client alone */
    bool intercepts_errors; /* the proxy replaces the origin's errors by the
                               place's own pages */
    /* May be NULL. Called in the port's loop when a fetch has ended. */
    void (*on_fetch_over)(void *context);
    void *context;
};
struct cached; /* opaque */

/* Returns NULL when there is no memory. */
MUST_USE struct cached *cached_create(const struct cached_options *options);

/* Ends all fetches. All exchanges must be over. NULL is accepted. */
void cached_destroy(struct cached *cached);

/* Returns true if any client, of this worker or of another, waits for an answer
 * that this worker fetches, or reads its body. */
bool cached_is_needed(const struct cached *cached);

struct handler cached_handler(struct cached *cached);

/* Ends fetches for which nobody waits any more. The caller calls it about once
 * a second. */
void cached_tick(struct cached *cached);

/* Removes the stored answers that a reply makes invalid (RFC 9111 4.4). The
 * proxy got the reply, and `relay` says how the proxy passes it on. */
void cached_note_reply(struct cached *cached, const struct exchange *exchange,
                       const struct reply *reply, const struct relay *relay);

#endif
