#include "io/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file_broker.h"

/* The backlog asked for; the kernel cuts it to net.core.somaxconn. */
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

/* Writes the listener's address as a URL that can be clicked. */
static int describe_tcp(struct listener *listener, const char *address)
{
    union any_address bound = {0};
    socklen_t len = sizeof(bound);

    if (getsockname(listener->fd, &bound.any, &len) == -1)
        return -errno;
    listener->port = ntohs(bound.any.sa_family == AF_INET6 ? bound.in6.sin6_port
                                                           : bound.in.sin_port);
    if (!address)
        snprintf(listener->text, sizeof(listener->text), "http://localhost:%u/",
                 listener->port);
    else
        snprintf(listener->text, sizeof(listener->text),
                 strchr(address, ':') ? "http://[%s]:%u/" : "http://%s:%u/",
                 address, listener->port);
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

/* --- Unix sockets --------------------------------------------------------- */

/* Finds out whether the socket at `path` may be replaced. Returns 1 when nobody
 * accepts there or the path is free, 0 when somebody accepts or may accept,
 * -EEXIST when the path is not a socket's, and another -errno, such as -EACCES,
 * when this process may not find that out. */
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
    stale = 0;
    if (connect(fd, &address->any, sizeof(address->un)) == -1)
        stale = errno == ECONNREFUSED ? 1 : errno == EACCES ? -EACCES : 0;
    close(fd);
    return stale;
}

/* Opens a unix socket at `path`. `mode` is the mode of its file; 0 leaves the
 * mode to the umask. */
static int make_unix(struct listener *listener, const char *path, mode_t mode)
{
    union any_address address = {.un = {.sun_family = AF_UNIX}};
    struct stat st;
    int err;

    *listener = (struct listener){.fd = -1};
    if (path[0] == '\0') /* a name of the abstract namespace */
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
    /* bind() gives the file the mode that the socket has now. */
    err = mode != 0 && fchmod(listener->fd, mode) == -1 ? -errno : 0;
    if (err == 0)
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

/* --- Sockets of others ---------------------------------------------------- */

static int get_option(int fd, int level, int name, int *value_out)
{
    socklen_t len = sizeof(*value_out);

    return getsockopt(fd, level, name, value_out, &len) == -1 ? -errno : 0;
}

static int add_flag(int fd, int get, int set, int flag)
{
    int flags = fcntl(fd, get);

    return flags == -1 || fcntl(fd, set, flags | flag) == -1 ? -errno : 0;
}

/* Finds the address that `fd` is bound to, with zeros behind a path. Returns 0
 * or -errno. */
static int find_address(int fd, union any_address *bound, socklen_t *len_out)
{
    *bound = (union any_address){.any = {.sa_family = AF_UNSPEC}};
    *len_out = sizeof(*bound);
    return getsockname(fd, &bound->any, len_out) == -1 ? -errno : 0;
}

/* Whether the socket takes connections to all addresses. A socket of IPv6 must
 * take connections to IPv4 addresses, too. */
static bool is_everywhere(int fd, const union any_address *bound)
{
    int only6 = 1;

    if (bound->any.sa_family == AF_INET)
        return bound->in.sin_addr.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&bound->in6.sin6_addr) &&
           get_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only6) == 0 && !only6;
}

static int adopt_tcp(struct listener *listener, const union any_address *bound)
{
    char address[INET6_ADDRSTRLEN];
    bool is_v6 = bound->any.sa_family == AF_INET6;
    int err;

    listener->is_tcp = true;
    if ((err = set_option(listener->fd, IPPROTO_TCP, TCP_NODELAY, 1)) != 0 ||
        (err = set_option(listener->fd, IPPROTO_TCP, TCP_DEFER_ACCEPT,
                          DEFER_ACCEPT_S)) != 0)
        return err;
    if (!inet_ntop(bound->any.sa_family,
                   is_v6 ? (const void *)&bound->in6.sin6_addr
                         : (const void *)&bound->in.sin_addr,
                   address, sizeof(address)))
        return -errno;
    return describe_tcp(listener,
                        is_everywhere(listener->fd, bound) ? NULL : address);
}

static void adopt_unix(struct listener *listener,
                       const union any_address *bound, socklen_t len,
                       bool owns_file)
{
    const char *path = bound->un.sun_path;
    size_t room = len - offsetof(struct sockaddr_un, sun_path);
    struct stat st;

    if (path[0] == '\0') { /* in the abstract namespace: no file */
        snprintf(listener->text, sizeof(listener->text), "unix:@%.*s",
                 room > 1 ? (int)(room - 1) : 0, path + 1);
        return;
    }
    snprintf(listener->text, sizeof(listener->text), "unix:%.*s", (int)room,
             path);
    if (!owns_file || lstat(listener->text + 5, &st) == -1)
        return;
    listener->device = st.st_dev;
    listener->inode = st.st_ino;
    snprintf(listener->path, sizeof(listener->path), "%s", listener->text + 5);
}

