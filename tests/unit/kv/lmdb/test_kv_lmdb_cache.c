/* link: -Wl,--wrap=mdb_get,--wrap=mdb_txn_commit */
#include "unit/kv/store_fixture.h"

#include <pthread.h>
#include <sys/syscall.h>

#include <lmdb.h>

#include "wrap.h"

/* --- LMDB, with a hook before and behind ---------------------------------- */

static pthread_t test_thread;
static void (*when_looked)(void); /* between what a reader sees and his fill */
static atomic_int commit_rc;      /* what the writer's commits come to */
static atomic_uint looks;         /* of readers */
static atomic_bool holds_syncs;
static atomic_bool is_syncing;

WRAP(int, mdb_get, MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data)
{
    int rc = __real_mdb_get(txn, dbi, key, data);
    void (*hook)(void) = when_looked;

    if (!pthread_equal(pthread_self(), test_thread))
        return rc;
    looks++;
    when_looked = NULL;
    if (hook)
        hook();
    return rc;
}

WRAP(int, mdb_txn_commit, MDB_txn *txn)
{
    if (commit_rc == 0)
        return __real_mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return commit_rc;
}

/* The program's own comes before the C library's, for LMDB too. */
int fdatasync(int fd)
{
    while (holds_syncs) {
        is_syncing = true;
        usleep(1000);
    }
    is_syncing = false;
    return (int)syscall(SYS_fdatasync, fd);
}

static int set_up_cache(void **state)
{
    test_thread = pthread_self();
    if (set_up(state) != 0)
        return -1;
    options.cache = (struct kv_cache_options){EVICT_SIEVE, 1 << 20, 4};
    reopen_store();
    looks = 0;
    return 0;
}

static int heal_and_tear_down(void **state)
{
    when_looked = NULL;
    commit_rc = 0;
    holds_syncs = false;
    return tear_down(state);
}

/* Whether reading it asks LMDB for nothing. */
static bool is_inside(const char *key)
{
    unsigned before = looks;
    struct kv_value *value = get_bytes(bytes_of(key));

    kv_value_release(&value);
    return looks == before;
}

/* --- Reading -------------------------------------------------------------- */

TEST(what_was_got_once_comes_from_memory)
{
    put("key", "value");
    assert_value("key", "value");
    assert_int_equal(looks, 1);
    assert_value("key", "value");
    assert_int_equal(looks, 1);
    assert_int_equal(count().cache.hits, 1);
    assert_int_equal(count().cache.misses, 1);
    assert_int_equal(count().cache.fills, 1);
    assert_int_equal(count().cache.entries, 1);
}

TEST(without_a_cache_each_get_asks_the_store)
{
    options.cache.bytes_max = 0;
    reopen_store();
    looks = 0;
    put("key", "value");
    assert_value("key", "value");
    assert_value("key", "value");
    assert_int_equal(looks, 2);
    assert_int_equal(count().cache.misses, 0);
}

TEST(that_a_key_is_missing_is_not_kept)
{
    assert_missing("key");
    assert_false(is_inside("key"));
    assert_int_equal(count().cache.entries, 0);
    assert_missing("");
    assert_int_equal(count().cache.misses,
                     2); /* what no key is, is not asked */
}

TEST(a_value_without_its_data_is_answered_but_not_kept)
{
    struct kv_get get = {.key = BYTES("key"), .without_data = true};

    put("key", "value");
    for (unsigned i = 0; i < 3; i++) {
        assert_true(kv_client_get(client, &get));
        assert_int_equal(get.outcome, KV_FOUND);
        assert_int_equal(get.value->bytes, 5);
        kv_value_release(&get.value);
        assert_int_equal(looks, i < 2 ? i + 1 : 3);
        if (i == 1)
            assert_value("key", "value"); /* this one fills */
    }
}

TEST(what_expires_in_memory_is_missing_at_once)
{
    put_for("key", "value", 1000);
    assert_value("key", "value");
    set_clock(KV_START_MS + 999);
    assert_true(is_inside("key"));
    assert_value("key", "value");
    now.wall_ns = (KV_START_MS + 1000) * 1000000;
    assert_missing("key"); /* the writer does not know yet */
}

TEST(what_is_swept_leaves_memory_too)
{
    options.sweep_ms = 1;
    reopen_store();
    put_for("key", "value", 1000);
    assert_value("key", "value");
    set_clock(KV_START_MS + 1000);
    while (count().swept == 0)
        usleep(1000);
    assert_int_equal(count().cache.entries, 0);
    assert_missing("key");
}

/* --- Writing -------------------------------------------------------------- */

TEST(a_write_is_seen_at_once)
{
    for (unsigned i = 0; i < 100; i++) {
        char text[16];

        snprintf(text, sizeof(text), "%u", i);
        put("key", text);
        assert_value("key", text);
        assert_value("key", text);
    }
    assert_int_equal(do_op(delete_op("key")).outcome, KV_DELETED);
    assert_missing("key");
    assert_int_equal(count().cache.hits, 100);
    assert_int_equal(count().cache.entries, 0);
}

TEST(a_key_that_the_store_names_is_seen_too)
{
    struct kv_op op = put_op("log/", "value");
    char key[64];

    op.kind = KV_PUT_NAMED;
    op = do_op(op);
    snprintf(key, sizeof(key), "log/%.*s", KV_NAME_BYTES, op.name);
    assert_value(key, "value");
    assert_true(is_inside(key));
}

