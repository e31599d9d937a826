/*
 * kv_store - the interface between handlers that ask for keys and the stores
 * that keep them.
 *
 *   handler -> kv_client (one per worker) -> table of functions -> LMDB | ...
 *
 * There are four questions: get a value, list a page of keys, write, watch. A
 * write has one or more operations: put, add, delete, check. The operations of
 * a write are done in order, all or none; each operation sees the changes of
 * the operations before it.
 *
 * Revisions rise strictly and over restarts: every put, add and delete that
 * takes place gets a larger revision than all earlier changes of its key. If
 * one machine holds the store, the new revision is larger than all others in
 * the store. Keys are 1 to KV_KEY_BYTES_MAX bytes, ordered as unsigned bytes.
 *
 * A key with a TTL expires: from the millisecond of expiry on, every question
 * finds the key missing. Expired keys are removed: in LMDB by a sweep
 * (kv_lmdb_sweep.c; kv_lmdb_writer.c says when), in Redis by Redis itself.
 *
 * Thread: a client belongs to one worker. Callbacks run in the worker's loop.
 * Owns:   only values, which are counted. The asker owns the memory that a
 *         question points at, and does not change it until the answer.
 */
#ifndef KV_KV_STORE_H
#define KV_KV_STORE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"
#include "io/mailbox.h"

enum {
    KV_KEY_BYTES_MAX = 511,  /* LMDB's limit, used for all stores */
    KV_TYPE_BYTES_MAX = 255, /* a media type */
    KV_PAGE_ENTRIES_MAX = 1000,
    KV_PAGE_VALUE_BYTES_MAX = 64 << 10, /* longer values are left out */
    KV_PAGE_VALUES_BYTES = 128 << 10,   /* a page ends at this size */
    KV_CURSOR_BYTES_MAX = 1 + KV_KEY_BYTES_MAX,
    KV_NAME_BYTES = 16, /* length of a name made by KV_PUT_NAMED */
    KV_WRITE_OPS_MAX = 10000
};

#define KV_VALUE_BYTES_MAX ((size_t)64 << 20)

enum kv_outcome {
    KV_FOUND,        /* get: the answer is in `value` */
    KV_CREATED,      /* put: the key was missing */
    KV_REPLACED,     /* put: the key existed */
    KV_DELETED,      /* delete: the key existed */
    KV_HELD,         /* check: the condition was true */
    KV_MISSING,      /* get, delete: there is no such key; no failure */
    KV_PRECONDITION, /* not done: the condition is false */
    KV_NO_NUMBER,    /* not done: add to a value that is no number */
    KV_OVERFLOW,     /* not done: an add whose sum would be beyond 64 bits */
    KV_UNDONE,       /* not done, since another operation of the write failed */
    KV_FULL,         /* not done: no room in the map or on disk */
    KV_BUSY,         /* not done: too many questions wait already */
    KV_CROSSED,      /* not done: the keys are on several cluster nodes */
    KV_UNREACHABLE,  /* not done: the store cannot be reached now */
    KV_UNSUPPORTED,  /* watch: this store cannot report changes */
    KV_TIMEOUT,      /* no answer came; a write may have taken place */
    KV_ERROR         /* not done, or the record is corrupt; logged */
};

/* --- Values --------------------------------------------------------------- */

struct kv_meta {
    uint64_t revision;  /* the first one is 1 */
    int64_t stored_ms;  /* wall clock, since the epoch */
    int64_t expires_ms; /* wall clock, since the epoch; 0: never */
};

/* An immutable copy of a value, in one piece of memory. The struct is counted;
 * any thread may hold a reference. */
struct kv_value {
    struct kv_meta meta;
    size_t bytes;      /* the value's length, even without `data` */
    struct bytes type; /* may be empty */
    struct bytes data;
    atomic_uint refs; /* private */
};

/* Makes a value with one reference and room for type and data. The caller
 * writes both through kv_value_room(), the type first. Returns NULL if there is
 * no memory. */
MUST_USE struct kv_value *kv_value_create(size_t type_bytes, size_t data_bytes);
char *kv_value_room(struct kv_value *value);

/* Whether `type` can be the value of Content-Type: it has no control, and at
 * most KV_TYPE_BYTES_MAX bytes. Stores hand out no other type, whoever wrote
 * it. */
bool kv_type_is_valid(struct bytes type);

struct kv_value *kv_value_acquire(struct kv_value *value);
void kv_value_release(struct kv_value **value_ref);

/* --- Questions ------------------------------------------------------------ */

