#include "process/listeners.h"

#include <sysexits.h>

#include "config/command_line.h"
#include "suite.h"

#include "unit/place.h"

static struct place place;
static struct listener listeners[OPTIONS_LISTEN_MAX];
static size_t count;
static struct listeners_change change;
static struct options options;
static char said[1024];
static FILE *errors;
static unsigned fds_before;

static int set_up(void **state)
{
    (void)state;
    fds_before = place_count_fds();
    count = 0;
    change = (struct listeners_change){.count = 0};
    errors = fmemopen(said, sizeof(said), "w");
    return errors && place_open(&place) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < count; i++)
        listener_close(&listeners[i]);
    options_fini(&options);
    fclose(errors);
    return place_close(&place) == 0 && place_count_fds() == fds_before ? 0 : -1;
}

/* --listen, for each of them. */
static void want(const char *const wheres[])
{
    char *argv[2 * OPTIONS_LISTEN_MAX + 2] = {(char *)(uintptr_t) "sprintd"};
    int argc = 1;

    for (; *wheres; wheres++) {
        argv[argc++] = (char *)(uintptr_t) "--listen";
        argv[argc++] = (char *)(uintptr_t)*wheres;
    }
    options_fini(&options);
    assert_int_equal(command_line_read(&options, argc, argv, errors), 0);
}
#define WANT(...) want((const char *const[]){__VA_ARGS__, NULL})

static void open_all(void)
{
    struct activation none = {.count = 0};

    assert_int_equal(listeners_open(listeners, &count, &options, &none), EX_OK);
}

static int prepare(void)
{
    int status = listeners_prepare(&change, listeners, count, &options, errors);

    fflush(errors);
    return status;
}

TEST(those_still_wanted_are_the_same_sockets)
{
    int fds[2];

    WANT("127.0.0.1:0", "127.0.0.2:0");
    open_all();
    fds[0] = listeners[0].fd;
    fds[1] = listeners[1].fd;
    WANT("127.0.0.2:0", "127.0.0.3:0", "127.0.0.1:0");
    assert_int_equal(prepare(), EX_OK);
    assert_false(change.is_new[0]);
    assert_true(change.is_new[1]);
    assert_false(change.is_new[2]);
    listeners_apply(&change, listeners, &count);
    assert_int_equal(count, 3);
    assert_int_equal(listeners[0].fd, fds[1]);
    assert_int_equal(listeners[2].fd, fds[0]);
    assert_true(listener_is_at(&listeners[1], "127.0.0.3", 0));
}

TEST(those_not_wanted_any_more_are_closed)
{
    char where[128];

    snprintf(where, sizeof(where), "unix:%s", place_path(&place, "socket"));
    WANT("127.0.0.1:0", where);
    open_all();
    assert_int_equal(access(where + 5, F_OK), 0);
    WANT("127.0.0.1:0");
    assert_int_equal(prepare(), EX_OK);
    listeners_apply(&change, listeners, &count);
    assert_int_equal(count, 1);
    assert_int_equal(access(where + 5, F_OK), -1);
}

TEST(any_port_twice_is_two_sockets)
{
    WANT("127.0.0.1:0");
    open_all();
    WANT("127.0.0.1:0", "127.0.0.1:0");
    assert_int_equal(prepare(), EX_OK);
    assert_int_equal(change.next[0].fd, listeners[0].fd);
    assert_true(change.is_new[1]);
    listeners_apply(&change, listeners, &count);
}

TEST(when_one_cannot_be_opened_none_is)
{
    unsigned fds;
    int fd;

    WANT("127.0.0.1:0");
    open_all();
    fd = listeners[0].fd;
    fds = place_count_fds();
    WANT("127.0.0.1:0", "127.0.0.2:0", "192.0.2.1:0");
    assert_int_equal(prepare(), EX_UNAVAILABLE);
    assert_non_null(strstr(said, "--listen: cannot listen on 192.0.2.1:0"));
    assert_int_equal(place_count_fds(), fds);
    assert_int_equal(listeners[0].fd, fd);
    assert_true(listener_is_at(&listeners[0], "127.0.0.1", 0));
}

TEST(what_was_prepared_can_be_given_up)
{
    unsigned fds;

    WANT("127.0.0.1:0");
    open_all();
    fds = place_count_fds();
    WANT("127.0.0.1:0", "127.0.0.2:0");
    assert_int_equal(prepare(), EX_OK);
    listeners_discard(&change);
    assert_int_equal(place_count_fds(), fds);
}

TEST(systemds_are_meant_unless_something_else_is_said)
{
    char *bare[] = {(char *)(uintptr_t) "sprintd", NULL};
    char *port[] = {(char *)(uintptr_t) "sprintd",
                    (char *)(uintptr_t) "--port=80", NULL};

    assert_int_equal(command_line_read(&options, 1, bare, errors), 0);
    assert_true(listeners_are_systemds(&options, true));
    assert_false(listeners_are_systemds(&options, false));
    options_fini(&options);
    assert_int_equal(command_line_read(&options, 2, port, errors), 0);
    assert_false(listeners_are_systemds(&options, true));
    WANT("127.0.0.1:0");
    assert_false(listeners_are_systemds(&options, true));
}

SUITE(.each_begin = set_up, .each_end = tear_down);
