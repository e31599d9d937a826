/* link: -Wl,--wrap=now_read_ns */
#include "tools/ctl.h"

#include <sys/wait.h>
#include <sysexits.h>

#include "../process/control_place.h"
#include "base/now.h"
#include "base/units.h"
#include "suite.h"
#include "wrap.h"

enum { TURN_MS = 60000 };

static uint64_t ns_per_look; /* more than there are; 0: none */

WRAP(uint64_t, now_read_ns, void)
{
    static uint64_t looks;

    return __real_now_read_ns() + looks++ * ns_per_look;
}

static char out[CONTROL_ANSWER_MAX + 1];
static char errors[4096];

/* Runs the command in a child while control answers here; its status. What it
 * wrote is in out and errors. */
static int run_at(const char *path, const char *command, bool is_served)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        char *arguments[] = {(char *)(uintptr_t) "--control",
                             (char *)(uintptr_t)path,
                             (char *)(uintptr_t)command};
        FILE *to = fopen(place_path(&place, "out"), "we");
        FILE *faults = fopen(place_path(&place, "errors"), "we");

        status = to && faults ? ctl_run(3, arguments, to, faults) : 99;
        if (to)
            fclose(to);
        if (faults)
            fclose(faults);
        _exit(status);
    }
    if (is_served)
        turn(TURN_MS);
    while (waitpid(pid, &status, WNOHANG) == 0)
        if (is_served)
            turn(10);
    assert_true(WIFEXITED(status));
    for (int i = 0; i < 2; i++) {
        int fd = openat(place.fd, i == 0 ? "out" : "errors", O_RDONLY);
        char *to = i == 0 ? out : errors;
        ssize_t len = read(fd, to,
                           i == 0 ? sizeof(out) - 1 : sizeof(errors) - 1);

        to[len > 0 ? len : 0] = '\0';
        close(fd);
    }
    return WEXITSTATUS(status);
}

static int run(const char *command)
{
    return run_at(place_path(&place, "control"), command, true);
}

TEST(what_goes_well_is_silent_and_0)
{
    assert_int_equal(run("reload"), EX_OK);
    assert_string_equal(out, "");
    assert_string_equal(errors, "");
    assert_int_equal(called, 1);
}

TEST(answers_are_printed)
{
    words = "up for 3 s\n7 connections\n";
    assert_int_equal(run("status"), EX_OK);
    assert_string_equal(out, words);
    assert_string_equal(errors, "");
}

TEST(an_error_is_printed_as_such_and_1)
{
    result = CONTROL_ERROR;
    words = "sprintd.conf:3: no such key\nsprintd.conf:9: no such key";
    assert_int_equal(run("reload"), 1);
    assert_string_equal(out, "");
    assert_string_equal(errors, "sprintd: sprintd.conf:3: no such key\n"
                                "sprintd.conf:9: no such key\n");
}

TEST(where_no_server_is_the_status_is_69)
{
    const char *path = place_path(&place, "control");

    assert_int_equal(run_at(place_path(&place, "none"), "status", false),
                     EX_UNAVAILABLE);
    assert_non_null(strstr(errors, "no server is at "));
    assert_null(strstr(errors, "say --control")); /* it was said */
    control_leave(control); /* as if it had been killed: the file is there */
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(run_at(path, "status", false), EX_UNAVAILABLE);
    assert_non_null(strstr(errors, "no server is at "));
}

TEST(a_path_that_is_too_long_is_said)
{
    char path[200];

    memset(path, 'x', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(run_at(path, "status", false), EX_UNAVAILABLE);
    assert_non_null(strstr(errors, "too long"));
}

TEST(a_server_that_breaks_off_is_not_believed)
{
    static const char *const answers[] = {"", "o", "ok", "error: half",
                                          "HTTP/1.1 400 Bad Request\r\n"};

    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        const char *path = place_path(&place, "other");
        struct listener listener;
        pid_t server;

        assert_int_equal(listener_open_unix(&listener, path), 0);
        server = fork();
        if (server == 0) {
            struct pollfd ready = {.fd = listener.fd, .events = POLLIN};
            struct address peer;
            char request[64];
            int fd;

            poll(&ready, 1, TURN_MS);
            fd = listener_accept(&listener, &peer);
            ready.fd = fd;
            poll(&ready, 1, TURN_MS);
            _exit(recv(fd, request, sizeof(request), 0) < 1 ||
                  send(fd, answers[i], strlen(answers[i]), MSG_NOSIGNAL) !=
                      (ssize_t)strlen(answers[i]));
        }
        assert_int_equal(run_at(path, "status", false), EX_PROTOCOL);
        assert_string_equal(out, "");
        assert_int_equal(waitpid(server, NULL, 0), server);
        listener_close(&listener);
    }
}

/* A byte now and then, for as long as anybody listens. */
static _Noreturn void trickle(struct listener *listener)
{
    struct pollfd ready = {.fd = listener->fd, .events = POLLIN};
    struct address peer;

    poll(&ready, 1, TURN_MS);
    ready.fd = listener_accept(listener, &peer);
    while (send(ready.fd, "x", 1, MSG_NOSIGNAL) == 1)
        poll(NULL, 0, 1);
    _exit(0);
}

TEST(an_answer_that_trickles_in_has_no_more_time_than_any)
{
    const char *path = place_path(&place, "other");
    struct listener listener;
    pid_t server;

    assert_int_equal(listener_open_unix(&listener, path), 0);
    server = fork();
    if (server == 0)
        trickle(&listener);
    ns_per_look = (uint64_t)NS_PER_S;
    assert_int_equal(run_at(path, "status", false), EX_TEMPFAIL);
    ns_per_look = 0;
    assert_non_null(strstr(errors, "the server does not answer"));
    assert_int_equal(waitpid(server, NULL, 0), server);
    listener_close(&listener);
}

TEST(what_is_no_command_is_not_sent)
{
    static const char *const cases[][4] = {
        {NULL},
        {"restart"},
        {"status", "now"},
        {"--control"},
        {"--control", "/x"},
        {"--help"},
        {""},
        {"--control", "/x", "restart"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        FILE *faults = tmpfile();
        int count = 0;

        while (cases[i][count])
            count++;
        assert_int_equal(ctl_run(count, (char **)(uintptr_t)cases[i], stdout,
                                 faults),
                         EX_USAGE);
        rewind(faults);
        assert_non_null(fgets(errors, sizeof(errors), faults));
        assert_string_equal(errors,
                            "sprintd: usage: sprintd ctl [--control SOCKET] "
                            "reload | status | stop | upgrade | reopen | "
                            "report\n");
        fclose(faults);
    }
    assert_int_equal(called, 0);
}

SUITE(.each_begin = control_place_open, .each_end = control_place_close);
