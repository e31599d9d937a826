/* link: -Wl,--wrap=getsockopt,--wrap=calloc,--wrap=accept4 */
#include "process/control.h"

#include <errno.h>
#include <limits.h>

#include "base/log.h"
#include "suite.h"

#include "control_place.h"
#include "unit/memory.h"
#include "wrap.h"

/* --- A stranger, and no memory ------------------------------------------- */

static uid_t peer_uid = (uid_t)-1; /* -1: as it is */

WRAP(int, getsockopt, int fd, int level, int name, void *value, socklen_t *len)
{
    int err = __real_getsockopt(fd, level, name, value, len);

    if (err == 0 && name == SO_PEERCRED && peer_uid != (uid_t)-1)
        ((struct ucred *)value)->uid = peer_uid;
    return err;
}

/* --- No descriptors ------------------------------------------------------ */

static unsigned accept_failures; /* of the next calls */
static unsigned accepts;
static int accept_errno;

WRAP(int, accept4, int fd, struct sockaddr *address, socklen_t *len, int flags)
{
    accepts++;
    if (accept_failures == 0)
        return __real_accept4(fd, address, len, flags);
    accept_failures--;
    errno = accept_errno;
    return -1;
}

/* --- Clients ------------------------------------------------------------- */

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

/* --- Commands ------------------------------------------------------------ */

TEST(a_command_is_obeyed_and_answered)
{
    for (unsigned i = 0; i < CONTROL_REPORT; i++) {
        char line[32];

        snprintf(line, sizeof(line), "%s\n",
                 control_name((enum control_command)i));
        assert_answer(line, "ok\n");
        assert_int_equal(called, i + 1);
    }
}

TEST(the_answer_has_the_words_of_the_command)
{
    words = "up for 3 s";
    assert_answer("status\n", "ok\nup for 3 s\n");
    words = "one\ntwo\n";
    assert_answer("status\n", "ok\none\ntwo\n");
    result = CONTROL_ERROR;
    words = "line 3: no such key";
    assert_answer("reload\n", "error: line 3: no such key\n");
}

TEST(what_is_no_command_is_refused)
{
    assert_answer("\n", "error: there is no such command\n");
    assert_answer("Reload\n", "error: there is no such command\n");
    assert_answer("reload now\n", "error: there is no such command\n");
    assert_answer("reload\r\n", "error: there is no such command\n");
    assert_answer("report\n", "error: this server cannot do that\n");
    assert_int_equal(called, 0);
}

