/* link: -Wl,--wrap=fstatvfs,--wrap=kv_value_create */
#include "unit/kv/kv_disk.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <lmdb.h>

#include "unit/draw.h"
#include "wrap.h"

static bool has_no_memory; /* for a copy of a value */

WRAP(struct kv_value *, kv_value_create, size_t type_bytes, size_t data_bytes)
{
    return has_no_memory ? NULL
                         : __real_kv_value_create(type_bytes, data_bytes);
}

TEST(the_map_grows_by_itself)
{
    static char data[LARGE_BYTES];
    uint64_t before = count().map_bytes;

    assert_int_equal(before, 1 << 20);
    ask_all(WAITING, (struct bytes){data, sizeof(data)});
    assert_int_equal(wait_for_all(WAITING, KV_CREATED), WAITING);
    assert_int_equal(count().map_bytes, 1 << 25);
    reopen_store();
    assert_int_equal(count().keys, WAITING);
}

/* Large writes of a group fail, small ones do not; deletes make room. */
static void fill_up(enum kv_outcome expected)
{
    static char data[LARGE_BYTES];
    struct asked small;
    size_t fitted;

    ask_all(WAITING, (struct bytes){data, sizeof(data)});
    ask(&small, put_op("small", "value"));
    fitted = wait_for_all(WAITING, KV_CREATED);
    wait_for(&small);
    assert_true(fitted > 10 && fitted < WAITING);
    assert_int_equal(wait_for_all(WAITING, expected), WAITING - fitted);
    assert_int_equal(small.op.outcome, KV_CREATED);
    assert_value("small", "value"); /* reads go on */
    assert_int_equal(count().keys, fitted + 1);
    for (size_t i = 0; i < fitted; i++)
        assert_int_equal(do_op(delete_op(names[i])).outcome, KV_DELETED);
    assert_int_equal(do_op(waiting[WAITING - 1].op).outcome, KV_CREATED);
    reopen_store();
    assert_int_equal(count().keys, 2);
}

TEST(what_does_not_fit_in_the_map_fails_alone)
{
    options.bytes_max = 1 << 22;
    reopen_store();
    fill_up(KV_FULL);
    assert_true(count().used_bytes <= (1 << 22) + (1 << 18));
}

TEST(a_map_full_to_the_last_page_can_be_emptied)
{
    char key[16];
    unsigned fitted = 0;
    uint64_t used;

    options.bytes_max = 1 << 20;
    reopen_store();
    for (;; fitted++) {
        struct kv_op op;

        snprintf(key, sizeof(key), "%u", fitted);
        op = do_op(put_op(key, "a value of some length, to fill the pages"));
        if (op.outcome == KV_FULL)
            break;
        assert_int_equal(op.outcome, KV_CREATED);
    }
    assert_true(fitted > 1000);
    for (unsigned i = 0; i < fitted; i++) {
        snprintf(key, sizeof(key), "%u", i);
        assert_int_equal(do_op(delete_op(key)).outcome, KV_DELETED);
    }
    used = count().used_bytes;
    assert_true(used <= (1 << 20) + (1 << 18));
    put("key", "value");
}

TEST(a_batch_without_room_leaves_nothing_behind)
{
    static char data[LARGE_BYTES];
    struct kv_op ops[60];

    options.bytes_max = 1 << 22;
    reopen_store();
    put("key-0", "old");
    for (size_t i = 0; i < 60; i++) {
        snprintf(names[i], sizeof(names[i]), "key-%zu", i);
        ops[i] = put_op(names[i], "");
        ops[i].value = (struct bytes){data, sizeof(data)};
    }
    assert_false(do_ops(ops, 60));
    for (size_t i = 0; i < 60; i++)
        assert_int_equal(ops[i].outcome, KV_FULL);
    assert_int_equal(count().keys, 1);
    assert_value("key-0", "old");
}

TEST(what_finds_no_room_on_the_disk_fails_alone)
{
    options.sync = KV_SYNC_FULL;
    reopen_store();
    disk_bytes = 3 << 20;
    fill_up(KV_FULL);
}

