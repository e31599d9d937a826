/*
 * kv_redis_node_priv - shared by the files of the Redis store that deal with a
 * single node. Each file calls only files below it in this list:
 *
 *   kv_redis_connection      makes a connection, again and again if it is lost
 *   kv_redis_connection_tls  encrypts the connection's bytes
 *   kv_redis_greet           sets a connection up, and subscribes
 *   kv_redis_guard           refuses replies that nobody has asked for
 *   kv_redis_wire            sends commands on a connection, and ends the
 *                            connection
 *   kv_redis_script          holds the text of the scripts
 *   kv_redis_command         writes a command
 *   kv_redis_slots           finds partitions, the nodes that have them,
 *                            and the targets of redirections (MOVED, ASK)
 *   kv_redis_url             reads the store's URL
 *   kv_redis_reply           reads the kind, text and members of an answer
 *
 * These files call upper files only through kv_connection_hooks.
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
    KV_REDIS_SECRET_BYTES_MAX = 512, /* most bytes of user, and of password */
    KV_REDIS_NAME_BYTES_MAX = 64,
    KV_REDIS_DB_MAX = 65535
};

struct kv_redis_seed {
    char host[KV_REDIS_HOST_BYTES_MAX + 1];
    uint16_t port;
};

struct kv_redis_url {
    char user[KV_REDIS_SECRET_BYTES_MAX + 1]; /* empty without a user */
    char password[KV_REDIS_SECRET_BYTES_MAX + 1];
    struct kv_redis_seed seeds[KV_REDIS_SEEDS_MAX];
    size_t seed_count;
    unsigned db;
    bool is_tls;
    char name[KV_REDIS_NAME_BYTES_MAX + 1];
};

/* Returns NULL if `text` is a valid URL, else an error message to append to
 * `text`. */
MUST_USE const char *kv_redis_url_read(struct kv_redis_url *url,
                                       const char *text);

/* --- kv_redis_reply ------------------------------------------------------- */

/* The engine's reply, valid only during the callback that receives it. A NULL
 * pointer counts as KV_REPLY_NIL everywhere. */
struct kv_reply;

enum kv_reply_kind {
    KV_REPLY_NIL,
    KV_REPLY_TEXT,
    KV_REPLY_NUMBER,
    KV_REPLY_LIST,
    KV_REPLY_FAULT
};

enum kv_reply_kind kv_reply_kind(const struct kv_reply *reply);

/* Returns the text of a KV_REPLY_TEXT or KV_REPLY_FAULT; for other replies an
 * empty text with data NULL. */
struct bytes kv_reply_text(const struct kv_reply *reply);

/* kv_reply_count() returns how many members a list has; 0 if the reply is no
 * list. kv_reply_at() returns a member; NULL behind the end. */
size_t kv_reply_count(const struct kv_reply *reply);
const struct kv_reply *kv_reply_at(const struct kv_reply *reply, size_t at);

/* Reads a number >= 0 from an integer or from decimal text. Returns false if
 * the reply is no such number. */
MUST_USE bool kv_reply_number(const struct kv_reply *reply,
                              uint64_t *number_out);

/* Reads a number >= 0 from decimal text. Returns false if `text` is no such
 * number. */
MUST_USE bool kv_redis_read_number(struct bytes text, uint64_t *number_out);

/* --- kv_redis_slots ------------------------------------------------------- */

enum {
    KV_REDIS_PARTITIONS = 64,
    KV_REDIS_SLOTS = 16384,
    KV_REDIS_TAG_BYTES = 8
};

/* Returns the slot of a hash tag, or of a whole key. */
unsigned kv_redis_slot(struct bytes text);

unsigned kv_redis_partition(struct bytes key);

/* The hash tags of all partitions, and their slots. */
struct kv_partitions {
    char tags[KV_REDIS_PARTITIONS][KV_REDIS_TAG_BYTES];
    uint16_t slots[KV_REDIS_PARTITIONS];
};

void kv_partitions_init(struct kv_partitions *partitions);

