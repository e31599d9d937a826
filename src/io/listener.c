#include "io/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Backlog asked for; the kernel cuts it to net.core.somaxconn. */
enum { BACKLOG = 65535, DEFER_ACCEPT_S = 1 };

union any_address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

static int set_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value)) == -1 ? -errno
                                                                    : 0;
}

static int open_socket(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    return fd == -1 ? -errno : fd;
}

static int bind_and_listen(int fd, const union any_address *address,
                           socklen_t len)
{
    if (bind(fd, &address->any, len) == -1 || listen(fd, BACKLOG) == -1)
        return -errno;
    return 0;
}

/* Says where it listens, as a URL that can be clicked. */
static int describe_tcp(struct listener *listener, const char *address)
{
    union any_address bound = {0};
    socklen_t len = sizeof(bound);
    unsigned port;

    if (getsockname(listener->fd, &bound.any, &len) == -1)
        return -errno;
    port = ntohs(bound.any.sa_family == AF_INET6 ? bound.in6.sin6_port
                                                 : bound.in.sin_port);
    if (!address)
        snprintf(listener->text, sizeof(listener->text), "http://localhost:%u/",
                 port);
    else
        snprintf(listener->text, sizeof(listener->text),
                 strchr(address, ':') ? "http://[%s]:%u/" : "http://%s:%u/",
                 address, port);
    return 0;
}

static int open_tcp(struct listener *listener, const union any_address *address,
                    socklen_t len, bool dual)
{
    int family = address->any.sa_family;
    int fd = open_socket(family);
    int err;

    if (fd < 0)
        return fd;
    if ((err = set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1)) == 0 &&
        (err = set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1)) == 0 &&
        (err = set_option(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, DEFER_ACCEPT_S)) ==
            0 &&
        (family != AF_INET6 ||
         (err = set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, !dual)) == 0) &&
        (err = bind_and_listen(fd, address, len)) == 0) {
        listener->fd = fd;
        return 0;
    }
    close(fd);
    return err;
}

int listener_open_tcp(struct listener *listener, const char *address,
                      unsigned port)
{
    union any_address in = {
        .in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)}};
    union any_address in6 = {
        .in6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)}};
    int err;

    *listener = (struct listener){.fd = -1, .is_tcp = true};
    if (!address) {
        err = open_tcp(listener, &in6, sizeof(in6.in6), true);
        if (err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL) /* no IPv6 here */
            err = open_tcp(listener, &in, sizeof(in.in), false);
    } else if (inet_pton(AF_INET, address, &in.in.sin_addr) == 1) {
        err = open_tcp(listener, &in, sizeof(in.in), false);
    } else if (inet_pton(AF_INET6, address, &in6.in6.sin6_addr) == 1) {
        err = open_tcp(listener, &in6, sizeof(in6.in6), false);
    } else {
        return -EINVAL;
    }
    if (err == 0 && (err = describe_tcp(listener, address)) != 0)
        listener_close(listener);
    return err;
}

/* Whether path is a socket that nobody accepts on. 1 it is; 0 somebody does;
 * -EEXIST it is something else. */
static int is_stale(const union any_address *address, const char *path)
{
    struct stat st;
    int fd;
    int stale;

    if (lstat(path, &st) == -1)
        return errno == ENOENT ? 1 : -errno;
    if (!S_ISSOCK(st.st_mode))
        return -EEXIST;
    fd = open_socket(AF_UNIX);
    if (fd < 0)
        return fd;
    stale = connect(fd, &address->any, sizeof(address->un)) == -1 &&
            errno == ECONNREFUSED;
    close(fd);
    return stale;
}

int listener_open_unix(struct listener *listener, const char *path)
{
    union any_address address = {.un = {.sun_family = AF_UNIX}};
    struct stat st;
    int err;

    *listener = (struct listener){.fd = -1};
    if (path[0] == '\0') /* would be a name in the abstract namespace */
        return -EINVAL;
    if (strlen(path) >= sizeof(address.un.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.un.sun_path, path, strlen(path) + 1);
    err = is_stale(&address, path);
    if (err <= 0)
        return err == 0 ? -EADDRINUSE : err;
    if (unlink(path) == -1 && errno != ENOENT)
        return -errno;
    listener->fd = open_socket(AF_UNIX);
    if (listener->fd < 0)
        return listener->fd;
    err = bind_and_listen(listener->fd, &address, sizeof(address.un));
    if (err == 0 && lstat(path, &st) == -1)
        err = -errno;
    if (err != 0) {
        close(listener->fd);
        listener->fd = -1;
        return err;
    }
    listener->device = st.st_dev;
    listener->inode = st.st_ino;
    memcpy(listener->path, path, strlen(path) + 1);
    snprintf(listener->text, sizeof(listener->text), "unix:%s", path);
    return 0;
}

/* Removes the socket's file, unless another server has put its own there. */
static void remove_file(struct listener *listener)
{
    struct stat st;

    if (lstat(listener->path, &st) == 0 && st.st_dev == listener->device &&
        st.st_ino == listener->inode)
        unlink(listener->path);
    listener->path[0] = '\0';
}

void listener_close(struct listener *listener)
{
    if (listener->path[0] != '\0')
        remove_file(listener); /* before it looks as if nobody listened */
    if (listener->fd >= 0)
        close(listener->fd);
    listener->fd = -1;
}

int listener_accept(const struct listener *listener, struct address *peer_out)
{
    union any_address peer = {.any = {.sa_family = AF_UNIX}};
    socklen_t len = sizeof(peer);
    int fd = accept4(listener->fd, &peer.any, &len,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd == -1)
        return -errno;
    address_from(peer_out, &peer.any);
    return fd;
}
