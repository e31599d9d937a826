/*
 * `sprintd kv` run by root on stores of others: what their users, and whoever
 * can write on the way, put there leads root nowhere. Run by root only.
 */
#include "privileged.h"
#include "store.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

static const char lines[] = "{\"key\":\"a\",\"value\":\"1\"}\n";

static uid_t owner_of(const char *name)
{
    struct stat st;

    assert_int_equal(lstat(at(name), &st), 0);
    return st.st_uid;
}

/* The statuses of the commands, which root runs on the store at path. */

static int export(const char *path)
{
    return STORE_COMMAND(NULL, NULL, "export", path);
}

static int import(const char *path)
{
    return STORE_COMMAND(at("roots/lines"), NULL, "import", path);
}

static int backup(const char *path, const char *to)
{
    return STORE_COMMAND(NULL, NULL, "backup", path, to);
}

/* Root fills a store there. */
static void make_store_at(const char *path)
{
    site_text("../roots/lines", lines);
    assert_int_equal(import(path), 0);
}

/* A store of the user's. */
static void make_store(void)
{
    make_store_at(at("theirs/store"));
}

static void expect_lines(const char *path)
{
    assert_int_equal(STORE_COMMAND(NULL, at("roots/out"), "export", path), 0);
    assert_non_null(strstr(read_text(at("roots/out"), NULL), "\"key\":\"a\""));
}

static void drop_folder(const char *name)
{
    static const char *const names[] = {"lock.mdb", "data.mdb", "sprintd.lock"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        unlink(at(printed("%s/%s", name, names[i])));
    assert_int_equal(rmdir(at(name)), 0);
}

TEST(no_name_is_no_folder)
{
    struct outcome outcome;

    if (geteuid() != 0)
        skip();
    RUN(&outcome, "kv", "export", "");
    assert_int_not_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.err, "No such file"));
    RUN(&outcome, "kv", "import", "");
    assert_int_not_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.err, "No such file"));
}

TEST(root_works_on_a_store_as_its_owner)
{
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
    assert_int_equal(backup(at("theirs/store"), at("private/copy")), 0);
    assert_int_equal(owner_of("private/copy/data.mdb"), 0);
    expect_lines(at("private/copy"));
    drop_folder("private/copy");
    drop_folder("theirs/store");
}

TEST(a_store_that_only_root_can_walk_to_is_its_owners)
{
    if (geteuid() != 0)
        skip();
    make_store();
    assert_int_equal(rename(at("theirs/store"), at("private/store")), 0);
    expect_lines(at("private/store"));
    drop_folder("private/store");
}

TEST(links_in_a_store_lead_root_nowhere)
{
    static const char *const names[] = {"lock.mdb", "data.mdb", "sprintd.lock"};

    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *const targets[] = {make_secret(), at("roots/new")};
        const char *link = printed("theirs/store/%s", names[i]);

        for (size_t k = 0; k < sizeof(targets) / sizeof(*targets); k++) {
            make_store();
            lead(link, targets[k]);
            export(at("theirs/store"));
            import(at("theirs/store"));
            backup(at("theirs/store"), at("private/copy"));
            expect_secret();
            assert_int_equal(access(at("roots/new"), F_OK), -1);
            if (access(at("private/copy"), F_OK) == 0)
                drop_folder("private/copy");
            drop_folder("theirs/store");
        }
    }
}

TEST(roots_own_store_is_not_one_that_others_write_in)
{
    if (geteuid() != 0)
        skip();
    make_store_at(at("roots/store"));
    assert_int_equal(owner_of("roots/store/data.mdb"), 0);
    assert_int_equal(export(at("roots/store")), 0);
    /* By a way that the user can change at any time. */
    lead("theirs/way", at("roots"));
    assert_int_equal(export(at("theirs/way/store")), EX_NOPERM);
    assert_int_equal(import(at("theirs/way/new")), EX_NOPERM);
    assert_int_equal(access(at("roots/new"), F_OK), -1);
    assert_int_equal(chown(at("roots/store"), 0, OTHER), 0);
    assert_int_equal(chmod(at("roots/store"), 0770), 0);
    assert_int_equal(export(at("roots/store")), EX_NOPERM);
    drop_folder("roots/store");
    assert_int_equal(chown(at("roots"), 0, OTHER), 0);
    assert_int_equal(chmod(at("roots"), 0775), 0);
    assert_int_equal(import(at("roots/store")), EX_NOPERM);
    assert_int_equal(chown(at("roots"), 0, 0), 0);
    assert_int_equal(chmod(at("roots"), 0755), 0);
    assert_int_equal(access(at("roots/store"), F_OK), -1);
}

