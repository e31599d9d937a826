/* link: -Wl,--wrap=getsockopt,--wrap=calloc */
#include "server/control.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/log.h"

#include "control_place.h"

/* --- A stranger, and no memory ------------------------------------------------ */

static uid_t peer_uid = (uid_t)-1; /* -1: as it is */
static bool has_no_memory;

int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    int err = __real_getsockopt(fd, level, name, value, len);

    if (err == 0 && name == SO_PEERCRED && peer_uid != (uid_t)-1)
        ((struct ucred *)value)->uid = peer_uid;
    return err;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return has_no_memory ? NULL : __real_calloc(count, size);
}

/* --- Clients ------------------------------------------------------------------- */

static int call(const char *request)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    snprintf(un.sun_path, sizeof(un.sun_path), "%s",
             place_path(&place, "control"));
    assert_int_equal(connect(fd, (const struct sockaddr *)&un, sizeof(un)), 0);
    if (*request != '\0')
        assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL),
                         (ssize_t)strlen(request));
    return fd;
}

/* What has come; NULL: nothing, and the connection stands. */
static const char *heard(int fd)
{
    static char text[CONTROL_ANSWER_MAX + 1];
    size_t len = 0;
    ssize_t got;

    while ((got = recv(fd, text + len, sizeof(text) - 1 - len, 0)) > 0) {
        len += (size_t)got;
        turn(0);
    }
    text[len] = '\0';
    return got == -1 && errno == EAGAIN && len == 0 ? NULL : text;
}

static void assert_answer(const char *request, const char *expected)
{
    int fd = call(request);
    const char *answer;

    turn(0);
    answer = heard(fd);
    assert_non_null(answer);
    assert_string_equal(answer, expected);
    close(fd);
}

/* --- Commands ------------------------------------------------------------------- */

static void a_command_is_obeyed_and_answered(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CONTROL_REPORT; i++) {
        char line[32];

        snprintf(line, sizeof(line), "%s\n",
                 control_name((enum control_command)i));
        assert_answer(line, "ok\n");
        assert_int_equal(called, i + 1);
    }
}

static void the_answer_has_the_words_of_the_command(void **state)
{
    (void)state;
    words = "up for 3 s";
    assert_answer("status\n", "ok\nup for 3 s\n");
    words = "one\ntwo\n";
    assert_answer("status\n", "ok\none\ntwo\n");
    result = CONTROL_ERROR;
    words = "line 3: no such key";
    assert_answer("reload\n", "error: line 3: no such key\n");
}

static void what_is_no_command_is_refused(void **state)
{
    (void)state;
    assert_answer("\n", "error: there is no such command\n");
    assert_answer("Reload\n", "error: there is no such command\n");
    assert_answer("reload now\n", "error: there is no such command\n");
    assert_answer("reload\r\n", "error: there is no such command\n");
    assert_answer("report\n", "error: this server cannot do that\n");
    assert_int_equal(called, 0);
}

static void a_command_may_come_in_pieces(void **state)
{
    static const char request[] = "reload\n";
    int fd = call("");

    (void)state;
    for (size_t i = 0; i < sizeof(request) - 1; i++) {
        turn(0);
        assert_null(heard(fd));
        assert_int_equal(send(fd, request + i, 1, MSG_NOSIGNAL), 1);
    }
    turn(0);
    assert_string_equal(heard(fd), "ok\n");
    assert_int_equal(called, 1);
    close(fd);
}

static void a_request_without_end_is_refused(void **state)
{
    char line[CONTROL_REQUEST_MAX + 1];

    (void)state;
    memset(line, 'x', sizeof(line));
    line[CONTROL_REQUEST_MAX] = '\0';
    assert_answer(line, "error: the request is too long\n");
    line[CONTROL_REQUEST_MAX - 1] = '\n';
    assert_answer(line, "error: there is no such command\n");
    assert_int_equal(called, 0);
}

static void one_connection_is_one_command(void **state)
{
    (void)state;
    assert_answer("status\nstop\n", "ok\n");
    assert_int_equal(called, 1);
}

