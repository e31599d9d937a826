/* link: -Wl,--wrap=fstatvfs */
#include "unit/kv/kv_disk.h"

/* --- Groups --------------------------------------------------------------- */

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

TEST(all_that_waits_is_written_with_one_sync)
{
    struct asked first;
    uint64_t commits;
    unsigned syncs;

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

TEST(nothing_is_answered_or_seen_before_it_is_on_disk)
{
    struct asked first;

    hold_writer(&first);
    ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(first.answers, 0);
    assert_missing("first"); /* and reading waits for nobody */
    set_gate(true);
    wait_for(&first);
    assert_value("first", "value");
}

TEST(a_write_that_changes_nothing_costs_no_sync)
{
    struct kv_op op = put_op("key", "new");
    unsigned syncs;

    options.sync = KV_SYNC_FULL;
    reopen_store();
    put("key", "value");
    syncs = count_syncs();
    op.condition = KV_IF_MISSING;
    assert_int_equal(do_op(op).outcome, KV_PRECONDITION);
    assert_int_equal(do_op(delete_op("none")).outcome, KV_MISSING);
    assert_int_equal(count_syncs(), syncs);
}

TEST(a_queue_that_is_full_refuses_at_once)
{
    struct asked first;

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

TEST(a_queue_holds_so_many_bytes_but_one_write_in_any_case)
{
    static char data[LARGE_BYTES];
    struct asked first;

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

TEST(a_stop_writes_what_waits_and_takes_no_more)
{
    struct asked late;

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

TEST(each_sync_mode_syncs_as_often_as_it_says)
{
    unsigned syncs = count_syncs();

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
    struct kv_client *own = kv_lmdb_client_create(store, mailbox, &then);
    uint64_t last = 0;

    worker->is_good = own != NULL;
    while (worker->is_good && !*worker->is_over) {
        struct kv_get get = {.key = BYTES("key-0")};
        struct kv_page page = {.limit = 10};

        worker->is_good = kv_client_get(own, &get) && get.outcome == KV_FOUND &&
                          get.value->meta.revision >= last;
        if (get.value)
            last = get.value->meta.revision;
        kv_value_release(&get.value);
        worker->is_good &= kv_client_list(own, &page) &&
                           page.outcome == KV_FOUND && page.count > 0;
        arena_fini(&page.arena);
    }
    kv_client_destroy(own);
    return NULL;
}

TEST(other_workers_read_while_the_map_is_moved)
{
    static char data[LARGE_BYTES];
    struct worker workers[3];
    atomic_bool is_over = false;

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

TEST(there_are_as_many_clients_as_was_said)
{
    struct kv_client *second;

    options.clients_max = 2;
    reopen_store();
    second = kv_lmdb_client_create(store, mailbox, &now);
    assert_non_null(second);
    assert_null(kv_lmdb_client_create(store, mailbox, &now));
    kv_client_destroy(second);
    second = kv_lmdb_client_create(store, mailbox, &now);
    assert_non_null(second);
    kv_client_destroy(second);
}

SUITE(.each_begin = set_up, .each_end = heal_and_tear_down);
