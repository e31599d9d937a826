/*
 * kv - keys and values over HTTP.
 *
 *   GET, HEAD /KEY       the value: ranges and conditions as of files
 *   PUT, POST /KEY       201 new, 204 replaced; ?ttl=SECONDS
 *   POST /KEY?op=add     &by=N: 200 or 201 with the sum, 409
 *   DELETE /KEY          204, 404
 *   POST /               a new key: 201 and its Location; ?prefix=, ?ttl=
 *   GET, HEAD /          a page of keys: ?prefix= &delimiter= &limit= &cursor=
 *                        &values=1
 *   GET /?watch=1        changes as they happen: &prefix= &since=
 *   POST /-/batch        many operations, all or none (kv_batch.h)
 *   OPTIONS              what is allowed
 *
 * all behind the prefix of the store (kv_key.h says how a key is spelled). The
 * ETag is the revision; If-None-Match: * creates only, If-Match: with one ETag,
 * or "*", replaces only. Other conditions on writing are refused, not ignored.
 * What goes wrong is told as a problem (problem.h), and never cached.
 *
 * A value comes as somebody stored it, for whoever asks: nosniff and a sandbox
 * keep a browser from taking it for a page of this site.
 *
 * Thread: one per worker; no locks.
 * Owns:   what it has asked of the store, until that has answered; bodies.
 *         The client is borrowed.
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
    /* What a list with values takes of the memory for values; it must have at
     * least so much. */
    KV_LIST_BYTES = 1 << 20
};

struct kv_options {
    struct kv_client *client;  /* of the worker */
    struct stats_store *stats; /* of the worker; NULL: nothing is counted */
    struct bytes prefix;       /* clean, without a slash at its end; borrowed */
    struct kv_access access;   /* who may write */
    size_t value_bytes_max;    /* at most KV_VALUE_BYTES_MAX */
    size_t batch_bytes_max;    /* of a batch, as it comes */
    struct kv_memory *bodies;  /* for bodies that come in; borrowed: else 503 */
    struct kv_memory *values;  /* for long values being sent; the same */
    size_t watchers_max;       /* at a time (stream_seats.h); 0: nobody */
    bool require_match;        /* writes must be conditional: 428 */
    bool codes_values;         /* they are compressed, too, where lists are */
    const struct server_defaults *defaults; /* borrowed */
};

struct kv; /* opaque */

/* NULL: no memory. */
MUST_USE struct kv *kv_create(const struct kv_options *options);

/* Destroys kv when all exchanges are done and the store has stopped
 * answering. */
void kv_destroy(struct kv *kv);

/* Sets who may write from now on. What has begun keeps the earlier tokens,
 * which must stay for as long. */
void kv_admit(struct kv *kv, const struct kv_access *access);

/* From now on, lists and changes are compressed so; its rules are borrowed. */
void kv_encode(struct kv *kv, const struct encode *encode);

/* Once a second, so that watchers hear that it is there. */
void kv_tick(struct kv *kv);

/* The server ends: watches are sent what there is, and then the end; a new
 * watch is refused. */
void kv_drain(struct kv *kv);

/* The handler, with both members: a body must be offered to begin. */
struct handler kv_handler(struct kv *kv);

#endif
