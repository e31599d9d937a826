#include "unit/kv/store_fixture.h"

#include <sys/wait.h>

enum { SWEEP_MS = 5 };

/* --- Single keys ---------------------------------------------------------- */

TEST(a_value_is_read_as_it_was_put)
{
    static const char data[] = "a\0\xFF";
    struct kv_op op = put_op("key", "");
    struct kv_value *value;

    op.value = BYTES(data);
    op.type = BYTES("image/x");
    op = do_op(op);
    assert_int_equal(op.outcome, KV_CREATED);
    assert_int_equal(op.meta.stored_ms, KV_START_MS);
    value = get_bytes(BYTES("key"));
    assert_non_null(value);
    assert_true(bytes_eq(value->data, BYTES(data)));
    assert_true(bytes_eq(value->type, BYTES("image/x")));
    assert_memory_equal(&value->meta, &op.meta, sizeof(op.meta));
    kv_value_release(&value);
}

TEST(a_key_that_was_never_put_is_missing)
{
    assert_missing("key");
    assert_missing("");
    assert_int_equal(do_op(delete_op("key")).outcome, KV_MISSING);
}

TEST(put_tells_new_from_replaced_and_delete_what_was_there)
{
    assert_int_equal(do_op(put_op("key", "1")).outcome, KV_CREATED);
    assert_int_equal(do_op(put_op("key", "2")).outcome, KV_REPLACED);
    assert_value("key", "2");
    assert_int_equal(do_op(delete_op("key")).outcome, KV_DELETED);
    assert_missing("key");
    assert_int_equal(do_op(put_op("key", "3")).outcome, KV_CREATED);
}

TEST(keys_of_511_bytes_are_kept_and_of_512_are_missing)
{
    char key[KV_KEY_BYTES_MAX + 2];
    struct kv_get get = {.key = {key, KV_KEY_BYTES_MAX + 1}};

    memset(key, 0xFF, sizeof(key));
    key[KV_KEY_BYTES_MAX] = '\0';
    put_for(key, "long", 1000);
    assert_value(key, "long");
    assert_true(kv_client_get(client, &get));
    assert_int_equal(get.outcome, KV_MISSING);
    put(key, "replaced");
    assert_int_equal(do_op(delete_op(key)).outcome, KV_DELETED);
}

TEST(the_largest_value_is_kept_whole)
{
    char *data = malloc(KV_VALUE_BYTES_MAX);
    struct kv_op op = put_op("large", "");
    struct kv_get get = {.key = BYTES("large"), .without_data = true};
    struct kv_value *value;

    assert_non_null(data);
    for (size_t i = 0; i < KV_VALUE_BYTES_MAX; i++)
        data[i] = (char)(i >> 12 ^ i);
    op.value = (struct bytes){data, KV_VALUE_BYTES_MAX};
    assert_int_equal(do_op(op).outcome, KV_CREATED);
    value = get_bytes(BYTES("large"));
    assert_non_null(value);
    assert_true(bytes_eq(value->data, op.value));
    kv_value_release(&value);
    assert_true(kv_client_get(client, &get));
    assert_int_equal(get.value->bytes, KV_VALUE_BYTES_MAX);
    assert_int_equal(get.value->data.len, 0);
    kv_value_release(&get.value);
    free(data);
}

static uint64_t seen_revision;

static bool refuse_data(const struct kv_get *get, const struct kv_meta *meta)
{
    assert_true(bytes_eq(get->key, BYTES("key")));
    seen_revision = meta->revision;
    return false;
}

static bool want_data(const struct kv_get *get, const struct kv_meta *meta)
{
    return !refuse_data(get, meta);
}

TEST(a_value_is_copied_only_when_it_is_wanted)
{
    struct kv_get get = {.key = BYTES("key"), .wants_data = refuse_data};

    put("key", "value");
    assert_true(kv_client_get(client, &get));
    assert_int_equal(get.outcome, KV_FOUND);
    assert_int_equal(seen_revision, get.value->meta.revision);
    assert_int_equal(get.value->bytes, 5);
    assert_int_equal(get.value->data.len, 0);
    kv_value_release(&get.value);
    get.wants_data = want_data;
    assert_true(kv_client_get(client, &get));
    assert_true(bytes_eq(get.value->data, BYTES("value")));
    kv_value_release(&get.value);
}

