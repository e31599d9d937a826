/*
 * kv - keys and values over HTTP.
 *
 *   GET, HEAD /KEY       the value, with ranges and conditions
 *   PUT, POST /KEY       201 new, 204 replaced; ?ttl=SECONDS
 *   POST /KEY?op=add     &by=N: 200 or 201 with the sum, 409
 *   DELETE /KEY          204, 404
 *   POST /               a new key: 201 and its Location; ?prefix=, ?ttl=
 *   GET, HEAD /          a page of keys: ?prefix= &delimiter= &limit= &cursor=
 *                        &values=1
 *   GET /?watch=1        changes as they happen: &prefix= &since=
 *   POST /-/batch        several operations, all or none (kv_batch.h)
 *   OPTIONS              allowed methods
 *
 * All these paths are behind the store's prefix (kv_key.h says how a key is
 * spelled). The ETag is the revision. A write with If-None-Match: * only
 * creates a key. A write with If-Match: and one ETag, or "*", only replaces a
 * value. Other conditions on writes are refused, not ignored. Errors are
 * reported as problems (problem.h), which are never cached.
 *
 * Anybody may have stored a value. nosniff and a sandbox keep browsers from
 * treating the value as a page of this site.
 *
 * Thread: one per worker; no locks.
 * Owns:   bodies, and its questions to the store until they are answered. The
 *         client is borrowed.
 */
#ifndef HANDLER_KV_KV_H
#define HANDLER_KV_KV_H

#include "handler/encode.h"
#include "handler/handler.h"
#include "handler/kv/kv_memory.h"
#include "handler/kv/kv_token.h"
#include "kv/kv_store.h"
#include "observe/stats_store.h"

enum {
    /* A list with values takes this many bytes from the memory for values,
     * which must have at least as many. */
    KV_LIST_BYTES = 1 << 20
};

struct kv_options {
    struct kv_client *client;  /* borrowed from the worker */
    struct stats_store *stats; /* the worker's; NULL: nothing is counted */
    struct bytes prefix;       /* clean, without a slash at its end; borrowed */
    struct kv_access access;   /* who may write */
    size_t value_bytes_max;    /* at most KV_VALUE_BYTES_MAX */
    size_t batch_bytes_max;    /* most bytes of a batch, as sent */
    struct kv_memory *bodies;  /* limits the memory for bodies: when it is used
                                  up, requests get 503; borrowed */
    struct kv_memory *values;  /* does the same for long values being sent */
    size_t watchers_max;       /* most watches at a time (stream_seats.h) */
    bool require_match;        /* answer 428 to writes without a condition */
    bool codes_values;         /* compress values, too, where lists are
                                  compressed */
    const struct server_defaults *defaults; /* borrowed */
};

struct kv; /* opaque */

/* Returns NULL when there is no memory. */
MUST_USE struct kv *kv_create(const struct kv_options *options);

/* Destroys kv after all exchanges are over and the store has stopped
 * answering. */
void kv_destroy(struct kv *kv);

/* Sets who may write from now on. Requests under way keep the earlier tokens,
 * which must stay until these requests are over. */
void kv_admit(struct kv *kv, const struct kv_access *access);

/* From now on, lists and changes are compressed as `encode` says. Borrows its
 * rules. */
void kv_encode(struct kv *kv, const struct encode *encode);

/* Must be called once a second. Sends watchers a sign of life. */
void kv_tick(struct kv *kv);

/* Must be called when the server begins to drain. Watches get the last events,
 * and end. New watches are refused. */
void kv_drain(struct kv *kv);

/* Returns the handler, whose `begin` must be called for requests with a
 * body. */
struct handler kv_handler(struct kv *kv);

#endif
