#include "process/notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "base/log.h"
#include "base/now.h"
#include "suite.h"

#include "unit/place.h"

static struct place place;
static struct notify notify;
static unsigned fds_before;
static int manager; /* the service manager's end */

static int set_up(void **state)
{
    (void)state;
    log_open(LOG_LEVEL_ERROR);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    notify = (struct notify){.fd = -1};
    fds_before = place_count_fds();
    manager = -1;
    return place_open(&place);
}

static int tear_down(void **state)
{
    (void)state;
    notify_close(&notify);
    if (manager != -1)
        close(manager);
    return place_close(&place) == 0 && place_count_fds() == fds_before ? 0 : -1;
}

/* The manager listens at a path, or at "@name". */
static void listen_at(const char *where)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    size_t len = strlen(where);

    memcpy(un.sun_path, where, len);
    if (*where == '@')
        un.sun_path[0] = '\0';
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(manager, (const struct sockaddr *)&un,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
                                      len)),
                     0);
    setenv("NOTIFY_SOCKET", where, 1);
}

static const char *heard(void)
{
    static char message[1024];
    ssize_t len = recv(manager, message, sizeof(message) - 1, 0);

    message[len > 0 ? len : 0] = '\0';
    return message;
}

TEST(without_a_manager_nothing_happens)
{
    static const char *const nowhere[] = {NULL, "", "relative", "/", "@"};

    for (size_t i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++) {
        if (nowhere[i])
            setenv("NOTIFY_SOCKET", nowhere[i], 1);
        setenv("WATCHDOG_USEC", "1000000", 1);
        notify_open(&notify);
        assert_int_equal(notify.fd, -1);
        assert_int_equal(notify.watchdog_ms, 0);
        notify_ready(&notify, "serving");
        notify_watchdog(&notify);
        assert_null(getenv("NOTIFY_SOCKET"));
    }
}

TEST(a_path_that_is_too_long_is_left_alone)
{
    char path[300];

    memset(path, '/', sizeof(path));
    path[108] = '\0';
    setenv("NOTIFY_SOCKET", path, 1);
    notify_open(&notify);
    assert_int_equal(notify.fd, -1);
}

TEST(every_message_is_what_a_manager_expects)
{
    char expected[128];
    uint64_t before_us = now_read_ns() / 1000;
    unsigned long long at_us;

    listen_at(place_path(&place, "manager"));
    notify_open(&notify);
    notify_ready(&notify, "serving /srv");
    snprintf(expected, sizeof(expected),
             "READY=1\nMAINPID=%ld\nSTATUS=serving /srv", (long)getpid());
    assert_string_equal(heard(), expected);
    notify_reloading(&notify);
    assert_int_equal(sscanf(heard(), "RELOADING=1\nMONOTONIC_USEC=%llu",
                            &at_us),
                     1);
    assert_true(at_us >= before_us && at_us <= now_read_ns() / 1000);
    notify_stopping(&notify, "draining");
    assert_string_equal(heard(), "STOPPING=1\nSTATUS=draining");
    notify_watchdog(&notify);
    assert_string_equal(heard(), "WATCHDOG=1");
    notify_main_pid(&notify, 4711);
    assert_string_equal(heard(), "MAINPID=4711");
}

TEST(an_abstract_address_is_understood)
{
    char name[64];

    snprintf(name, sizeof(name), "@sprintd-unit-%ld", (long)getpid());
    listen_at(name);
    notify_open(&notify);
    notify_watchdog(&notify);
    assert_string_equal(heard(), "WATCHDOG=1");
}

TEST(a_status_cannot_smuggle_in_another_message)
{
    char longest[2000];

    listen_at(place_path(&place, "manager"));
    notify_open(&notify);
    notify_stopping(&notify, "fine\nWATCHDOG=1");
    assert_string_equal(heard(), "STOPPING=1\nSTATUS=fine");
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    notify_ready(&notify, longest);
    assert_memory_equal(heard(), "READY=1\nMAINPID=", 16);
    notify_stopping(&notify, longest);
    assert_int_equal(strlen(heard()), strlen("STOPPING=1\nSTATUS=") + 256);
}

TEST(a_manager_that_does_not_read_or_is_gone_disturbs_nobody)
{
    listen_at(place_path(&place, "manager"));
    notify_open(&notify);
    for (int i = 0; i < 5000; i++) /* more than its queue holds */
        notify_watchdog(&notify);
    close(manager);
    manager = -1;
    notify_watchdog(&notify);
    notify_stopping(&notify, "draining");
}

TEST(the_watchdog_is_ours_only_when_it_names_us)
{
    static const struct {
        const char *period;
        int pid; /* 0: none; 1: ours; 2: another */
        unsigned ms;
    } cases[] = {{"30000000", 0, 30000},
                 {"30000000", 1, 30000},
                 {"30000000", 2, 0},
                 {"0", 1, 0},
                 {"-5", 1, 0},
                 {"5x", 1, 0},
                 {"99999999999999999999999", 1, 0},
                 {"", 1, 0}};

    listen_at(place_path(&place, "manager"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char pid[24];

        snprintf(pid, sizeof(pid), "%ld",
                 cases[i].pid == 1 ? (long)getpid() : 1L);
        setenv("NOTIFY_SOCKET", place_path(&place, "manager"), 1);
        setenv("WATCHDOG_USEC", cases[i].period, 1);
        if (cases[i].pid != 0)
            setenv("WATCHDOG_PID", pid, 1);
        notify_open(&notify);
        assert_int_equal(notify.watchdog_ms, cases[i].ms);
        assert_null(getenv("NOTIFY_SOCKET"));
        assert_null(getenv("WATCHDOG_USEC"));
        assert_null(getenv("WATCHDOG_PID"));
        notify_close(&notify);
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