/* By all that works on a store; what is not there is not made, either. */
static void expect_no_way(const char *store)
{
    struct outcome outcome;

    RUN(&outcome, "kv", "export", store);
    assert_int_equal(outcome.status, EX_NOPERM);
    assert_string_equal(outcome.out, "");
    if (!strstr(outcome.err, store) || !strstr(outcome.err, "lead root"))
        flunk("'%s'", outcome.err);
    assert_int_equal(import(store), EX_NOPERM);
    assert_int_equal(backup(store, at("private/copy")), EX_NOPERM);
    assert_int_equal(access(at("private/copy"), F_OK), -1);
}

/* LMDB trusts what it reads, and would be root. */
TEST(roots_own_store_is_not_one_whose_files_others_write)
{
    static const char *const names[] = {"lock.mdb", "data.mdb"};
    struct outcome outcome;

    if (geteuid() != 0)
        skip();
    make_store_at(at("roots/store"));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *file = printed("roots/store/%s", names[i]);

        assert_int_equal(chmod(at(file), 0666), 0);
        RUN(&outcome, "kv", "export", at("roots/store"));
        assert_int_equal(outcome.status, EX_NOPERM);
        assert_non_null(strstr(outcome.err, "can write it"));
        RUN(&outcome, "kv", "backup", at("roots/store"), at("private/copy"));
        assert_int_equal(outcome.status, EX_NOPERM);
        RUN(&outcome, "kv", "import", at("roots/store"));
        assert_int_equal(outcome.status, EX_NOPERM);
        assert_int_equal(chmod(at(file), 0600), 0);
    }
    assert_int_equal(export(at("roots/store")), 0);
    drop_folder("roots/store");
}

/* Else root would do, with the rights of whoever it becomes, what somebody else
 * wished. */
TEST(only_root_and_its_owner_lead_root_to_a_store)
{
    if (geteuid() != 0)
        skip();
    make_store();
    assert_int_equal(symlink(at("theirs/store"), at("others/store")), 0);
    assert_int_equal(symlink(at("others/store"), at("roots/by-others")), 0);
    assert_int_equal(symlink(at("theirs/store"), at("roots/direct")), 0);
    lead("theirs/own", at("theirs/store"));
    expect_lines(at("roots/direct"));
    expect_lines(at("theirs/own"));
    expect_lines(at("theirs/store/."));
    expect_no_way(at("others/store"));
    expect_no_way(at("others/store/"));
    expect_no_way(at("roots/by-others"));
    expect_no_way(at("others/../theirs/store"));
    assert_int_equal(chmod(at("theirs"), 0775), 0);
    expect_no_way(at("theirs/store"));
    assert_int_equal(chmod(at("theirs"), 01777), 0);
    expect_lines(at("theirs/store"));
    assert_int_equal(chmod(at("theirs"), 0755), 0);
    assert_int_equal(chmod(at("theirs/store"), 0770), 0);
    expect_no_way(at("theirs/store"));
    unlink(at("others/store"));
    unlink(at("roots/by-others"));
    unlink(at("roots/direct"));
    unlink(at("theirs/own"));
    drop_folder("theirs/store");
}

/* Another user's would be read by root, and a pipe waited for. */
TEST(only_files_of_the_folders_owner_are_opened)
{
    if (geteuid() != 0)
        skip();
    make_store_at(at("roots/store"));
    assert_int_equal(chown(at("roots/store/data.mdb"), NOBODY, NOBODY), 0);
    assert_int_equal(export(at("roots/store")), EX_NOPERM);
    assert_int_equal(unlink(at("roots/store/data.mdb")), 0);
    assert_int_equal(mkfifo(at("roots/store/data.mdb"), 0600), 0);
    assert_int_equal(export(at("roots/store")), EX_DATAERR);
    drop_folder("roots/store");
}