struct kv_slot_map {
    bool has[KV_REDIS_PARTITIONS];
    /* the master node of each partition */
    struct address nodes[KV_REDIS_PARTITIONS];
};

/* Reads the answer to CLUSTER SLOTS, which came from the node `asked`. Invalid
 * parts of the answer are skipped. Returns false if the reply is no list. */
MUST_USE bool kv_slot_map_read(struct kv_slot_map *map,
                               const struct kv_partitions *partitions,
                               const struct kv_reply *reply,
                               const struct address *asked);

/* Reads the node's address from the text of a redirection, such as "MOVED 3999
 * 192.0.2.1:6381". Returns false if the text has no valid address. */
MUST_USE bool kv_redis_read_redirect(struct bytes text,
                                     const struct address *asked,
                                     struct address *node_out);

/* --- kv_redis_command ----------------------------------------------------- */

void kv_command_begin(struct buf *out, size_t arguments);
void kv_command_put(struct buf *out, struct bytes argument);
void kv_command_put_number(struct buf *out, uint64_t number);

/* Puts one argument that consists of three pieces. */
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

/* Puts the script's text as an argument. */
void kv_command_put_script(struct buf *out, enum kv_script script);

/* --- kv_redis_connection ------------------------------------------------- */

enum kv_connection_state {
    /* the first try since the start, or since it was up for a while */
    KV_CONNECTION_OPENING,
    KV_CONNECTION_UP,
    KV_CONNECTION_DOWN /* connecting is retried from time to time */
};

/* A command that waits for its answer; embedded in the asker's struct. */
struct kv_connection_request {
    struct list list_node;
    uint64_t ends_at; /* bytes_given, including this command */
};

struct kv_connection;

struct kv_connection_hooks {
    void (*on_up)(void *context);
    /* `why` is valid only during the call. */
    void (*on_down)(void *context, const struct kv_connection *connection,
                    const char *why);
    void (*on_answer)(struct kv_connection_request *request,
                      const struct kv_reply *reply);
    /* Called for each request that will get no answer. */
    void (*on_return)(struct kv_connection_request *request, bool may_have_run);
    /* For connections with a pattern. on_heard: a key has changed. on_mute: the
     * engine does not send events; the connection then never comes up. */
    void (*on_heard)(void *context, struct bytes channel, struct bytes event);
    void (*on_mute)(void *context);
    void *context;
};

struct kv_connection_options {
    struct ev_loop *loop;
    const struct now *now;
    const struct kv_redis_url *url; /* for user and password; borrowed */
    struct tls_connector *tls;      /* borrowed; NULL without TLS */
    struct tls_buffers *tls_buffers;
    const char *host; /* name in the node's certificate; borrowed */
    /* The channels that a listener subscribes to; borrowed. NULL for a
     * connection that takes requests. */
    const char *pattern;
    struct kv_connection_hooks hooks;
};

/* Makes a connection, which begins to connect. Returns NULL if there is no
 * memory. */
MUST_USE struct kv_connection *kv_connection_create(
    const struct kv_connection_options *options, const struct address *address);

/* Destroys a connection and forgets its requests. */
void kv_connection_destroy(struct kv_connection *connection);

enum kv_connection_state kv_connection_state(const struct kv_connection
                                                 *connection);
bool kv_connection_is_idle(const struct kv_connection *connection);
const struct address *kv_connection_address(const struct kv_connection
                                                *connection);

/* Returns the name (SHA1) that the node gave to a script. */
struct bytes kv_connection_script(const struct kv_connection *connection,
                                  enum kv_script script);

/* Sends a command; the connection must be up. `asking` says that the slot is
 * being moved to this node, so the command ASKING is sent first. Returns false
 * if the command could not be sent; the connection then goes down. */
MUST_USE bool kv_connection_send(struct kv_connection *connection,
                                 struct kv_connection_request *request,
                                 struct bytes command, bool asking);

/* Ends the network connection; a new one is made later. */
void kv_connection_lose(struct kv_connection *connection, const char *why);

#endif
