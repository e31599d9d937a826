/*
 * kv_redis_priv - what the files of the Redis store share. Each calls only
 * those below it:
 *
 *   kv_redis_client   questions of one thread: what the client's table names
 *   kv_redis_map      asks for the map of the cluster (CLUSTER SLOTS), and is
 *                     told what happens to connections
 *   kv_redis_feed     watches, and the listening connections they need
 *   kv_redis_hear     turns what a listener hears into events
 *   kv_redis_list     pages, made of calls
 *   kv_redis_drop     drops an entry of the index that is out of date
 *   kv_redis_write    writes, made of calls
 *   kv_redis_asking   a question that needs one call at a time (not the command
 *                     ASKING)
 *   kv_redis_call     one command from its sending to its answer; follows MOVED
 *                     and ASK to another node
 *   kv_redis_route    a client's connections, and which of them a call takes
 *   kv_redis_record   what is kept of a key: its name, and its fields
 *   kv_redis          the store: open, close
 *
 * and those of kv_redis_node_priv.h are below them all. Word travels up by
 * kv_redis_route_events, and by a call's on_end.
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
    uint8_t hosts[2 * KV_REDIS_SEEDS_MAX]; /* of the URL, of each of them */
    struct tls_trust *trust;               /* NULL: in clear text */
    size_t seed_count;
    unsigned timeout_ms;
    size_t calls_max;
    size_t bytes_max;
    struct kv_partitions partitions;
    char label[KV_REDIS_HOST_BYTES_MAX + 32]; /* for log lines: no password */
    /* "NAME:{n}:" of each partition. */
    char bases[KV_REDIS_PARTITIONS]
              [KV_REDIS_NAME_BYTES_MAX + KV_REDIS_TAG_BYTES + 8];

    /* Anybody's. */
    atomic_uint clients_down;
    atomic_bool is_told; /* that it is unreachable */
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

/* The engine holds something that none of us wrote. */
void kv_redis_log_corrupt(struct kv_redis_client *client, struct bytes key);

/* r, m, e, t, n of a reply from its first element on. */
MUST_USE bool kv_redis_read_meta(const struct kv_reply *reply,
                                 struct kv_meta *meta_out,
                                 struct bytes *type_out, uint64_t *bytes_out);

/* "NAME:{n}:" */
struct bytes kv_redis_base(const struct kv_redis_client *client,
                           unsigned partition);

/* --- kv_redis_call -------------------------------------------------------- */

/*
 * waiting ----> sent ----> ended
 *    ^           |
 *    +- pausing <+  it was refused, for now
 */
struct kv_redis_call {
    struct kv_connection_request request; /* its node is in waiting too */
    struct kv_redis_client *client;
    /* The asker sets these: */
    unsigned partition;
    bool may_repeat;               /* the command changes nothing */
    bool crosses;                  /* its keys are of several partitions */
    struct kv_connection *only_at; /* NULL: whichever has the partition */
    void (*put)(struct kv_redis_call *call, struct buf *out);
    void (*on_end)(struct kv_redis_call *call, const struct kv_reply *reply);
    /* KV_FOUND: there is a reply, and it is no fault. Otherwise what became of
     * the call. */
    enum kv_outcome outcome;
    /* For put(): EVAL, not EVALSHA, or the latter by this name. */
    bool has_no_script;
    struct bytes scripts[KV_SCRIPTS];
    /* Private. */
    struct deadline deadline;
    uint64_t until_ms;
    struct kv_connection *sent_to;
    struct address redirect; /* ASK: where to */
    bool is_redirected;
    bool was_lost;
    unsigned redirects;
    unsigned pauses;
    size_t bytes;
};

/* True: ended at once, as outcome says; on_end is not called. False: it will
 * be, unless the client is destroyed. */
MUST_USE bool kv_redis_call_start(struct kv_redis_client *client,
                                  struct kv_redis_call *call);

/* "EVALSHA name keys" or "EVAL text keys", with room for the rest. */
void kv_redis_put_script(const struct kv_redis_call *call, struct buf *out,
                         enum kv_script script, size_t keys, size_t arguments);

/* What waits is tried again: something has changed. */
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
    KV_REDIS_UNKNOWN, /* until a node has told */
    KV_REDIS_ALONE,
    KV_REDIS_CLUSTER
};

/* What those above the route are told. */
struct kv_redis_route_events {
    /* The map may be out of date. */
    void (*on_map_wanted)(struct kv_redis_client *client);
    /* The hooks of each connection; their context is the client. */
    struct kv_connection_hooks connections;
};

struct kv_redis_route {
    const struct kv_redis_route_events *events;
    struct kv_connection
        *connections[KV_REDIS_NODES_MAX]; /* seeds first, which stay */
    size_t count;
    enum kv_redis_mode mode;
    uint8_t connection_of[KV_REDIS_PARTITIONS];
    struct kv_slot_map map; /* as it was told last */
    bool wants_map;
    /* kv_redis_map's. */
    bool is_asking_map;
    bool asks_role;
    size_t ask_from;
    uint64_t ask_at_ms; /* not sooner */
    struct deadline again;
    struct kv_redis_call call;
    bool is_down;
    struct log_limit log_limit;
};

