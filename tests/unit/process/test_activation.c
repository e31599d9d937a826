#include "process/activation.h"

#include <sys/wait.h>
#include <sysexits.h>

#include "suite.h"
#include "unit/place.h"

static struct place place;
static struct activation activation;
static unsigned fds_before;

static int set_up(void **state)
{
    (void)state;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    unsetenv(ACTIVATION_VARIABLE);
    memset(&activation, 0, sizeof(activation));
    fds_before = place_count_fds();
    return place_open(&place);
}

static int tear_down(void **state)
{
    (void)state;
    activation_close(&activation, true);
    return place_close(&place) == 0 && place_count_fds() == fds_before ? 0 : -1;
}

static unsigned port_of(const struct listener *listener)
{
    return (unsigned)strtoul(strrchr(listener->text, ':') + 1, NULL, 10);
}

/* A socket as a predecessor leaves it, and its name in the variable. */
static void hand_over(struct listener *listener)
{
    const char *before = getenv(ACTIVATION_VARIABLE);
    char text[600];

    snprintf(text, sizeof(text), "%s%s%d", before ? before : "",
             before ? ";" : "", listener->fd);
    setenv(ACTIVATION_VARIABLE, text, 1);
}

/* --- Of a predecessor ---------------------------------------------------- */

TEST(without_a_word_there_are_no_sockets)
{
    struct listener listener;

    assert_int_equal(activation_open(&activation), EX_OK);
    assert_int_equal(activation.count, 0);
    assert_false(activation_take(&activation, &listener, NULL, 0));
    assert_false(activation_take_path(&activation, &listener, "x"));
    assert_false(activation_take_next(&activation, &listener));
}

TEST(sockets_of_a_predecessor_are_known_by_their_address)
{
    const char *path = place_path(&place, "socket");
    struct listener tcp, local, taken;
    unsigned port;

    assert_int_equal(listener_open_tcp(&tcp, "127.0.0.1", 0), 0);
    assert_int_equal(listener_open_unix(&local, path), 0);
    port = port_of(&tcp);
    hand_over(&tcp);
    hand_over(&local);
    assert_int_equal(activation_open(&activation), EX_OK);
    assert_null(getenv(ACTIVATION_VARIABLE));
    assert_int_equal(activation.count, 2);
    assert_false(activation_take(&activation, &taken, "127.0.0.2", port));
    assert_false(activation_take(&activation, &taken, "127.0.0.1", port ^ 1u));
    assert_true(activation_take_path(&activation, &taken, path));
    assert_int_equal(taken.fd, local.fd);
    assert_false(activation_take_path(&activation, &taken, path));
    listener_close(&taken);
    assert_int_equal(access(path, F_OK), -1);
    assert_true(activation_take(&activation, &taken, "127.0.0.1", port));
    assert_int_equal(taken.fd, tcp.fd);
    assert_false(activation_take(&activation, &taken, "127.0.0.1", port));
    close(tcp.fd);
}

TEST(what_systemd_opened_stays_systemds_after_an_upgrade)
{
    const char *path = place_path(&place, "socket");
    struct listener local, taken;

    assert_int_equal(listener_open_unix(&local, path), 0);
    hand_over(&local);
    setenv(ACTIVATION_ORIGIN, "1", 1);
    assert_int_equal(activation_open(&activation), EX_OK);
    assert_null(getenv(ACTIVATION_ORIGIN));
    assert_true(activation.is_systemds);
    assert_true(activation_take_path(&activation, &taken, path));
    listener_close(&taken);
    assert_int_equal(access(path, F_OK), 0);
}

TEST(any_port_takes_each_socket_once)
{
    struct listener one, other, taken;

    assert_int_equal(listener_open_tcp(&one, "127.0.0.1", 0), 0);
    assert_int_equal(listener_open_tcp(&other, "127.0.0.1", 0), 0);
    hand_over(&one);
    hand_over(&other);
    assert_int_equal(activation_open(&activation), EX_OK);
    assert_true(activation_take(&activation, &taken, "127.0.0.1", 0));
    listener_close(&taken);
    assert_true(activation_take(&activation, &taken, "127.0.0.1", 0));
    listener_close(&taken);
    assert_false(activation_take(&activation, &taken, "127.0.0.1", 0));
}

/* A socket was handed over, which nobody takes. */
static void open_with_one(const char *path)
{
    struct listener left;

    assert_int_equal(listener_open_unix(&left, path), 0);
    hand_over(&left);
    assert_int_equal(activation_open(&activation), EX_OK);
}

TEST(what_is_left_is_closed_when_the_server_serves)
{
    const char *path = place_path(&place, "socket");

    open_with_one(path);
    activation_close(&activation, true);
    assert_int_equal(access(path, F_OK), -1);
}

TEST(a_server_that_fails_leaves_files_to_its_predecessor)
{
    const char *path = place_path(&place, "socket");

    open_with_one(path);
    activation_close(&activation, false);
    assert_int_equal(access(path, F_OK), 0);
}

