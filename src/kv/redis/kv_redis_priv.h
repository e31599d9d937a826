/*
 * kv_redis_priv - what the files of the Redis store share. Each file calls only
 * files below it in this list:
 *
 *   kv_redis_client   takes one worker's questions: the table kv_client_ops
 *   kv_redis_map      asks for the cluster's map (CLUSTER SLOTS), and handles
 *                     events of connections
 *   kv_redis_feed     keeps watches, and the connections that listen
 *   kv_redis_hear     turns the notifications that listeners get into events
 *   kv_redis_list     makes pages of listings, by several calls each
 *   kv_redis_drop     drops outdated entries from the index of keys
 *   kv_redis_write    does writes, by one or more calls each
 *   kv_redis_asking   keeps a question that makes one call at a time (this is
 *                     not the command ASKING)
 *   kv_redis_call     takes one command from sending to answer; follows MOVED
 *                     and ASK to another node
 *   kv_redis_route    keeps a client's connections, and chooses one for a call
 *   kv_redis_record   reads the fields of a key in Redis
 *   kv_redis          opens and closes the store
 *
 * The files of kv_redis_node_priv.h are below all of these. Upper files are
 * called only through kv_redis_route_events and a call's on_end.
 */
#ifndef KV_REDIS_KV_REDIS_PRIV_H
#define KV_REDIS_KV_REDIS_PRIV_H

#include "base/log.h"
#include "io/deadline.h"
#include "kv/kv_events.h"
#include "kv/redis/kv_redis_node_priv.h"

/* --- The store ------------------------------------------------------------ */

struct kv_redis {
    struct kv_redis_url url;
    struct address seeds[2 * KV_REDIS_SEEDS_MAX];
    /* which of url.seeds each address belongs to */
    uint8_t hosts[2 * KV_REDIS_SEEDS_MAX];
    struct tls_trust *trust; /* NULL without TLS */
    size_t seed_count;
    unsigned timeout_ms;
    size_t calls_max;
    size_t bytes_max;
    struct kv_partitions partitions;
    /* name in logs, without the password */
    char label[KV_REDIS_HOST_BYTES_MAX + 32];
    /* "NAME:{n}:" of each partition. */
    char bases[KV_REDIS_PARTITIONS]
              [KV_REDIS_NAME_BYTES_MAX + KV_REDIS_TAG_BYTES + 8];

    /* Used by any thread. */
    atomic_uint clients_down;
    atomic_bool is_told; /* "unreachable" was logged */
    _Atomic uint64_t map_told;
    _Atomic uint64_t calls;
    _Atomic uint64_t redirected;
    _Atomic uint64_t repeated;
    _Atomic uint64_t timeouts;
    _Atomic uint64_t unreachable;
    _Atomic uint64_t connects;
};

