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
 * takes place gets a larger revision than all earlier ones of its key, and of
 * the whole store if one machine holds it. Keys are 1 to KV_KEY_BYTES_MAX
 * bytes, ordered as unsigned bytes.
 *
 * A key with a TTL expires: from that millisecond on every question finds it
 * missing. The implementation removes expired keys: LMDB by a sweep
 * (kv_lmdb_sweep.c; kv_lmdb_writer.c says when), Redis by itself.
 *
 * Thread: a client is its worker's. Callbacks come in the worker's loop.
 * Owns:   nothing but values, which are counted. The asker owns what a question
 *         points at, and leaves it untouched until the answer.
 */
#ifndef KV_KV_STORE_H
#define KV_KV_STORE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"
#include "io/mailbox.h"

enum {
    KV_KEY_BYTES_MAX = 511,  /* LMDB's limit, which all stores keep */
    KV_TYPE_BYTES_MAX = 255, /* a media type */
    KV_PAGE_ENTRIES_MAX = 1000,
    KV_PAGE_VALUE_BYTES_MAX = 64 << 10, /* longer values are left out */
    KV_PAGE_VALUES_BYTES = 128 << 10,   /* bytes of values that end a page */
    KV_CURSOR_BYTES_MAX = 1 + KV_KEY_BYTES_MAX,
    KV_NAME_BYTES = 16, /* length of a name made by KV_PUT_NAMED */
    KV_WRITE_OPS_MAX = 10000
};

#define KV_VALUE_BYTES_MAX ((size_t)64 << 20)

enum kv_outcome {
    KV_FOUND,        /* get: value is set */
    KV_CREATED,      /* put: the key was missing */
    KV_REPLACED,     /* put */
    KV_DELETED,      /* delete */
    KV_HELD,         /* check: the condition was true */
    KV_MISSING,      /* get, or delete of a missing key: no failure */
    KV_PRECONDITION, /* not done: revision is the present one; 0: missing */
    KV_NO_NUMBER,    /* not done: add to a value that is no number */
    KV_OVERFLOW,     /* not done: an add whose sum would be beyond 64 bits */
    KV_UNDONE,       /* not done, since another operation of the write failed */
    KV_FULL,         /* not done: no room in the map or on disk */
    KV_BUSY,         /* not asked: too many questions wait already */
    KV_CROSSED,      /* not done: the keys are on several cluster nodes */
    KV_UNREACHABLE,  /* not done: the store cannot be reached now */
    KV_UNSUPPORTED,  /* watch: this store does not tell changes */
    KV_TIMEOUT,      /* no answer came; a write may have taken place */
    KV_ERROR         /* not done, and logged; or the record is corrupt */
};

/* --- Values --------------------------------------------------------------- */

struct kv_meta {
    uint64_t revision;  /* the first one is 1 */
    int64_t stored_ms;  /* wall clock, since the epoch */
    int64_t expires_ms; /* wall clock, since the epoch; 0: never */
};

/* A copy of a value in one piece of memory, which never changes. Counted; any
 * thread may hold one. */
struct kv_value {
    struct kv_meta meta;
    size_t bytes;      /* the value's; data may have been left out */
    struct bytes type; /* may be empty */
    struct bytes data;
    atomic_uint refs; /* private */
};

/* Makes a value with one reference and room for type and data. The caller
 * writes both through kv_value_room(), the type first. NULL: no memory. */
MUST_USE struct kv_value *kv_value_create(size_t type_bytes, size_t data_bytes);
char *kv_value_room(struct kv_value *value);

struct kv_value *kv_value_acquire(struct kv_value *value);
void kv_value_release(struct kv_value **value_ref);

/* --- Questions ------------------------------------------------------------ */

struct kv_get {
    struct bytes key;
    bool without_data; /* for HEAD: value->data may be left out */
    /* NULL, or says whether data of such a value is wanted: a client that
     * answers at once then need not copy it. Not called for later answers. */
    bool (*wants_data)(const struct kv_get *get, const struct kv_meta *meta);
    void (*on_done)(struct kv_get *get);
    /* The answer: KV_FOUND, KV_MISSING, KV_ERROR; KV_BUSY, KV_UNREACHABLE,
     * KV_TIMEOUT. */
    enum kv_outcome outcome;
    struct kv_value *value; /* to be released by the asker */
};

struct kv_entry {
    struct bytes key; /* a key, or a common prefix with its delimiter */
    bool is_prefix;   /* if so, all below is zero */
    uint64_t value_bytes;
    struct kv_meta meta;
    struct bytes type;
    struct bytes value; /* if asked for; data is NULL: too long */
};

