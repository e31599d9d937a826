/* link: -Wl,--wrap=pthread_create */
#include "unit/kv/store_fixture.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "wrap.h"

/* A store whose process lets another one write, and takes that back. */

enum { VALUES = 200, VALUE_BYTES = 65536 }; /* far more than the first map */

static struct kv_lmdb_counts counts;
static int other_fd;
static pid_t other;

static bool has_no_thread; /* and a client asks just then */
static struct asked meanwhile;

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr,
     void *(*run)(void *context), void *context)
{
    if (!has_no_thread)
        return __real_pthread_create(thread, attr, run, context);
    ask(&meanwhile, put_op("key", "meanwhile"));
    return EAGAIN;
}

/* --- The other process --------------------------------------------------- */

static void write_much(void)
{
    static char value[VALUE_BYTES + 1];
    char key[24];

    memset(value, 'v', VALUE_BYTES);
    for (unsigned i = 0; i < VALUES; i++) {
        snprintf(key, sizeof(key), "other/%03u", i);
        if (do_op(put_op(key, value)).outcome != KV_CREATED)
            _exit(1);
    }
}

/* It does as it is told, and says when it has: there is no other way out. */
static _Noreturn void run_other(int fd)
{
    char command;

    loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    mailbox = mailbox_create(loop, 2, (struct mailbox_receiver){0});
    while (read(fd, &command, 1) == 1) {
        if (command == 'o')
            command = kv_lmdb_open(&store, &options) == 0 ? 'o' : 'x';
        if (command == 'o')
            client = kv_lmdb_client_create(store, mailbox, &now);
        if (command == 'w')
            write_much();
        if (command == 'd' &&
            do_op((struct kv_op){.kind = KV_DELETE, .key = BYTES("other/007")})
                    .outcome != KV_DELETED)
            command = 'x';
        if (command == 'c')
            close_store();
        if (write(fd, &command, 1) != 1)
            break;
    }
    _exit(0);
}

/* What it says. */
static char tell(char command)
{
    char answer = 0;

    assert_int_equal(write(other_fd, &command, 1), 1);
    assert_int_equal(read(other_fd, &answer, 1), 1);
    return answer;
}

/* It is forked while no store is open. */
static int set_up_two(void **state)
{
    int ends[2];

    if (set_up(state) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    close_store();
    other = fork();
    if (other == 0) {
        close(ends[0]);
        run_other(ends[1]);
    }
    close(ends[1]);
    other_fd = ends[0];
    open_store();
    return other > 0 ? 0 : -1;
}

static int tear_down_two(void **state)
{
    int status = 1;

    close(other_fd);
    waitpid(other, &status, 0);
    return tear_down(state) == 0 && status == 0 ? 0 : -1;
}

/* --- Handing over -------------------------------------------------------- */

TEST(who_paused_reads_and_does_not_write)
{
    struct asked before, after;

    ask(&before, put_op("key", "before"));
    kv_lmdb_pause(store);
    wait_for(&before); /* what waited was written */
    assert_int_equal(before.op.outcome, KV_CREATED);
    ask(&after, put_op("key", "after"));
    assert_int_equal(after.answers, 1);
    assert_int_equal(after.op.outcome, KV_BUSY);
    assert_value("key", "before");
    kv_lmdb_pause(store);
    assert_int_equal(kv_lmdb_resume(store), 0);
    assert_int_equal(kv_lmdb_resume(store), 0);
    assert_int_equal(do_op(put_op("key", "again")).outcome, KV_REPLACED);
    assert_value("key", "again");
}

/* Or its client would wait for ever. */
TEST(nothing_is_taken_in_that_nobody_will_write)
{
    kv_lmdb_pause(store);
    has_no_thread = true;
    assert_int_equal(kv_lmdb_resume(store), -EAGAIN);
    has_no_thread = false;
    assert_int_equal(meanwhile.answers, 1);
    assert_int_equal(meanwhile.op.outcome, KV_BUSY);
    assert_int_equal(do_op(put_op("key", "x")).outcome, KV_BUSY);
    assert_int_equal(kv_lmdb_resume(store), 0);
    assert_int_equal(do_op(put_op("key", "x")).outcome, KV_CREATED);
}

TEST(another_writes_only_while_it_is_paused)
{
    assert_int_equal(tell('o'), 'x');
    kv_lmdb_pause(store);
    assert_int_equal(tell('o'), 'o');
    assert_int_equal(kv_lmdb_resume(store), -EBUSY);
    assert_int_equal(do_op(put_op("key", "x")).outcome, KV_BUSY);
    assert_int_equal(tell('c'), 'c');
    assert_int_equal(kv_lmdb_resume(store), 0);
    assert_int_equal(do_op(put_op("key", "x")).outcome, KV_CREATED);
}

TEST(what_the_other_writes_is_read_however_much_it_is)
{
    struct kv_value *value;
    uint64_t first;

    first = do_op(put_op("key", "mine")).meta.revision;
    kv_lmdb_pause(store);
    assert_int_equal(tell('o'), 'o');
    assert_int_equal(tell('w'), 'w');
    value = get_bytes(BYTES("other/199"));
    assert_non_null(value);
    assert_int_equal(value->bytes, VALUE_BYTES);
    assert_int_equal(value->meta.revision, first + VALUES);
    assert_true(value->data.data[VALUE_BYTES - 1] == 'v');
    kv_value_release(&value);
    assert_value("key", "mine");
    assert_int_equal(tell('c'), 'c');
    assert_int_equal(kv_lmdb_resume(store), 0);
    assert_int_equal(do_op(put_op("key", "mine again")).meta.revision,
                     first + VALUES + 1);
    assert_value("key", "mine again");
}

TEST(what_lay_in_memory_is_not_what_the_other_has_changed)
{
    struct kv_value *value;

    options.cache = (struct kv_cache_options){
        .policy = EVICT_SIEVE, .bytes_max = 1 << 20, .groups = 2};
    reopen_store();
    assert_int_equal(do_op(put_op("other/007", "mine")).outcome, KV_CREATED);
    assert_value("other/007", "mine");
    assert_value("other/007", "mine");
    kv_lmdb_pause(store);
    assert_int_equal(tell('o'), 'o');
    assert_value("other/007", "mine");
    assert_int_equal(do_op(put_op("x", "x")).outcome, KV_BUSY);
    assert_int_equal(tell('d'), 'd');
    value = get_bytes(BYTES("other/007"));
    assert_null(value);
    assert_int_equal(tell('c'), 'c');
    assert_int_equal(kv_lmdb_resume(store), 0);
    assert_int_equal(do_op(put_op("other/007", "anew")).outcome, KV_CREATED);
    assert_value("other/007", "anew");
    assert_value("other/007", "anew");
    kv_lmdb_count(store, &counts);
    assert_true(counts.cache.hits >= 2);
    options.cache.bytes_max = 0;
}

TEST(it_may_end_while_it_is_paused)
{
    assert_int_equal(do_op(put_op("key", "kept")).outcome, KV_CREATED);
    kv_lmdb_pause(store);
    reopen_store();
    assert_value("key", "kept");
}

SUITE(.each_begin = set_up_two, .each_end = tear_down_two);
