/*
 * Started as root, for another user: what that user can lead astray is opened
 * with that user's rights, and nothing of root's becomes theirs, neither at the
 * start nor by an upgrade, which that user may order, nor when root works on a
 * store of theirs. Run by root only.
 */
#include "client.h"
#include "operator.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

enum { NOBODY = 65534, SOON_MS = 10000 };

static const char secret_text[] = "only root knows\n";

static const char *at(const char *name)
{
    return printed("%s/%s", folder(), name);
}

static void make(const char *name, uid_t owner)
{
    assert_int_equal(mkdir(at(name), 0755), 0);
    assert_int_equal(chown(at(name), owner, owner), 0);
}

static int start(void **state)
{
    if (harness_begin(state) != 0)
        return -1;
    operator_adopt();
    if (geteuid() != 0)
        return 0;
    site_text("canary", "canary\n");
    if (chmod(folder(), 0755) != 0)
        return -1;
    make("roots", 0);
    make("private", 0);
    make("private/www", 0);
    make("theirs", NOBODY);
    site_text("../private/www/index.html", secret_text);
    return chmod(at("private"), 0700);
}

/* What the user would like to have. */
static const char *make_secret(void)
{
    site_text("../roots/secret", secret_text);
    assert_int_equal(chmod(at("roots/secret"), 0600), 0);
    return at("roots/secret");
}