TEST(a_write_cut_short_by_a_full_disk_is_no_broken_disk)
{
    disk_bytes = 3 << 20;
    writes_short = true;
    fill_up(KV_FULL);
}

/* The disk was full, and has room again before anybody looks. */
TEST(a_write_cut_short_for_a_moment_is_no_broken_disk)
{
    options.sync = KV_SYNC_FULL;
    reopen_store();
    put("old", "value");
    for (int i = 0; i < 3; i++) {
        short_writes = 1;
        assert_int_equal(do_op(put_op("new", "value")).outcome, KV_FULL);
        assert_int_equal(short_writes, 0);
        assert_missing("new");
        assert_value("old", "value");
        put("old", "value");
    }
    put("new", "value");
    reopen_store();
    assert_value("old", "value");
    assert_value("new", "value");
}

/* The disk says nothing of room, only that it has not taken all. */
TEST(a_write_cut_short_by_a_disk_that_fails_is_one)
{
    options.sync = KV_SYNC_FULL;
    reopen_store();
    put("old", "value");
    short_writes = 1;
    sync_errno = EIO;
    assert_int_equal(do_op(put_op("new", "value")).outcome, KV_ERROR);
    sync_errno = 0;
    assert_int_equal(do_op(put_op("new", "value")).outcome, KV_ERROR);
    assert_value("old", "value");
}

TEST(a_sync_that_is_interrupted_is_no_broken_disk)
{
    options.sync = KV_SYNC_FULL;
    reopen_store();
    put("old", "value");
    sync_errno = EINTR;
    assert_int_equal(do_op(put_op("new", "value")).outcome, KV_BUSY);
    assert_missing("new");
    sync_errno = 0;
    put("new", "value");
    reopen_store();
    assert_value("new", "value");
}

/* Writes are answered before their sync. Returns how many syncs there were. */
static unsigned sync_often(void)
{
    options.sync = KV_SYNC_INTERVAL;
    options.sync_interval_ms = 1;
    reopen_store();
    return count_syncs();
}

TEST(a_sync_of_what_was_answered_is_repeated_if_it_is_interrupted)
{
    struct kv_op op = put_op("key", "value");
    unsigned syncs = sync_often();

    sync_errno = EINTR;
    assert_int_equal(do_op(op).outcome, KV_CREATED);
    for (int ms = 0; ms < 10000 && count_syncs() < syncs + 3; ms++)
        usleep(1000);
    sync_errno = 0;
    assert_true(count_syncs() >= syncs + 3);
    assert_int_equal(do_op(op).outcome, KV_REPLACED);
}

/* The first write beyond it is cut short, and the disk has room. */
TEST(a_limit_on_the_size_of_files_is_no_broken_disk)
{
    struct rlimit whole, little;

    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &whole), 0);
    little = (struct rlimit){(3 << 20) + 100, whole.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    fill_up(KV_FULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &whole), 0);
}

/* The store has a small file system of its own, until leave_small_disk(). False:
 * that is not allowed here. */
static bool take_small_disk(void)
{
    close_store();
    if (unshare(CLONE_NEWNS) == -1 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 ||
        mount("tmpfs", options.path, "tmpfs", 0, "size=4m") == -1) {
        open_store();
        return false;
    }
    open_store();
    return true;
}

static void leave_small_disk(void)
{
    close_store();
    assert_int_equal(umount(options.path), 0);
    open_store();
}

TEST(a_file_system_that_is_full_is_survived)
{
    if (!take_small_disk())
        skip();
    disk_bytes = 0;
    fill_up(KV_FULL);
    leave_small_disk();
}

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", options.path, name);
    return path;
}