TEST(a_command_may_come_in_pieces)
{
    static const char request[] = "reload\n";
    int fd = call("");

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

TEST(a_request_without_end_is_refused)
{
    char line[CONTROL_REQUEST_MAX + 1];

    memset(line, 'x', sizeof(line));
    line[CONTROL_REQUEST_MAX] = '\0';
    assert_answer(line, "error: the request is too long\n");
    line[CONTROL_REQUEST_MAX - 1] = '\n';
    assert_answer(line, "error: there is no such command\n");
    assert_int_equal(called, 0);
}

TEST(one_connection_is_one_command)
{
    assert_answer("status\nstop\n", "ok\n");
    assert_int_equal(called, 1);
}

TEST(an_answer_beyond_the_limit_is_an_error)
{
    static char longest[CONTROL_ANSWER_MAX + 2];

    memset(longest, 'x', CONTROL_ANSWER_MAX + 1);
    words = longest;
    assert_answer("status\n", "error: the answer is too long\n");
    longest[CONTROL_ANSWER_MAX] = '\0';
    assert_answer("status\n", "error: the answer is too long\n");
}

TEST(a_long_answer_arrives_whole)
{
    static char text[CONTROL_ANSWER_MAX - 8];
    int fd = call("status\n");
    const char *answer;

    memset(text, 'x', sizeof(text) - 1);
    words = text;
    turn(0);
    answer = heard(fd);
    assert_non_null(answer);
    assert_memory_equal(answer, "ok\n", 3);
    assert_int_equal(strlen(answer), 3 + sizeof(text) - 1 + 1);
    close(fd);
}

/* --- Later --------------------------------------------------------------- */

TEST(a_command_may_be_answered_later)
{
    int one, two, other;

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

TEST(who_waits_when_the_server_ends_is_told)
{
    int stops, upgrades;

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

TEST(who_went_away_while_waiting_is_forgotten)
{
    struct pollfd fds[CONTROL_FDS_MAX];
    int fd;

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

/* --- Without descriptors ------------------------------------------------- */

/* An operator reaches a server that has no descriptor left. */
TEST(the_spare_descriptor_is_for_who_commands)
{
    accept_errno = EMFILE;
    for (unsigned i = 0; i < 3; i++) {
        accept_failures = 1;
        assert_answer("status\n", "ok\n");
    }
    assert_int_equal(called, 3);
}

/* The socket stays readable: who asks poll() about it is woken at once. */
TEST(who_cannot_be_accepted_is_tried_again_in_a_while)
{
    static const int errnos[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM};
    struct pollfd fds[CONTROL_FDS_MAX];

    log_open(LOG_LEVEL_ERROR);
    for (size_t i = 0; i < sizeof(errnos) / sizeof(*errnos); i++) {
        int fd;
        int pause_ms;

        accept_errno = errnos[i];
        accept_failures = 3;
        accepts = 0;
        fd = call("status\n");
        turn(0);
        assert_in_range(accepts, 1, 2);
        control_fds(control, fds);
        assert_int_equal(poll(fds, CONTROL_FDS_MAX, 0), 0);
        pause_ms = control_pause_ms(control, clock_ms);
        assert_in_range(pause_ms, 10, 1000);
        clock_ms += (uint64_t)pause_ms - 1;
        turn(0);
        assert_in_range(accepts, 1, 2);
        accept_failures = 0;
        clock_ms++;
        turn(0);
        turn(0);
        assert_string_equal(heard(fd), "ok\n");
        close(fd);
    }
    assert_int_equal(called, sizeof(errnos) / sizeof(*errnos));
}

/* --- Who, and how many --------------------------------------------------- */

TEST(strangers_are_not_heard)
{
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

TEST(a_silent_client_is_dropped_in_time)
{
    int fd = call("rel");

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

/* Its bytes buy it no time: a few such clients would hold all places. */
TEST(a_client_that_trickles_is_dropped_as_a_silent_one_is)
{
    enum { BYTES_SENT = 8 };
    int fd = call("");

    turn(0);
    for (int i = 0; i < BYTES_SENT; i++) {
        clock_ms += CONTROL_WAIT_MS / BYTES_SENT - 1;
        assert_int_equal(send(fd, "s", 1, MSG_NOSIGNAL), 1);
        turn(0);
        assert_null(heard(fd));
    }
    clock_ms += BYTES_SENT;
    turn(0);
    assert_string_equal(heard(fd), "");
    close(fd);
}

TEST(silent_clients_delay_others_by_no_more_than_their_time)
{
    int silent[CONTROL_CLIENTS_MAX + 2];
    int fd;

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

TEST(a_client_that_does_not_read_is_dropped_in_time)
{
    static char text[CONTROL_ANSWER_MAX - 8];
    struct pollfd fds[CONTROL_FDS_MAX];
    int little = 1;
    int fd = call("");

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

TEST(clients_that_go_away_leave_nothing_behind)
{
    for (int i = 0; i < 3 * CONTROL_CLIENTS_MAX; i++) {
        close(call(i % 3 == 0 ? "" : i % 3 == 1 ? "sta" : "status\n"));
        turn(0);
    }
    assert_answer("status\n", "ok\n");
}

/* --- Coming and going ---------------------------------------------------- */

TEST(a_successor_finds_the_socket_where_it_was)
{
    struct listener successor;
    struct address peer;
    int waiting, fd, accepted;

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

TEST(without_memory_the_listener_stays_the_callers)
{
    struct listener listener;

    assert_int_equal(listener_open_private(&listener,
                                           place_path(&place, "second")),
                     0);
    allocations_left = 0;
    assert_null(control_create(&listener, &commands));
    allocations_left = -1;
    assert_true(listener.fd >= 0);
    listener_close(&listener);
    control_destroy(NULL);
}

SUITE(.each_begin = control_place_open, .each_end = control_place_close);