static inline void kv_redis_add(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* --- kv_redis_record ------------------------------------------------------ */

struct kv_redis_client;

/* Logs that the key's data in the engine is corrupt: sprintd cannot have
 * written it. */
void kv_redis_log_corrupt(struct kv_redis_client *client, struct bytes key);

/* Reads the fields r, m, e, t, n (kv_redis.h), which are the reply's first five
 * elements. Returns false if they are not valid. */
MUST_USE bool kv_redis_read_meta(const struct kv_reply *reply,
                                 struct kv_meta *meta_out,
                                 struct bytes *type_out, uint64_t *bytes_out);

/* Returns "NAME:{n}:" of the partition. */
struct bytes kv_redis_base(const struct kv_redis_client *client,
                           unsigned partition);

/* --- kv_redis_call -------------------------------------------------------- */

/*
 * waiting ----> sent ----> ended
 *    ^           |
 *    +- pausing <+  refused for the moment
 */
struct kv_redis_call {
    struct kv_connection_request request; /* also a node of client->waiting */
    struct kv_redis_client *client;
    /* Set by the asker: */
    unsigned partition;
    /* the call may be sent again, since it changes nothing */
    bool may_repeat;
    bool crosses;                  /* the keys are in several partitions */
    struct kv_connection *only_at; /* the only connection to use; NULL: any */
    void (*put)(struct kv_redis_call *call, struct buf *out);
    void (*on_end)(struct kv_redis_call *call, const struct kv_reply *reply);
    /* KV_FOUND if there is a reply without a fault; otherwise the reason why
     * there is none. */
    enum kv_outcome outcome;
    /* For put(): the node lacks the script, so EVAL is sent instead of
     * EVALSHA. */
    bool has_no_script;
    struct bytes scripts[KV_SCRIPTS];
    /* Private. */
    struct deadline deadline;
    uint64_t until_ms;
    struct kv_connection *sent_to;
    struct address redirect; /* the node that ASK names */
    bool is_redirected;
    bool was_lost;
    unsigned redirects;
    unsigned pauses;
    size_t bytes;
};

/* Starts a call. Returns true if the call has ended at once: `outcome` is set,
 * and on_end is not called. Returns false if on_end will be called, unless the
 * client is destroyed first. */
MUST_USE bool kv_redis_call_start(struct kv_redis_client *client,
                                  struct kv_redis_call *call);

/* Begins the command that runs a script: puts EVALSHA and the script's name, or
 * EVAL and its text, and the number of keys. The caller puts the keys and the
 * arguments. */
void kv_redis_put_script(const struct kv_redis_call *call, struct buf *out,
                         enum kv_script script, size_t keys, size_t arguments);

/* Tries to send the waiting calls. Called when a connection or the map may have
 * changed. */
void kv_redis_place_waiting(struct kv_redis_client *client);

void kv_redis_on_answer(struct kv_connection_request *request,
                        const struct kv_reply *reply);
void kv_redis_on_return(struct kv_connection_request *request,
                        bool may_have_run);
void kv_redis_on_deadline(struct kv_redis_client *client,
                          struct deadline *deadline);

/* --- kv_redis_route ------------------------------------------------------- */

enum { KV_REDIS_NODES_MAX = 192, KV_REDIS_NO_NODE = 255 };

enum kv_redis_mode {
    KV_REDIS_UNKNOWN, /* no node has told the mode yet */
    KV_REDIS_ALONE,
    KV_REDIS_CLUSTER
};

/* The functions by which the route calls upper files. */
struct kv_redis_route_events {
    /* Called when the map may be out of date. */
    void (*on_map_wanted)(struct kv_redis_client *client);
    /* The hooks of each connection; their context is the client. */
    struct kv_connection_hooks connections;
};

struct kv_redis_route {
    const struct kv_redis_route_events *events;
    struct kv_connection
        *connections[KV_REDIS_NODES_MAX]; /* seeds first; they always stay */
    size_t count;
    enum kv_redis_mode mode;
    uint8_t connection_of[KV_REDIS_PARTITIONS];
    struct kv_slot_map map; /* the last known map */
    bool wants_map;
    /* Used by kv_redis_map only. */
    bool is_asking_map;
    bool asks_role;
    size_t ask_from;
    uint64_t ask_at_ms; /* earliest time to ask again */
    struct deadline again;
    struct kv_redis_call call;
    bool is_down;
    struct log_limit log_limit;
};

/* Initializes the route and connects to the seeds. Returns false if there is no
 * memory. */
MUST_USE bool kv_redis_route_init(struct kv_redis_client *client,
                                  const struct kv_redis_route_events *events);
void kv_redis_route_fini(struct kv_redis_client *client);

bool kv_redis_is_same_node(const struct address *a, const struct address *b);

/* Returns the options for a connection to `node`, without hooks. */
struct kv_connection_options kv_redis_aim(const struct kv_redis_client *client,
                                          const struct address *node);

/* Returns the connection for a call to the partition, or NULL if none is known.
 * If NULL, *may_come_out says whether a connection may become known, so that
 * the call should wait. */
struct kv_connection *kv_redis_route_find(struct kv_redis_client *client,
                                          unsigned partition,
                                          bool *may_come_out);

/* Returns the connection to a node; makes one if there is none. Returns NULL if
 * there is no memory, or no room for another connection. */
struct kv_connection *kv_redis_route_to(struct kv_redis_client *client,
                                        const struct address *node);

/* Notes that `node` has the partition now, because another node said so
 * (MOVED). */
void kv_redis_route_move(struct kv_redis_client *client, unsigned partition,
                         const struct address *node);

/* Makes the client ask for the map soon. */
void kv_redis_route_refresh(struct kv_redis_client *client);

/* Uses this map from now on. */
void kv_redis_route_take(struct kv_redis_client *client,
                         const struct kv_slot_map *map);

/* Whether each partition has a known connection that is up. */
bool kv_redis_route_is_whole(const struct kv_redis_route *route);

/* Whether the map says that calls may use the connection. */
bool kv_redis_route_needs(const struct kv_redis_route *route,
                          const struct kv_connection *connection);

/* --- kv_redis_feed -------------------------------------------------------- */

enum kv_redis_feed_state {
    KV_REDIS_FEED_OFF,  /* there are no watches */
    KV_REDIS_FEED_DEAF, /* some nodes have no listener that is up */
    KV_REDIS_FEED_HEARS
};

/* The state that all watches of a client share. A keyspace notification only
 * says that a key has changed, so the feed asks for the key's metadata. */
struct kv_redis_feed {
    enum kv_redis_feed_state state;
    struct list watches;
    struct kv_events *events;
    uint64_t number;   /* the last event's number */
    struct list items; /* changes heard but not reported yet, in order */
    size_t item_count;
    bool has_missed; /* events were missed; a reset follows the last item */
    /* Watches wait for the listeners until this deadline. */
    struct deadline patience;
    bool is_patient; /* a watch waits, and patience is set */
    char pattern[KV_REDIS_NAME_BYTES_MAX + 48];
    struct kv_connection *connections[KV_REDIS_NODES_MAX];
    size_t connection_count;
};

void kv_redis_feed_init(struct kv_redis_client *client);
void kv_redis_feed_fini(struct kv_redis_client *client);

/* Makes missing listeners and drops needless ones. Called when the map or a
 * connection may have changed. */
void kv_redis_feed_look(struct kv_redis_client *client);

void kv_redis_feed_on_deadline(struct kv_redis_client *client);

/* kv_redis_feed_hear() handles a notification; `context` is the client.
 * kv_redis_feed_tell() reports to the watchers all items that are complete.
 * Both functions are in kv_redis_hear.c. */
void kv_redis_feed_hear(void *context, struct bytes channel,
                        struct bytes event);
void kv_redis_feed_tell(struct kv_redis_client *client);

/* --- kv_redis_map --------------------------------------------------------- */

/* Initializes the route with the seeds. The map is asked for when a connection
 * is up. Returns false if there is no memory. */
MUST_USE bool kv_redis_map_init(struct kv_redis_client *client);

/* --- The client ---------------------------------------------------------- */

/* Embedded in each struct that must be freed when the client is destroyed. */
struct kv_redis_question {
    struct list list_node;
    void (*destroy)(struct kv_redis_question *question);
};

struct kv_redis_client {
    struct kv_client client;
    struct kv_redis *store;
    struct ev_loop *loop;
    const struct now *now;
    struct tls_connector *tls; /* NULL without TLS */
    struct tls_buffers *tls_buffers;
    struct deadline_wheel wheel;
    struct kv_redis_route route;
    struct kv_redis_feed feed;
    struct list waiting;   /* calls that wait for a connection */
    struct list questions; /* all questions */
    struct list spare;     /* unused askings */
    struct buf command;    /* the command that is being made */
    /* calls under way; their commands have `bytes` bytes */
    size_t calls;
    size_t bytes;
    struct log_limit log_limit;
};

/* --- kv_redis_asking ------------------------------------------------------ */

/* A question that makes one call at a time. */
struct kv_redis_asking {
    struct kv_redis_question question;
    struct kv_redis_call call;
    struct kv_get *get;
    struct kv_write *write;
    unsigned names_tried;
};

/* Takes an unused asking, or makes one. Returns NULL if there is no memory. */
struct kv_redis_asking *kv_redis_take_asking(struct kv_redis_client *client);
void kv_redis_put_asking(struct kv_redis_asking *asking);

/* --- kv_redis_drop, kv_redis_list, kv_redis_write ------------------------ */

/* Removes the key's entry from the index if the key has no value, for example
 * because it expired. */
void kv_redis_drop(struct kv_redis_client *client, struct bytes key);

bool kv_redis_list(struct kv_client *base, struct kv_page *page);
bool kv_redis_write(struct kv_client *base, struct kv_write *write);
bool kv_redis_watch(struct kv_client *base, struct kv_watch *watch);
void kv_redis_unwatch(struct kv_client *base, struct kv_watch *watch);

#endif