TEST(a_value_outlives_its_key_and_the_store)
{
    struct kv_value *value;
    struct kv_value *second;

    put("key", "kept");
    value = get_bytes(BYTES("key"));
    second = kv_value_acquire(value);
    do_op(delete_op("key"));
    reopen_store();
    kv_value_release(&value);
    assert_null(value);
    assert_true(bytes_eq(second->data, BYTES("kept")));
    kv_value_release(&second);
    kv_value_release(&second);
}

/* --- Conditions ----------------------------------------------------------- */

static enum kv_outcome put_if(const char *key, enum kv_condition condition,
                              uint64_t revision, uint64_t *present_out)
{
    struct kv_op op = put_op(key, "new");

    op.condition = condition;
    op.if_revision = revision;
    op = do_op(op);
    *present_out = op.meta.revision;
    return op.outcome;
}

TEST(conditions_hold_or_name_the_present_revision)
{
    uint64_t old = put("key", "old");
    uint64_t told;

    assert_int_equal(put_if("key", KV_IF_MISSING, 0, &told), KV_PRECONDITION);
    assert_int_equal(told, old);
    assert_int_equal(put_if("key", KV_IF_REVISION, old + 1, &told),
                     KV_PRECONDITION);
    assert_int_equal(told, old);
    assert_value("key", "old");
    assert_int_equal(put_if("key", KV_IF_REVISION, old, &told), KV_REPLACED);
    assert_true(told > old);
    assert_int_equal(put_if("key", KV_IF_PRESENT, 0, &told), KV_REPLACED);
    assert_int_equal(put_if("none", KV_IF_PRESENT, 0, &told), KV_PRECONDITION);
    assert_int_equal(told, 0);
    assert_int_equal(put_if("none", KV_IF_REVISION, old, &told),
                     KV_PRECONDITION);
    assert_int_equal(told, 0);
    assert_int_equal(put_if("none", KV_IF_MISSING, 0, &told), KV_CREATED);
}

TEST(a_delete_honours_its_condition)
{
    struct kv_op op = delete_op("key");
    uint64_t revision = put("key", "value");

    op.condition = KV_IF_REVISION;
    op.if_revision = revision - 1;
    assert_int_equal(do_op(op).outcome, KV_PRECONDITION);
    assert_value("key", "value");
    op.if_revision = revision;
    op = do_op(op);
    assert_int_equal(op.outcome, KV_DELETED);
    assert_true(op.meta.revision > revision);
}

/* --- Revisions and names -------------------------------------------------- */

TEST(revisions_rise_over_deletes_and_restarts)
{
    uint64_t last = 0;

    for (unsigned i = 0; i < 20; i++) {
        uint64_t revision = put(i % 2 ? "a" : "b", "value");

        assert_true(revision > last);
        last = revision;
        if (i % 3 == 0) {
            struct kv_op op = do_op(delete_op(i % 2 ? "a" : "b"));

            assert_true(op.meta.revision > last);
            last = op.meta.revision;
        }
        if (i % 5 == 0)
            reopen_store();
        assert_int_equal(count().revision, last);
    }
}

TEST(names_of_the_store_rise_and_are_nobodys)
{
    struct kv_op op = {
        .kind = KV_PUT_NAMED, .key = BYTES("log/"), .value = BYTES("x")};
    char last[KV_NAME_BYTES] = {0};
    char key[64];

    for (unsigned i = 0; i < 20; i++) {
        struct kv_op made;

        if (i == 10) { /* the name that would come next is taken */
            snprintf(key, sizeof(key), "log/%016llx",
                     (unsigned long long)count().revision + 2);
            put(key, "mine");
            reopen_store();
        }
        made = do_op(op);
        assert_int_equal(made.outcome, KV_CREATED);
        assert_true(memcmp(made.name, last, sizeof(last)) > 0);
        memcpy(last, made.name, sizeof(last));
        snprintf(key, sizeof(key), "log/%.*s", KV_NAME_BYTES, made.name);
        assert_value(key, "x");
    }
    assert_int_equal(count().keys, 21);
}

