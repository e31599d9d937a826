/* link: -Wl,--wrap=fstatvfs */
#include "kv_place.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { WAITING = 200, LARGE_BYTES = 100000 };

/* --- LMDB's system calls: a disk that the test has in its hands ----------- */

static pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool gate_is_open = true; /* guarded by gate_mutex */
static unsigned syncs_begun;     /* likewise */
static atomic_int sync_errno;
static _Atomic off_t disk_bytes; /* what a file may have; 0: no limit */
static atomic_bool writes_short; /* what does not fit is cut off, not refused */

static void set_gate(bool is_open)
{
    pthread_mutex_lock(&gate_mutex);
    gate_is_open = is_open;
    pthread_cond_broadcast(&gate_changed);
    pthread_mutex_unlock(&gate_mutex);
}

static unsigned count_syncs(void)
{
    unsigned begun;

    pthread_mutex_lock(&gate_mutex);
    begun = syncs_begun;
    pthread_mutex_unlock(&gate_mutex);
    return begun;
}

static void wait_for_syncs(unsigned count)
{
    pthread_mutex_lock(&gate_mutex);
    while (syncs_begun < count)
        pthread_cond_wait(&gate_changed, &gate_mutex);
    pthread_mutex_unlock(&gate_mutex);
}

/* The program's own come before the C library's, for LMDB too. */
int fdatasync(int fd)
{
    pthread_mutex_lock(&gate_mutex);
    syncs_begun++;
    pthread_cond_broadcast(&gate_changed);
    while (!gate_is_open)
        pthread_cond_wait(&gate_changed, &gate_mutex);
    pthread_mutex_unlock(&gate_mutex);
    errno = sync_errno;
    return errno != 0 ? -1 : (int)syscall(SYS_fdatasync, fd);
}

