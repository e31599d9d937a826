/*
 * kv_redis_connection_priv - what the files of a connection share. Each calls
 * only those below it:
 *
 *   kv_redis_connection.c   connects, again and again, and takes requests
 *   kv_redis_connection_tls.c   has all that goes over it encrypted
 *   kv_redis_greet.c  sets the connection up, and listens
 *   kv_redis_wire.c   gives it commands, and ends it
 */
#ifndef KV_REDIS_KV_REDIS_CONNECTION_PRIV_H
#define KV_REDIS_KV_REDIS_CONNECTION_PRIV_H

#include <ev.h>

#include "kv/redis/kv_redis_node_priv.h"

struct redisAsyncContext;

/* The library's own type of callback. */
typedef void (*kv_connection_reply_fn)(struct redisAsyncContext *context,
                                       void *reply, void *about);

enum { KV_CONNECTION_SHA_BYTES_MAX = 40 };

/*
 * RESTING --timer--> CONNECTING --> GREETING --> GREETED
 *    ^                   |             |            |
 *    +-------------------+-------------+------------+ lost
 */
enum kv_connection_stage {
    KV_CONNECTION_RESTING,
    KV_CONNECTION_CONNECTING,
    KV_CONNECTION_GREETING,
    KV_CONNECTION_GREETED
};

struct kv_connection {
    struct kv_connection_options options;
    struct address address;
    enum kv_connection_stage stage;
    struct redisAsyncContext *context; /* NULL while it rests */
    struct tls_target *target;         /* NULL: it is in clear text */
    struct list requests;              /* in the order of their answers */
    uint64_t bytes_given;              /* to this connection */
    unsigned failures;                 /* in a row */
    unsigned short_lives; /* it was up, but not for long; in a row */
    unsigned greetings_left;
    uint64_t up_since_ms;
    uint64_t random;
    ev_timer timer; /* next try, or end of this one's time */
    char shas[KV_SCRIPTS][KV_CONNECTION_SHA_BYTES_MAX];
    size_t sha_bytes[KV_SCRIPTS];
};

/* Starts the connection's only timer anew. */
void kv_connection_set_timer(struct kv_connection *connection, uint64_t ms);

/* The connection is over: its context is the library's to free, or freed. */
void kv_connection_end(struct kv_connection *connection, const char *why);

/* command: with a NUL behind it, as the library looks for its end as in a text.
 * False: the library could not take the command. */
MUST_USE bool kv_connection_give(struct kv_connection *connection,
                                 kv_connection_reply_fn on_reply, void *about,
                                 struct bytes command);

/* Sends the connection's bytes by TLS, from the first one on: to be called when
 * there is a context, before the loop goes on. False: no memory. */
MUST_USE bool kv_connection_encrypt(struct kv_connection *connection);

/* Says who we are, and all there is to say before the connection is up. */
bool kv_connection_greet(struct kv_connection *connection);

#endif