/* One page of a listing, in the order of keys. Keys that hold delimiter behind
 * prefix are listed once, as their common prefix. */
struct kv_page {
    struct bytes prefix;    /* may be empty */
    struct bytes delimiter; /* empty: no common prefixes */
    struct bytes after;     /* `next` of the page before; empty: from start */
    size_t limit;           /* 1 to KV_PAGE_ENTRIES_MAX */
    bool with_values;
    void (*on_done)(struct kv_page *page);
    /* The answer: KV_FOUND; KV_MISSING when after is no cursor; else one of a
     * get's failures. It lies in arena, which the asker initializes and
     * releases. A page may be short, even empty, and not the last: the work per
     * page is bounded, too. */
    enum kv_outcome outcome;
    struct kv_entry *entries;
    size_t count;
    struct bytes next;  /* a cursor, any bytes; empty: last page */
    size_t value_bytes; /* all values of the page */
    bool has_revision;
    uint64_t revision; /* the store's, as the page saw it */
    struct arena arena;
};

enum kv_op_kind {
    KV_PUT,
    KV_PUT_NAMED, /* key is a prefix, may be empty: the store names the key */
    /* Adds to a whole number (kv_integer.h); a missing key counts as 0. An
     * existing key keeps its type and expiry, a new one gets the
     * operation's. */
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
    enum kv_condition condition; /* KV_PUT_NAMED allows KV_IF_ANY only */
    uint64_t if_revision;
    struct bytes key;
    struct bytes value; /* this and the next two: of puts */
    struct bytes type;  /* at most KV_TYPE_BYTES_MAX */
    uint64_t ttl_ms;    /* 0: for ever */
    int64_t by;         /* what KV_ADD adds */
    /* The answer. */
    enum kv_outcome outcome;
    int64_t sum;              /* the result of KV_ADD */
    struct kv_meta meta;      /* new value's; a delete's: its revision; after a
                                 check or refusal: present value's */
    char name[KV_NAME_BYTES]; /* KV_PUT_NAMED: the key is prefix + name; no NUL;
                                 later names are larger */
};

/* Whether the present value forbids the operation, and so the whole write. */
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

/* The bytes that a write counts for in a queue. Asserts that sizes and counts
 * are within the limits. */
size_t kv_write_weigh(const struct kv_write *write);

/* Gives all operations of a write that was not done this outcome. */
void kv_write_set_outcomes(struct kv_write *write, enum kv_outcome outcome);

/* --- Changes ------------------------------------------------------------- */

enum kv_event_kind {
    KV_EVENT_PUT,    /* put, or added to */
    KV_EVENT_DELETE, /* deleted by a write */
    KV_EVENT_EXPIRE, /* removed, since its TTL was over */
    KV_EVENT_RESET   /* events were missed: the watcher lists the keys anew, and
                        goes on with the next events */
};

struct kv_event {
    enum kv_event_kind kind;
    uint64_t number;       /* number to resume from; 0: impossible */
    struct kv_entry entry; /* none for a reset; complete for a put */
    char room[KV_KEY_BYTES_MAX + KV_TYPE_BYTES_MAX]; /* entry's texts */
};

/* Watches changes of keys that begin with prefix. Without has_since, the first
 * event is a reset. */
struct kv_watch {
    struct bytes prefix; /* at most KV_KEY_BYTES_MAX */
    bool has_since;
    uint64_t since; /* changes behind this number */
    void (*on_done)(struct kv_watch *watch);
    void (*on_change)(struct kv_watch *watch); /* kv_watch_next() may succeed */
    /* The answer: KV_FOUND, KV_UNSUPPORTED, KV_UNREACHABLE, KV_BUSY or
     * KV_ERROR. If it is no longer KV_FOUND later, no more events come. */
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
    KV_WATCH_MORE, /* none so far, but there is more to search */
    KV_WATCH_LATER /* none; on_change will be called */
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

/* Returns as kv_client_get() does. A write is answered at once only when it is
 * rejected: is_done is false, and all outcomes are the same (KV_BUSY, KV_ERROR,
 * ...). A write cannot be cancelled: ops and what they point at must stay until
 * on_done, or until the store has stopped. */
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

/* Returns as kv_client_get() does. Whatever the answer, and even before it, the
 * watch must stay until kv_client_unwatch(). */
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

/* All watches must have ended. NULL is accepted. */
static inline void kv_client_destroy(struct kv_client *client)
{
    if (client)
        client->ops->destroy(client);
}

#endif
