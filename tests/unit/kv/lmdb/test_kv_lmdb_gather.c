/* link: -Wl,--wrap=fstatvfs -Wl,--wrap=pthread_cond_timedwait */
#include "unit/kv/kv_disk.h"
#include "wrap.h"

/* --- Time, which is the test's -------------------------------------------- */

static atomic_bool time_is_over; /* else it never passes */
static atomic_uint waits;

WRAP(int, pthread_cond_timedwait, pthread_cond_t *cond, pthread_mutex_t *mutex,
     const struct timespec *until)
{
    if (until->tv_sec == 0)
        return ETIMEDOUT; /* the first sweep, which is due at once */
    waits++;
    return time_is_over ? ETIMEDOUT : pthread_cond_wait(cond, mutex);
}

/* --- Those who come back -------------------------------------------------- */

static int set_up_durable(void **state)
{
    if (set_up(state) != 0)
        return -1;
    time_is_over = false;
    options.sync = KV_SYNC_FULL;
    reopen_store();
    waits = 0;
    return 0;
}

/* One crowd is answered when another one waits already. */
static void make_two_crowds(struct asked *first, struct bytes value)
{
    unsigned begun = count_syncs();

    set_gate(false);
    ask(first, put_op("first", "value"));
    wait_for_syncs(begun + 1);
    ask_all(3, value);
    set_gate(true);
    wait_for(first);
}

TEST(who_was_just_answered_goes_with_those_who_wait)
{
    struct asked first;
    uint64_t commits;

    make_two_crowds(&first, BYTES("value"));
    commits = count().commits;
    assert_int_equal(waiting[0].answers, 0);
    ask(&first, put_op("first", "again"));
    wait_for(&first);
    assert_int_equal(wait_for_all(3, KV_CREATED), 3);
    assert_int_equal(count().commits - commits, 1);
    assert_value("first", "again");
}

TEST(who_does_not_come_back_is_not_waited_for_long)
{
    struct asked first;

    time_is_over = true;
    make_two_crowds(&first, BYTES("value"));
    assert_int_equal(wait_for_all(3, KV_CREATED), 3);
    assert_true(waits > 0);
}

TEST(a_client_alone_waits_for_nobody)
{
    for (int i = 0; i < 20; i++)
        put("key", "value");
    assert_int_equal(waits, 0);
}

TEST(without_a_sync_nobody_is_waited_for)
{
    options.sync = KV_SYNC_OFF;
    reopen_store();
    waits = 0;
    for (int i = 0; i < 5; i++) {
        ask_all(WAITING, BYTES("value"));
        (void)wait_for_all(WAITING, KV_CREATED);
    }
    assert_int_equal(waits, 0);
}

TEST(enough_bytes_need_nobody_else)
{
    static char large[11 << 20]; /* three of them are more than a group has */
    struct asked first;

    make_two_crowds(&first, (struct bytes){large, sizeof(large)});
    wait_for(&waiting[0]);
    kv_lmdb_stop(store); /* the last of them would wait for others again */
    assert_int_equal(wait_for_all(3, KV_CREATED), 3);
}

TEST(a_stop_does_not_wait_for_those_who_may_come)
{
    struct asked first;

    make_two_crowds(&first, BYTES("value"));
    kv_lmdb_stop(store);
    assert_int_equal(wait_for_all(3, KV_CREATED), 3);
}

/* --- Turns ---------------------------------------------------------------- */

enum { FLUSH_LATE_US = 30000, TRIES_MAX = 20 };

/* Asks, and flushes after a while. Whether nothing was written before that: a
 * writer that has not fallen asleep yet needs nobody to wake it. */
static bool ask_and_flush_late(uint64_t *commits_out)
{
    uint64_t commits = count().commits;
    bool waited;

    usleep(FLUSH_LATE_US);
    ask_all(WAITING, BYTES("value"));
    usleep(FLUSH_LATE_US);
    waited = count().queue_writes == WAITING && count().commits == commits;
    kv_client_flush(client);
    (void)wait_for_all(WAITING, KV_CREATED);
    *commits_out = count().commits - commits;
    return waited;
}

TEST(all_that_was_asked_before_a_flush_is_one_transaction)
{
    bool waited = false;
    uint64_t commits;

    options.sync = KV_SYNC_OFF;
    reopen_store();
    kv_lmdb_client_gather(client);
    for (int i = 0; i < TRIES_MAX && !waited; i++)
        waited = ask_and_flush_late(&commits);
    assert_true(waited);
    assert_int_equal(commits, 1);
    kv_client_flush(client); /* of nothing */
}

TEST(a_queue_that_fills_waits_for_no_flush)
{
    options.sync = KV_SYNC_OFF;
    options.queue_writes_max = 100;
    reopen_store();
    kv_lmdb_client_gather(client);
    ask_all(51, BYTES("value"));
    assert_int_equal(wait_for_all(51, KV_CREATED), 51);
}

TEST(a_stop_waits_for_no_flush)
{
    kv_lmdb_client_gather(client);
    ask_all(WAITING, BYTES("value"));
    kv_lmdb_stop(store);
    assert_int_equal(wait_for_all(WAITING, KV_CREATED), WAITING);
}

/* --- Answers to several workers ------------------------------------------- */

TEST(each_of_a_group_is_answered_in_its_own_mailbox)
{
    struct ev_loop *other_loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    struct mailbox *other = mailbox_create(other_loop, 2,
                                           (struct mailbox_receiver){0});
    struct kv_client *mine = client;
    struct kv_client *its = kv_lmdb_client_create(store, other, &now);
    unsigned begun = count_syncs();
    struct asked first;

    assert_non_null(its);
    set_gate(false);
    ask(&first, put_op("first", "value"));
    wait_for_syncs(begun + 1); /* the others are one group */
    for (size_t i = 0; i < 10; i++) {
        snprintf(names[i], sizeof(names[i]), "key-%zu", i);
        client = i % 2 == 0 ? mine : its;
        ask(&waiting[i], put_op(names[i], "value"));
    }
    client = mine;
    set_gate(true);
    kv_lmdb_stop(store); /* all is answered then */
    ev_run(loop, EVRUN_NOWAIT);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(waiting[i].answers, i % 2 == 0 ? 1 : 0);
    ev_run(other_loop, EVRUN_NOWAIT);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(waiting[i].answers, 1);
    kv_client_destroy(its);
    mailbox_destroy(other);
    ev_loop_destroy(other_loop);
}

#undef TEST

SUITE(.each_begin = set_up_durable, .each_end = heal_and_tear_down);