TEST(a_copy_goes_where_no_other_user_leads)
{
    if (geteuid() != 0)
        skip();
    make_store();
    make_folder("roots/kept", 0);
    make_folder("open", 0);
    assert_int_equal(chmod(at("open"), 01777), 0);
    assert_int_equal(symlink(at("roots/kept"), at("open/link")), 0);
    assert_int_equal(lchown(at("open/link"), OTHER, OTHER), 0);
    make_folder("open/theirs", OTHER);
    assert_int_equal(backup(at("theirs/store"), at("open/link")), EX_NOPERM);
    assert_int_equal(access(at("roots/kept/data.mdb"), F_OK), -1);
    assert_int_equal(backup(at("theirs/store"), at("open/theirs")), EX_NOPERM);
    assert_int_equal(backup(at("theirs/store"), at("open/own/")), 0);
    drop_folder("open/own");
    assert_int_equal(backup(at("theirs/store"), ""), EX_IOERR);
    assert_int_equal(unlink(at("open/link")), 0);
    assert_int_equal(rmdir(at("open/theirs")), 0);
    drop_folder("theirs/store");
}

/* Into folders of their own, and into no other: what is copied is of their
 * making, too. */
TEST(owners_lead_a_copy_to_folders_of_their_own)
{
    if (geteuid() != 0)
        skip();
    make_store();
    make_folder("roots/held", 0);
    lead("theirs/link", at("roots/held"));
    lead("theirs/up", at("roots"));
    assert_int_equal(backup(at("theirs/store"), at("theirs/link")), EX_NOPERM);
    assert_int_equal(backup(at("theirs/store"), at("theirs/up/held")),
                     EX_NOPERM);
    assert_int_equal(backup(at("theirs/store"), at("theirs/up/new")),
                     EX_NOPERM);
    assert_int_equal(access(at("roots/new"), F_OK), -1);
    assert_int_equal(rmdir(at("roots/held")), 0); /* nothing is in it */
    assert_int_equal(backup(at("theirs/store"), at("theirs/copy/")), 0);
    assert_int_equal(owner_of("theirs/copy/data.mdb"), 0);
    drop_folder("theirs/copy");
    unlink(at("theirs/link"));
    unlink(at("theirs/up"));
    drop_folder("theirs/store");
}

/* By a name that begins where one stands. */
static void refuse_import_from(const char *folder, const char *store)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (chdir(folder) == 0)
            execl(getenv("SPRINTD"), "sprintd", "kv", "import", store,
                  (char *)NULL);
        _exit(EX_OSERR);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EX_NOPERM);
}

static void refuse_import(const char *store, const char *why)
{
    struct outcome outcome;

    RUN(&outcome, "kv", "import", store);
    assert_int_equal(outcome.status, EX_NOPERM);
    assert_non_null(strstr(outcome.err, why));
}

/* Anybody can have made that, to read what root would put into it. */
TEST(nothing_is_imported_where_anybody_was_the_first)
{
    if (geteuid() != 0)
        skip();
    site_text("../roots/lines", lines);
    make_folder("sticky", 0);
    assert_int_equal(chmod(at("sticky"), 01777), 0);
    make_folder("sticky/gift", OTHER);
    make_folder("sticky/gift/deep", OTHER);
    refuse_import(at("sticky/gift"), "anybody");
    refuse_import(at("sticky/gift/deep"), "");
    refuse_import(at("sticky/gift/new"), "anybody");
    refuse_import_from(at("sticky/gift/deep"), ".");
    refuse_import_from(at("sticky/gift"), "new");
    assert_int_equal(rmdir(at("sticky/gift/deep")), 0);
    assert_int_equal(rmdir(at("sticky/gift")), 0);
    assert_int_equal(rmdir(at("sticky")), 0);
}

