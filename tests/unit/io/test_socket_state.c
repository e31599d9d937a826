#include "io/socket_state.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "suite.h"

enum { UNSENT_MAX = 65536 };

struct way {
    int near;
    int far;
};

/* A TCP connection, the far end of which takes bytes at a time. */
static struct way connect_narrow(int bytes)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct way way = {.far = socket(AF_INET, SOCK_STREAM, 0)};

    assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
    setsockopt(way.far, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    assert_int_equal(connect(way.far, (struct sockaddr *)&at, len), 0);
    way.near = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    assert_true(way.near >= 0);
    close(listener);
    return way;
}

static void end(struct way way)
{
    close(way.near);
    close(way.far);
}

static size_t send_bytes(int fd, size_t len)
{
    static const char bytes[8 * UNSENT_MAX];
    ssize_t n = send(fd, bytes, len < sizeof(bytes) ? len : sizeof(bytes),
                     MSG_NOSIGNAL);

    return n > 0 ? (size_t)n : 0;
}

TEST(as_much_as_passes_is_taken)
{
    struct way way = connect_narrow(16384);
    size_t most;

    socket_limit_unsent(way.near, UNSENT_MAX);
    assert_true(socket_count_passing(way.near, UNSENT_MAX) >= UNSENT_MAX);
    while ((most = socket_count_passing(way.near, UNSENT_MAX)) > 0) {
        size_t room = socket_count_room(way.near);

        if (most > room)
            most = room;
        if (most == 0)
            break;
        assert_int_equal(send_bytes(way.near, most), most);
    }
    assert_true(socket_count_unsent(way.near) <= UNSENT_MAX);
    end(way);
}

TEST(nothing_passes_where_enough_waits)
{
    struct way way = connect_narrow(16384);

    while (send_bytes(way.near, UNSENT_MAX) > 0)
        ;
    assert_true(socket_count_unsent(way.near) >= 4096);
    assert_int_equal(socket_count_passing(way.near, 4096), 0);
    end(way);
}

TEST(what_is_no_tcp_socket_tells_nothing)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(socket_count_passing(fds[0], UNSENT_MAX), 0);
    assert_int_equal(socket_count_unsent(fds[0]), -1);
    end((struct way){fds[0], fds[1]});
}

SUITE(0);