static void an_answer_beyond_the_limit_is_an_error(void **state)
{
    static char longest[CONTROL_ANSWER_MAX + 2];

    (void)state;
    memset(longest, 'x', CONTROL_ANSWER_MAX + 1);
    words = longest;
    assert_answer("status\n", "error: the answer is too long\n");
    longest[CONTROL_ANSWER_MAX] = '\0';
    assert_answer("status\n", "error: the answer is too long\n");
}

static void a_long_answer_arrives_whole(void **state)
{
    static char text[CONTROL_ANSWER_MAX - 8];
    int fd = call("status\n");
    const char *answer;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    words = text;
    turn(0);
    answer = heard(fd);
    assert_non_null(answer);
    assert_memory_equal(answer, "ok\n", 3);
    assert_int_equal(strlen(answer), 3 + sizeof(text) - 1 + 1);
    close(fd);
}

/* --- Later ----------------------------------------------------------------------- */

static void a_command_may_be_answered_later(void **state)
{
    int one, two, other;

    (void)state;
    result = CONTROL_LATER;
    one = call("upgrade\n");
    two = call("upgrade\n");
    other = call("reload\n");
    turn(0);
    clock_ms += 100 * CONTROL_WAIT_MS;
    assert_int_equal(control_pause_ms(control, clock_ms), INT_MAX);
    turn(0);
    assert_null(heard(one));
    control_finish(control, CONTROL_UPGRADE, CONTROL_ERROR,
                   BYTES("it does not start"), clock_ms);
    assert_string_equal(heard(one), "error: it does not start\n");
    assert_string_equal(heard(two), "error: it does not start\n");
    assert_null(heard(other));
    control_finish(control, CONTROL_RELOAD, CONTROL_OK, BYTES(""), clock_ms);
    assert_string_equal(heard(other), "ok\n");
    close(one);
    close(two);
    close(other);
}

static void who_waits_when_the_server_ends_is_told(void **state)
{
    int stops, upgrades;

    (void)state;
    result = CONTROL_LATER;
    stops = call("stop\n");
    upgrades = call("upgrade\n");
    turn(0);
    control_destroy(control);
    control = NULL;
    assert_string_equal(heard(stops), "ok\n");
    assert_string_equal(heard(upgrades), "error: the server ends\n");
    close(stops);
    close(upgrades);
}

static void who_went_away_while_waiting_is_forgotten(void **state)
{
    struct pollfd fds[CONTROL_FDS_MAX];
    int fd;

    (void)state;
    result = CONTROL_LATER;
    fd = call("upgrade\n");
    turn(0);
    close(fd);
    turn(0);
    control_fds(control, fds);
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
        assert_int_equal(fds[i].fd, -1);
    control_finish(control, CONTROL_UPGRADE, CONTROL_OK, BYTES(""), clock_ms);
}

/* --- Who, and how many ------------------------------------------------------------- */

static void strangers_are_not_heard(void **state)
{
    (void)state;
    log_open(LOG_LEVEL_ERROR);
    peer_uid = geteuid() + 1000;
    assert_answer("stop\n",
                  "error: only root and the server's user may do that\n");
    assert_int_equal(called, 0);
    peer_uid = 0;
    assert_answer("stop\n", "ok\n");
    peer_uid = (uid_t)-1;
    assert_answer("stop\n", "ok\n");
}

static void a_silent_client_is_dropped_in_time(void **state)
{
    int fd = call("rel");

    (void)state;
    turn(0);
    assert_int_equal(control_pause_ms(control, clock_ms), CONTROL_WAIT_MS);
    clock_ms += CONTROL_WAIT_MS - 1;
    turn(0);
    assert_null(heard(fd));
    assert_int_equal(control_pause_ms(control, clock_ms), 1);
    clock_ms++;
    assert_int_equal(control_pause_ms(control, clock_ms), 0);
    turn(0);
    assert_string_equal(heard(fd), "");
    assert_int_equal(control_pause_ms(control, clock_ms), INT_MAX);
    close(fd);
}

