/*
 * kv_redis_connection_priv - what the files of a connection share. Each file
 * calls only files below it in this list:
 *
 *   kv_redis_connection.c      connects, again and again if necessary, and
 *                              accepts requests
 *   kv_redis_connection_tls.c  encrypts the connection's bytes
 *   kv_redis_greet.c           sets the connection up, and subscribes
 *   kv_redis_guard.c           refuses replies that nobody has asked for
 *   kv_redis_wire.c            sends commands, and ends the connection
 */
#ifndef KV_REDIS_KV_REDIS_CONNECTION_PRIV_H
#define KV_REDIS_KV_REDIS_CONNECTION_PRIV_H

#include <ev.h>

#include "kv/redis/kv_redis_node_priv.h"

struct redisAsyncContext;

/* The type of hiredis's callbacks. */
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
    struct tls_target *target;         /* NULL without TLS */
    /* why hiredis ends the connection, if hiredis's own text does not say */
    const char *why;
    struct list requests; /* in the order of their answers */
    uint64_t bytes_given; /* bytes written for this connection */
    unsigned failures;    /* consecutive failures to connect */
    /* how many times in a row the connection was up only briefly */
    unsigned short_lives;
    unsigned greetings_left;
    uint64_t up_since_ms;
    uint64_t random;
    ev_timer timer; /* when to try next, or the time limit of this try */
    char shas[KV_SCRIPTS][KV_CONNECTION_SHA_BYTES_MAX];
    size_t sha_bytes[KV_SCRIPTS];
};

/* Starts the connection's only timer anew. */
void kv_connection_set_timer(struct kv_connection *connection, uint64_t ms);

/* Ends the connection. hiredis has freed the context, or will free it. */
void kv_connection_end(struct kv_connection *connection, const char *why);

/* Sends a command. A NUL must follow the command in memory, because hiredis
 * searches for the end of the text. Returns false if hiredis has not accepted
 * the command. */
MUST_USE bool kv_connection_give(struct kv_connection *connection,
                                 kv_connection_reply_fn on_reply, void *about,
                                 struct bytes command);

/* Makes hiredis end a connection whose node says what nobody has asked for. To
 * be called after the context was created. Returns false if there is no
 * memory. */
MUST_USE bool kv_connection_guard(struct redisAsyncContext *context);

/* Makes the connection use TLS from the first byte on. To be called after the
 * context was created, before the loop runs again. Returns false if there is no
 * memory. */
MUST_USE bool kv_connection_encrypt(struct kv_connection *connection);

/* Sends the commands that must precede all requests, such as AUTH. Returns
 * false if they could not be sent. */
bool kv_connection_greet(struct kv_connection *connection);

#endif