struct kv_get {
    struct bytes key;
    bool without_data; /* for HEAD: value->data may be left out */
    /* Says whether the data of a value with this `meta` is wanted. A client
     * that answers at once asks this before it copies the data; clients that
     * answer later do not ask. NULL if data is always wanted. */
    bool (*wants_data)(const struct kv_get *get, const struct kv_meta *meta);
    void (*on_done)(struct kv_get *get);
    /* The answer: KV_FOUND, KV_MISSING, KV_ERROR, KV_BUSY, KV_UNREACHABLE or
     * KV_TIMEOUT. */
    enum kv_outcome outcome;
    struct kv_value *value; /* the asker releases it */
};

struct kv_entry {
    struct bytes key; /* a key, or a common prefix with its delimiter */
    bool is_prefix;   /* if true, all fields below are zero */
    uint64_t value_bytes;
    struct kv_meta meta;
    struct bytes type;
    /* Set if page->with_values is set; `data` is NULL if the value is longer
     * than KV_PAGE_VALUE_BYTES_MAX. */
    struct bytes value;
};

/* One page of a listing, in the order of keys. Keys that are the same up to the
 * first delimiter behind the prefix are listed as one entry, their common
 * prefix. */
struct kv_page {
    struct bytes prefix;    /* may be empty */
    struct bytes delimiter; /* empty: no common prefixes */
    struct bytes after;     /* `next` of the page before; empty at first */
    size_t limit;           /* 1 to KV_PAGE_ENTRIES_MAX */
    bool with_values;
    void (*on_done)(struct kv_page *page);
    /* The answer: KV_FOUND, KV_MISSING if `after` is not a cursor, or a failure
     * as for a get. Entries lie in `arena`, which the asker initializes and
     * releases. A page may be short or empty without being the last, since the
     * work per page is bounded, too. */
    enum kv_outcome outcome;
    struct kv_entry *entries;
    size_t count;
    struct bytes next;  /* a cursor, any bytes; empty after the last page */
    size_t value_bytes; /* bytes of the page's values */
    bool has_revision;
    uint64_t revision; /* the store's revision that the page shows */
    struct arena arena;
};

enum kv_op_kind {
    KV_PUT,
    KV_PUT_NAMED, /* the store makes the key: op->key, then a name */
    /* Adds to a whole number (kv_integer.h); a missing key counts as 0. An
     * existing key keeps its type and expiry; a new key gets the operation's
     * type and expiry. */
    KV_ADD,
    KV_DELETE,
    KV_CHECK /* changes nothing; only its condition must hold */
};

enum kv_condition {
    KV_IF_ANY,
    KV_IF_MISSING, /* If-None-Match: * */
    KV_IF_PRESENT, /* If-Match: * */
    KV_IF_REVISION /* If-Match: if_revision */
};

struct kv_op {
    enum kv_op_kind kind;
    enum kv_condition condition; /* KV_PUT_NAMED allows KV_IF_ANY only */
    uint64_t if_revision;
    struct bytes key;
    struct bytes value; /* what a put stores */
    /* the type that a put or an add stores; at most KV_TYPE_BYTES_MAX */
    struct bytes type;
    /* the time after which the value of a put or an add expires; 0: never */
    uint64_t ttl_ms;
    int64_t by; /* what KV_ADD adds */
    /* The answer. */
    enum kv_outcome outcome;
    int64_t sum; /* the result of KV_ADD */
    /* Metadata: of the new value after a put or add; of the present value after
     * a check or a refusal, zero if the key is missing. After a delete, only
     * the delete's revision is set. */
    struct kv_meta meta;
    /* The name that KV_PUT_NAMED made; no NUL follows. The new key is op->key,
     * followed by the name. Later names are larger. */
    char name[KV_NAME_BYTES];
};

/* Returns true if the operation was refused because of the key's present value.
 * Then no operation of the write was done. */
static inline bool kv_is_refused(enum kv_outcome outcome)
{
    return outcome == KV_PRECONDITION || outcome == KV_NO_NUMBER ||
           outcome == KV_OVERFLOW;
}

struct kv_write {
    struct kv_op *ops;
    size_t count; /* 1 to KV_WRITE_OPS_MAX */
    void (*on_done)(struct kv_write *write);
    /* Whether the write took place. Each operation has an outcome in both
     * cases. */
    bool is_done;
    /* Private. */
    struct mailbox_note note;
    struct mailbox *mailbox;
    struct kv_write *next;
    size_t bytes;
};

/* Returns how many bytes a write counts for in a queue. Asserts that sizes and
 * counts are within the limits. */
size_t kv_write_weigh(const struct kv_write *write);