static void silent_clients_delay_others_by_no_more_than_their_time(void **state)
{
    int silent[CONTROL_CLIENTS_MAX + 2];
    int fd;

    (void)state;
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX + 2; i++)
        silent[i] = call("");
    fd = call("status\n");
    turn(0);
    assert_null(heard(fd));
    for (int i = 0; i < 2; i++) {
        clock_ms += CONTROL_WAIT_MS;
        turn(0);
    }
    assert_string_equal(heard(fd), "ok\n");
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX + 2; i++)
        close(silent[i]);
    close(fd);
}

static void a_client_that_does_not_read_is_dropped_in_time(void **state)
{
    static char text[CONTROL_ANSWER_MAX - 8];
    struct pollfd fds[CONTROL_FDS_MAX];
    int little = 1;
    int fd = call("");

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    words = text;
    turn(0);
    control_fds(control, fds);
    assert_int_equal(setsockopt(fds[0].fd, SOL_SOCKET, SO_SNDBUF, &little,
                                sizeof(little)),
                     0);
    assert_int_equal(send(fd, "status\n", 7, MSG_NOSIGNAL), 7);
    turn(0);
    control_fds(control, fds);
    assert_true(fds[0].fd >= 0 && fds[0].events == POLLOUT);
    clock_ms += CONTROL_WAIT_MS;
    turn(0);
    control_fds(control, fds);
    assert_int_equal(fds[0].fd, -1);
    close(fd);
}

static void clients_that_go_away_leave_nothing_behind(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * CONTROL_CLIENTS_MAX; i++) {
        close(call(i % 3 == 0 ? "" : i % 3 == 1 ? "sta" : "status\n"));
        turn(0);
    }
    assert_answer("status\n", "ok\n");
}

/* --- Coming and going ---------------------------------------------------------------- */

static void a_successor_finds_the_socket_where_it_was(void **state)
{
    struct listener successor;
    struct address peer;
    int waiting, fd, accepted;

    (void)state;
    result = CONTROL_LATER;
    waiting = call("upgrade\n");
    turn(0);
    assert_int_equal(listener_adopt(&successor,
                                    dup(control_listener_fd(control)), true),
                     0);
    control_leave(control);
    assert_int_equal(control_listener_fd(control), -1);
    fd = call("status\n");
    turn(0);
    accepted = listener_accept(&successor, &peer);
    assert_true(accepted >= 0);
    control_finish(control, CONTROL_UPGRADE, CONTROL_OK, BYTES(""), clock_ms);
    assert_string_equal(heard(waiting), "ok\n");
    close(accepted);
    close(fd);
    close(waiting);
    listener_close(&successor);
}

static void without_memory_the_listener_stays_the_callers(void **state)
{
    struct listener listener;

    (void)state;
    assert_int_equal(listener_open_private(&listener,
                                           place_path(&place, "second")),
                     0);
    has_no_memory = true;
    assert_null(control_create(&listener, &commands));
    has_no_memory = false;
    assert_true(listener.fd >= 0);
    listener_close(&listener);
    control_destroy(NULL);
}

#define TEST(name)                                            \
    cmocka_unit_test_setup_teardown(name, control_place_open, \
                                    control_place_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_command_is_obeyed_and_answered),
        TEST(the_answer_has_the_words_of_the_command),
        TEST(what_is_no_command_is_refused),
        TEST(a_command_may_come_in_pieces),
        TEST(a_request_without_end_is_refused),
        TEST(one_connection_is_one_command),
        TEST(an_answer_beyond_the_limit_is_an_error),
        TEST(a_long_answer_arrives_whole),
        TEST(a_command_may_be_answered_later),
        TEST(who_waits_when_the_server_ends_is_told),
        TEST(who_went_away_while_waiting_is_forgotten),
        TEST(strangers_are_not_heard),
        TEST(a_silent_client_is_dropped_in_time),
        TEST(silent_clients_delay_others_by_no_more_than_their_time),
        TEST(a_client_that_does_not_read_is_dropped_in_time),
        TEST(clients_that_go_away_leave_nothing_behind),
        TEST(a_successor_finds_the_socket_where_it_was),
        TEST(without_memory_the_listener_stays_the_callers),
    };

    return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
