/*
 * Started as root, for another user: what that user can lead astray is opened
 * with that user's rights, and nothing of root's becomes theirs, neither at the
 * start nor by an upgrade, which that user may order. Run by root only.
 */
#include "client.h"
#include "privileged.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>

static const char *configure(const char *text)
{
    site_text("../roots/conf", printed("listen = {\"127.0.0.1:0\"}\n"
                                       "root = \"%s\"\nuser = nobody\n%s",
                                       site(), text));
    return at("roots/conf");
}

/* --- At the start -------------------------------------------------------- */

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

TEST(no_option_leads_root_through_the_users_links)
{
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

static void refuse_dictionaries(const char *folder, const char *why)
{
    struct outcome outcome;

    RUN(&outcome, "--port=0", "--dictionary=/app.*.js", "--state-directory",
        folder, site());
    assert_int_equal(outcome.status, EX_NOPERM);
    assert_non_null(strstr(outcome.err, why));
}

/* Whose files are served could choose what root writes there. */
TEST(root_keeps_dictionaries_where_nobody_else_leads)
{
    struct launch launch = {.is_bare = true, .root = ""};

    if (geteuid() != 0)
        skip();
    lead("theirs/dictionaries", at("roots"));
    refuse_dictionaries(at("theirs"), "lead root elsewhere");
    lead("theirs/way", at("roots"));
    refuse_dictionaries(at("theirs/way/made/deep"), "");
    assert_int_equal(access(at("roots/made"), F_OK), -1);
    unlink(at("theirs/dictionaries"));
    refuse_dictionaries(at("theirs"), "");
    (void)rmdir(at("theirs/dictionaries"));
    server_stop(server_start(&launch, (const char *const[]){
                                          "--port=0", "--dictionary=/app.*.js",
                                          "--state-directory", at("roots"),
                                          site(), NULL}));
    assert_int_equal(rmdir(at("roots/dictionaries")), 0);
}

static void refuse_cache(const char *folder, const char *why)
{
    struct outcome outcome;

    RUN(&outcome, "--port=0", "--proxy=/=http://127.0.0.1:9", "--proxy-cache",
        folder);
    assert_int_equal(outcome.status, EX_NOPERM);
    assert_non_null(strstr(outcome.err, why));
}

static void accept_cache(const char *folder)
{
    struct launch launch = {.is_bare = true, .root = ""};

    server_stop(server_start(&launch,
                             (const char *const[]){
                                 "--port=0", "--proxy=/=http://127.0.0.1:9",
                                 "--proxy-cache", folder, NULL}));
}

TEST(root_keeps_a_cache_where_nobody_else_leads)
{
    if (geteuid() != 0)
        skip();
    lead("theirs/cache", at("roots"));
    refuse_cache(at("theirs/cache"), "on the way");
    unlink(at("theirs/cache"));
    lead("theirs/way", at("roots"));
    refuse_cache(at("theirs/way/made"), "");
    assert_int_equal(access(at("roots/made"), F_OK), -1);
    accept_cache(at("roots/cache"));
    assert_int_equal(rmdir(at("roots/cache")), 0);
    make_folder("roots/cache", 0);
    assert_int_equal(chmod(at("roots/cache"), 0777), 0);
    refuse_cache(at("roots/cache"), "chmod go-w");
    /* Root's own group is root. */
    assert_int_equal(chmod(at("roots/cache"), 0775), 0);
    accept_cache(at("roots/cache"));
}

static void refuse_store(const char *folder, const char *why)
{
    struct outcome outcome;

    RUN(&outcome, "--port=0", printed("--kv=/kv=%s", at(folder)), site());
    assert_int_equal(outcome.status, EX_NOPERM);
    if (!strstr(outcome.err, why))
        flunk("%s: '%s'", folder, outcome.err);
}

static void accept_store(const char *folder)
{
    struct launch launch = {.is_bare = true, .root = ""};

    server_stop(server_start(&launch,
                             (const char *const[]){
                                 "--port=0", printed("--kv=/kv=%s", at(folder)),
                                 site(), NULL}));
}

TEST(root_keeps_a_store_where_nobody_else_leads)
{
    const char *why = "lead root elsewhere";

    if (geteuid() != 0)
        skip();
    lead("theirs/store", at("roots"));
    refuse_store("theirs/store", why);
    unlink(at("theirs/store"));
    refuse_store("theirs/store", why);
    lead("theirs/way", at("roots"));
    refuse_store("theirs/way/made", why);
    assert_int_equal(access(at("theirs/store"), F_OK), -1);
    assert_int_equal(access(at("roots/made"), F_OK), -1);
    assert_int_equal(access(at("roots/data.mdb"), F_OK), -1);
    make_folder("roots/kept", NOBODY);
    refuse_store("roots/kept", why);
    assert_int_equal(chown(at("roots/kept"), 0, OTHER), 0);
    assert_int_equal(chmod(at("roots/kept"), 0770), 0);
    refuse_store("roots/kept", "chmod go-w");
    /* Who is in that is root. */
    assert_int_equal(chown(at("roots/kept"), 0, 0), 0);
    accept_store("roots/kept");
    accept_store("roots/fresh");
}

/* LMDB follows links, and believes what it reads. */
TEST(root_opens_no_files_of_others_in_its_store)
{
    static const char *const names[] = {"data.mdb", "lock.mdb", "sprintd.lock"};

    if (geteuid() != 0)
        skip();
    accept_store("roots/files");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *file = at(printed("roots/files/%s", names[i]));

        assert_int_equal(chown(file, NOBODY, NOBODY), 0);
        refuse_store("roots/files", "another user's");
        assert_int_equal(chown(file, 0, 0), 0);
        assert_int_equal(chmod(file, 0622), 0);
        refuse_store("roots/files", "others than root can write it");
        assert_int_equal(chmod(file, 0600), 0);
    }
    accept_store("roots/files");
}