int listener_adopt(struct listener *listener, int fd, bool owns_file)
{
    union any_address bound;
    socklen_t len;
    int type, listens;
    int err;

    *listener = (struct listener){.fd = fd};
    if ((err = get_option(fd, SOL_SOCKET, SO_TYPE, &type)) == 0 &&
        (err = get_option(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens)) == 0 &&
        (err = type == SOCK_STREAM ? 0 : -EPROTOTYPE) == 0 &&
        (err = listens ? 0 : -EINVAL) == 0 &&
        (err = find_address(fd, &bound, &len)) == 0 &&
        (err = add_flag(fd, F_GETFD, F_SETFD, FD_CLOEXEC)) == 0 &&
        (err = add_flag(fd, F_GETFL, F_SETFL, O_NONBLOCK)) == 0) {
        if (bound.any.sa_family == AF_UNIX)
            adopt_unix(listener, &bound, len, owns_file);
        else if (bound.any.sa_family == AF_INET ||
                 bound.any.sa_family == AF_INET6)
            err = adopt_tcp(listener, &bound);
        else
            err = -EAFNOSUPPORT;
    }
    if (err != 0)
        *listener = (struct listener){.fd = -1};
    return err;
}

static int open_unix(struct listener *listener, const char *path, mode_t mode,
                     enum file_need need)
{
    int err = make_unix(listener, path, mode);
    int fd = err == 0 ? -1 : file_broker_ask(need, path, err);

    if (err == 0 || fd < 0)
        return err == 0 ? 0 : fd;
    err = listener_adopt(listener, fd, true);
    if (err != 0)
        close(fd);
    return err;
}

int listener_open_unix(struct listener *listener, const char *path)
{
    return open_unix(listener, path, 0, FILE_LISTEN);
}

int listener_open_private(struct listener *listener, const char *path)
{
    return open_unix(listener, path, S_IRUSR | S_IWUSR, FILE_LISTEN_PRIVATE);
}

bool listener_is_at(const struct listener *listener, const char *address,
                    unsigned port)
{
    union any_address bound;
    struct in6_addr in6;
    struct in_addr in;
    socklen_t len;
    uint16_t bound_port;

    if (!listener->is_tcp || find_address(listener->fd, &bound, &len) != 0)
        return false;
    bound_port = ntohs(bound.any.sa_family == AF_INET6 ? bound.in6.sin6_port
                                                       : bound.in.sin_port);
    if (port != 0 && port != bound_port)
        return false;
    if (!address)
        return is_everywhere(listener->fd, &bound);
    if (inet_pton(AF_INET, address, &in) == 1)
        return bound.any.sa_family == AF_INET &&
               bound.in.sin_addr.s_addr == in.s_addr;
    return inet_pton(AF_INET6, address, &in6) == 1 &&
           bound.any.sa_family == AF_INET6 &&
           !is_everywhere(listener->fd, &bound) &&
           IN6_ARE_ADDR_EQUAL(&bound.in6.sin6_addr, &in6);
}

bool listener_is_at_path(const struct listener *listener, const char *path)
{
    return !listener->is_tcp && listener->fd >= 0 &&
           strncmp(listener->text, "unix:", 5) == 0 &&
           strcmp(listener->text + 5, path) == 0;
}

/* --- Closing, accepting --------------------------------------------------- */

/* Removes the socket's file, unless another server has put its own file
 * there. */
static void remove_file(struct listener *listener)
{
    struct stat st;

    if (lstat(listener->path, &st) == 0 && st.st_dev == listener->device &&
        st.st_ino == listener->inode && unlink(listener->path) == -1 &&
        file_broker_ask(FILE_REMOVE, listener->path, -errno) < 0)
        (void)0; /* the next start replaces a file where nobody accepts */
    listener->path[0] = '\0';
}

/* Notes whether the listener speaks TLS. The text of a TCP listener is a URL,
 * whose scheme changes then; the text of a unix socket stays. */
void listener_mark_tls(struct listener *listener, bool is_tls)
{
    const char *scheme = is_tls ? "https" : "http";
    const char *colon = strstr(listener->text, "://");
    char rest[LISTENER_TEXT_MAX];

    listener->is_tls = is_tls;
    if (!colon)
        return;
    snprintf(rest, sizeof(rest), "%s", colon);
    snprintf(listener->text, sizeof(listener->text), "%s%.*s", scheme,
             LISTENER_TEXT_MAX - 6, rest);
}

void listener_close(struct listener *listener)
{
    if (listener->path[0] != '\0')
        remove_file(listener); /* before close(): else the file looks stale */
    if (listener->fd >= 0)
        close(listener->fd);
    listener->fd = -1;
}

void listener_leave(struct listener *listener)
{
    listener->path[0] = '\0';
    listener_close(listener);
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