/* Closes standard error for a call that complains. */
static int open_quietly(void)
{
    int saved = dup(STDERR_FILENO);
    int null = open("/dev/null", O_WRONLY);
    int status;

    dup2(null, STDERR_FILENO);
    close(null);
    status = activation_open(&activation);
    dup2(saved, STDERR_FILENO);
    close(saved);
    return status;
}

TEST(what_is_no_list_of_sockets_is_refused)
{
    static const char *const bad[] = {
        "x", "3x", ";", "-1", "900", "1 2", "99999999999999999999", "3;;4"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        setenv(ACTIVATION_VARIABLE, bad[i], 1);
        assert_int_equal(open_quietly(), EX_CONFIG);
        assert_null(getenv(ACTIVATION_VARIABLE));
        activation_close(&activation, false);
    }
}

TEST(too_many_sockets_are_refused)
{
    struct listener listener;
    char text[ACTIVATION_MAX * 8] = "";
    int fd = -1;

    assert_int_equal(listener_open_tcp(&listener, "127.0.0.1", 0), 0);
    for (int i = 0; i <= ACTIVATION_MAX; i++) {
        fd = i == 0 ? listener.fd : dup(listener.fd);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d;", fd);
    }
    setenv(ACTIVATION_VARIABLE, text, 1);
    assert_int_equal(open_quietly(), EX_CONFIG);
    assert_int_equal(activation.count, ACTIVATION_MAX);
    close(fd); /* the one too many was not adopted */
}

/* --- Of systemd ---------------------------------------------------------- */

/* In a child whose descriptors from 3 on are these. 0: all as expected. */
static int adopt_in_child(const char *pid, const char *fds, const char *names,
                          int (*check)(const char *path))
{
    const char *path = place_path(&place, "socket");
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct listener tcp, local;
        char own[24];

        if (listener_open_tcp(&tcp, "127.0.0.1", 0) != 0 ||
            listener_open_unix(&local, path) != 0)
            _exit(10);
        fcntl(tcp.fd, F_DUPFD, 100);
        fcntl(local.fd, F_DUPFD, 101);
        dup2(100, 3);
        dup2(101, 4);
        snprintf(own, sizeof(own), "%ld", (long)getpid());
        setenv("LISTEN_PID", pid ? pid : own, 1);
        setenv("LISTEN_FDS", fds, 1);
        if (names)
            setenv("LISTEN_FDNAMES", names, 1);
        _exit(check(path));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    unlink(path);
    return status;
}

static int check_both(const char *path)
{
    struct listener taken;
    bool is_good = activation_open(&activation) == EX_OK &&
                   activation.count == 2 && activation.is_systemds &&
                   !getenv("LISTEN_PID") && !getenv("LISTEN_FDS") &&
                   !getenv("LISTEN_FDNAMES") &&
                   strcmp(activation.names[0], "web") == 0 &&
                   strcmp(activation.names[1], "local") == 0 &&
                   activation_take(&activation, &taken, "127.0.0.1", 0) &&
                   taken.fd == 3 &&
                   !activation_take_name(&activation, &taken, "web") &&
                   activation_take_name(&activation, &taken, "local") &&
                   taken.fd == 4 && !activation_take_next(&activation, &taken);

    listener_close(&taken);
    activation_close(&activation, true);
    /* The file is systemd's. */
    return is_good && access(path, F_OK) == 0 ? 0 : 1;
}

static int check_nameless(const char *path)
{
    bool is_good = activation_open(&activation) == EX_OK &&
                   activation.count == 2 &&
                   strcmp(activation.names[1], "") == 0;

    (void)path;
    activation_close(&activation, true);
    return is_good ? 0 : 1;
}

static int check_none(const char *path)
{
    (void)path;
    return activation_open(&activation) == EX_OK && activation.count == 0 &&
                   !getenv("LISTEN_FDS")
               ? 0
               : 1;
}

static int check_refused(const char *path)
{
    (void)path;
    return open_quietly() == EX_CONFIG ? 0 : 1;
}

TEST(sockets_of_systemd_are_adopted_with_their_names)
{
    assert_int_equal(adopt_in_child(NULL, "2", "web:local", check_both), 0);
}

TEST(sockets_may_be_nameless)
{
    assert_int_equal(adopt_in_child(NULL, "2", NULL, check_nameless), 0);
    assert_int_equal(adopt_in_child(NULL, "2", "web", check_nameless), 0);
    assert_int_equal(adopt_in_child(NULL, "2", "", check_nameless), 0);
}

TEST(sockets_meant_for_another_process_are_left_alone)
{
    assert_int_equal(adopt_in_child("1", "2", "web:local", check_none), 0);
    assert_int_equal(adopt_in_child("", "2", "web:local", check_none), 0);
    assert_int_equal(adopt_in_child(NULL, "0", "", check_none), 0);
}

TEST(what_systemd_would_not_say_is_refused)
{
    assert_int_equal(adopt_in_child(NULL, "-1", NULL, check_refused), 0);
    assert_int_equal(adopt_in_child(NULL, "", NULL, check_refused), 0);
    assert_int_equal(adopt_in_child(NULL, "2x", NULL, check_refused), 0);
    assert_int_equal(adopt_in_child(NULL, "900", NULL, check_refused), 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