/* Fills the small disk up by a file of another's. */
static int fill_disk(void)
{
    static char data[4096];
    int fd = open(path_of("other"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd != -1);
    while (write(fd, data, sizeof(data)) == (ssize_t)sizeof(data))
        continue;
    assert_int_equal(errno, ENOSPC);
    return fd;
}

/* Each has a place in a table that is mapped. */
TEST(clients_find_their_places_on_a_full_disk)
{
    enum { PLACES = 120 };
    struct kv_client *clients[PLACES];
    int fd;

    if (!take_small_disk())
        skip();
    put("key", "value");
    fd = fill_disk();
    for (size_t i = 0; i < PLACES; i++) {
        clients[i] = kv_lmdb_client_create(store, mailbox, &now);
        assert_non_null(clients[i]);
    }
    assert_value("key", "value");
    for (size_t i = 0; i < PLACES; i++)
        kv_client_destroy(clients[i]);
    close(fd);
    leave_small_disk();
}

/* Its table of places has been lost, as in a copy of the data alone. */
TEST(a_store_whose_table_finds_no_room_is_not_opened)
{
    struct kv_lmdb *other;
    int fd;

    if (!take_small_disk())
        skip();
    put("key", "value");
    fd = fill_disk();
    reopen_store();
    assert_value("key", "value");
    close_store();
    assert_int_equal(unlink(path_of("lock.mdb")), 0);
    while (write(fd, "other", 5) > 0)
        continue;
    assert_int_equal(kv_lmdb_open(&other, &options), -ENOSPC);
    assert_int_equal(ftruncate(fd, 0), 0);
    open_store();
    assert_value("key", "value");
    close(fd);
    leave_small_disk();
}

TEST(without_memory_a_write_is_not_done_and_may_come_again)
{
    options.sync = KV_SYNC_FULL;
    reopen_store();
    put("old", "value");
    write_errno = ENOMEM;
    assert_int_equal(do_op(put_op("new", "value")).outcome, KV_BUSY);
    assert_missing("new");
    assert_value("old", "value");
    write_errno = 0;
    put("new", "value");
    reopen_store();
    assert_value("new", "value");
}

TEST(without_memory_a_value_may_be_asked_for_again)
{
    struct kv_get get = {.key = BYTES("key")};

    put("key", "value");
    has_no_memory = true;
    assert_true(kv_client_get(client, &get));
    has_no_memory = false;
    assert_int_equal(get.outcome, KV_BUSY);
    assert_value("key", "value");
}

TEST(after_a_failed_sync_nothing_is_written_any_more)
{
    options.sync = KV_SYNC_FULL;
    reopen_store();
    put("old", "value");
    sync_errno = EIO;
    assert_int_equal(do_op(put_op("new", "value")).outcome, KV_ERROR);
    sync_errno = 0;
    assert_int_equal(do_op(put_op("newer", "value")).outcome, KV_ERROR);
    assert_value("old", "value");
    reopen_store();
    assert_value("old", "value");
    assert_missing("newer");
    put("newer", "value");
}

/* A file system that copies what is written over may have no room for that. */
TEST(a_commit_without_room_for_its_last_page_is_not_done)
{
    options.sync = KV_SYNC_FULL;
    reopen_store();
    put("old", "value");
    for (unsigned i = 0; i < 3; i++) {
        meta_errno = ENOSPC;
        assert_int_equal(do_op(put_op("new", "value")).outcome, KV_FULL);
        assert_missing("new");
        assert_value("old", "value");
        meta_errno = 0;
        put("old", "value");
        assert_int_equal(count().keys, 1);
    }
    put("new", "value");
    reopen_store();
    assert_value("old", "value");
    assert_value("new", "value");
}

TEST(what_a_disk_does_not_write_any_more_is_still_read)
{
    options.sync = KV_SYNC_FULL;
    reopen_store();
    put("old", "value");
    meta_errno = EIO;
    assert_int_equal(do_op(put_op("new", "value")).outcome, KV_ERROR);
    meta_errno = 0;
    assert_int_equal(do_op(put_op("newer", "value")).outcome, KV_ERROR);
    assert_value("old", "value");
    assert_missing("new");
    reopen_store();
    assert_value("old", "value");
    put("newer", "value");
}

TEST(after_a_failed_sync_of_what_was_answered_neither)
{
    struct kv_op op = put_op("key", "value");
    unsigned syncs = sync_often();

    sync_errno = ENOSPC;
    assert_int_equal(do_op(op).outcome, KV_CREATED);
    wait_for_syncs(syncs + 1);
    while (do_op(op).outcome == KV_REPLACED)
        usleep(1000);
    assert_int_equal(do_op(op).outcome, KV_ERROR);
    assert_value("key", "value");
}

TEST(a_value_held_for_long_does_not_let_the_file_grow)
{
    static char data[10000];
    struct kv_op op = put_op("key", "");
    struct kv_value *held;

    op.value = (struct bytes){data, sizeof(data)};
    do_op(op);
    held = get_bytes(BYTES("key"));
    for (unsigned i = 0; i < 2000; i++)
        assert_int_equal(do_op(op).outcome, KV_REPLACED);
    assert_true(count().used_bytes < 1 << 18);
    kv_value_release(&held);
}

/* A transaction of another process, as an export has one. */
static pid_t begin_reading_elsewhere(void)
{
    int ends[2];
    char word;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child != -1);
    if (child == 0) {
        MDB_env *env;
        MDB_txn *txn;

        if (mdb_env_create(&env) != 0 ||
            mdb_env_open(env, options.path, MDB_RDONLY, 0) != 0 ||
            mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) != 0 ||
            write(ends[1], "r", 1) != 1)
            _exit(1);
        pause();
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &word, 1), 1);
    close(ends[0]);
    return child;
}

