#include "process/daemon.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>

#include "suite.h"
#include "unit/place.h"

enum { WAIT_MS = 60000 };

static unsigned fds_before;

static int set_up(void **state)
{
    (void)state;
    unsetenv(READINESS_VARIABLE);
    fds_before = place_count_fds();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return place_count_fds() == fds_before ? 0 : -1;
}

/* --- Readiness ----------------------------------------------------------- */

TEST(the_byte_is_the_status)
{
    int ends[2];
    int status = -1;

    for (int told = 0; told < 256; told += 51) {
        struct readiness readiness;

        assert_int_equal(pipe(ends), 0);
        readiness = (struct readiness){.fd = ends[1]};
        readiness_tell(&readiness, told);
        assert_int_equal(readiness.fd, -1);
        readiness_tell(&readiness, 1); /* to nobody */
        assert_int_equal(readiness_wait(ends[0], -1, WAIT_MS, &status),
                         READINESS_TOLD);
        assert_int_equal(status, told);
        assert_int_equal(readiness_wait(ends[0], -1, WAIT_MS, &status),
                         READINESS_DEAD);
        close(ends[0]);
    }
}

TEST(telling_who_has_given_up_does_no_harm)
{
    struct readiness readiness;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    readiness = (struct readiness){.fd = ends[1]};
    readiness_tell(&readiness, 0);
    assert_int_equal(readiness.fd, -1);
}

TEST(waiting_ends_in_time_and_when_nobody_wants_to_know)
{
    int ends[2], boss[2];
    int status;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, boss), 0);
    assert_int_equal(readiness_wait(ends[0], boss[0], 1, &status),
                     READINESS_TIMEOUT);
    close(boss[1]);
    assert_int_equal(readiness_wait(ends[0], boss[0], WAIT_MS, &status),
                     READINESS_GIVEN_UP);
    close(boss[0]);
    close(ends[1]);
    assert_int_equal(readiness_wait(ends[0], -1, -1, &status), READINESS_DEAD);
    close(ends[0]);
}

TEST(the_environment_names_a_pipe_or_nothing)
{
    static const char *const nonsense[] = {"", "x", "1", "-1", "900", "5x"};
    struct readiness readiness;
    char number[16];
    int ends[2];

    readiness_inherit(&readiness);
    assert_int_equal(readiness.fd, -1);
    assert_false(readiness.is_successor);
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++) {
        setenv(READINESS_VARIABLE, nonsense[i], 1);
        readiness_inherit(&readiness);
        assert_int_equal(readiness.fd, -1);
        assert_null(getenv(READINESS_VARIABLE));
    }
    assert_int_equal(pipe(ends), 0);
    snprintf(number, sizeof(number), "%d", ends[1]);
    setenv(READINESS_VARIABLE, number, 1);
    readiness_inherit(&readiness);
    assert_int_equal(readiness.fd, ends[1]);
    assert_true(readiness.is_successor);
    assert_true(fcntl(ends[1], F_GETFD) & FD_CLOEXEC);
    readiness_tell(&readiness, 0);
    close(ends[0]);
}

/* --- Daemons ------------------------------------------------------------- */

/* What the daemon under test says about itself. */
struct report {
    pid_t pid, parent, session, group, command;
};

enum fate { SERVES, FAILS, DIES };

/* Runs a command that makes a daemon; the command's status. *report_out is
 * what the daemon said. */
static int run(enum fate fate, struct report *report_out)
{
    struct pollfd ended;
    int ends[2];
    int status;
    pid_t command;

    assert_int_equal(pipe(ends), 0);
    command = fork();
    if (command == 0) {
        struct report report = {.command = getpid()};
        struct readiness readiness;
        int err;

        close(ends[0]);
        alarm(WAIT_MS / 1000);
        /* Its word that it died is expected. */
        close(STDERR_FILENO);
        err = daemon_leave(&readiness);
        report.pid = getpid();
        report.parent = getppid();
        report.session = getsid(0);
        report.group = getpgrp();
        if (err != 0 || write(ends[1], &report, sizeof(report)) == -1)
            _exit(99);
        if (fate == DIES)
            _exit(0);
        readiness_tell(&readiness, fate == FAILS ? EX_CONFIG : EX_OK);
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(waitpid(command, &status, 0), command);
    assert_true(WIFEXITED(status));
    ended = (struct pollfd){.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&ended, 1, WAIT_MS), 1);
    assert_int_equal(read(ends[0], report_out, sizeof(*report_out)),
                     sizeof(*report_out));
    close(ends[0]);
    return WEXITSTATUS(status);
}

TEST(the_command_ends_well_when_the_daemon_serves)
{
    struct report report;

    assert_int_equal(run(SERVES, &report), EX_OK);
    assert_int_not_equal(report.pid, report.command);
    assert_int_not_equal(report.parent, report.command);
}

TEST(the_daemon_has_no_terminal_and_gets_none)
{
    struct report report;

    assert_int_equal(run(SERVES, &report), EX_OK);
    assert_int_not_equal(report.session, getsid(0));
    assert_int_not_equal(report.session, report.pid);
    assert_int_equal(report.group, report.session);
}

TEST(the_command_ends_as_a_daemon_that_fails)
{
    struct report report;

    assert_int_equal(run(FAILS, &report), EX_CONFIG);
}

TEST(a_daemon_that_dies_without_a_word_is_noticed)
{
    struct report report;

    assert_int_equal(run(DIES, &report), EX_SOFTWARE);
}

static bool is_null(int fd)
{
    struct stat here, null;

    return fstat(fd, &here) == 0 && stat("/dev/null", &null) == 0 &&
           here.st_rdev == null.st_rdev && S_ISCHR(here.st_mode);
}

/* 0: as it should be, with standard error leading to fd. */
static int close_standard_in_child(int fd, bool stays)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        dup2(fd, STDIN_FILENO);
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        daemon_close_standard();
        _exit(!is_null(STDIN_FILENO) || !is_null(STDOUT_FILENO) ||
              is_null(STDERR_FILENO) == stays);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

TEST(only_a_file_stays_standard_error)
{
    struct place place;
    int ends[2];
    int fd;

    assert_int_equal(place_open(&place), 0);
    fd = openat(place.fd, "log", O_RDWR | O_CREAT, 0600);
    assert_int_equal(close_standard_in_child(fd, true), 0);
    close(fd);
    assert_int_equal(place_close(&place), 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(close_standard_in_child(ends[1], false), 0);
    close(ends[0]);
    close(ends[1]);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
