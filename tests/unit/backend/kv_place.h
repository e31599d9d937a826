/*
 * kv_place - a key-value store in a temporary folder, one worker's desk on it,
 * and a clock that the test moves.
 */
#ifndef UNIT_KV_PLACE_H
#define UNIT_KV_PLACE_H

#include "backend/kv_lmdb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <cmocka.h>

#include "../place.h"
#include "base/list.h"

#define KV_START_MS INT64_C(1700000000000)

static struct place place;
static struct kv_lmdb_options options;
static struct kv_lmdb *store;
static struct ev_loop *loop;
static struct mailbox *mailbox;
static struct kv_desk *desk;
static struct now now;           /* the desk's */
static _Atomic int64_t clock_ms; /* the writer's */

static inline void read_clock(struct now *out)
{
    *out = (struct now){.wall_ns = clock_ms * 1000000};
}

static inline void set_clock(int64_t ms)
{
    clock_ms = ms;
    now = (struct now){.wall_s = ms / 1000, .wall_ns = ms * 1000000};
}

static inline void open_store(void)
{
    assert_int_equal(kv_lmdb_open(&store, &options), 0);
    desk = kv_lmdb_desk_create(store, mailbox, &now);
    assert_non_null(desk);
}

static inline void close_store(void)
{
    kv_desk_destroy(desk);
    desk = NULL;
    kv_lmdb_close(store);
    store = NULL;
}

static inline void reopen_store(void)
{
    close_store();
    open_store();
}

/* The store that is opened next is this one of the place. */
static inline void choose_store(const char *name)
{
    static char path[PLACE_NAME_MAX + 16];

    snprintf(path, sizeof(path), "%s/%s", place.name, name);
    options.path = path;
}

static inline int set_up(void **state)
{
    (void)state;
    if (place_open(&place) != 0)
        return -1;
    set_clock(KV_START_MS);
    options = (struct kv_lmdb_options){.sync = KV_SYNC_OFF,
                                       .bytes_first = 1 << 20,
                                       .bytes_max = 1 << 28,
                                       .read_clock = read_clock};
    choose_store("kv");
    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    mailbox = mailbox_create(loop, 2, (struct mailbox_receiver){0});
    assert_non_null(mailbox);
    open_store();
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    close_store();
    mailbox_destroy(mailbox);
    ev_loop_destroy(loop);
    return place_close(&place);
}

/* --- Writing -------------------------------------------------------------- */

/* A write of one operation, and whether it was answered. */
struct asked {
    struct kv_write write;
    struct kv_op op;
    unsigned answers;
};

static inline void on_asked(struct kv_write *write)
{
    OWNER_OF(write, struct asked, write)->answers++;
}

static inline void ask(struct asked *asked, struct kv_op op)
{
    *asked = (struct asked){.op = op, .write = {.count = 1}};
    asked->write.ops = &asked->op;
    asked->write.on_done = on_asked;
    if (kv_desk_write(desk, &asked->write))
        asked->answers++;
}

static inline void wait_for(struct asked *asked)
{
    while (asked->answers == 0)
        ev_run(loop, EVRUN_ONCE);
    assert_int_equal(asked->answers, 1);
}

static inline struct kv_op do_op(struct kv_op op)
{
    struct asked asked;

    ask(&asked, op);
    wait_for(&asked);
    return asked.op;
}

static inline struct kv_op put_op(const char *key, const char *value)
{
    return (struct kv_op){
        .kind = KV_PUT, .key = bytes_of(key), .value = bytes_of(value)};
}

static inline struct kv_op delete_op(const char *key)
{
    return (struct kv_op){.kind = KV_DELETE, .key = bytes_of(key)};
}

/* Returns the revision. */
static inline uint64_t put(const char *key, const char *value)
{
    struct kv_op op = do_op(put_op(key, value));

    assert_true(op.outcome == KV_CREATED || op.outcome == KV_REPLACED);
    return op.meta.revision;
}

static inline uint64_t put_for(const char *key, const char *value,
                               uint64_t ttl_ms)
{
    struct kv_op op = put_op(key, value);

    op.ttl_ms = ttl_ms;
    op = do_op(op);
    assert_true(op.outcome == KV_CREATED || op.outcome == KV_REPLACED);
    return op.meta.revision;
}

/* Whether all of it was done. */
static inline bool do_ops(struct kv_op *ops, size_t count)
{
    struct asked asked = {.write = {.ops = ops, .count = count}};

    asked.write.on_done = on_asked;
    if (kv_desk_write(desk, &asked.write))
        asked.answers++;
    wait_for(&asked);
    return asked.write.is_done;
}

/* --- Reading -------------------------------------------------------------- */

/* NULL: missing. */
static inline struct kv_value *get_bytes(struct bytes key)
{
    struct kv_get get = {.key = key};

    assert_true(kv_desk_get(desk, &get));
    assert_true(get.outcome == KV_FOUND || get.outcome == KV_MISSING);
    assert_true((get.outcome == KV_FOUND) == (get.value != NULL));
    return get.value;
}

static inline void assert_value(const char *key, const char *expected)
{
    struct kv_value *value = get_bytes(bytes_of(key));

    assert_non_null(value);
    assert_true(bytes_eq(value->data, bytes_of(expected)));
    assert_int_equal(value->bytes, strlen(expected));
    kv_value_release(&value);
}

static inline void assert_missing(const char *key)
{
    assert_null(get_bytes(bytes_of(key)));
}

static inline struct kv_lmdb_counts count(void)
{
    struct kv_lmdb_counts counts;

    kv_lmdb_count(store, &counts);
    return counts;
}

#endif
