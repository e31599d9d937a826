/* link: -Wl,--wrap=fstatvfs */
/*
 * A store whose file has lost its end: whoever touches what is missing dies of
 * it, so all of it is refused.
 */
#include "unit/kv/kv_disk.h"

#include <errno.h>

enum { KEYS = 40, VALUE_BYTES = 10000, PAGE_BYTES = 4096 };

static char value[VALUE_BYTES];
static char *whole; /* the file's bytes, when nothing was missing */
static size_t whole_bytes;

static const char *file_name(void)
{
    static char name[256];

    snprintf(name, sizeof(name), "%s/data.mdb", options.path);
    return name;
}

static struct bytes key_of(unsigned i)
{
    static char key[16];

    snprintf(key, sizeof(key), "key-%u", i);
    return bytes_of(key);
}

static void fill(void)
{
    memset(value, 'v', sizeof(value));
    for (unsigned i = 0; i < KEYS; i++) {
        struct kv_op op = put_op(key_of(i).data, "");

        op.value = (struct bytes){value, sizeof(value)};
        assert_int_equal(do_op(op).outcome, KV_CREATED);
    }
}

static bool holds_all(void)
{
    for (unsigned i = 0; i < KEYS; i++) {
        struct kv_value *found = get_bytes(key_of(i));
        bool is_right = found && found->data.len == sizeof(value) &&
                        memcmp(found->data.data, value, sizeof(value)) == 0;

        kv_value_release(&found);
        if (!is_right)
            return false;
    }
    return true;
}

static void keep_whole(void)
{
    FILE *file = fopen(file_name(), "r");
    struct stat st;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    whole_bytes = (size_t)st.st_size;
    whole = malloc(whole_bytes);
    assert_non_null(whole);
    assert_int_equal(fread(whole, 1, whole_bytes, file), whole_bytes);
    fclose(file);
}

/* Puts so much of it in place. */
static void put_back(size_t bytes)
{
    FILE *file = fopen(file_name(), "w");

    assert_non_null(file);
    assert_int_equal(fwrite(whole, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static off_t file_bytes(void)
{
    struct stat st;

    assert_int_equal(stat(file_name(), &st), 0);
    return st.st_size;
}

TEST(a_file_that_was_cut_off_is_no_store)
{
    struct kv_lmdb *cut = NULL;
    unsigned refused = 0;

    fill();
    close_store();
    keep_whole();
    for (size_t bytes = 2 * (size_t)PAGE_BYTES + 1; bytes < whole_bytes;
         bytes += PAGE_BYTES - 1) {
        int err;

        put_back(bytes);
        err = kv_lmdb_open(&cut, &options);
        if (err == 0) { /* just what was free is missing */
            kv_lmdb_close(cut);
            open_store();
            assert_true(holds_all());
            close_store();
            continue;
        }
        assert_int_equal(err, -EIO);
        assert_int_equal(file_bytes(), bytes); /* the next start says so, too */
        refused++;
    }
    assert_true(refused > KEYS);
    put_back(whole_bytes);
    free(whole);
    open_store();
    assert_true(holds_all());
}

/* Puts and deletes in one transaction, which begins by looking at what is
 * free. */
static void put_and_delete(void)
{
    static char large[LARGE_BYTES];
    struct kv_op op = put_op("large", "");
    struct asked first, put, gone;
    unsigned begun;

    op.value = (struct bytes){large, sizeof(large)};
    begun = count_syncs();
    set_gate(false);
    ask(&first, put_op("first", "value"));
    wait_for_syncs(begun + 1);
    ask(&put, op);
    ask(&gone, delete_op("large"));
    set_gate(true);
    wait_for(&first);
    wait_for(&put);
    wait_for(&gone);
    assert_int_equal(put.op.outcome, KV_CREATED);
    assert_int_equal(gone.op.outcome, KV_DELETED);
}

/* A file need not have pages that were given back before they were written. */
TEST(pages_that_were_never_written_are_not_missing)
{
    off_t bytes;

    options.sync = KV_SYNC_FULL;
    reopen_store();
    fill();
    put("first", "value");
    put_and_delete();
    bytes = (off_t)count().used_bytes;
    close_store();
    assert_true(file_bytes() < bytes);
    open_store();
    assert_true(holds_all());
    assert_int_equal(file_bytes(), bytes);
}

SUITE(.each_begin = set_up, .each_end = heal_and_tear_down);
