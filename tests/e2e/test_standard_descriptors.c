/*
 * Standard input, output and error may be closed, or stuck: nothing else comes
 * to stand in their place, and nobody waits for them.
 */
#include <signal.h>
#include <sys/wait.h>
#include <sysexits.h>

#include "harness.h"

enum { SOON_MS = 5000 };

/* --- A server of our own ------------------------------------------------- */

static pid_t pid;
static const char *socket_path;
static const char *log_path;

/* Without standard input and output, and with that descriptor for standard
 * error; -1: that is closed, too. */
static void start_with(int error, const char *log)
{
    const char *listen = printed("--listen=unix:%s", socket_path);
    const char *access_log = printed("--access-log=%s", log);

    pid = fork();
    if (pid == -1)
        flunk("fork: %s", strerror(errno));
    if (pid > 0)
        return;
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    if (error == -1)
        close(STDERR_FILENO);
    else
        dup2(error, STDERR_FILENO);
    execl(getenv("SPRINTD"), "sprintd", listen, access_log, "--report=always",
          site(), (char *)NULL);
    _exit(EX_UNAVAILABLE);
}

static int status_at_end(void)
{
    int status = 0;

    if (!eventually(waitpid(pid, &status, WNOHANG) == pid, SOON_MS))
        flunk("it does not end");
    pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int set_up(void **state)
{
    (void)state;
    socket_path = printed("%s/socket", folder());
    log_path = printed("%s/log", folder());
    unlink(socket_path);
    unlink(log_path);
    return 0;
}

static int tear_down(void **state)
{
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        pid = 0;
    }
    return harness_after_test(state);
}

static void report_and_stop(void)
{
    assert_true(eventually(access(socket_path, F_OK) == 0, SOON_MS));
    assert_int_equal(kill(pid, SIGUSR2), 0);
    pause_ms(50);
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(status_at_end(), 0);
}

/* --- Closed -------------------------------------------------------------- */

TEST(nothing_takes_the_place_of_what_is_closed)
{
    start_with(-1, log_path);
    report_and_stop();
    assert_string_equal(read_text(log_path, NULL), ""); /* not its messages */
}

TEST(a_closed_output_is_no_place_for_a_log)
{
    const char *errors = printed("%s/said", folder());
    int fd = open(errors, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd != -1);
    start_with(fd, "-");
    close(fd);
    assert_int_equal(status_at_end(), EX_CANTCREAT);
    assert_non_null(strstr(read_text(errors, NULL), "Bad file descriptor"));
}

/* --- More than the standard ones ----------------------------------------- */

static bool holds(const char *path)
{
    for (int fd = 0; fd < 64; fd++) {
        char target[512];
        ssize_t len = readlink(printed("/proc/%d/fd/%d", (int)pid, fd), target,
                               sizeof(target) - 1);

        if (len > 0 && (size_t)len == strlen(path) &&
            memcmp(target, path, (size_t)len) == 0)
            return true;
    }
    return false;
}

/* Root's shell may have had it open, and the server is somebody else, or may be
 * taken over. */
TEST(what_else_the_starter_had_open_is_let_go)
{
    const char *path = printed("%s/held", folder());
    int held = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int inherited = dup(held);

    assert_true(held != -1 && inherited != -1);
    start_with(-1, log_path);
    close(inherited);
    close(held);
    assert_true(eventually(access(socket_path, F_OK) == 0, SOON_MS));
    assert_true(eventually(!holds(path), SOON_MS));
    report_and_stop();
}

/* As <(...) of a shell is. */
TEST(what_else_the_starter_had_open_can_be_named)
{
    const char *path = printed("%s/other-log", folder());
    int held = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int inherited = dup(held);

    assert_true(held != -1 && inherited != -1);
    start_with(-1, printed("/dev/fd/%d", inherited));
    close(inherited);
    close(held);
    report_and_stop();
}

/* --- Stuck --------------------------------------------------------------- */

TEST(an_unread_error_stops_nobody)
{
    static const char page[4096];
    int ends[2];

    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    while (write(ends[1], page, sizeof(page)) > 0)
        continue;
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    start_with(ends[1], log_path);
    close(ends[1]);
    report_and_stop();
    close(ends[0]);
}

SUITE(.begin = harness_begin, .end = harness_end, .each_begin = set_up,
      .each_end = tear_down);
