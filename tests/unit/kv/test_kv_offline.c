#include "kv/kv_offline.h"
#include "unit/kv/store_fixture.h"

#include <sys/wait.h>

/* --- Walking -------------------------------------------------------------- */

struct walk {
    char text[256];
    int answer;
};

static int note_record(void *context, struct bytes key,
                       const struct kv_record *record)
{
    struct walk *walk = context;
    size_t len = strlen(walk->text);

    snprintf(walk->text + len, sizeof(walk->text) - len, "%.*s=%.*s ",
             (int)key.len, key.data, (int)record->value.len,
             record->value.data);
    return walk->answer;
}

static void fill(void)
{
    put("b", "2");
    put("a", "1");
    put_for("c", "3", 1000);
    close_store();
}

TEST(a_walk_tells_all_that_is_alive_in_order)
{
    struct walk walk = {{0}, 0};

    fill();
    assert_int_equal(kv_offline_walk(options.path, KV_START_MS, note_record,
                                     &walk),
                     0);
    assert_string_equal(walk.text, "a=1 b=2 c=3 ");
    walk.text[0] = '\0';
    assert_int_equal(kv_offline_walk(options.path, KV_START_MS + 1000,
                                     note_record, &walk),
                     0);
    assert_string_equal(walk.text, "a=1 b=2 ");
    open_store();
}

TEST(a_walk_ends_when_told_to)
{
    struct walk walk = {{0}, -7};

    fill();
    assert_int_equal(kv_offline_walk(options.path, KV_START_MS, note_record,
                                     &walk),
                     -7);
    assert_string_equal(walk.text, "a=1 ");
    open_store();
}

TEST(only_a_store_is_walked_and_none_is_made)
{
    struct walk walk = {{0}, 0};
    struct stat st;

    assert_int_equal(kv_offline_walk(place_path(&place, "none"), 0, note_record,
                                     &walk),
                     -ENOENT);
    assert_int_equal(stat(place_path(&place, "none"), &st), -1);
    assert_int_equal(mkdirat(place.fd, "empty", 0700), 0);
    assert_int_equal(kv_offline_walk(place_path(&place, "empty"), 0,
                                     note_record, &walk),
                     -ENOENT);
    assert_string_equal(walk.text, "");
}

/* --- Backup --------------------------------------------------------------- */

/* A folder beside the stores: that which is there, or another one. */
static struct kv_target target_of(const char *name)
{
    struct kv_target target = {
        .to = name,
        .folder = openat(place.fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC)};

    if (target.folder == -1) {
        target.folder = dup(place.fd);
        snprintf(target.new, sizeof(target.new), "%s", name);
    }
    return target;
}

static int back_up(const char *path, const char *to)
{
    struct kv_target target = target_of(to);
    struct kv_backup backup;
    int err = kv_offline_begin_backup(&backup, &target);

    if (err == 0)
        err = kv_offline_copy(path, backup.fd);
    if (err == 0)
        err = kv_offline_keep_backup(&backup);
    else
        kv_offline_drop_backup(&backup);
    close(target.folder);
    return err;
}

TEST(a_backup_is_a_store_with_the_same_content)
{
    static char data[20000];
    struct kv_op op = put_op("large", "");
    uint64_t revision;
    uint64_t used;

    op.value = (struct bytes){data, sizeof(data)};
    for (unsigned i = 0; i < 50; i++) {
        char key[16];

        snprintf(key, sizeof(key), "%u", i);
        op.key = bytes_of(key);
        do_op(op);
        do_op(delete_op(key));
    }
    revision = put("key", "value");
    used = count().used_bytes;
    close_store();
    assert_int_equal(back_up(options.path, "copy"), 0);
    assert_int_equal(back_up(options.path, "copy"), -EEXIST);
    assert_int_equal(faccessat(place.fd, "copy/data.mdb.new", F_OK, 0), -1);
    choose_store("copy");
    open_store();
    assert_value("key", "value");
    assert_int_equal(count().keys, 1);
    assert_true(count().used_bytes <= used);
    assert_true(put("key", "newer") > revision);
}

