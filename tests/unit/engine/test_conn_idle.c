#include "engine/conn_idle.h"

#include <sys/socket.h>

#include "engine/conn.h"
#include "suite.h"

enum { COUNT = 200 };

static struct conn conns[COUNT];
static struct list open_conns;
static struct conn_idle idle;

/* Of which the i-th has waited since since[i], or is at work. */
static int set_up(void **state)
{
    (void)state;
    memset(&idle, 0, sizeof(idle));
    list_init(&open_conns);
    for (unsigned i = 0; i < COUNT; i++) {
        conns[i] = (struct conn){.state = CONN_READING,
                                 .waits = true,
                                 .session = {.number = i + 1,
                                             .since_ms = 1000 + i * 7 % COUNT,
                                             .transport = {.fd = -1}}};
        list_put_last(&open_conns, &conns[i].list_node);
    }
    return 0;
}

static struct conn *take(uint64_t now_ms)
{
    struct conn *conn = conn_idle_take(&idle, &open_conns, now_ms);

    if (conn) {
        conn->waits = false;
        list_drop(&conn->list_node);
    }
    return conn;
}

TEST(the_longest_waiting_goes_first)
{
    for (unsigned i = 0; i < COUNT; i++) {
        const struct conn *conn = take(5000);

        assert_non_null(conn);
        assert_int_equal(conn->session.since_ms, 1000 + i);
    }
    assert_null(take(5000));
}

TEST(who_has_asked_meanwhile_is_passed_over)
{
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

TEST(who_has_sent_something_is_passed_over)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    conns[0].session.transport.fd = fds[0]; /* since 1000 */
    assert_int_equal(send(fds[1], "x", 1, 0), 1);
    assert_int_equal(take(5000)->session.since_ms, 1001);
    close(fds[0]);
    close(fds[1]);
}

TEST(in_vain_nobody_is_looked_at_each_time)
{
    for (unsigned i = 0; i < COUNT; i++)
        conns[i].waits = false;
    assert_null(take(5000));
    conns[5].waits = true;
    assert_null(take(5050));
    assert_ptr_equal(take(5100), &conns[5]);
}

SUITE(.each_begin = set_up);
