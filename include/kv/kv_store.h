/*
 * kv_store - the seam between whoever asks for keys and where they are kept.
 *
 *   handler -> kv_client (one per worker) -> table of functions -> LMDB | ...
 *
 * Four questions: get a value, list a page of keys, write, watch. Putting,
 * adding, deleting and checking are all writes; a write of several operations
 * is done whole or not at all, in order, each seeing those before it.
 *
 * Revisions rise strictly and over restarts: every put, add and delete that
 * takes place has a larger revision than all before it of its key, and of the
 * whole store where one machine holds that. Keys are 1 to KV_KEY_BYTES_MAX
 * bytes, ordered as unsigned bytes.
 *
 * A key with a TTL expires: from that millisecond on every question finds it
 * missing. Removing what has expired is the implementation's: LMDB has a sweep
 * (kv_lmdb_sweep.c does it, kv_lmdb_writer.c says when),
 * and Redis expires keys by itself.
 *
 * Thread: a client is its worker's. Callbacks come in the worker's loop.
 * Owns:   nothing but values, which are counted; what a question points at is
 *         the asker's, and stays untouched until it is answered.
 */
#ifndef KV_KV_STORE_H
#define KV_KV_STORE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"
#include "io/mailbox.h"

enum {
    KV_KEY_BYTES_MAX = 511,  /* LMDB's limit, and everybody's */
    KV_TYPE_BYTES_MAX = 255, /* a media type */
    KV_PAGE_ENTRIES_MAX = 1000,
    KV_PAGE_VALUE_BYTES_MAX = 64 << 10, /* longer ones are not in a page */
    KV_PAGE_VALUES_BYTES = 128 << 10,   /* of all values: then a page ends */
    KV_CURSOR_BYTES_MAX = 1 + KV_KEY_BYTES_MAX,
    KV_NAME_BYTES = 16, /* what KV_PUT_NAMED puts behind a prefix */
    KV_WRITE_OPS_MAX = 10000
};

#define KV_VALUE_BYTES_MAX ((size_t)64 << 20)

enum kv_outcome {
    KV_FOUND,        /* get: value is set */
    KV_CREATED,      /* put: the key was missing */
    KV_REPLACED,     /* put */
    KV_DELETED,      /* delete */
    KV_HELD,         /* check: the condition was true */
    KV_MISSING,      /* get, or delete of what is not there: no failure */
    KV_PRECONDITION, /* not done: revision is the present one, 0 without */
    KV_NO_NUMBER,    /* not done: an add, and what is there is no number */
    KV_OVERFLOW,     /* not done: an add whose sum would be beyond 64 bits */
    KV_UNDONE,       /* not done: another operation of the write failed */
    KV_FULL,         /* not done: no room in map or on disk */
    KV_BUSY,         /* not asked: too much waits already */
    KV_CROSSED,      /* not done: no node of the cluster has all the keys */
    KV_UNREACHABLE,  /* not done: where it is kept cannot be asked now */
    KV_UNSUPPORTED,  /* watch: no changes are told here */
    KV_TIMEOUT,      /* no answer came; a write may have taken place */
    KV_ERROR         /* not done, and logged; or the record is corrupt */
};

/* --- Values --------------------------------------------------------------- */

struct kv_meta {
    uint64_t revision;  /* from 1 */
    int64_t stored_ms;  /* wall clock, since the epoch */
    int64_t expires_ms; /* wall clock, since the epoch; 0: never */
};

/* A copy of a value, in one piece of memory, never changed. Counted, in any
 * thread. */
struct kv_value {
    struct kv_meta meta;
    size_t bytes;      /* of the value; data may have been left out */
    struct bytes type; /* may be empty */
    struct bytes data;
    atomic_uint refs; /* private */
};

/* Makes a value with one reference, and room for type and data, which the
 * caller writes through kv_value_room(), the type first. NULL: no memory. */
MUST_USE struct kv_value *kv_value_create(size_t type_bytes, size_t data_bytes);
char *kv_value_room(struct kv_value *value);

struct kv_value *kv_value_acquire(struct kv_value *value);
void kv_value_release(struct kv_value **value_ref);

/* --- Questions ------------------------------------------------------------ */

struct kv_get {
    struct bytes key;
    bool without_data; /* for HEAD: value->data may be left out */
    /* NULL, or whether that of such a value is wanted: so that a client which
     * is about to answer at once need not copy it. Not to be called later. */
    bool (*wants_data)(const struct kv_get *get, const struct kv_meta *meta);
    void (*on_done)(struct kv_get *get);
    /* The answer: KV_FOUND, KV_MISSING, KV_ERROR; KV_BUSY, KV_UNREACHABLE,
     * KV_TIMEOUT. */
    enum kv_outcome outcome;
    struct kv_value *value; /* the asker's to release */
};

struct kv_entry {
    struct bytes key; /* or common prefix, with the delimiter at its end */
    bool is_prefix;   /* then the rest is zero */
    uint64_t value_bytes;
    struct kv_meta meta;
    struct bytes type;
    struct bytes value; /* where they are asked for; data is NULL: too long */
};

/* One page of a listing, in the order of keys. A key that holds delimiter
 * behind prefix is told as its common prefix, once. */
struct kv_page {
    struct bytes prefix;    /* may be empty */
    struct bytes delimiter; /* empty: no common prefixes */
    struct bytes after;     /* `next` of the page before; empty: from start */
    size_t limit;           /* 1 to KV_PAGE_ENTRIES_MAX */
    bool with_values;
    void (*on_done)(struct kv_page *page);
    /* The answer: KV_FOUND; KV_MISSING, when after is no cursor; KV_ERROR or,
     * as above, one of the three. All of it lies in arena, which the asker
     * makes empty before and gives back. A page may be short, even empty, and
     * yet not be the last: work per page is bounded too. */
    enum kv_outcome outcome;
    struct kv_entry *entries;
    size_t count;
    struct bytes next;  /* a cursor, any bytes; empty: that was all */
    size_t value_bytes; /* of all values in it */
    bool has_revision;
    uint64_t revision; /* of the store as the page saw it, if it has one */
    struct arena arena;
};

