#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "upstream/upstream_priv.h"

/* Opens a socket. If there are too many descriptors, closes an idle connection
 * and tries once more. Returns the descriptor, or -errno. */
static int open_socket(struct upstream_pool *pool, int family)
{
    const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    const int on = 1;
    int fd = socket(family, type, 0);

    if (fd == -1 && (errno == EMFILE || errno == ENFILE) &&
        upstream_close_one_idle(pool))
        fd = socket(family, type, 0);
    if (fd == -1)
        return -errno;
    /* A failure is ignored: without TCP_NODELAY, a request in two parts is only
     * slower. */
    if (family != AF_UNIX)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

/* Connects the socket. Returns 0 when it is connected, -EINPROGRESS while it is
 * connecting, or another -errno. */
static int connect_to(int fd, const union address_any *to, socklen_t len)
{
    int rc = connect(fd, &to->any, len);

    /* A server on the same machine has answered already. A second connect()
     * costs less than a watcher in the loop. */
    if (rc == -1 && errno == EINPROGRESS)
        rc = connect(fd, &to->any, len);
    if (rc == 0 || errno == EISCONN)
        return 0;
    return errno == EALREADY || errno == EINTR ? -EINPROGRESS : -errno;
}

int upstream_attempt(struct upstream_connecting *connecting,
                     const struct address *address,
                     struct upstream **upstream_out)
{
    struct upstream_server *server = connecting->server;
    struct upstream *upstream = upstream_create(server);
    union address_any to;
    socklen_t len = address_fill(address, server->endpoint->unix_path, &to);
    int fd, err;

    if (!upstream)
        return -ENOMEM;
    fd = open_socket(server->pool, to.any.sa_family);
    if (fd < 0) {
        upstream_close(upstream);
        return fd;
    }
    upstream_set_fd(upstream, fd);
    upstream->connecting = connecting;
    upstream->address = *address;
    if (address->family != ADDRESS_UNIX &&
        (connecting->rounds < UPSTREAM_ROUNDS_MAX || address_is_local(address)))
        upstream_bound_rto(upstream);
    list_put_last(&connecting->attempts, &upstream->list_node);
    err = connect_to(fd, &to, len);
    if (err == -EINPROGRESS)
        ev_io_start(server->pool->loop, &upstream->writing);
    else if (err != 0)
        upstream_close(upstream);
    *upstream_out = upstream;
    return err;
}
