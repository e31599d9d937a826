#include "engine/conn_idle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/conn.h"

enum { COUNT = 200 };

static struct conn conns[COUNT];
static struct list open;
static struct conn_idle idle;

/* Of which the i-th has waited since since[i], or is at work. */
static int set_up(void **state)
{
    (void)state;
    memset(&idle, 0, sizeof(idle));
    list_init(&open);
    for (unsigned i = 0; i < COUNT; i++) {
        conns[i] = (struct conn){.state = CONN_READING,
                                 .waits = true,
                                 .session = {.number = i + 1,
                                             .since_ms = 1000 + i * 7 % COUNT,
                                             .transport = {.fd = -1}}};
        list_put_last(&open, &conns[i].link);
    }
    return 0;
}

static struct conn *take(uint64_t now_ms)
{
    struct conn *conn = conn_idle_take(&idle, &open, now_ms);

    if (conn) {
        conn->waits = false;
        list_drop(&conn->link);
    }
    return conn;
}

static void the_longest_waiting_goes_first(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        const struct conn *conn = take(5000);

        assert_non_null(conn);
        assert_int_equal(conn->session.since_ms, 1000 + i);
    }
    assert_null(take(5000));
}

static void who_has_asked_meanwhile_is_passed_over(void **state)
{
    (void)state;
    assert_int_equal(take(5000)->session.since_ms, 1000);
    for (unsigned i = 0; i < COUNT; i++) {
        if (conns[i].session.since_ms == 1001)
            conns[i].session.since_ms = 4000; /* it waits again */
        if (conns[i].session.since_ms == 1002)
            conns[i].waits = false;
        if (conns[i].session.since_ms == 1003)
            conns[i].session.number = 1000; /* of somebody else */
    }
    assert_int_equal(take(5000)->session.since_ms, 1004);
}

static void who_has_sent_something_is_passed_over(void **state)
{
    int fds[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    conns[0].session.transport.fd = fds[0]; /* since 1000 */
    assert_int_equal(send(fds[1], "x", 1, 0), 1);
    assert_int_equal(take(5000)->session.since_ms, 1001);
    close(fds[0]);
    close(fds[1]);
}

static void in_vain_nobody_is_looked_at_each_time(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT; i++)
        conns[i].waits = false;
    assert_null(take(5000));
    conns[5].waits = true;
    assert_null(take(5050));
    assert_ptr_equal(take(5100), &conns[5]);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_longest_waiting_goes_first),
        TEST(who_has_asked_meanwhile_is_passed_over),
        TEST(who_has_sent_something_is_passed_over),
        TEST(in_vain_nobody_is_looked_at_each_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
