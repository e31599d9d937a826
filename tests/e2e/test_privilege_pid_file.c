/*
 * Started as root, for another user: the pid file stays root's, and a terminal
 * of root's is no way to more. Run by root only.
 */
#include "client.h"
#include "privileged.h"

#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>

enum { ABANDONED_S = 60 }; /* a shell that a failed test leaves ends itself */

/* --- The pid file -------------------------------------------------------- */

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

static int open_terminal(void)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    assert_true(terminal != -1 && grantpt(terminal) == 0 &&
                unlockpt(terminal) == 0);
    return terminal;
}

TEST(a_terminal_that_cannot_be_opened_again_is_no_reason_to_end)
{
    static const int ways[] = {O_RDWR, O_WRONLY};

    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        const char *errors = at("roots/errors");
        int terminal = open_terminal();
        char to[PATH_MAX] = "";
        pid_t shell, pid;

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

/* As a shell of root's that starts a server. */
static _Noreturn void be_shell(const char *terminal, const char *sandbox)
{
    int tty = setsid() == -1 ? -1 : open(terminal, O_RDWR | O_CLOEXEC);
    pid_t pid;

    /* The harness would tidy up. */
    sigaction(SIGINT, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    alarm(ABANDONED_S);
    pid = fork();
    if (pid == 0 && dup2(tty, 0) != -1 && dup2(tty, 1) != -1 &&
        dup2(tty, 2) != -1)
        execl(getenv("SPRINTD"), "sprintd", "--user", "65534:65534",
              "--sandbox", sandbox, "--pid-file", at("roots/pid"), "--port",
              "0", "--bind", "127.0.0.1", site(), (char *)NULL);
    for (;;)
        pause();
}

/* Whoever takes the server over would read what root types, or type for root:
 * by /dev/tty, where no sandbox is. */
TEST(a_server_started_at_roots_terminal_does_not_have_it)
{
    static const char *const sandboxes[] = {"on", "off"};

    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof(sandboxes) / sizeof(*sandboxes); i++) {
        int terminal = open_terminal();
        pid_t shell, pid;

        shell = fork();
        if (shell == 0)
            be_shell(printed("%s", ptsname(terminal)), sandboxes[i]);
        assert_true(eventually(has_number(at("roots/pid")), SOON_MS));
        pid = number_in(at("roots/pid"));
        assert_int_not_equal(terminal_of(shell), 0);
        assert_int_equal(terminal_of(pid), 0);
        /* Whoever sits there may still end it. */
        assert_int_equal(write(terminal, "\x03", 1), 1);
        assert_int_equal(waitpid(shell, NULL, 0), shell);
        assert_true(process_ends(pid));
        close(terminal);
    }
}

SUITE(.begin = privileged_begin, .end = harness_end,
      .each_end = operator_after_test);
