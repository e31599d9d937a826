/*
 * kv_redis_node_priv - what the files of the Redis store share that know one
 * node. Each calls only those below it:
 *
 *   kv_redis_connection      one connection
 *   kv_redis_connection_tls  encrypts the connection's bytes
 *   kv_redis_greet           how a connection begins, and what it hears
 *   kv_redis_wire            what goes over a connection, and its end
 *   kv_redis_script          the text of the scripts
 *   kv_redis_command         writes a command
 *   kv_redis_slots           partitions, which node of a cluster has them, and
 *                            where a redirection (MOVED, ASK) leads
 *   kv_redis_url             what the URL says
 *   kv_redis_reply           looks at an answer
 *
 * Word travels up by kv_connection_hooks.
 */
#ifndef KV_REDIS_KV_REDIS_NODE_PRIV_H
#define KV_REDIS_KV_REDIS_NODE_PRIV_H

#include "base/address.h"
#include "base/buf.h"
#include "base/list.h"
#include "io/tls/tls_connector.h"
#include "kv/redis/kv_redis.h"

/* --- kv_redis_url --------------------------------------------------------- */

enum {
    KV_REDIS_SEEDS_MAX = 16,
    KV_REDIS_HOST_BYTES_MAX = 253,
    KV_REDIS_SECRET_BYTES_MAX = 512, /* of user and password, each */
    KV_REDIS_NAME_BYTES_MAX = 64,
    KV_REDIS_DB_MAX = 65535
};

struct kv_redis_seed {
    char host[KV_REDIS_HOST_BYTES_MAX + 1];
    uint16_t port;
};

struct kv_redis_url {
    char user[KV_REDIS_SECRET_BYTES_MAX + 1]; /* empty: none */
    char password[KV_REDIS_SECRET_BYTES_MAX + 1];
    struct kv_redis_seed seeds[KV_REDIS_SEEDS_MAX];
    size_t seed_count;
    unsigned db;
    bool is_tls;
    char name[KV_REDIS_NAME_BYTES_MAX + 1];
};

/* NULL, or what is wrong, as words to put behind it. */
MUST_USE const char *kv_redis_url_read(struct kv_redis_url *url,
                                       const char *text);

/* --- kv_redis_reply ------------------------------------------------------- */

/* What the engine says; to be looked at during the call it comes in. NULL is
 * KV_REPLY_NIL everywhere. */
struct kv_reply;

enum kv_reply_kind {
    KV_REPLY_NIL,
    KV_REPLY_TEXT,
    KV_REPLY_NUMBER,
    KV_REPLY_LIST,
    KV_REPLY_FAULT
};

enum kv_reply_kind kv_reply_kind(const struct kv_reply *reply);

/* The text of a text or fault; else empty, with data NULL. */
struct bytes kv_reply_text(const struct kv_reply *reply);

/* The members of a list; else 0 and NULL, as behind its end. */
size_t kv_reply_count(const struct kv_reply *reply);
const struct kv_reply *kv_reply_at(const struct kv_reply *reply, size_t at);

/* A number from 0 on, as such or as decimal text; false: it is none. */
MUST_USE bool kv_reply_number(const struct kv_reply *reply,
                              uint64_t *number_out);

/* Reads a number from 0 on of decimal text; false: it is none. */
MUST_USE bool kv_redis_read_number(struct bytes text, uint64_t *number_out);

/* --- kv_redis_slots ------------------------------------------------------- */

enum {
    KV_REDIS_PARTITIONS = 64,
    KV_REDIS_SLOTS = 16384,
    KV_REDIS_TAG_BYTES = 8
};

/* Slot of a hash tag, or of a whole key. */
unsigned kv_redis_slot(struct bytes text);

unsigned kv_redis_partition(struct bytes key);

/* The hash tag of each partition, and where it leads. */
struct kv_partitions {
    char tags[KV_REDIS_PARTITIONS][KV_REDIS_TAG_BYTES];
    uint16_t slots[KV_REDIS_PARTITIONS];
};

void kv_partitions_init(struct kv_partitions *partitions);

