/*
 * kv_redis_priv - what the files of the Redis store share.
 *
 *   kv_redis_url      what the URL says
 *   kv_redis_slots    partitions, and which node of a cluster has them
 *   kv_redis_reply    looking at an answer
 *   kv_redis_command  writing a command
 *   kv_redis_script   the scripts' text
 *   kv_redis_link     one connection
 *   kv_redis_greet    how it begins, and what it hears
 *   kv_redis_route    all of a desk's connections, and the map of the cluster
 *   kv_redis_call     one command from asking to answer, wherever it leads
 *   kv_redis_drop     an entry of the index that is out of date
 *   kv_redis_feed     those who watch, and listeners for them
 *   kv_redis_hear     from what is heard to what is told
 *   kv_redis_write, kv_redis_list, kv_redis_desk
 *                     questions, made of calls
 *   kv_redis          all of it together
 */
#ifndef BACKEND_KV_REDIS_PRIV_H
#define BACKEND_KV_REDIS_PRIV_H

#include "backend/kv_events.h"
#include "backend/kv_redis.h"
#include "base/address.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/log.h"
#include "io/deadline.h"

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

/* Of a text or fault; else empty, with data NULL. */
struct bytes kv_reply_text(const struct kv_reply *reply);

/* Of a list; else 0 and NULL, as behind its end. */
size_t kv_reply_count(const struct kv_reply *reply);
const struct kv_reply *kv_reply_at(const struct kv_reply *reply, size_t at);

/* A number from 0 on, as such or as decimal text; false: it is none. */
MUST_USE bool kv_reply_number(const struct kv_reply *reply,
                              uint64_t *number_out);

/* The same of decimal text. */
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

/* Of CLUSTER SLOTS, as asked told it. False: it is no such answer. What is
 * odd in it is passed over. */
MUST_USE bool kv_slot_map_read(struct kv_slot_map *map,
                               const struct kv_partitions *partitions,
                               const struct kv_reply *reply,
                               const struct address *asked);

/* Where "MOVED 3999 192.0.2.1:6381" leads, or ASK. False: nowhere that could
 * be understood. */
MUST_USE bool kv_redis_read_redirect(struct bytes text,
                                     const struct address *asked,
                                     struct address *node_out);

/* --- kv_redis_command ----------------------------------------------------- */

void kv_command_begin(struct buf *out, size_t arguments);
void kv_command_put(struct buf *out, struct bytes argument);
void kv_command_put_number(struct buf *out, uint64_t number);

/* One argument of three pieces. */
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

/* Its text, as an argument. */
void kv_command_put_script(struct buf *out, enum kv_script script);

/* --- kv_redis_link -------------------------------------------------------- */

enum kv_link_state {
    KV_LINK_OPENING, /* for the first time, or since it was fine */
    KV_LINK_UP,
    KV_LINK_DOWN /* tried again by and by */
};

/* A member of what is asked. */
struct kv_link_request {
    struct list link;
    uint64_t ends_at; /* where in all that the connection was given */
};

struct kv_link;

struct kv_link_hooks {
    void (*on_up)(void *context);
    /* why stays until it returns. */
    void (*on_down)(void *context, const struct kv_link *link, const char *why);
    void (*on_answer)(struct kv_link_request *request,
                      const struct kv_reply *reply);
    /* There will be no answer. */
    void (*on_return)(struct kv_link_request *request, bool may_have_run);
    /* With a pattern: something happened to a key; or, once it is connected,
     * that the engine does not tell of that: it never comes up then. */
    void (*on_heard)(void *context, struct bytes channel, struct bytes event);
    void (*on_mute)(void *context);
    void *context;
};

struct kv_link_options {
    struct ev_loop *loop;
    const struct now *now;
    const struct kv_redis_url *url; /* whom to be; borrowed */
    const char *pattern; /* of channels that it listens to, and does nothing
                            else; borrowed; NULL: it takes requests */
    struct kv_link_hooks hooks;
};

/* Begins to connect. NULL: no memory. */
MUST_USE struct kv_link *kv_link_create(const struct kv_link_options *options,
                                        const struct address *address);