TEST(a_reader_that_was_killed_does_not_let_the_file_grow)
{
    static char data[10000];
    struct kv_op op = put_op("key", "");
    pid_t reader;

    close_store(); /* no thread of ours is there when it forks */
    reader = begin_reading_elsewhere();
    open_store();
    op.value = (struct bytes){data, sizeof(data)};
    for (unsigned i = 0; i < 20; i++)
        do_op(op);
    assert_true(count().used_bytes > 10 * sizeof(data));
    assert_int_equal(kill(reader, SIGKILL), 0);
    assert_int_equal(waitpid(reader, NULL, 0), reader);
    for (unsigned i = 0; i < 2000; i++)
        assert_int_equal(do_op(op).outcome, KV_REPLACED);
    assert_true(count().map_bytes <= 1 << 20);
}

/* What it kept is all the room that there is. */
TEST(a_reader_that_was_killed_takes_no_room_on_a_full_disk)
{
    static char data[10000];
    struct kv_op op = put_op("key", "");
    pid_t reader;

    close_store();
    reader = begin_reading_elsewhere();
    open_store();
    op.value = (struct bytes){data, sizeof(data)};
    for (unsigned i = 0; i < 40; i++)
        do_op(op);
    disk_bytes = (off_t)count().used_bytes;
    assert_int_equal(do_op(op).outcome, KV_FULL);
    assert_int_equal(kill(reader, SIGKILL), 0);
    assert_int_equal(waitpid(reader, NULL, 0), reader);
    (void)do_op(op); /* it finds out */
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(do_op(op).outcome, KV_REPLACED);
    assert_int_equal(do_op(delete_op("key")).outcome, KV_DELETED);
}

/* A delete needs pages before it gives any back. */
TEST(deletes_find_room_in_a_file_that_cannot_grow)
{
    enum { KEYS = 600, WRITES = 900, FILE_BYTES = (1 << 20) + 100, SEEDS = 12 };
    static char data[9000];
    struct rlimit whole, little;

    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &whole), 0);
    little = (struct rlimit){FILE_BYTES, whole.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        unsigned refused = 0;
        char key[16];

        draw_seed = seed;
        for (unsigned i = 0; i < WRITES; i++) {
            struct kv_op op;

            snprintf(key, sizeof(key), "%u", draw(KEYS));
            op = put_op(key, "");
            op.value = (struct bytes){data, draw(sizeof(data))};
            refused += do_op(op).outcome == KV_FULL;
        }
        assert_true(refused > 0);
        for (unsigned i = 0; i < KEYS; i++) {
            enum kv_outcome outcome;

            snprintf(key, sizeof(key), "%u", i);
            outcome = do_op(delete_op(key)).outcome;
            assert_true(outcome == KV_DELETED || outcome == KV_MISSING);
        }
        assert_int_equal(count().keys, 0);
        assert_int_equal(do_op(put_op("again", "value")).outcome, KV_CREATED);
        assert_int_equal(do_op(delete_op("again")).outcome, KV_DELETED);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &whole), 0);
}

SUITE(.each_begin = set_up, .each_end = heal_and_tear_down);
