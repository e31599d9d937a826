/* link: -Wl,--wrap=worker_give,--wrap=worker_wake,--wrap=worker_closed,--wrap=worker_reading,--wrap=nanosleep */
#include "process/acceptor.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "base/log.h"
#include "suite.h"
#include "unit/place.h"
#include "wrap.h"

enum { WAIT_MS = 30000, NEVER = 1000000 };

/* --- A worker whose mailbox is full for some moments ---------------------- */

static atomic_uint moments_left; /* until there is room */
static atomic_uint moments;      /* that were waited */
static atomic_int given_fd;      /* the last */

WRAP(bool, worker_give, struct worker *worker, const struct mail *mail)
{
    (void)worker;
    if (moments_left > 0)
        return false;
    given_fd = mail->fd;
    return true;
}

WRAP(void, worker_wake, struct worker *worker)
{
    (void)worker;
}

WRAP(uint64_t, worker_closed, const struct worker *worker)
{
    (void)worker;
    return 0;
}

WRAP(size_t, worker_reading, const struct worker *worker)
{
    (void)worker;
    return 0;
}

WRAP(int, nanosleep, const struct timespec *wanted, struct timespec *left)
{
    (void)wanted;
    (void)left;
    moments++;
    moments_left--;
    return 0;
}

/* --- Helpers ------------------------------------------------------------- */

static struct place place;
static struct listener listener;
static struct stats_acceptor stats;
static struct acceptor *acceptor;
static int client_fd;
static bool is_stopped;

static int set_up(void **state)
{
    /* Never looked into. */
    static struct worker *workers[] = {(struct worker *)(void *)&place};
    struct acceptor_options options = {.listeners = &listener,
                                       .listener_count = 1,
                                       .workers = workers,
                                       .worker_count = 1,
                                       .connections_max = 100,
                                       .stats = &stats};

    (void)state;
    log_open(LOG_LEVEL_ERROR);
    moments = moments_left = 0;
    given_fd = client_fd = -1;
    is_stopped = false;
    stats = (struct stats_acceptor){0};
    if (place_open(&place) != 0 ||
        listener_open_unix(&listener, place_path(&place, "socket")) != 0)
        return -1;
    acceptor = acceptor_create(&options);
    return acceptor ? acceptor_start(acceptor) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    if (!is_stopped)
        acceptor_stop(acceptor);
    acceptor_destroy(acceptor);
    if (given_fd >= 0)
        close(given_fd);
    close(client_fd);
    listener_close(&listener);
    return place_close(&place);
}

static void connect_socket(int fd)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    snprintf(un.sun_path, sizeof(un.sun_path), "%s",
             place_path(&place, "socket"));
    assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof(un)), 0);
}

static void connect_client(void)
{
    client_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    connect_socket(client_fd);
}

static bool is_given(void)
{
    for (int ms = 0; ms < WAIT_MS && given_fd == -1; ms++)
        poll(NULL, 0, 1);
    return given_fd >= 0;
}

/* --- Tests --------------------------------------------------------------- */

TEST(a_connection_waits_for_room_in_a_mailbox)
{
    moments_left = 500;
    connect_client();
    assert_true(is_given());
    assert_int_equal(moments, 500);
    assert_int_equal(counter_read(&stats.refused[STATS_REFUSAL_LIMIT]), 0);
}

TEST(with_room_it_does_not_wait)
{
    connect_client();
    assert_true(is_given());
    assert_int_equal(moments, 0);
}

TEST(a_worker_that_takes_nothing_is_waited_for_a_second)
{
    struct pollfd heard;
    char answer[64] = "";

    moments_left = NEVER;
    connect_client();
    heard = (struct pollfd){.fd = client_fd, .events = POLLIN};
    assert_int_equal(poll(&heard, 1, WAIT_MS), 1);
    assert_true(recv(client_fd, answer, sizeof(answer) - 1, 0) > 0);
    assert_memory_equal(answer, "HTTP/1.1 503 ", 13);
    assert_int_equal(moments, 1000);
    assert_int_equal(given_fd, -1);
}

/* Their connections would be reset with the listener. */
TEST(who_waits_at_the_end_is_refused_when_descriptors_have_run_out)
{
    enum { CLIENTS = 5 };
    struct rlimit usual, none;
    int fds[CLIENTS];

    for (size_t i = 0; i < CLIENTS; i++)
        fds[i] = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = usual;
    none.rlim_cur = (rlim_t)dup(STDIN_FILENO); /* the first that is free */
    close((int)none.rlim_cur);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (size_t i = 0; i < CLIENTS; i++)
        connect_socket(fds[i]);
    acceptor_stop(acceptor);
    is_stopped = true;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    for (size_t i = 0; i < CLIENTS; i++) {
        char answer[64] = "";

        assert_true(recv(fds[i], answer, sizeof(answer) - 1, MSG_DONTWAIT) >
                    12);
        assert_memory_equal(answer, "HTTP/1.1 503", 12);
        close(fds[i]);
    }
    assert_int_equal(counter_read(&stats.refused[STATS_REFUSAL_DESCRIPTORS]),
                     CLIENTS);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
