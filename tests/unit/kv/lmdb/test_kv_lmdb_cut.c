/* link: -Wl,--wrap=fstatvfs */
/*
 * A store whose file has lost its end: whoever touches what is missing dies of
 * it, so all of it is refused.
 */
#include "unit/kv/kv_disk.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lmdb.h>

#include "child.h"
#include "kv/kv_offline.h"

enum {
    KEYS = 40,
    VALUE_BYTES = 10000,
    PAGE_BYTES = 4096,
    COMMITS = 300 /* whose free pages are in a list each */
};

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

static int on_record(void *context, struct bytes key,
                     const struct kv_record *record)
{
    (void)context;
    (void)key;
    (void)record;
    return 0;
}

/* Cuts the file off behind each page, and has it opened, and exported. How many
 * of these were refused. */
static unsigned cut_everywhere(void)
{
    struct kv_lmdb *cut = NULL;
    unsigned refused = 0;

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
        assert_int_equal(kv_offline_walk(options.path, 0, on_record, NULL),
                         -EIO);
        assert_int_equal(file_bytes(), bytes); /* the next start says so, too */
        refused++;
    }
    put_back(whole_bytes);
    free(whole);
    return refused;
}

TEST(a_file_that_was_cut_off_is_no_store)
{
    fill();
    close_store();
    assert_true(cut_everywhere() > KEYS);
    open_store();
    assert_true(holds_all());
}

/* A process that reads for as long as it lives. */
static pid_t start_reader(void)
{
    enum { DATABASES = 3 };
    int ends[2];
    char byte = 0;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = child_fork();
    if (pid == 0) {
        MDB_env *env;
        MDB_txn *txn;

        if (mdb_env_create(&env) != 0 ||
            mdb_env_set_maxdbs(env, DATABASES) != 0 ||
            mdb_env_open(env, options.path, MDB_RDONLY, 0600) != 0 ||
            mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) != 0 ||
            write(ends[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

/* What a reader keeps from being used again stands in many lists. LMDB takes
 * the lack of one for a fault of its own, and ends the process. */
TEST(a_cut_through_the_lists_of_free_pages_is_found)
{
    pid_t reader;

    fill();
    close_store();
    reader = start_reader();
    open_store();
    for (unsigned i = 0; i < COMMITS; i++)
        put("again", "value");
    close_store();
    assert_int_equal(kill(reader, SIGKILL), 0);
    assert_int_equal(waitpid(reader, NULL, 0), reader);
    assert_true(cut_everywhere() > KEYS);
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

/* Closes a store whose file lacks pages that were given back before they were
 * written. */
static void leave_unwritten_pages(void)
{
    options.sync = KV_SYNC_FULL;
    reopen_store();
    fill();
    put("first", "value");
    put_and_delete();
    close_store();
}

/* A file need not have pages that were given back before they were written. */
TEST(pages_that_were_never_written_are_not_missing)
{
    off_t bytes;

    leave_unwritten_pages();
    bytes = file_bytes();
    open_store();
    assert_true((off_t)count().used_bytes > bytes);
    assert_true(holds_all());
    put_and_delete();
    reopen_store();
    assert_true(holds_all());
}

/* Nor may it have them, where files may be no longer than it is. */
TEST(a_limit_on_files_refuses_no_store_that_keeps_it)
{
    struct rlimit whole_limit, limit;

    leave_unwritten_pages();
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &whole_limit), 0);
    limit = whole_limit;
    limit.rlim_cur = (rlim_t)file_bytes();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    open_store();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &whole_limit), 0);
    assert_true(holds_all());
}

/* Writes into each list of free pages, wherever the file has it, that there is
 * nothing in it. */
static void empty_lists(void)
{
    enum { FREE_PAGES = 0 };
    size_t none = 0;
    MDB_cursor *cursor;
    MDB_val key, list;
    MDB_env *env;
    MDB_txn *txn;

    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_open(env, options.path, MDB_RDONLY, 0600), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), 0);
    assert_int_equal(mdb_cursor_open(txn, FREE_PAGES, &cursor), 0);
    while (mdb_cursor_get(cursor, &key, &list, MDB_NEXT) == 0) {
        char *at = whole;

        while ((at = memmem(at, (size_t)(whole + whole_bytes - at),
                            list.mv_data, list.mv_size)))
            memcpy(at, &none, sizeof(none));
    }
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    mdb_env_close(env);
}

/* A list may have room for more than is in it, where numbers of pages stand that
 * are in use by now. */
TEST(nothing_behind_a_list_of_free_pages_counts)
{
    struct kv_lmdb *cut = NULL;

    leave_unwritten_pages();
    keep_whole();
    empty_lists();
    put_back(whole_bytes);
    assert_int_equal(kv_lmdb_open(&cut, &options), -EIO);
    free(whole);
}

SUITE(.each_begin = set_up, .each_end = heal_and_tear_down);
