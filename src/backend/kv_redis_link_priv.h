/*
 * kv_redis_link_priv - what the files of a link share. Each calls only those
 * below it:
 *
 *   kv_redis_link.c   connects, again and again, and takes requests
 *   kv_redis_greet.c  sets the connection up, and listens
 *   kv_redis_wire.c   gives it commands, and ends it
 */
#ifndef BACKEND_KV_REDIS_LINK_PRIV_H
#define BACKEND_KV_REDIS_LINK_PRIV_H

#include <ev.h>

#include "backend/kv_redis_node_priv.h"

struct redisAsyncContext;

/* As the library has them. */
typedef void (*kv_link_reply_fn)(struct redisAsyncContext *context, void *reply,
                                 void *about);

enum { KV_LINK_SHA_BYTES_MAX = 40 };

/*
 * RESTING --timer--> CONNECTING --> GREETING --> GREETED
 *    ^                   |             |            |
 *    +-------------------+-------------+------------+ lost
 */
enum kv_link_stage {
    KV_LINK_RESTING,
    KV_LINK_CONNECTING,
    KV_LINK_GREETING,
    KV_LINK_GREETED
};

struct kv_link {
    struct kv_link_options options;
    struct address address;
    enum kv_link_stage stage;
    struct redisAsyncContext *context; /* NULL while it rests */
    struct list requests;              /* in the order of their answers */
    uint64_t bytes_given;              /* to this connection */
    unsigned failures;                 /* in a row */
    unsigned short_lives; /* it was up, but not for long; in a row */
    unsigned greetings_left;
    uint64_t up_since_ms;
    uint64_t random;
    ev_timer timer; /* next try, or end of this one's time */
    char shas[KV_SCRIPTS][KV_LINK_SHA_BYTES_MAX];
    size_t sha_bytes[KV_SCRIPTS];
};

/* Its only timer, anew. */
void kv_link_set_timer(struct kv_link *link, uint64_t ms);

/* The connection is over: its context is the library's to free, or freed. */
void kv_link_end(struct kv_link *link, const char *why);

/* command: with a NUL behind it, as the library looks for its end as in a text.
 * False: the library could not take the command. */
MUST_USE bool kv_link_give(struct kv_link *link, kv_link_reply_fn on_reply,
                           void *about, struct bytes command);

/* Who we are, and all there is to say before it is up. */
bool kv_link_greet(struct kv_link *link);

#endif