static void expect_secret(void)
{
    struct stat st;

    assert_string_equal(read_text(at("roots/secret"), NULL), secret_text);
    assert_int_equal(stat(at("roots/secret"), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* A link of the user's, in the place of what was there. */
static void lead(const char *name, const char *target)
{
    unlink(at(name));
    assert_int_equal(symlink(target, at(name)), 0);
    assert_int_equal(lchown(at(name), NOBODY, NOBODY), 0);
}

static const char *configure(const char *text)
{
    site_text("../roots/conf", printed("listen = {\"127.0.0.1:0\"}\n"
                                       "root = \"%s\"\nuser = nobody\n%s",
                                       site(), text));
    return at("roots/conf");
}

/* --- At the start -------------------------------------------------------------- */

static void expect_refused(const char *argument, const char *why)
{
    struct outcome outcome;

    RUN(&outcome, "--bind=127.0.0.1", "--port=0", "--user=nobody", argument,
        site());
    assert_int_not_equal(outcome.status, 0);
    if (!strstr(outcome.err, why))
        flunk("%s: '%s'", argument, outcome.err);
    expect_secret();
    assert_int_equal(access(at("roots/new"), F_OK), -1);
}

static void no_option_leads_root_through_the_users_links(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    make_secret();
    lead("theirs/link", at("roots/secret"));
    lead("theirs/roots", at("roots"));
    assert_int_equal(link(at("roots/secret"), at("theirs/hard")), 0);
    expect_refused(printed("--access-log=%s", at("theirs/link")), "denied");
    expect_refused(printed("--access-log=%s", at("theirs/hard")), "denied");
    expect_refused(printed("--access-log=%s", at("theirs/roots/new")),
                   "denied");
    expect_refused(printed("--pid-file=%s", at("theirs/link")), "no pid file");
    expect_refused(printed("--pid-file=%s", at("theirs/roots/new")), "denied");
    expect_refused(printed("--control=%s", at("theirs/roots/new")), "denied");
    expect_refused(printed("--listen=unix:%s", at("theirs/roots/new")),
                   "denied");
    expect_refused(printed("--kv=/kv=%s", at("theirs/roots/new")), "denied");
    expect_refused(printed("--kv-token=%s", at("theirs/link")), "denied");
    assert_int_equal(unlink(at("theirs/hard")), 0);
}

static void a_root_is_looked_for_as_the_user(void **state)
{
    struct outcome outcome;

    (void)state;
    if (geteuid() != 0)
        skip();
    lead("theirs/www", at("private/www"));
    RUN(&outcome, "--port=0", "--user=nobody", at("theirs/www"));
    assert_int_equal(outcome.status, EX_NOPERM);
    assert_non_null(strstr(outcome.err, "Permission denied"));
}

static void places_of_roots_work_as_ever(void **state)
{
    struct stat st;
    struct server *one;

    (void)state;
    if (geteuid() != 0)
        skip();
    one = START("--user=nobody",
                printed("--access-log=%s", at("roots/access.log")),
                "--pid-file", at("roots/pid"), "--control", control_path(),
                printed("--kv=/kv=%s", at("roots/data")));
    expect_status(get(one, "/canary"), 200);
    assert_int_equal(stat(at("roots/access.log"), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(stat(at("roots/data"), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
    assert_int_equal(stat(at("roots/pid"), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(stat(control_path(), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
    ctl_ok("status");
    server_stop(one);
}

static void a_log_of_roots_is_written_and_stays_roots(void **state)
{
    struct stat st;
    struct server *one;

    (void)state;
    if (geteuid() != 0)
        skip();
    site_text("../roots/old.log", "");
    one = START("--user=nobody",
                printed("--access-log=%s", at("roots/old.log")));
    get(one, "/canary");
    server_stop(one);
    assert_int_equal(stat(at("roots/old.log"), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_true(st.st_size > 0);
}

/* --- The pid file --------------------------------------------------------------- */

/* Counts what the process has open of that file; whether any of it writes. */
static unsigned count_open(pid_t pid, const char *path, bool *writes_out)
{
    unsigned count = 0;

    *writes_out = false;
    for (int fd = 0; fd < 100; fd++) {
        char target[PATH_MAX];
        ssize_t len = readlink(printed("/proc/%d/fd/%d", (int)pid, fd), target,
                               sizeof(target) - 1);
        const char *flags;

        if (len == -1)
            continue;
        target[len] = '\0';
        if (strcmp(target, path) != 0)
            continue;
        flags = strstr(read_text(printed("/proc/%d/fdinfo/%d", (int)pid, fd),
                                 NULL),
                       "flags:");
        assert_non_null(flags);
        *writes_out |= (strtoul(flags + 6, NULL, 8) & O_ACCMODE) != O_RDONLY;
        count++;
    }
    return count;
}

static pid_t number_in(const char *path)
{
    return (pid_t)strtol(read_text(path, NULL), NULL, 10);
}

/* Whoever takes the server over could name another process, which a script of
 * root's kills then. */
static void nobody_writes_roots_pid_file_but_its_broker(void **state)
{
    static const char *const sandboxes[] = {"--sandbox=on", "--sandbox=off"};
    bool writes;

    (void)state;
    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof(sandboxes) / sizeof(*sandboxes); i++) {
        const char *path = at("roots/pid");
        struct server *one = START("--user=nobody", "--pid-file", path,
                                   sandboxes[i]);
        struct outcome outcome;

        expect_status(get(one, "/canary"), 200);
        assert_int_equal(number_in(path), one->pid);
        assert_int_equal(count_open(one->pid, path, &writes), 1);
        assert_false(writes);
        RUN(&outcome, "--port=0", "--user=nobody", "--pid-file", path, site());
        assert_int_equal(outcome.status, EX_UNAVAILABLE); /* the lock holds */
        server_stop(one);
        assert_string_equal(read_text(path, NULL), "");
        assert_int_equal(unlink(path), 0);
    }
}

/* --- By an upgrade -------------------------------------------------------------- */

static void order(const struct server *server, int number)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (setgroups(0, NULL) == -1 || setgid(NOBODY) == -1 ||
            setuid(NOBODY) == -1)
            _exit(1);
        _exit(kill(server->pid, number) == 0 ? 0 : 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void an_upgrade_opens_no_log_through_a_new_link(void **state)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {
        "--config",
        configure(printed("access-log = \"%s\"\n", at("theirs/access.log"))),
        NULL};
    struct server *one;

    (void)state;
    if (geteuid() != 0)
        skip();
    make_secret();
    unlink(at("theirs/access.log"));
    one = server_start(&launch, arguments);
    get(one, "/canary");
    lead("theirs/access.log", at("roots/secret"));
    order(one, SIGUSR1);
    assert_true(eventually(server_has_said(one, "going on with the old one"),
                           SOON_MS));
    order(one, SIGUSR2);
    assert_true(eventually(server_has_said(one, "not upgraded"), SOON_MS));
    expect_secret();
    expect_status(get(one, "/canary"), 200);
    server_stop(one);
}

/* The launcher starts this program with these arguments, and the successor is
 * who this server is: nothing else comes of an order. */
static void an_upgrade_is_the_same_program_as_the_same_user(void **state)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {"--config",   configure(""),
                                     "--control",  control_path(),
                                     "--pid-file", at("theirs/pid"),
                                     NULL};
    struct server *one;
    char *before, *after;
    size_t before_len, after_len;
    pid_t next = 0;
    FILE *file;

    (void)state;
    if (geteuid() != 0)
        skip();
    one = server_start(&launch, arguments);
    before = read_text(printed("/proc/%d/cmdline", (int)one->pid), &before_len);
    order(one, SIGUSR2);
    assert_int_equal(server_wait(one, patience(SOON_MS)), 0);
    file = fopen(at("theirs/pid"), "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &next), 1);
    fclose(file);
    after = read_text(printed("/proc/%d/cmdline", (int)next), &after_len);
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, before_len);
    assert_non_null(strstr(read_text(printed("/proc/%d/status", (int)next),
                                     NULL),
                           "Uid:\t65534\t65534\t65534\t65534"));
    kill(next, SIGTERM);
    assert_true(process_ends(next));
}

/* --- In a store ------------------------------------------------------------------ */

static const char lines[] = "{\"key\":\"a\",\"value\":\"1\"}\n";

static uid_t owner_of(const char *name)
{
    struct stat st;

    assert_int_equal(lstat(at(name), &st), 0);
    return st.st_uid;
}

/* A store of the user's, which root has filled. */
static void make_store(void)
{
    site_text("../roots/lines", lines);
    assert_int_equal(STORE_COMMAND(at("roots/lines"), NULL, "import",
                                   at("theirs/store")),
                     0);
}

static void drop_folder(const char *name)
{
    static const char *const names[] = {"lock.mdb", "data.mdb", "sprintd.lock"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        unlink(at(printed("%s/%s", name, names[i])));
    assert_int_equal(rmdir(at(name)), 0);
}

static void root_works_on_a_store_as_its_owner(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    make_store();
    assert_int_equal(owner_of("theirs/store"), NOBODY);
    assert_int_equal(owner_of("theirs/store/data.mdb"), NOBODY);
    assert_int_equal(unlink(at("theirs/store/lock.mdb")), 0);
    assert_int_equal(STORE_COMMAND(NULL, at("roots/out"), "export",
                                   at("theirs/store")),
                     0);
    assert_int_equal(owner_of("theirs/store/lock.mdb"), NOBODY);
    assert_non_null(strstr(read_text(at("roots/out"), NULL), "\"key\":\"a\""));
    /* What is written is root's, wherever its owner could not write. */
    assert_int_equal(STORE_COMMAND(NULL, NULL, "backup", at("theirs/store"),
                                   at("private/copy")),
                     0);
    assert_int_equal(owner_of("private/copy/data.mdb"), 0);
    assert_int_equal(STORE_COMMAND(NULL, at("roots/out"), "export",
                                   at("private/copy")),
                     0);
    assert_non_null(strstr(read_text(at("roots/out"), NULL), "\"key\":\"a\""));
    drop_folder("private/copy");
    drop_folder("theirs/store");
}

static void a_store_that_only_root_can_walk_to_is_its_owners(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    make_store();
    assert_int_equal(rename(at("theirs/store"), at("private/store")), 0);
    assert_int_equal(STORE_COMMAND(NULL, at("roots/out"), "export",
                                   at("private/store")),
                     0);
    assert_non_null(strstr(read_text(at("roots/out"), NULL), "\"key\":\"a\""));
    drop_folder("private/store");
}

static void links_in_a_store_lead_root_nowhere(void **state)
{
    static const char *const names[] = {"lock.mdb", "data.mdb", "sprintd.lock"};

    (void)state;
    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *const targets[] = {make_secret(), at("roots/new")};
        const char *link = printed("theirs/store/%s", names[i]);

        for (size_t k = 0; k < sizeof(targets) / sizeof(*targets); k++) {
            make_store();
            lead(link, targets[k]);
            STORE_COMMAND(NULL, NULL, "export", at("theirs/store"));
            STORE_COMMAND(at("roots/lines"), NULL, "import",
                          at("theirs/store"));
            STORE_COMMAND(NULL, NULL, "backup", at("theirs/store"),
                          at("private/copy"));
            expect_secret();
            assert_int_equal(access(at("roots/new"), F_OK), -1);
            if (access(at("private/copy"), F_OK) == 0)
                drop_folder("private/copy");
            drop_folder("theirs/store");
        }
    }
}

static void roots_own_store_is_not_one_that_others_write_in(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    site_text("../roots/lines", lines);
    assert_int_equal(STORE_COMMAND(at("roots/lines"), NULL, "import",
                                   at("roots/store")),
                     0);
    assert_int_equal(owner_of("roots/store/data.mdb"), 0);
    assert_int_equal(STORE_COMMAND(NULL, NULL, "export", at("roots/store")), 0);
    /* By a way that the user can change at any time. */
    lead("theirs/way", at("roots"));
    assert_int_equal(STORE_COMMAND(NULL, NULL, "export",
                                   at("theirs/way/store")),
                     EX_NOPERM);
    assert_int_equal(STORE_COMMAND(at("roots/lines"), NULL, "import",
                                   at("theirs/way/new")),
                     EX_NOPERM);
    assert_int_equal(access(at("roots/new"), F_OK), -1);
    assert_int_equal(chmod(at("roots/store"), 0770), 0);
    assert_int_equal(STORE_COMMAND(NULL, NULL, "export", at("roots/store")),
                     EX_NOPERM);
    drop_folder("roots/store");
    assert_int_equal(chmod(at("roots"), 0775), 0);
    assert_int_equal(STORE_COMMAND(at("roots/lines"), NULL, "import",
                                   at("roots/store")),
                     EX_NOPERM);
    assert_int_equal(chmod(at("roots"), 0755), 0);
    assert_int_equal(access(at("roots/store"), F_OK), -1);
}

static void the_number_in_roots_pid_file_is_of_who_serves(void **state)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *path = at("roots/pid");
    const char *const arguments[] = {
        "--config",
        configure(printed("access-log = \"%s\"\n", at("theirs/pid.log"))),
        "--pid-file", path, NULL};
    struct server *one;
    bool writes;
    pid_t next;

    (void)state;
    if (geteuid() != 0)
        skip();
    unlink(at("theirs/pid.log"));
    one = server_start(&launch, arguments);
    assert_int_equal(number_in(path), one->pid);
    make_secret();
    lead("theirs/pid.log", at("roots/secret"));
    order(one, SIGUSR2);
    assert_true(eventually(server_has_said(one, "not upgraded"), SOON_MS));
    assert_int_equal(number_in(path), one->pid);
    assert_int_equal(unlink(at("theirs/pid.log")), 0);
    order(one, SIGUSR2);
    assert_int_equal(server_wait(one, patience(SOON_MS)), 0);
    next = number_in(path);
    assert_int_not_equal(next, 0);
    assert_int_not_equal(next, one->pid);
    assert_int_equal(count_open(next, path, &writes), 1);
    assert_false(writes);
    kill(next, SIGTERM);
    assert_true(process_ends(next));
    assert_string_equal(read_text(path, NULL), "");
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_teardown(function, operator_after_test)
        TEST(no_option_leads_root_through_the_users_links),
        TEST(a_root_is_looked_for_as_the_user),
        TEST(places_of_roots_work_as_ever),
        TEST(a_log_of_roots_is_written_and_stays_roots),
        TEST(an_upgrade_opens_no_log_through_a_new_link),
        TEST(an_upgrade_is_the_same_program_as_the_same_user),
        TEST(nobody_writes_roots_pid_file_but_its_broker),
        TEST(the_number_in_roots_pid_file_is_of_who_serves),
        TEST(root_works_on_a_store_as_its_owner),
        TEST(a_store_that_only_root_can_walk_to_is_its_owners),
        TEST(links_in_a_store_lead_root_nowhere),
        TEST(roots_own_store_is_not_one_that_others_write_in)};

    return cmocka_run_group_tests(tests, start, harness_end);
}