/* Requests are forgotten. */
void kv_link_destroy(struct kv_link *link);

enum kv_link_state kv_link_state(const struct kv_link *link);
bool kv_link_is_idle(const struct kv_link *link);
const struct address *kv_link_address(const struct kv_link *link);

/* What the node calls a script. */
struct bytes kv_link_script(const struct kv_link *link, enum kv_script script);

/* The link is up. asking: although the node has the slot only half. False: it
 * could not take it, and is about to go down. */
MUST_USE bool kv_link_send(struct kv_link *link,
                           struct kv_link_request *request,
                           struct bytes command, bool asking);

/* Nothing is expected from this connection any more: another one is made. */
void kv_link_lose(struct kv_link *link, const char *why);

/* --- The store ------------------------------------------------------------ */

struct kv_redis {
    struct kv_redis_url url;
    struct address seeds[2 * KV_REDIS_SEEDS_MAX];
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
    atomic_uint desks_down;
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

/* --- kv_redis_call -------------------------------------------------------- */

struct kv_redis_desk;

/*
 * waiting ----> sent ----> ended
 *    ^           |
 *    +- pausing <+  it was refused, for now
 */
struct kv_redis_call {
    struct kv_link_request request; /* its node is in waiting too */
    struct kv_redis_desk *desk;
    /* Set by who asks: */
    unsigned partition;
    bool may_repeat;         /* it changes nothing */
    bool crosses;            /* partitions */
    struct kv_link *only_at; /* NULL: where the partition is */
    void (*put)(struct kv_redis_call *call, struct buf *out);
    void (*on_end)(struct kv_redis_call *call, const struct kv_reply *reply);
    /* KV_FOUND: reply is there, and no fault; or what became of it. */
    enum kv_outcome outcome;
    /* For put(): EVAL, not EVALSHA, or the latter by this name. */
    bool has_no_script;
    struct bytes scripts[KV_SCRIPTS];
    /* Private. */
    struct deadline deadline;
    uint64_t until_ms;
    struct kv_link *sent_to;
    struct address redirect; /* ASK: where to */
    bool is_redirected;
    bool was_lost;
    unsigned redirects;
    unsigned pauses;
    size_t bytes;
};

/* True: ended at once, as outcome says; on_end is not called. False: it will
 * be, unless the desk is destroyed. */
MUST_USE bool kv_redis_call_start(struct kv_redis_desk *desk,
                                  struct kv_redis_call *call);

/* "EVALSHA name keys" or "EVAL text keys", with room for the rest. */
void kv_redis_put_script(const struct kv_redis_call *call, struct buf *out,
                         enum kv_script script, size_t keys, size_t arguments);

/* What waits is tried again: something has changed. */
void kv_redis_place_waiting(struct kv_redis_desk *desk);

void kv_redis_on_answer(struct kv_link_request *request,
                        const struct kv_reply *reply);
void kv_redis_on_return(struct kv_link_request *request, bool may_have_run);
void kv_redis_on_deadline(struct kv_redis_desk *desk,
                          struct deadline *deadline);

/* --- kv_redis_route ------------------------------------------------------- */

enum { KV_REDIS_NODES_MAX = 192, KV_REDIS_NO_NODE = 255 };

enum kv_redis_mode {
    KV_REDIS_UNKNOWN, /* until a node has told */
    KV_REDIS_ALONE,
    KV_REDIS_CLUSTER
};

struct kv_redis_route {
    struct kv_link *links[KV_REDIS_NODES_MAX]; /* seeds first, which stay */
    size_t count;
    enum kv_redis_mode mode;
    uint8_t link_of[KV_REDIS_PARTITIONS];
    struct kv_slot_map map; /* as it was told last */
    bool wants_map;
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
MUST_USE bool kv_redis_route_init(struct kv_redis_desk *desk);
void kv_redis_route_fini(struct kv_redis_desk *desk);

bool kv_redis_is_same_node(const struct address *a, const struct address *b);

/* The link that a call shall take; NULL: none is known, and that is to wait
 * for, if may_come. */
struct kv_link *kv_redis_route_find(struct kv_redis_desk *desk,
                                    unsigned partition, bool *may_come_out);

/* The link to a node, be it a new one; NULL: no memory, or too many. */
struct kv_link *kv_redis_route_to(struct kv_redis_desk *desk,
                                  const struct address *node);

/* A node has told that it does not have the partition any more. */
void kv_redis_route_move(struct kv_redis_desk *desk, unsigned partition,
                         const struct address *node);

/* Asks for the map, soon. */
void kv_redis_route_refresh(struct kv_redis_desk *desk);

/* --- kv_redis_feed -------------------------------------------------------- */

enum kv_redis_feed_state {
    KV_REDIS_FEED_OFF,  /* nobody watches */
    KV_REDIS_FEED_DEAF, /* not all nodes are listened to, yet or again */
    KV_REDIS_FEED_HEARS
};

/* What those who watch at a desk are told. Keyspace notifications say that
 * something has happened to a key; what has, is asked then. */
struct kv_redis_feed {
    enum kv_redis_feed_state state;
    struct list watches;
    struct kv_events *events;
    uint64_t number;   /* of the last event */
    struct list items; /* heard and not told; in order */
    size_t item_count;
    bool has_missed;          /* a reset is due when all items are told */
    struct deadline patience; /* of those who wait until it hears, ... */
    bool is_patient;          /* ... since the first of them */
    char pattern[KV_REDIS_NAME_BYTES_MAX + 48];
    struct kv_link *links[KV_REDIS_NODES_MAX];
    size_t link_count;
};

void kv_redis_feed_init(struct kv_redis_desk *desk);
void kv_redis_feed_fini(struct kv_redis_desk *desk);

/* The map may have changed, or a link. */
void kv_redis_feed_look(struct kv_redis_desk *desk);

void kv_redis_feed_on_deadline(struct kv_redis_desk *desk);

/* kv_redis_hear: what a listener heard, for the desk that context is; and tells
 * all that can be told by now. */
void kv_redis_feed_hear(void *context, struct bytes channel,
                        struct bytes event);
void kv_redis_feed_tell(struct kv_redis_desk *desk);

/* --- kv_redis_desk -------------------------------------------------------- */

/* Of whatever the desk must free. */
struct kv_redis_question {
    struct list link;
    void (*destroy)(struct kv_redis_question *question);
};

struct kv_redis_desk {
    struct kv_desk desk;
    struct kv_redis *store;
    struct ev_loop *loop;
    const struct now *now;
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

/* A question of one call at a time. */
struct kv_redis_asking {
    struct kv_redis_question question;
    struct kv_redis_call call;
    struct kv_get *get;
    struct kv_write *write;
    unsigned names_tried;
};

/* NULL: no memory. */
struct kv_redis_asking *kv_redis_take_asking(struct kv_redis_desk *desk);
void kv_redis_put_asking(struct kv_redis_asking *asking);

/* The engine holds something that none of us wrote. */
void kv_redis_log_corrupt(struct kv_redis_desk *desk, struct bytes key);

/* r, m, e, t, n of a reply from its first element on. */
MUST_USE bool kv_redis_read_meta(const struct kv_reply *reply,
                                 struct kv_meta *meta_out,
                                 struct bytes *type_out, uint64_t *bytes_out);

/* "NAME:{n}:" */
struct bytes kv_redis_base(const struct kv_redis_desk *desk,
                           unsigned partition);

/* --- kv_redis_drop, kv_redis_list, kv_redis_write -------------------------- */

/* The index has an entry whose value was not there, as of what expires: takes
 * it out, if that is so still. */
void kv_redis_drop(struct kv_redis_desk *desk, struct bytes key);

bool kv_redis_list(struct kv_desk *base, struct kv_page *page);
bool kv_redis_write(struct kv_desk *base, struct kv_write *write);
bool kv_redis_watch(struct kv_desk *base, struct kv_watch *watch);
void kv_redis_unwatch(struct kv_desk *base, struct kv_watch *watch);

#endif
