/*
 * kv_redis_connection_priv - what the files of a connection share. Each calls
 * only those below it:
 *
 *   kv_redis_connection.c   connects repeatedly, and takes requests
 *   kv_redis_connection_tls.c   encrypts its bytes
 *   kv_redis_greet.c  sets the connection up, and subscribes
 *   kv_redis_wire.c   sends commands, and ends it
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
    struct redisAsyncContext *context; /* NULL while RESTING */
    struct tls_target *target;         /* NULL: without TLS */
    struct list requests;              /* in the order of their answers */
    uint64_t bytes_given;              /* bytes written for this connection */
    unsigned failures;                 /* consecutive failures to connect */
    unsigned short_lives; /* consecutive times that it was up only briefly */
    unsigned greetings_left;
    uint64_t up_since_ms;
    uint64_t random;
    ev_timer timer; /* for the next try, or this one's timeout */
    char shas[KV_SCRIPTS][KV_CONNECTION_SHA_BYTES_MAX];
    size_t sha_bytes[KV_SCRIPTS];
};

/* Starts the connection's only timer anew. */
void kv_connection_set_timer(struct kv_connection *connection, uint64_t ms);

/* Ends the connection; the library frees its context, or has freed it. */
void kv_connection_end(struct kv_connection *connection, const char *why);

/* command ends with a NUL, which is not part of it: the library looks for the
 * end of a text. False: the library could not take it. */
MUST_USE bool kv_connection_give(struct kv_connection *connection,
                                 kv_connection_reply_fn on_reply, void *about,
                                 struct bytes command);

/* Sends and receives by TLS from the first byte on. To be called when there is
 * a context, before the loop goes on. False: no memory. */
MUST_USE bool kv_connection_encrypt(struct kv_connection *connection);

/* Sends who we are, and all else that must precede requests. */
bool kv_connection_greet(struct kv_connection *connection);

#endif
