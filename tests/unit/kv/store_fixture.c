#include "unit/kv/store_fixture.h"

#include <stdatomic.h>

#include "base/list.h"

struct place place;
struct kv_lmdb_options options;
struct kv_lmdb *store;
struct ev_loop *loop;
struct mailbox *mailbox;
struct kv_client *client;
struct now now;
_Atomic int64_t clock_ms;

static void read_clock(struct now *out)
{
    *out = (struct now){.wall_ns = clock_ms * 1000000};
}

void set_clock(int64_t ms)
{
    clock_ms = ms;
    now = (struct now){.wall_s = ms / 1000, .wall_ns = ms * 1000000};
}

void open_store(void)
{
    assert_int_equal(kv_lmdb_open(&store, &options), 0);
    client = kv_lmdb_client_create(store, mailbox, &now);
    assert_non_null(client);
}

void close_store(void)
{
    kv_client_destroy(client);
    client = NULL;
    kv_lmdb_close(store);
    store = NULL;
}

void reopen_store(void)
{
    close_store();
    open_store();
}

void choose_store(const char *name)
{
    static char path[PLACE_NAME_MAX + 16];

    snprintf(path, sizeof(path), "%s/%s", place.name, name);
    options.path = path;
}

int set_up(void **state)
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

int tear_down(void **state)
{
    (void)state;
    close_store();
    mailbox_destroy(mailbox);
    ev_loop_destroy(loop);
    return place_close(&place);
}

/* --- Writing -------------------------------------------------------------- */

static void on_asked(struct kv_write *write)
{
    OWNER_OF(write, struct asked, write)->answers++;
}

void ask(struct asked *asked, struct kv_op op)
{
    *asked = (struct asked){.op = op, .write = {.count = 1}};
    asked->write.ops = &asked->op;
    asked->write.on_done = on_asked;
    if (kv_client_write(client, &asked->write))
        asked->answers++;
}

void wait_for(struct asked *asked)
{
    while (asked->answers == 0)
        ev_run(loop, EVRUN_ONCE);
    assert_int_equal(asked->answers, 1);
}

struct kv_op do_op(struct kv_op op)
{
    struct asked asked;

    ask(&asked, op);
    wait_for(&asked);
    return asked.op;
}

struct kv_op put_op(const char *key, const char *value)
{
    return (struct kv_op){
        .kind = KV_PUT, .key = bytes_of(key), .value = bytes_of(value)};
}

struct kv_op delete_op(const char *key)
{
    return (struct kv_op){.kind = KV_DELETE, .key = bytes_of(key)};
}

uint64_t put(const char *key, const char *value)
{
    struct kv_op op = do_op(put_op(key, value));

    assert_true(op.outcome == KV_CREATED || op.outcome == KV_REPLACED);
    return op.meta.revision;
}

uint64_t put_for(const char *key, const char *value, uint64_t ttl_ms)
{
    struct kv_op op = put_op(key, value);

    op.ttl_ms = ttl_ms;
    op = do_op(op);
    assert_true(op.outcome == KV_CREATED || op.outcome == KV_REPLACED);
    return op.meta.revision;
}

bool do_ops(struct kv_op *ops, size_t count)
{
    struct asked asked = {.write = {.ops = ops, .count = count}};

    asked.write.on_done = on_asked;
    if (kv_client_write(client, &asked.write))
        asked.answers++;
    wait_for(&asked);
    return asked.write.is_done;
}

/* --- Reading -------------------------------------------------------------- */

struct kv_value *get_bytes(struct bytes key)
{
    struct kv_get get = {.key = key};

    assert_true(kv_client_get(client, &get));
    assert_true(get.outcome == KV_FOUND || get.outcome == KV_MISSING);
    assert_true((get.outcome == KV_FOUND) == (get.value != NULL));
    return get.value;
}

void assert_value(const char *key, const char *expected)
{
    struct kv_value *value = get_bytes(bytes_of(key));

    assert_non_null(value);
    assert_true(bytes_eq(value->data, bytes_of(expected)));
    assert_int_equal(value->bytes, strlen(expected));
    kv_value_release(&value);
}

void assert_missing(const char *key)
{
    assert_null(get_bytes(bytes_of(key)));
}

struct kv_lmdb_counts count(void)
{
    struct kv_lmdb_counts counts;

    kv_lmdb_count(store, &counts);
    return counts;
}