TEST(a_root_is_looked_for_as_the_user)
{
    struct outcome outcome;

    if (geteuid() != 0)
        skip();
    lead("theirs/www", at("private/www"));
    RUN(&outcome, "--port=0", "--user=nobody", at("theirs/www"));
    assert_int_equal(outcome.status, EX_NOPERM);
    assert_non_null(strstr(outcome.err, "Permission denied"));
}

TEST(root_gives_away_no_folder_but_the_last)
{
    struct server *one;
    struct stat st;

    if (geteuid() != 0)
        skip();
    one = START("--user=nobody", "--dictionary=/app.*.js", "--state-directory",
                at("roots/some/where/state"));
    expect_status(get(one, "/canary"), 200);
    server_stop(one);
    assert_int_equal(stat(at("roots/some"), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(stat(at("roots/some/where"), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(stat(at("roots/some/where/state"), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
    assert_int_equal(stat(at("roots/some/where/state/dictionaries"), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
}

TEST(places_of_roots_work_as_ever)
{
    struct stat st;
    struct server *one;

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

TEST(a_log_of_roots_is_written_and_stays_roots)
{
    struct stat st;
    struct server *one;

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

/* --- The pid file -------------------------------------------------------- */

/* Counts what the process has open of that file; whether any of it writes. */
static unsigned count_open(pid_t pid, const char *path, bool *writes_out)
{
    unsigned count = 0;

    *writes_out = false;
    for (int fd = 0; fd < 100; fd++) {
        char target[PATH_MAX];
        ssize_t len = readlink(printed("/proc/%d/fd/%d", (int)pid, fd), target,
                               sizeof(target) - 1);

        if (len == -1)
            continue;
        target[len] = '\0';
        if (strcmp(target, path) != 0)
            continue;
        *writes_out |= access_of(pid, fd) != O_RDONLY;
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
TEST(nobody_writes_roots_pid_file_but_its_broker)
{
    static const char *const sandboxes[] = {"--sandbox=on", "--sandbox=off"};
    bool writes;

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

static unsigned mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

/* Older versions made it so that everybody could read it, and so lock it. The
 * user cannot change the mode of what is root's. */
TEST(a_pid_file_left_for_all_to_read_is_closed_to_them)
{
    static const char *const left[] = {"", "2147483647\n"};
    const char *path = at("roots/pid");

    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
        struct server *one;

        site_text("../roots/pid", left[i]);
        assert_int_equal(chmod(path, 0644), 0);
        one = START("--user=nobody", "--pid-file", path);
        assert_int_equal(number_in(path), one->pid);
        assert_int_equal(mode_of(path), 0600);
        server_stop(one);
        assert_int_equal(mode_of(path), 0600);
        assert_int_equal(unlink(path), 0);
    }
}

TEST(what_is_no_pid_file_of_roots_keeps_its_mode)
{
    struct outcome outcome;
    const char *path = at("roots/pid");

    if (geteuid() != 0)
        skip();
    site_text("../roots/pid", "root:x:0:0\n");
    assert_int_equal(chmod(path, 0644), 0);
    RUN(&outcome, "--port=0", "--user=nobody", "--pid-file", path, site());
    assert_int_not_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.err, "no pid file"));
    assert_string_equal(read_text(path, NULL), "root:x:0:0\n");
    assert_int_equal(mode_of(path), 0644);
    assert_int_equal(unlink(path), 0);
}

/* --- At a terminal ------------------------------------------------------- */

/* As `setsid sprintd ... </dev/tty >/dev/tty` does: to who is in a session of
 * its own that is a name for nothing. */
static _Noreturn void be_apart(const char *terminal, int access,
                               const char *errors)
{
    int tty = setsid() == -1 ? -1 : open(terminal, O_RDWR | O_CLOEXEC);
    int own = tty == -1 ? -1 : open("/dev/tty", access | O_CLOEXEC);
    int said = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    pid_t pid = fork();

    if (pid == 0 && setsid() != -1 && dup2(own, 0) != -1 &&
        dup2(own, 1) != -1 && dup2(said, 2) != -1)
        execl(getenv("SPRINTD"), "sprintd", "--user", "65534:65534",
              "--pid-file", at("roots/pid"), "--port", "0", "--bind",
              "127.0.0.1", site(), (char *)NULL);
    for (;;)
        pause(); /* the terminal is hung up with its session */
}

static bool has_number(const char *path)
{
    return access(path, F_OK) == 0 && number_in(path) > 0;
}

TEST(a_terminal_that_cannot_be_opened_again_is_no_reason_to_end)
{
    static const int ways[] = {O_RDWR, O_WRONLY};

    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        const char *errors = at("roots/errors");
        int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        char to[PATH_MAX] = "";
        pid_t shell, pid;

        assert_true(terminal != -1 && grantpt(terminal) == 0 &&
                    unlockpt(terminal) == 0);
        shell = fork();
        if (shell == 0)
            be_apart(printed("%s", ptsname(terminal)), ways[i], errors);
        if (!eventually(has_number(at("roots/pid")), SOON_MS))
            flunk("'%s'", read_text(errors, NULL));
        pid = number_in(at("roots/pid"));
        assert_int_equal(access_of(pid, 1), O_WRONLY);
        assert_true(readlink(printed("/proc/%d/fd/1", (int)pid), to,
                             sizeof(to) - 1) > 0);
        if ((strcmp(to, "/dev/null") == 0) != (ways[i] == O_RDWR))
            flunk("'%s'", to);
        if (!strstr(read_text(errors, NULL), "goes nowhere") ==
            (ways[i] == O_RDWR))
            flunk("'%s'", read_text(errors, NULL));
        kill(shell, SIGKILL);
        assert_int_equal(waitpid(shell, NULL, 0), shell);
        kill(pid, SIGTERM);
        assert_true(process_ends(pid));
        close(terminal);
    }
}

/* --- By an upgrade ------------------------------------------------------- */

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

TEST(an_upgrade_opens_no_log_through_a_new_link)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {
        "--config",
        configure(printed("access-log = \"%s\"\n", at("theirs/access.log"))),
        NULL};
    struct server *one;

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
TEST(an_upgrade_is_the_same_program_as_the_same_user)
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

TEST(the_number_in_roots_pid_file_is_of_who_serves)
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

SUITE(.begin = privileged_begin, .end = harness_end,
      .each_end = operator_after_test);