/* How many of len bytes at offset find room. */
static ssize_t room_at(off_t offset, size_t len)
{
    off_t limit = disk_bytes;

    if (limit == 0 || offset + (off_t)len <= limit)
        return (ssize_t)len;
    if (writes_short && offset < limit)
        return (ssize_t)(limit - offset);
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite(int fd, const void *from, size_t len, off_t offset)
{
    ssize_t room = room_at(offset, len);

    return room == -1 ? -1
                      : syscall(SYS_pwrite64, fd, from, (size_t)room, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count_of)
{
    size_t len = 0;
    ssize_t room;

    for (int i = 0; i < count_of; i++)
        len += parts[i].iov_len;
    room = room_at(lseek(fd, 0, SEEK_CUR), len);
    return room == -1 || room < (ssize_t)len
               ? room
               : syscall(SYS_writev, fd, parts, count_of);
}

int __real_fstatvfs(int fd, struct statvfs *fs);
int __wrap_fstatvfs(int fd, struct statvfs *fs);
int __wrap_fstatvfs(int fd, struct statvfs *fs)
{
    int rc = __real_fstatvfs(fd, fs);

    if (disk_bytes != 0)
        fs->f_bavail = 0;
    return rc;
}

static int heal_and_tear_down(void **state)
{
    set_gate(true);
    sync_errno = 0;
    disk_bytes = 0;
    writes_short = false;
    return tear_down(state);
}

/* --- Groups --------------------------------------------------------------- */

static struct asked waiting[WAITING];
static char names[WAITING][32];

static void ask_all(size_t count_of, struct bytes value)
{
    for (size_t i = 0; i < count_of; i++) {
        struct kv_op op;

        snprintf(names[i], sizeof(names[i]), "key-%zu", i);
        op = put_op(names[i], "");
        op.value = value;
        ask(&waiting[i], op);
    }
}

/* How many of them had that outcome. */
static size_t wait_for_all(size_t count_of, enum kv_outcome outcome)
{
    size_t equal = 0;

    for (size_t i = 0; i < count_of; i++) {
        wait_for(&waiting[i]);
        equal += waiting[i].op.outcome == outcome;
    }
    return equal;
}

/* Has the writer stand in the sync of a first write. */
static void hold_writer(struct asked *first)
{
    unsigned begun;

    options.sync = KV_SYNC_FULL;
    reopen_store();
    begun = count_syncs();
    set_gate(false);
    ask(first, put_op("first", "value"));
    wait_for_syncs(begun + 1);
}

static void all_that_waits_is_written_with_one_sync(void **state)
{
    struct asked first;
    uint64_t commits;
    unsigned syncs;

    (void)state;
    hold_writer(&first);
    commits = count().commits;
    syncs = count_syncs();
    ask_all(WAITING, BYTES("value"));
    assert_int_equal(count().queue_writes, WAITING + 1);
    set_gate(true);
    assert_int_equal(wait_for_all(WAITING, KV_CREATED), WAITING);
    wait_for(&first);
    assert_int_equal(count().commits - commits, 2);
    assert_int_equal(count_syncs() - syncs, 1);
    assert_int_equal(count().queue_writes, 0);
    assert_int_equal(count().queue_bytes, 0);
    assert_int_equal(count().writes, WAITING + 1);
}

static void nothing_is_answered_or_seen_before_it_is_on_disk(void **state)
{
    struct asked first;

    (void)state;
    hold_writer(&first);
    ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(first.answers, 0);
    assert_missing("first"); /* and reading waits for nobody */
    set_gate(true);
    wait_for(&first);
    assert_value("first", "value");
}

static void a_write_that_changes_nothing_costs_no_sync(void **state)
{
    struct kv_op op = put_op("key", "new");
    unsigned syncs;

    (void)state;
    options.sync = KV_SYNC_FULL;
    reopen_store();
    put("key", "value");
    syncs = count_syncs();
    op.condition = KV_IF_MISSING;
    assert_int_equal(do_op(op).outcome, KV_PRECONDITION);
    assert_int_equal(do_op(delete_op("none")).outcome, KV_MISSING);
    assert_int_equal(count_syncs(), syncs);
}

static void a_queue_that_is_full_refuses_at_once(void **state)
{
    struct asked first;

    (void)state;
    options.queue_writes_max = 3;
    hold_writer(&first);
    ask_all(3, BYTES("value"));
    assert_int_equal(waiting[1].answers, 0);
    assert_int_equal(waiting[2].answers, 1);
    assert_int_equal(waiting[2].op.outcome, KV_BUSY);
    set_gate(true);
    wait_for(&first);
    assert_int_equal(wait_for_all(2, KV_CREATED), 2);
    assert_missing("key-2");
    put("key-2", "value");
}

static void a_queue_holds_so_many_bytes_but_one_write_in_any_case(void **state)
{
    static char data[LARGE_BYTES];
    struct asked first;

    (void)state;
    options.queue_bytes_max = LARGE_BYTES * 3;
    hold_writer(&first);
    ask_all(4, (struct bytes){data, sizeof(data)});
    set_gate(true);
    wait_for(&first);
    assert_int_equal(wait_for_all(4, KV_CREATED), 2);
    assert_int_equal(waiting[2].op.outcome, KV_BUSY);
    options.queue_bytes_max = 1;
    hold_writer(&first); /* which is too large, but alone */
    ask_all(1, BYTES("value"));
    assert_int_equal(waiting[0].answers, 1);
    assert_int_equal(waiting[0].op.outcome, KV_BUSY);
    set_gate(true);
    wait_for(&first);
    put("key", "value");
}

static void a_stop_writes_what_waits_and_takes_no_more(void **state)
{
    struct asked late;

    (void)state;
    ask_all(WAITING, BYTES("value"));
    kv_lmdb_stop(store);
    assert_int_equal(wait_for_all(WAITING, KV_CREATED), WAITING);
    ask(&late, put_op("late", "value"));
    assert_int_equal(late.answers, 1);
    assert_int_equal(late.op.outcome, KV_ERROR);
    kv_lmdb_stop(store);
    reopen_store();
    assert_value("key-199", "value");
    assert_missing("late");
}

static void each_sync_mode_syncs_as_often_as_it_says(void **state)
{
    unsigned syncs = count_syncs();

    (void)state;
    put("off", "value");
    reopen_store();
    assert_int_equal(count_syncs(), syncs);
    options.sync = KV_SYNC_INTERVAL;
    options.sync_interval_ms = 1;
    reopen_store();
    put("interval", "value");
    wait_for_syncs(syncs + 1);
    options.sync_interval_ms = 1000000;
    reopen_store();
    syncs = count_syncs();
    put("interval", "other");
    assert_int_equal(count_syncs(), syncs);
    close_store(); /* what is not yet on disk is now */
    assert_int_equal(count_syncs(), syncs + 1);
    open_store();
}

/* --- Room ----------------------------------------------------------------- */

static void the_map_grows_by_itself(void **state)
{
    static char data[LARGE_BYTES];
    uint64_t before = count().map_bytes;

    (void)state;
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

static void what_does_not_fit_in_the_map_fails_alone(void **state)
{
    (void)state;
    options.bytes_max = 1 << 22;
    reopen_store();
    fill_up(KV_FULL);
    assert_true(count().used_bytes <= (1 << 22) + (1 << 18));
}

static void a_map_full_to_the_last_page_can_be_emptied(void **state)
{
    char key[16];
    unsigned fitted = 0;
    uint64_t used;

    (void)state;
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

static void a_batch_without_room_leaves_nothing_behind(void **state)
{
    static char data[LARGE_BYTES];
    struct kv_op ops[60];

    (void)state;
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

static void what_finds_no_room_on_the_disk_fails_alone(void **state)
{
    (void)state;
    options.sync = KV_SYNC_FULL;
    reopen_store();
    disk_bytes = 3 << 20;
    fill_up(KV_FULL);
}

static void a_write_cut_short_by_a_full_disk_is_no_broken_disk(void **state)
{
    (void)state;
    disk_bytes = 3 << 20;
    writes_short = true;
    fill_up(KV_FULL);
}

static void a_file_system_that_is_full_is_survived(void **state)
{
    (void)state;
    close_store();
    if (unshare(CLONE_NEWNS) == -1 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 ||
        mount("tmpfs", options.path, "tmpfs", 0, "size=4m") == -1) {
        open_store();
        skip();
    }
    open_store();
    disk_bytes = 0;
    fill_up(KV_FULL);
    close_store();
    assert_int_equal(umount(options.path), 0);
    open_store();
}

static void after_a_failed_sync_nothing_is_written_any_more(void **state)
{
    (void)state;
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

static void after_a_failed_sync_of_what_was_answered_neither(void **state)
{
    struct kv_op op = put_op("key", "value");
    unsigned syncs;

    (void)state;
    options.sync = KV_SYNC_INTERVAL;
    options.sync_interval_ms = 1;
    reopen_store();
    syncs = count_syncs();
    sync_errno = ENOSPC;
    assert_int_equal(do_op(op).outcome, KV_CREATED);
    wait_for_syncs(syncs + 1);
    while (do_op(op).outcome == KV_REPLACED)
        usleep(1000);
    assert_int_equal(do_op(op).outcome, KV_ERROR);
    assert_value("key", "value");
}

static void a_value_held_for_long_does_not_let_the_file_grow(void **state)
{
    static char data[10000];
    struct kv_op op = put_op("key", "");
    struct kv_value *held;

    (void)state;
    op.value = (struct bytes){data, sizeof(data)};
    do_op(op);
    held = get_bytes(BYTES("key"));
    for (unsigned i = 0; i < 2000; i++)
        assert_int_equal(do_op(op).outcome, KV_REPLACED);
    assert_true(count().used_bytes < 1 << 18);
    kv_value_release(&held);
}

/* --- Several workers ------------------------------------------------------ */

struct worker {
    pthread_t thread;
    unsigned number;
    bool is_good;
    atomic_bool *is_over;
};

/* Reads what the main thread writes, while the map moves. */
static void *read_on(void *context)
{
    struct worker *worker = context;
    struct now then = now;
    struct kv_desk *own = kv_lmdb_desk_create(store, mailbox, &then);
    uint64_t last = 0;

    worker->is_good = own != NULL;
    while (worker->is_good && !*worker->is_over) {
        struct kv_get get = {.key = BYTES("key-0")};
        struct kv_page page = {.limit = 10};

        worker->is_good = kv_desk_get(own, &get) && get.outcome == KV_FOUND &&
                          get.value->meta.revision >= last;
        if (get.value)
            last = get.value->meta.revision;
        kv_value_release(&get.value);
        worker->is_good &= kv_desk_list(own, &page) &&
                           page.outcome == KV_FOUND && page.count > 0;
        arena_fini(&page.arena);
    }
    kv_desk_destroy(own);
    return NULL;
}

static void other_workers_read_while_the_map_is_moved(void **state)
{
    static char data[LARGE_BYTES];
    struct worker workers[3];
    atomic_bool is_over = false;

    (void)state;
    put("key-0", "value");
    for (unsigned i = 0; i < 3; i++) {
        workers[i] = (struct worker){.number = i, .is_over = &is_over};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, read_on,
                                        &workers[i]),
                         0);
    }
    for (unsigned round = 0; round < 3; round++) {
        ask_all(WAITING, (struct bytes){data, sizeof(data)});
        wait_for_all(WAITING, KV_CREATED);
    }
    is_over = true;
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_true(workers[i].is_good);
    }
    assert_true(count().map_bytes > 1 << 20);
}

static void there_are_as_many_desks_as_was_said(void **state)
{
    struct kv_desk *second;

    (void)state;
    options.desks_max = 2;
    reopen_store();
    second = kv_lmdb_desk_create(store, mailbox, &now);
    assert_non_null(second);
    assert_null(kv_lmdb_desk_create(store, mailbox, &now));
    kv_desk_destroy(second);
    second = kv_lmdb_desk_create(store, mailbox, &now);
    assert_non_null(second);
    kv_desk_destroy(second);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, heal_and_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_that_waits_is_written_with_one_sync),
        TEST(nothing_is_answered_or_seen_before_it_is_on_disk),
        TEST(a_write_that_changes_nothing_costs_no_sync),
        TEST(a_queue_that_is_full_refuses_at_once),
        TEST(a_queue_holds_so_many_bytes_but_one_write_in_any_case),
        TEST(a_stop_writes_what_waits_and_takes_no_more),
        TEST(each_sync_mode_syncs_as_often_as_it_says),
        TEST(the_map_grows_by_itself),
        TEST(what_does_not_fit_in_the_map_fails_alone),
        TEST(a_map_full_to_the_last_page_can_be_emptied),
        TEST(a_batch_without_room_leaves_nothing_behind),
        TEST(what_finds_no_room_on_the_disk_fails_alone),
        TEST(a_write_cut_short_by_a_full_disk_is_no_broken_disk),
        TEST(a_file_system_that_is_full_is_survived),
        TEST(after_a_failed_sync_nothing_is_written_any_more),
        TEST(after_a_failed_sync_of_what_was_answered_neither),
        TEST(a_value_held_for_long_does_not_let_the_file_grow),
        TEST(other_workers_read_while_the_map_is_moved),
        TEST(there_are_as_many_desks_as_was_said)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