TEST(only_root_and_its_owner_have_root_make_a_store)
{
    if (geteuid() != 0)
        skip();
    site_text("../roots/lines", lines);
    make_folder("sticky", 0);
    assert_int_equal(chmod(at("sticky"), 01777), 0);
    assert_int_equal(symlink(at("theirs"), at("others/theirs")), 0);
    assert_int_equal(symlink(at("sticky"), at("others/sticky")), 0);
    refuse_import(at("others/theirs/new"), "lead root");
    assert_int_equal(access(at("theirs/new"), F_OK), -1);
    refuse_import(at("others/sticky/new"), "");
    assert_int_equal(access(at("sticky/new"), F_OK), -1);
    assert_int_equal(import(at("sticky/new")), 0);
    assert_int_equal(owner_of("sticky/new/data.mdb"), 0);
    drop_folder("sticky/new");
    /* There the store would be made by its name, which others can take first.
     */
    assert_int_equal(chmod(at("theirs"), 01777), 0);
    refuse_import(at("theirs/new"), "");
    assert_int_equal(access(at("theirs/new"), F_OK), -1);
    assert_int_equal(chmod(at("theirs"), 0755), 0);
    unlink(at("others/theirs"));
    unlink(at("others/sticky"));
}

/* --- At a terminal ------------------------------------------------------- */

/* As a shell does, which leads the session of its terminal: runs an import
 * whose lines are yet to come. Its number goes to report. */
static _Noreturn void be_shell(const char *terminal, int input, int report)
{
    int tty = -1;
    pid_t pid;

    sigaction(SIGINT, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    if (setsid() != -1)
        tty = open(terminal, O_RDWR | O_CLOEXEC);
    pid = fork();
    if (pid == 0 && dup2(input, 0) != -1 && dup2(tty, 1) != -1 &&
        dup2(tty, 2) != -1)
        execl(getenv("SPRINTD"), "sprintd", "kv", "import", at("theirs/store"),
              (char *)NULL);
    if (pid <= 0 || write(report, &pid, sizeof(pid)) != sizeof(pid))
        _exit(1);
    for (;;)
        pause(); /* without a look at how it ends: the test has that */
}

struct terminal {
    int fd;      /* of who looks at it */
    int input;   /* what the import reads */
    pid_t shell; /* and who works there */
    pid_t import;
};

static void open_terminal(struct terminal *terminal)
{
    int input[2], report[2];

    terminal->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal->fd != -1 && grantpt(terminal->fd) == 0 &&
                unlockpt(terminal->fd) == 0);
    assert_int_equal(pipe2(input, O_CLOEXEC), 0);
    assert_int_equal(pipe2(report, O_CLOEXEC), 0);
    terminal->shell = fork();
    if (terminal->shell == 0) {
        const char *name = printed("%s", ptsname(terminal->fd));

        close(terminal->fd); /* so that it ends with the test */
        close(input[1]);
        be_shell(name, input[0], report[1]);
    }
    assert_int_not_equal(terminal->shell, -1);
    assert_int_equal(read(report[0], &terminal->import, sizeof(pid_t)),
                     sizeof(pid_t));
    close(report[0]);
    close(report[1]);
    close(input[0]);
    terminal->input = input[1];
}

static bool is_of_nobody(pid_t pid)
{
    return strstr(read_text(printed("/proc/%d/status", (int)pid), NULL),
                  "Uid:\t65534\t65534\t65534\t65534") != NULL;
}

/* What lies in the store may take it over, and would type for root then. */
TEST(who_works_for_root_has_not_roots_terminal)
{
    struct terminal terminal;
    int status;

    if (geteuid() != 0)
        skip();
    open_terminal(&terminal);
    assert_int_not_equal(terminal_of(terminal.shell), 0);
    assert_true(eventually(is_of_nobody(terminal.import), SOON_MS));
    assert_int_equal(terminal_of(terminal.import), 0);
    assert_int_equal(access_of(terminal.import, 1), O_WRONLY);
    assert_int_equal(access_of(terminal.import, 2), O_WRONLY);
    /* Whoever sits there may still end it. */
    assert_int_equal(write(terminal.fd, "\x03", 1), 1);
    assert_int_equal(waitpid(terminal.shell, &status, 0), terminal.shell);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    assert_true(eventually(waitpid(terminal.import, &status, WNOHANG) ==
                               terminal.import,
                           SOON_MS));
    assert_true(WIFSIGNALED(status));
    close(terminal.input);
    close(terminal.fd);
    if (access(at("theirs/store"), F_OK) == 0)
        drop_folder("theirs/store");
}

SUITE(.begin = privileged_begin, .end = harness_end,
      .each_end = operator_after_test);
