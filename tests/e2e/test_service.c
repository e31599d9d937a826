/*
 * Life as a service: what operators command, signals, the pid file, --daemon
 * and --user.
 */
#include "client.h"
#include "operator.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sysexits.h>

enum { NOBODY = 65534, QUICK_MS = 2000, LARGE = 20 * 1048576, SEED = 7 };

E2E_BEGIN(start)
{
    operator_adopt();
    site_seeded("large", SEED, LARGE);
}

static struct server *start_controlled(void)
{
    return START("--control", control_path());
}

/* --- Commands ------------------------------------------------------------ */

TEST(status_says_what_is_served_and_how)
{
    struct server *one = start_controlled();
    const char *text = ctl_ok("status");

    assert_non_null(strstr(text, printed("process %d: serving", one->pid)));
    assert_non_null(strstr(text, printed(":%u/\n", one->port)));
    assert_non_null(strstr(text, "sandbox: "));
    assert_non_null(strstr(text, "upgrade: possible"));
}

TEST(a_report_comes_to_who_asked)
{
    struct server *one = start_controlled();

    expect_status(get(one, "/canary"), 200);
    assert_non_null(strstr(ctl_ok("report"), "Server Statistic Report"));
    assert_string_equal(read_text(one->errors, NULL), "");
}

TEST(stop_answers_when_all_has_ended)
{
    struct server *one = start_controlled();
    struct client *client = client_open_narrow(one, 65536);
    pid_t asks;

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 4096);
    asks = fork();
    if (asks == 0) {
        struct outcome outcome;

        close(client_socket(client)); /* it has a copy */
        _exit(ctl("stop", &outcome));
    }
    assert_int_equal(server_wait(one, 200), -1);
    assert_int_equal(waitpid(asks, NULL, WNOHANG), 0);
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    client_close(client);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    assert_true(process_ends(asks));
    assert_int_equal(access(control_path(), F_OK), -1);
}

TEST(without_a_server_ctl_says_so)
{
    struct outcome outcome;

    assert_int_equal(ctl("status", &outcome), EX_UNAVAILABLE);
    assert_non_null(strstr(outcome.err, "no server is at"));
}