/* False: no memory. */
MUST_USE bool kv_redis_route_init(struct kv_redis_client *client,
                                  const struct kv_redis_route_events *events);
void kv_redis_route_fini(struct kv_redis_client *client);

bool kv_redis_is_same_node(const struct address *a, const struct address *b);

/* What a connection of the client's to that node begins with; no hooks. */
struct kv_connection_options kv_redis_aim(const struct kv_redis_client *client,
                                          const struct address *node);

/* The connection that a call shall take; NULL: none is known, and that is to
 * wait for, if may_come. */
struct kv_connection *kv_redis_route_find(struct kv_redis_client *client,
                                          unsigned partition,
                                          bool *may_come_out);

/* The connection to a node, be it a new one; NULL: no memory, or too many. */
struct kv_connection *kv_redis_route_to(struct kv_redis_client *client,
                                        const struct address *node);

/* A node has told that it does not have the partition any more. */
void kv_redis_route_move(struct kv_redis_client *client, unsigned partition,
                         const struct address *node);

/* Wants a new map, soon. */
void kv_redis_route_refresh(struct kv_redis_client *client);

/* Goes by this map from now on. */
void kv_redis_route_take(struct kv_redis_client *client,
                         const struct kv_slot_map *map);

/* Whether what is known leads to connections that are fine. */
bool kv_redis_route_is_whole(const struct kv_redis_route *route);

/* Whether calls may take the connection, as far as is known. */
bool kv_redis_route_needs(const struct kv_redis_route *route,
                          const struct kv_connection *connection);

/* --- kv_redis_feed -------------------------------------------------------- */

enum kv_redis_feed_state {
    KV_REDIS_FEED_OFF,  /* nobody watches */
    KV_REDIS_FEED_DEAF, /* not all nodes are listened to, yet or again */
    KV_REDIS_FEED_HEARS
};

/* What those who watch at a client are told. Keyspace notifications say that
 * something has happened to a key; what has, is asked then. */
struct kv_redis_feed {
    enum kv_redis_feed_state state;
    struct list watches;
    struct kv_events *events;
    uint64_t number;   /* of the last event */
    struct list items; /* changes that were heard and not told, in order */
    size_t item_count;
    bool has_missed; /* a reset is due when all items are told */
    /* How long watches wait until the listener hears. */
    struct deadline patience;
    bool is_patient; /* some watch waits: patience runs */
    char pattern[KV_REDIS_NAME_BYTES_MAX + 48];
    struct kv_connection *connections[KV_REDIS_NODES_MAX];
    size_t connection_count;
};

void kv_redis_feed_init(struct kv_redis_client *client);
void kv_redis_feed_fini(struct kv_redis_client *client);

/* The map may have changed, or a connection. */
void kv_redis_feed_look(struct kv_redis_client *client);

void kv_redis_feed_on_deadline(struct kv_redis_client *client);

/* kv_redis_hear: what a listener heard, for the client that context is; and
 * tells all that can be told by now. */
void kv_redis_feed_hear(void *context, struct bytes channel,
                        struct bytes event);
void kv_redis_feed_tell(struct kv_redis_client *client);

/* --- kv_redis_map --------------------------------------------------------- */

/* Begins with the seeds: the route's init, and who asks for its map. False: no
 * memory. */
MUST_USE bool kv_redis_map_init(struct kv_redis_client *client);

/* --- The client ---------------------------------------------------------- */

/* A part of whatever the client must free. */
struct kv_redis_question {
    struct list list_node;
    void (*destroy)(struct kv_redis_question *question);
};

struct kv_redis_client {
    struct kv_client client;
    struct kv_redis *store;
    struct ev_loop *loop;
    const struct now *now;
    struct tls_connector *tls; /* NULL: in clear text */
    struct tls_buffers *tls_buffers;
    struct deadline_wheel wheel;
    struct kv_redis_route route;
    struct kv_redis_feed feed;
    struct list waiting;   /* calls */
    struct list questions; /* all */
    struct list spare;     /* askings, to be used again */
    struct buf command;    /* while it is made */
    size_t calls;          /* under way, and bytes of them */
    size_t bytes;
    struct log_limit log_limit;
};

/* --- kv_redis_asking ------------------------------------------------------ */

/* A question of one call at a time. */
struct kv_redis_asking {
    struct kv_redis_question question;
    struct kv_redis_call call;
    struct kv_get *get;
    struct kv_write *write;
    unsigned names_tried;
};

/* NULL: no memory. */
struct kv_redis_asking *kv_redis_take_asking(struct kv_redis_client *client);
void kv_redis_put_asking(struct kv_redis_asking *asking);

/* --- kv_redis_drop, kv_redis_list, kv_redis_write ------------------------ */

/* The index has an entry whose value was not there, as of what expires: takes
 * it out, if that is so still. */
void kv_redis_drop(struct kv_redis_client *client, struct bytes key);

bool kv_redis_list(struct kv_client *base, struct kv_page *page);
bool kv_redis_write(struct kv_client *base, struct kv_write *write);
bool kv_redis_watch(struct kv_client *base, struct kv_watch *watch);
void kv_redis_unwatch(struct kv_client *base, struct kv_watch *watch);

#endif