enum kv_op_kind {
    KV_PUT,
    KV_PUT_NAMED, /* key is a prefix, may be empty: the store names the key */
    /* Adds to a whole number (kv_integer.h), which a missing key is as 0. What
     * is there keeps its type and its end; what is made gets those of the
     * operation. */
    KV_ADD,
    KV_DELETE,
    KV_CHECK /* does nothing; its condition must hold */
};

enum kv_condition {
    KV_IF_ANY,
    KV_IF_MISSING, /* If-None-Match: * */
    KV_IF_PRESENT, /* If-Match: * */
    KV_IF_REVISION /* If-Match: that one */
};

struct kv_op {
    enum kv_op_kind kind;
    enum kv_condition condition; /* of KV_PUT_NAMED: KV_IF_ANY */
    uint64_t if_revision;
    struct bytes key;
    struct bytes value; /* of puts, and so are these: */
    struct bytes type;  /* at most KV_TYPE_BYTES_MAX */
    uint64_t ttl_ms;    /* 0: for ever */
    int64_t by;         /* of KV_ADD */
    /* The answer. */
    enum kv_outcome outcome;
    int64_t sum;              /* of KV_ADD */
    struct kv_meta meta;      /* of what was put; a delete's revision; see
                                 KV_PRECONDITION; a check's present one */
    char name[KV_NAME_BYTES]; /* KV_PUT_NAMED: the key is prefix and this, no
                                 NUL; later ones are larger as bytes */
};

/* Whether what is there was against an operation, and so against its write. */
static inline bool kv_is_refused(enum kv_outcome outcome)
{
    return outcome == KV_PRECONDITION || outcome == KV_NO_NUMBER ||
           outcome == KV_OVERFLOW;
}

struct kv_write {
    struct kv_op *ops;
    size_t count; /* 1 to KV_WRITE_OPS_MAX */
    void (*on_done)(struct kv_write *write);
    /* Whether the write took place; each operation has its outcome either
     * way. */
    bool is_done;
    /* Private. */
    struct mailbox_note note;
    struct mailbox *mailbox;
    struct kv_write *next;
    size_t bytes;
};

/* What a write weighs, for a queue. Sizes and counts are within the limits:
 * that is asserted. */
size_t kv_write_weigh(const struct kv_write *write);

/* Sets the outcomes of a write that was not done, for this reason. */
void kv_write_set_outcomes(struct kv_write *write, enum kv_outcome outcome);

/* --- Changes ------------------------------------------------------------- */

enum kv_event_kind {
    KV_EVENT_PUT,    /* or added to */
    KV_EVENT_DELETE, /* somebody deleted it */
    KV_EVENT_EXPIRE, /* its time was over, and it has been removed */
    KV_EVENT_RESET   /* what the watcher knows may be out of date: it lists the
                        keys, and goes on with the events that come next */
};

struct kv_event {
    enum kv_event_kind kind;
    uint64_t number;       /* to resume from: the revision; 0: it cannot be */
    struct kv_entry entry; /* but for a reset; of a put, all of it */
    char room[KV_KEY_BYTES_MAX + KV_TYPE_BYTES_MAX]; /* what entry points at */
};

/* A watch for changes of keys that begin with prefix. Without since its first
 * event is a reset. */
struct kv_watch {
    struct bytes prefix; /* at most KV_KEY_BYTES_MAX */
    bool has_since;
    uint64_t since; /* changes behind this one */
    void (*on_done)(struct kv_watch *watch);
    void (*on_change)(struct kv_watch *watch); /* kv_watch_next() may know */
    /* The answer: KV_FOUND; KV_UNSUPPORTED, KV_UNREACHABLE, KV_BUSY,
     * KV_ERROR. Where it is another one later, nothing more will come. */
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
    KV_WATCH_MORE, /* none so far, but it has not looked at all there are */
    KV_WATCH_LATER /* none; on_change will be called */
};

/* What comes next of a watch that was answered with KV_FOUND. */
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
    void (*flush)(struct kv_client *client); /* NULL: nothing is kept back */
    void (*destroy)(struct kv_client *client);
};

/* The first member of an implementation's client. */
struct kv_client {
    const struct kv_client_ops *ops;
};

/* Asks for a value. True: the question is answered already, and on_done is not
 * called. False: on_done will be called. LMDB answers at once; another machine
 * could not. */
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

/* Returns as kv_client_get() does. A write is answered at once only when it
 * cannot be taken in: is_done is false and all outcomes are the same: KV_BUSY,
 * KV_ERROR and the like. Once taken it cannot be taken back: who loses interest
 * keeps ops and what they point at until on_done, or until the store has
 * stopped. */
MUST_USE static inline bool kv_client_write(struct kv_client *client,
                                            struct kv_write *write)
{
    return client->ops->write(client, write);
}

/* Sends on its way what a client has kept back that gathers writes
 * (kv_lmdb_client_gather()). */
static inline void kv_client_flush(struct kv_client *client)
{
    if (client->ops->flush)
        client->ops->flush(client);
}

/* Returns as kv_client_get() does; the watch stays until kv_client_unwatch(),
 * whatever is answered, and before that too. */
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

/* NULL is accepted. Nothing is watched any more. */
static inline void kv_client_destroy(struct kv_client *client)
{
    if (client)
        client->ops->destroy(client);
}

#endif