/* --- Batches -------------------------------------------------------------- */

TEST(a_batch_sees_its_own_earlier_operations)
{
    struct kv_op ops[] = {put_op("a", "1"), put_op("a", "2"), delete_op("a"),
                          delete_op("a"), put_op("b", "3")};

    ops[1].condition = KV_IF_PRESENT;
    assert_true(do_ops(ops, 5));
    assert_int_equal(ops[0].outcome, KV_CREATED);
    assert_int_equal(ops[1].outcome, KV_REPLACED);
    assert_int_equal(ops[2].outcome, KV_DELETED);
    assert_int_equal(ops[3].outcome, KV_MISSING);
    assert_int_equal(ops[4].outcome, KV_CREATED);
    assert_true(ops[4].meta.revision > ops[2].meta.revision);
    assert_missing("a");
    assert_value("b", "3");
}

TEST(a_batch_with_one_failure_does_nothing)
{
    uint64_t revision = put("a", "old");
    struct kv_op ops[] = {
        put_op("a", "new"),
        put_op("b", "new"),
        {.kind = KV_CHECK, .condition = KV_IF_PRESENT, .key = BYTES("none")},
        delete_op("a")};

    assert_false(do_ops(ops, 4));
    assert_int_equal(ops[0].outcome, KV_UNDONE);
    assert_int_equal(ops[1].outcome, KV_UNDONE);
    assert_int_equal(ops[2].outcome, KV_PRECONDITION);
    assert_int_equal(ops[3].outcome, KV_UNDONE);
    assert_value("a", "old");
    assert_missing("b");
    assert_int_equal(count().revision, revision);
}

TEST(a_check_that_holds_changes_nothing)
{
    uint64_t revision = put("a", "value");
    struct kv_op op = {.kind = KV_CHECK,
                       .condition = KV_IF_REVISION,
                       .if_revision = revision,
                       .key = BYTES("a")};

    op = do_op(op);
    assert_int_equal(op.outcome, KV_HELD);
    assert_int_equal(op.meta.revision, revision);
    assert_int_equal(count().revision, revision);
}

TEST(the_largest_batch_is_done)
{
    static struct kv_op ops[KV_WRITE_OPS_MAX];
    static char keys[KV_WRITE_OPS_MAX][16];

    for (size_t i = 0; i < KV_WRITE_OPS_MAX; i++) {
        snprintf(keys[i], sizeof(keys[i]), "key-%zu", i);
        ops[i] = put_op(keys[i], keys[i]);
    }
    assert_true(do_ops(ops, KV_WRITE_OPS_MAX));
    assert_int_equal(count().keys, KV_WRITE_OPS_MAX);
    assert_value("key-9999", "key-9999");
}

/* --- Time ----------------------------------------------------------------- */

TEST(what_has_expired_is_missing_from_that_millisecond_on)
{
    struct kv_op check = {
        .kind = KV_CHECK, .condition = KV_IF_MISSING, .key = BYTES("key")};

    put_for("key", "short", 1000);
    set_clock(KV_START_MS + 999);
    assert_value("key", "short");
    assert_int_equal(do_op(check).outcome, KV_PRECONDITION);
    set_clock(KV_START_MS + 1000);
    assert_missing("key");
    assert_int_equal(do_op(check).outcome, KV_HELD);
    assert_int_equal(do_op(delete_op("key")).outcome, KV_MISSING);
    assert_int_equal(do_op(put_op("key", "new")).outcome, KV_CREATED);
    assert_value("key", "new");
}

TEST(an_endless_life_is_asked_for_by_no_overflow)
{
    put_for("key", "value", UINT64_MAX);
    assert_value("key", "value");
}

static void wait_until_swept(uint64_t swept)
{
    while (count().swept < swept)
        usleep(1000);
}