struct kv_slot_map {
    bool has[KV_REDIS_PARTITIONS];
    struct address nodes[KV_REDIS_PARTITIONS]; /* their masters */
};

/* Reads the answer of CLUSTER SLOTS, as asked told it. False: it is no such
 * answer. What is odd in it is passed over. */
MUST_USE bool kv_slot_map_read(struct kv_slot_map *map,
                               const struct kv_partitions *partitions,
                               const struct kv_reply *reply,
                               const struct address *asked);

/* Reads where "MOVED 3999 192.0.2.1:6381" leads, or ASK. False: nowhere that
 * could be understood. */
MUST_USE bool kv_redis_read_redirect(struct bytes text,
                                     const struct address *asked,
                                     struct address *node_out);

/* --- kv_redis_command ----------------------------------------------------- */

void kv_command_begin(struct buf *out, size_t arguments);
void kv_command_put(struct buf *out, struct bytes argument);
void kv_command_put_number(struct buf *out, uint64_t number);

/* Puts one argument, of three pieces. */
void kv_command_put_joined(struct buf *out, struct bytes a, struct bytes b,
                           struct bytes c);

/* --- kv_redis_script ------------------------------------------------------ */

enum kv_script {
    KV_SCRIPT_WRITE,
    KV_SCRIPT_NAME,
    KV_SCRIPT_DROP,
    KV_SCRIPT_LOOK
};
enum { KV_SCRIPTS = 4, KV_SCRIPT_OP_ARGUMENTS = 7 };

/* Puts the script's text, as an argument. */
void kv_command_put_script(struct buf *out, enum kv_script script);

/* --- kv_redis_connection ------------------------------------------------- */

enum kv_connection_state {
    KV_CONNECTION_OPENING, /* for the first time, or since it was fine */
    KV_CONNECTION_UP,
    KV_CONNECTION_DOWN /* tried again by and by */
};

/* A member of what is asked. */
struct kv_connection_request {
    struct list list_node;
    uint64_t ends_at; /* where in all that the connection was given */
};

struct kv_connection;

struct kv_connection_hooks {
    void (*on_up)(void *context);
    /* why stays until it returns. */
    void (*on_down)(void *context, const struct kv_connection *connection,
                    const char *why);
    void (*on_answer)(struct kv_connection_request *request,
                      const struct kv_reply *reply);
    /* Called when there will be no answer. */
    void (*on_return)(struct kv_connection_request *request, bool may_have_run);
    /* With a pattern: something happened to a key; or, once it is connected,
     * that the engine does not tell of that: it never comes up then. */
    void (*on_heard)(void *context, struct bytes channel, struct bytes event);
    void (*on_mute)(void *context);
    void *context;
};

struct kv_connection_options {
    struct ev_loop *loop;
    const struct now *now;
    const struct kv_redis_url *url; /* whom to be; borrowed */
    struct tls_connector *tls;      /* borrowed; NULL: in clear text */
    struct tls_buffers *tls_buffers;
    const char *host;    /* whom TLS must find there; borrowed */
    const char *pattern; /* of channels that it listens to, and does nothing
                            else; borrowed; NULL: it takes requests */
    struct kv_connection_hooks hooks;
};

/* Begins to connect. NULL: no memory. */
MUST_USE struct kv_connection *kv_connection_create(
    const struct kv_connection_options *options, const struct address *address);

/* Destroys a connection; its requests are forgotten. */
void kv_connection_destroy(struct kv_connection *connection);

enum kv_connection_state kv_connection_state(const struct kv_connection
                                                 *connection);
bool kv_connection_is_idle(const struct kv_connection *connection);
const struct address *kv_connection_address(const struct kv_connection
                                                *connection);

/* What the node calls a script. */
struct bytes kv_connection_script(const struct kv_connection *connection,
                                  enum kv_script script);

/* The connection is up. asking: although the node has the slot only half.
 * False: it could not take it, and is about to go down. */
MUST_USE bool kv_connection_send(struct kv_connection *connection,
                                 struct kv_connection_request *request,
                                 struct bytes command, bool asking);

/* Nothing is expected from this connection any more: another one is made. */
void kv_connection_lose(struct kv_connection *connection, const char *why);

#endif