/* Marks the write as not done, and gives all its operations this outcome. */
void kv_write_set_outcomes(struct kv_write *write, enum kv_outcome outcome);

/* --- Changes ------------------------------------------------------------- */

enum kv_event_kind {
    KV_EVENT_PUT,    /* a key was put or added to */
    KV_EVENT_DELETE, /* a write has deleted a key */
    KV_EVENT_EXPIRE, /* a key was removed, since its TTL was over */
    /* events were missed: the watcher must list the keys anew */
    KV_EVENT_RESET
};

struct kv_event {
    enum kv_event_kind kind;
    uint64_t number; /* number to resume from; 0 if impossible */
    /* put: all fields are set; reset: none; else only the key */
    struct kv_entry entry;
    /* the texts that `entry` points at */
    char room[KV_KEY_BYTES_MAX + KV_TYPE_BYTES_MAX];
};

/* Watches changes of keys that begin with `prefix`. If has_since is false, the
 * first event is a reset. */
struct kv_watch {
    struct bytes prefix; /* at most KV_KEY_BYTES_MAX */
    bool has_since;
    uint64_t since; /* report the changes after this number */
    void (*on_done)(struct kv_watch *watch);
    void (*on_change)(struct kv_watch *watch); /* there may be an event */
    /* The answer: KV_FOUND, KV_UNSUPPORTED, KV_UNREACHABLE, KV_BUSY or
     * KV_ERROR. The outcome may change from KV_FOUND to a failure later; then
     * no more events come. */
    enum kv_outcome outcome;
    /* Private. */
    struct list list_node;
    struct kv_events *events;
    uint64_t offset;
    uint64_t number;
    bool wants_reset;
};

enum kv_watch_result {
    KV_WATCH_EVENT,
    KV_WATCH_MORE, /* no event yet, but call again: the search is not over */
    KV_WATCH_LATER /* no event now; on_change will be called */
};

/* Takes the next event of a watch that was answered with KV_FOUND. */
MUST_USE enum kv_watch_result kv_watch_next(struct kv_watch *watch,
                                            struct kv_event *event);

/* --- The table ------------------------------------------------------------ */

struct kv_client;

struct kv_client_ops {
    bool (*get)(struct kv_client *client, struct kv_get *get);
    bool (*list)(struct kv_client *client, struct kv_page *page);
    bool (*write)(struct kv_client *client, struct kv_write *write);
    bool (*watch)(struct kv_client *client, struct kv_watch *watch);
    void (*unwatch)(struct kv_client *client, struct kv_watch *watch);
    /* NULL: there is nothing to flush */
    void (*flush)(struct kv_client *client);
    void (*destroy)(struct kv_client *client);
};

/* The first member of an implementation's client. */
struct kv_client {
    const struct kv_client_ops *ops;
};

/* Asks for a value. Returns true if the question is answered already; on_done
 * is then not called. Returns false if on_done will be called later. LMDB
 * answers at once; Redis, on another machine, answers later. */
MUST_USE static inline bool kv_client_get(struct kv_client *client,
                                          struct kv_get *get)
{
    return client->ops->get(client, get);
}

MUST_USE static inline bool kv_client_list(struct kv_client *client,
                                           struct kv_page *page)
{
    return client->ops->list(client, page);
}

/* Asks for a write. Returns true if the write was rejected at once: on_done is
 * not called, is_done is false, and all operations have the same outcome
 * (KV_BUSY, KV_ERROR, ...). Returns false if on_done will be called later. A
 * write cannot be cancelled: `ops`, and the memory that `ops` point at, must
 * stay until on_done is called, or until the store has stopped. */
MUST_USE static inline bool kv_client_write(struct kv_client *client,
                                            struct kv_write *write)
{
    return client->ops->write(client, write);
}

/* Sends off the writes that a gathering client has kept back
 * (kv_lmdb_client_gather()). */
static inline void kv_client_flush(struct kv_client *client)
{
    if (client->ops->flush)
        client->ops->flush(client);
}

/* Asks for a watch. Returns true if the question is answered already; on_done
 * is then not called. Returns false if on_done will be called later. In both
 * cases the watch must stay in memory until kv_client_unwatch(). */
MUST_USE static inline bool kv_client_watch(struct kv_client *client,
                                            struct kv_watch *watch)
{
    return client->ops->watch(client, watch);
}

static inline void kv_client_unwatch(struct kv_client *client,
                                     struct kv_watch *watch)
{
    client->ops->unwatch(client, watch);
}

/* Destroys a client whose watches have all ended. NULL is accepted. */
static inline void kv_client_destroy(struct kv_client *client)
{
    if (client)
        client->ops->destroy(client);
}

#endif
