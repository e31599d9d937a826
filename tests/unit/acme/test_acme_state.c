/* link: -Wl,--wrap=fsync */
#include "acme/acme_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"
#include "wrap.h"

static char folder[64];

enum { SYNCED_MAX = 64 };

static ino_t synced[SYNCED_MAX];
static size_t synced_count;

WRAP(int, fsync, int fd)
{
    struct stat st;

    if (synced_count < SYNCED_MAX && fstat(fd, &st) == 0)
        synced[synced_count++] = st.st_ino;
    return __real_fsync(fd);
}

static int begin(void **given)
{
    (void)given;
    snprintf(folder, sizeof(folder), "/tmp/sprintd-acme.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **given)
{
    char command[256];

    (void)given;
    snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", folder,
             folder);
    return system(command) == 0 ? 0 : -1;
}

static void open_state(struct acme_state *kept)
{
    char fault[ACME_STATE_FAULT_MAX];

    assert_int_equal(acme_state_open(kept, folder, fault), 0);
}

static void write_file(const struct acme_state *kept, enum acme_folder where,
                       const char *name)
{
    assert_int_equal(acme_state_write(kept, where, name, BYTES("text")), 0);
}

static void expect_none(const struct acme_state *kept, enum acme_folder where,
                        const char *name)
{
    struct small_file file;

    assert_int_equal(acme_state_read(kept, where, name, &file), -ENOENT);
}

static mode_t mode_of(const char *name)
{
    struct stat st;
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

/* The server is another user of that group, who has to read what is live, and
 * nothing of the accounts; whatever the umask is. */
TEST(a_folder_that_says_so_shows_its_group_what_is_live)
{
    struct acme_state kept;
    mode_t before = umask(077);

    assert_int_equal(chmod(folder, 02750), 0);
    open_state(&kept);
    write_file(&kept, ACME_FOLDER_LIVE, "a.pem");
    write_file(&kept, ACME_FOLDER_CHALLENGES, "token");
    write_file(&kept, ACME_FOLDER_ORDERS, "a");
    assert_int_equal(acme_state_write_account(&kept, "id", "key.pem",
                                              BYTES("text")),
                     0);
    assert_int_equal(mode_of("live"), 02750);
    assert_int_equal(mode_of("live/challenge"), 02750);
    assert_int_equal(mode_of("live/a.pem"), 0640);
    assert_int_equal(mode_of("live/challenge/token"), 0640);
    assert_int_equal(mode_of("orders") & 0777, 0700);
    assert_int_equal(mode_of("orders/a"), 0600);
    assert_int_equal(mode_of("accounts") & 0777, 0700);
    assert_int_equal(mode_of("accounts/id/key.pem"), 0600);
    acme_state_close(&kept);
    umask(before);
}

/* By mistake or on purpose, others would get at keys. */
TEST(folders_that_others_may_look_into_are_refused)
{
    static const mode_t modes[] = {0750, 0755, 02755, 02770, 0701, 02740};
    struct acme_state kept;
    char fault[ACME_STATE_FAULT_MAX];

    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        assert_int_equal(chmod(folder, modes[i]), 0);
        assert_int_equal(acme_state_open(&kept, folder, fault), -EACCES);
        assert_non_null(strstr(fault, "chmod 700"));
    }
}

TEST(what_is_written_is_read_and_private)
{
    struct acme_state kept;
    struct small_file file;
    struct stat st;

    open_state(&kept);
    write_file(&kept, ACME_FOLDER_LIVE, "a.pem");
    assert_int_equal(acme_state_read(&kept, ACME_FOLDER_LIVE, "a.pem", &file),
                     0);
    assert_string_equal(file.text, "text");
    assert_int_equal(file.seen.st_mode & 0777, 0600);
    small_file_fini(&file);
    assert_int_equal(fstat(kept.fds[ACME_FOLDER_ACCOUNTS], &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(acme_state_write_account(&kept, "id", "url",
                                              BYTES("https://x\n")),
                     0);
    assert_int_equal(acme_state_read_account(&kept, "id", "url", &file), 0);
    small_file_fini(&file);
    acme_state_set_aside(&kept, "id", "url");
    assert_int_equal(acme_state_read_account(&kept, "id", "url", &file),
                     -ENOENT);
    assert_int_equal(acme_state_read_account(&kept, "id", "url.damaged", &file),
                     0);
    small_file_fini(&file);
    acme_state_close(&kept);
}

static bool is_synced(const char *name)
{
    char path[128];
    struct stat st;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(stat(path, &st), 0);
    for (size_t i = 0; i < synced_count; i++)
        if (synced[i] == st.st_ino)
            return true;
    return false;
}

/* Else a file that is on the disk could have no name there. */
TEST(names_of_new_folders_are_on_the_disk)
{
    char fault[ACME_STATE_FAULT_MAX];
    char path[128];
    struct acme_state kept;

    synced_count = 0;
    snprintf(path, sizeof(path), "%s/new", folder);
    assert_int_equal(acme_state_open(&kept, path, fault), 0);
    assert_int_equal(acme_state_write_account(&kept, "id", "url", BYTES("x")),
                     0);
    assert_true(is_synced("."));
    assert_true(is_synced("new"));
    assert_true(is_synced("new/live"));
    assert_true(is_synced("new/accounts"));
    assert_true(is_synced("new/accounts/id"));
    acme_state_close(&kept);
}

TEST(a_folder_that_others_look_into_is_refused)
{
    struct acme_state kept;
    char fault[ACME_STATE_FAULT_MAX];

    assert_int_equal(chmod(folder, 0750), 0);
    assert_int_equal(acme_state_open(&kept, folder, fault), -EACCES);
    assert_non_null(strstr(fault, "others may look into it"));
}

TEST(challenges_that_were_left_are_swept)
{
    struct acme_state kept;

    open_state(&kept);
    write_file(&kept, ACME_FOLDER_CHALLENGES, "token");
    acme_state_sweep(&kept);
    expect_none(&kept, ACME_FOLDER_CHALLENGES, "token");
    acme_state_close(&kept);
}

TEST(one_is_at_work_and_another_takes_over)
{
    struct acme_state kept, other;

    open_state(&kept);
    open_state(&other);
    assert_int_equal(acme_state_lock(&kept, 100), 0);
    assert_int_equal(acme_state_lock(&kept, 101), 0);
    assert_int_equal(acme_state_lock(&other, 101), -EAGAIN);
    acme_state_close(&kept);
    assert_int_equal(acme_state_lock(&other, 102), 0);
    acme_state_close(&other);
}

static void write_lock(const char *text, int64_t age_s)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                {.tv_sec = time(NULL) - age_s}};
    char path[128];
    FILE *to;

    snprintf(path, sizeof(path), "%s/lock", folder);
    to = fopen(path, "we");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Whose locks are not seen here. */
TEST(the_lock_of_another_machine_has_an_end)
{
    struct acme_state kept;

    open_state(&kept);
    write_lock("another-boot 17\n", ACME_LOCK_S - 100);
    assert_int_equal(acme_state_lock(&kept, 100), -EAGAIN);
    write_lock("another-boot 17\n", ACME_LOCK_S + 100);
    assert_int_equal(acme_state_lock(&kept, 100), 0);
    /* It was thought dead in its turn. */
    write_lock("another-boot 17\n", 0);
    assert_int_equal(acme_state_lock(&kept, 101), -EAGAIN);
    acme_state_close(&kept);
}

TEST(the_lock_of_a_dead_process_of_this_machine_is_none)
{
    struct acme_state kept;
    char fault[ACME_STATE_FAULT_MAX];
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (acme_state_open(&kept, folder, fault) != 0)
            _exit(1);
        _exit(acme_state_lock(&kept, 100) == 0 ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    open_state(&kept);
    assert_int_equal(acme_state_lock(&kept, 100), 0);
    acme_state_close(&kept);
}

/* What a crash has left half written, and nothing else. */
TEST(files_that_never_were_whole_are_swept)
{
    struct acme_state kept;
    struct small_file file;

    open_state(&kept);
    write_file(&kept, ACME_FOLDER_LIVE, ".a.pem.17");
    write_file(&kept, ACME_FOLDER_LIVE, "a.pem");
    acme_state_sweep(&kept);
    expect_none(&kept, ACME_FOLDER_LIVE, ".a.pem.17");
    assert_int_equal(acme_state_read(&kept, ACME_FOLDER_LIVE, "a.pem", &file),
                     0);
    small_file_fini(&file);
    assert_true(acme_state_is_there(&kept));
    acme_state_close(&kept);
}

/* It may have been an account's key. A command may be writing a young one. */
TEST(files_of_accounts_that_never_were_whole_are_swept)
{
    static const struct timespec old[] = {{.tv_nsec = UTIME_OMIT},
                                          {.tv_sec = 1000000000}};
    struct acme_state kept;
    struct small_file file;
    char path[128];

    open_state(&kept);
    for (const char *const *name =
             (const char *const[]){"key.pem", ".key.pem.17", ".url.18", NULL};
         *name; name++)
        assert_int_equal(acme_state_write_account(&kept, "id", *name,
                                                  BYTES("text")),
                         0);
    snprintf(path, sizeof(path), "%s/accounts/id/.key.pem.17", folder);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    acme_state_sweep(&kept);
    assert_int_equal(acme_state_read_account(&kept, "id", ".key.pem.17", &file),
                     -ENOENT);
    assert_int_equal(acme_state_read_account(&kept, "id", ".url.18", &file), 0);
    small_file_fini(&file);
    assert_int_equal(acme_state_read_account(&kept, "id", "key.pem", &file), 0);
    small_file_fini(&file);
    acme_state_close(&kept);
}

TEST(another_folder_in_its_place_is_seen)
{
    static const char *const moves[] = {
        "mv orders away && mkdir orders", "rm -r live",
        "cd / && rm -r $OLDPWD && mkdir -m 700 $OLDPWD"};

    for (size_t i = 0; i < sizeof(moves) / sizeof(*moves); i++) {
        struct acme_state kept;
        char command[512];

        open_state(&kept);
        assert_true(acme_state_is_there(&kept));
        snprintf(command, sizeof(command), "cd %s && %s", folder, moves[i]);
        assert_int_equal(system(command), 0);
        assert_false(acme_state_is_there(&kept));
        acme_state_close(&kept);
    }
}

SUITE(.each_begin = begin, .each_end = end);