TEST(a_batch_is_seen_whole_or_not_at_all)
{
    struct kv_op ops[] = {
        put_op("a", "new"),
        delete_op("b"),
        {.kind = KV_CHECK, .condition = KV_IF_MISSING, .key = BYTES("c")}};

    put("a", "old");
    put("b", "old");
    put("c", "old");
    for (unsigned i = 0; i < 2; i++) {
        assert_value("a", "old");
        assert_value("b", "old");
    }
    assert_false(do_ops(ops, 3));
    assert_value("a", "old");
    assert_value("b", "old");
    ops[2].condition = KV_IF_PRESENT;
    assert_true(do_ops(ops, 3));
    assert_value("a", "new");
    assert_missing("b");
}

TEST(what_only_checks_leaves_memory_as_it_is)
{
    struct kv_op op = put_op("key", "other");

    put("key", "value");
    assert_value("key", "value");
    op.condition = KV_IF_MISSING;
    assert_int_equal(do_op(op).outcome, KV_PRECONDITION);
    assert_true(is_inside("key"));
}

/* A group's halves are tried, down to each alone. */
TEST(after_a_failed_commit_the_old_value_is_read)
{
    static struct asked asked[7];

    put("key", "old");
    assert_value("key", "old");
    commit_rc = ENOSPC;
    for (unsigned i = 0; i < 7; i++)
        ask(&asked[i], put_op("key", "new"));
    for (unsigned i = 0; i < 7; i++) {
        wait_for(&asked[i]);
        assert_int_equal(asked[i].op.outcome, KV_FULL);
    }
    commit_rc = 0;
    assert_value("key", "old");
    assert_true(is_inside("key")); /* the write has ended */
    put("key", "new");
    assert_value("key", "new");
}

/* --- Races ---------------------------------------------------------------- */

static void put_new(void)
{
    put("key", "new");
}

static void delete_it(void)
{
    assert_int_equal(do_op(delete_op("key")).outcome, KV_DELETED);
}

TEST(what_was_looked_up_before_a_write_is_not_kept_after_it)
{
    put("key", "old");
    when_looked = put_new;
    assert_value("key", "old"); /* he came before */
    assert_value("key", "new");
    put("key", "old");
    when_looked = delete_it;
    assert_value("key", "old");
    assert_missing("key");
}

TEST(while_a_commit_is_under_way_nothing_of_it_is_kept)
{
    static struct asked asked;

    options.sync = KV_SYNC_FULL;
    reopen_store();
    put("key", "old");
    put("other", "old");
    assert_value("key", "old");
    assert_value("other", "old");
    holds_syncs = true;
    ask(&asked, put_op("key", "new"));
    while (!is_syncing)
        usleep(1000);
    assert_value("key", "old"); /* it is not on disk */
    assert_false(is_inside("key"));
    assert_true(is_inside("other"));
    holds_syncs = false;
    wait_for(&asked);
    assert_value("key", "new");
    assert_true(is_inside("key"));
}

/* --- Several workers ------------------------------------------------------ */

enum { WORKERS = 3, KEYS = 20, ROUNDS = 300 };

static char keys[KEYS][16];
static _Atomic uint64_t floors[KEYS]; /* acknowledged, or seen */
static atomic_bool is_over;

static void raise_to(_Atomic uint64_t *number, uint64_t to)
{
    uint64_t is = *number;

    while (is < to && !atomic_compare_exchange_weak(number, &is, to))
        ;
}

/* cmocka's assertions are the main thread's: NULL is good. */
static void *read_on(void *context)
{
    struct now then = now;
    struct kv_client *own = kv_lmdb_client_create(store, mailbox, &then);
    void *fault = own ? NULL : context;

    for (unsigned i = 0; own && !fault && !is_over; i++) {
        unsigned at = i % KEYS;
        struct kv_get get = {.key = bytes_of(keys[at])};
        uint64_t floor = floors[at];

        if (!kv_client_get(own, &get) || get.outcome != KV_FOUND ||
            get.value->meta.revision < floor)
            fault = context;
        else
            raise_to(&floors[at], get.value->meta.revision);
        kv_value_release(&get.value);
    }
    kv_client_destroy(own);
    return fault;
}

TEST(revisions_never_fall_whoever_reads)
{
    pthread_t threads[WORKERS];
    static struct asked asked[KEYS];
    void *fault;

    memset(floors, 0, sizeof(floors));
    is_over = false;
    for (unsigned i = 0; i < KEYS; i++) {
        snprintf(keys[i], sizeof(keys[i]), "key-%u", i);
        floors[i] = put(keys[i], "value");
    }
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_on, keys), 0);
    for (unsigned round = 0; round < ROUNDS || count().cache.hits < ROUNDS;
         round++) {
        for (unsigned i = 0; i < KEYS; i++)
            ask(&asked[i], put_op(keys[i], "value"));
        for (unsigned i = 0; i < KEYS; i++) {
            wait_for(&asked[i]);
            raise_to(&floors[i], asked[i].op.meta.revision);
        }
    }
    is_over = true;
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], &fault);
        assert_null(fault);
    }
}

SUITE(.each_begin = set_up_cache, .each_end = heal_and_tear_down);