TEST(the_socket_is_its_owners_alone)
{
    struct stat st;

    start_controlled();
    assert_int_equal(stat(control_path(), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* Even if somebody makes the file everybody's. */
TEST(another_user_is_refused)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct server *one = start_controlled();
    pid_t other;
    int status;

    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(control_path(), 0666), 0);
    snprintf(to.sun_path, sizeof(to.sun_path), "%s", control_path());
    other = fork();
    if (other == 0) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        char text[64] = "";

        if (setuid(NOBODY) == -1 ||
            connect(fd, (struct sockaddr *)&to, sizeof(to)) == -1)
            _exit(2);
        /* It may have been answered already. */
        send(fd, "stop\n", 5, MSG_NOSIGNAL);
        (void)!read(fd, text, sizeof(text) - 1);
        _exit(strncmp(text, "error: only root", 16) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
    expect_status(get(one, "/canary"), 200);
}

TEST(two_servers_do_not_share_a_control_socket)
{
    struct outcome outcome;

    start_controlled();
    RUN(&outcome, "--port=0", "--control", control_path(), site());
    assert_int_equal(outcome.status, EX_UNAVAILABLE);
    assert_non_null(strstr(outcome.err, "another server has it"));
    ctl_ok("status");
}

/* Whoever rotates logs goes on with the old file when ctl has ended. */
TEST(ctl_returns_when_the_log_is_open_anew)
{
    enum { TIMES = 50 };
    char *path = printed("%s/rotated.log", folder());
    struct server *one = START("--control", control_path(),
                               printed("--access-log=%s", path));
    struct outcome outcome;

    for (unsigned i = 0; i < TIMES; i++) {
        assert_int_equal(rename(path, printed("%s-%u", path, i)), 0);
        ctl_ok("reopen");
        assert_int_equal(access(path, F_OK), 0);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(ctl("reopen", &outcome), EXIT_FAILURE);
    assert_non_null(strstr(outcome.err, "Is a directory"));
    assert_int_equal(rmdir(path), 0);
    ctl_ok("reopen");
    server_stop(one);
}

/* --- Signals ------------------------------------------------------------- */

TEST(sigquit_waits_for_as_long_as_it_takes)
{
    struct server *one = START("--drain-timeout=50ms");
    struct client *client = client_open_narrow(one, 65536);

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 4096);
    server_signal(one, SIGQUIT);
    assert_int_equal(server_wait(one, 400), -1);
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    client_close(client);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
}

TEST(a_second_sigquit_ends_it_at_once)
{
    struct server *one = START(NULL);
    struct client *client = client_open_narrow(one, 65536);

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 4096);
    server_signal(one, SIGQUIT);
    assert_int_equal(server_wait(one, 200), -1);
    server_signal(one, SIGQUIT);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
}

TEST(sigwinch_is_nothing_to_it)
{
    struct server *one = START(NULL);

    server_signal(one, SIGWINCH);
    assert_int_equal(server_wait(one, 50), -1);
    expect_status(get(one, "/canary"), 200);
}

/* --- The pid file, --daemon, --user -------------------------------------- */

TEST(the_pid_file_keeps_a_second_server_out)
{
    struct server *one = START("--pid-file", pid_path());
    struct outcome outcome;

    assert_int_equal(pid_in_file(), one->pid);
    RUN(&outcome, "--port=0", "--pid-file", pid_path(), site());
    assert_int_equal(outcome.status, EX_UNAVAILABLE);
    assert_non_null(strstr(outcome.err,
                           printed("process %d runs already", one->pid)));
    server_stop(one);
    assert_int_equal(access(pid_path(), F_OK), -1);
}

TEST(a_pid_file_left_behind_does_no_harm)
{
    FILE *file = fopen(pid_path(), "we");
    struct server *one;

    fputs("1\n", file);
    fclose(file);
    one = START("--pid-file", pid_path());
    assert_int_equal(pid_in_file(), one->pid);
}

TEST(a_file_that_is_no_pid_file_stays)
{
    FILE *file = fopen(pid_path(), "we");
    struct outcome outcome;

    fputs("my letters\n", file);
    fclose(file);
    RUN(&outcome, "--port=0", "--pid-file", pid_path(), site());
    assert_int_equal(outcome.status, EX_CANTCREAT);
    assert_string_equal(read_text(pid_path(), NULL), "my letters\n");
    unlink(pid_path());
}

TEST(daemon_returns_when_it_serves)
{
    struct outcome outcome;
    pid_t pid;

    RUN(&outcome, "--daemon", "--port=0", "--pid-file", pid_path(), "--control",
        control_path(), site());
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "serving"));
    pid = pid_in_file();
    assert_true(pid > 0);
    assert_int_not_equal(getsid(pid), getsid(0));
    ctl_ok("status");
    ctl_ok("stop");
    assert_true(process_ends(pid));
}

TEST(a_daemon_that_cannot_start_says_why)
{
    struct outcome outcome;

    RUN(&outcome, "--daemon", "--port=0", "/nowhere/at/all");
    assert_int_equal(outcome.status, EX_NOINPUT);
    assert_non_null(strstr(outcome.err, "/nowhere/at/all"));
}

TEST(as_another_user_it_serves_and_has_no_way_back)
{
    struct server *one;
    char path[64];
    char *status;
    struct stat st;

    if (geteuid() != 0)
        skip();
    one = START("--user=nobody", "--control", control_path());
    snprintf(path, sizeof(path), "/proc/%d/status", (int)one->pid);
    status = read_text(path, NULL);
    assert_non_null(strstr(status, "Uid:\t65534\t65534\t65534\t65534"));
    assert_non_null(strstr(status, "CapPrm:\t0000000000000000"));
    assert_non_null(strstr(status, "CapBnd:\t0000000000000000"));
    assert_non_null(strstr(status, "NoNewPrivs:\t1"));
    assert_int_equal(stat(control_path(), &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
    expect_status(get(one, "/canary"), 200);
    ctl_ok("reload");
}

TEST(an_unknown_user_is_a_fault)
{
    struct outcome outcome;

    RUN(&outcome, "--port=0", "--user=nobody-of-that-name", site());
    assert_int_equal(outcome.status, EX_NOUSER);
}

SUITE(.begin = start, .end = harness_end, .each_end = operator_after_test);