TEST(the_sweep_takes_the_expired_and_nothing_else)
{
    char key[16];

    options.sweep_ms = SWEEP_MS;
    reopen_store();
    put("kept", "value");
    put_for("longer", "value", 2000);
    put_for("kept", "other", 1000);
    put("kept", "for ever"); /* it had an end before */
    for (unsigned i = 0; i < 2500; i++) {
        struct kv_op op;

        snprintf(key, sizeof(key), "short-%u", i);
        op = put_op(key, "x");
        op.ttl_ms = 1 + i % 1000;
        op = do_op(op);
        assert_int_equal(op.outcome, KV_CREATED);
    }
    assert_int_equal(count().keys, 2502);
    set_clock(KV_START_MS + 1000);
    wait_until_swept(2500);
    assert_int_equal(count().swept, 2500);
    assert_int_equal(count().keys, 2);
    assert_value("kept", "for ever");
    assert_value("longer", "value");
}

TEST(the_sweep_goes_on_after_a_restart)
{
    put_for("key", "value", 1000);
    options.sweep_ms = SWEEP_MS;
    reopen_store();
    assert_value("key", "value");
    set_clock(KV_START_MS + 5000);
    wait_until_swept(1);
    assert_int_equal(count().keys, 0);
}

/* --- The folder ----------------------------------------------------------- */

TEST(the_folder_is_its_owners_alone)
{
    struct stat st;

    assert_int_equal(stat(options.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat(place_path(&place, "kv/data.mdb"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

TEST(a_second_opener_is_refused)
{
    struct kv_lmdb *second = NULL;
    pid_t child;
    int status;

    put("key", "value");
    assert_int_equal(kv_lmdb_open(&second, &options), -EBUSY);
    assert_null(second);
    child = fork();
    if (child == 0)
        _exit(kv_lmdb_open(&second, &options) == -EBUSY ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_value("key", "value");
    reopen_store(); /* the lock went with its holder */
    assert_value("key", "value");
}

TEST(what_cannot_be_a_store_is_refused)
{
    struct kv_lmdb *second = NULL;
    struct kv_lmdb_options other = options;

    close_store();
    other.path = place_path(&place, "no/such/folder");
    assert_int_equal(kv_lmdb_open(&second, &other), -ENOENT);
    assert_int_equal(place_write(&place, "file", "x"), 0);
    other.path = place_path(&place, "file");
    assert_int_equal(kv_lmdb_open(&second, &other), -ENOTDIR);
    assert_int_equal(mkdirat(place.fd, "wrong", 0700), 0);
    assert_int_equal(place_write(&place, "wrong/data.mdb", "no database"), 0);
    other.path = place_path(&place, "wrong");
    assert_int_equal(kv_lmdb_open(&second, &other), -EPROTO);
    assert_null(second);
    open_store();
}

TEST(a_store_reopens_with_all_it_had_in_every_state)
{
    reopen_store(); /* empty */
    assert_int_equal(count().keys, 0);
    put("a", "1");
    put_for("b", "2", 1000);
    reopen_store();
    assert_value("a", "1");
    assert_value("b", "2");
    set_clock(KV_START_MS + 1000);
    reopen_store();
    assert_missing("b");
    do_op(delete_op("a"));
    reopen_store();
    assert_missing("a");
    options.sync = KV_SYNC_FULL;
    reopen_store();
    put("c", "3");
    options.sync = KV_SYNC_INTERVAL;
    options.sync_interval_ms = 1;
    reopen_store();
    assert_value("c", "3");
    put("d", "4");
    options.bytes_max = 1; /* less than there is: nothing is lost */
    reopen_store();
    assert_value("c", "3");
    assert_value("d", "4");
}

TEST(lmdbs_own_tools_read_the_folder)
{
    char command[PLACE_NAME_MAX + 64];

    if (system("command -v mdb_stat >/dev/null") != 0)
        skip();
    put("key", "value");
    snprintf(command, sizeof(command),
             "test $(mdb_stat -s values %s | sed -n 's/ *Entries: //p') = 1",
             options.path);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof(command), "mdb_dump -s values %s | grep -q 6b6579",
             options.path);
    assert_int_equal(system(command), 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