TEST(a_store_is_copied_while_another_process_writes)
{
    char key[16];
    pid_t child;
    int status;
    int go[2];

    for (unsigned i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "%u", i);
        put(key, "value");
    }
    close_store(); /* no thread but this one where it forks */
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
        char byte;

        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        _exit(back_up(options.path, "copy") == 0 ? 0 : 1);
    }
    open_store();
    assert_int_equal(write(go[1], "!", 1), 1);
    for (unsigned i = 0; waitpid(child, &status, WNOHANG) == 0; i++)
        put("counter", i % 2 ? "odd" : "even");
    assert_int_equal(status, 0);
    close(go[0]);
    close(go[1]);
    close_store();
    choose_store("copy");
    open_store();
    assert_value("99", "value");
    assert_true(count().keys == 100 || count().keys == 101);
}

TEST(a_backup_that_cannot_be_written_leaves_nothing)
{
    close_store();
    assert_int_equal(place_write(&place, "file", "x"), 0);
    assert_int_equal(back_up(options.path, "file"), -EEXIST);
    assert_int_equal(back_up(options.path, "no/folder"), -ENOENT);
    assert_int_equal(back_up(place_path(&place, "none"), "copy"), -ENOENT);
    assert_int_equal(faccessat(place.fd, "copy", F_OK, 0), -1);
    open_store();
}

/* A link in the target's folder may be to anything. */
TEST(a_backup_writes_into_no_file_that_is_there)
{
    struct stat st;

    put("a", "1");
    close_store();
    assert_int_equal(mkdirat(place.fd, "copy", 0700), 0);
    assert_int_equal(place_write(&place, "other", "other"), 0);
    assert_int_equal(linkat(place.fd, "other", place.fd, "copy/data.mdb.new",
                            0),
                     0);
    assert_int_equal(back_up(options.path, "copy"), 0);
    assert_int_equal(fstatat(place.fd, "other", &st, 0), 0);
    assert_int_equal(st.st_size, 5);
    choose_store("copy");
    open_store();
    assert_value("a", "1");
}

TEST(of_two_backups_into_one_folder_one_is_kept)
{
    struct kv_target new = target_of("copy");
    struct kv_target made;
    struct kv_backup first, second;

    put("a", "1");
    close_store();
    assert_int_equal(kv_offline_begin_backup(&first, &new), 0);
    made = target_of("copy");
    assert_int_equal(kv_offline_begin_backup(&second, &made), 0);
    assert_int_equal(kv_offline_copy(options.path, first.fd), 0);
    assert_int_equal(kv_offline_keep_backup(&first), -EBUSY);
    assert_int_equal(kv_offline_copy(options.path, second.fd), 0);
    assert_int_equal(kv_offline_keep_backup(&second), 0);
    close(new.folder);
    close(made.folder);
    choose_store("copy");
    open_store();
    assert_value("a", "1");
}

/* Whoever was faster may own it, or have put a link there. */
TEST(a_new_folder_is_no_other_that_has_come_meanwhile)
{
    struct kv_target new = target_of("copy");
    struct kv_backup backup;

    close_store();
    assert_int_equal(mkdirat(place.fd, "elsewhere", 0700), 0);
    assert_int_equal(symlinkat("elsewhere", place.fd, "copy"), 0);
    assert_int_equal(kv_offline_begin_backup(&backup, &new), -EEXIST);
    assert_int_equal(unlinkat(place.fd, "copy", 0), 0);
    assert_int_equal(mkdirat(place.fd, "copy", 0700), 0);
    assert_int_equal(kv_offline_begin_backup(&backup, &new), -EEXIST);
    assert_int_equal(faccessat(place.fd, "copy", F_OK, 0), 0);
    assert_int_equal(unlinkat(place.fd, "copy", AT_REMOVEDIR), 0);
    assert_int_equal(unlinkat(place.fd, "elsewhere", AT_REMOVEDIR), 0);
    close(new.folder);
    open_store();
}

SUITE(.each_begin = set_up, .each_end = tear_down);
