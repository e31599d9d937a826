/* link: -Wl,--wrap=accept4,--wrap=socket,--wrap=bind,--wrap=setsockopt */
#include "io/listener.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>

#include "suite.h"
#include "unit/place.h"
#include "wrap.h"

enum { WAIT_MS = 10000 };

/* --- System calls that fail ---------------------------------------------- */

static int accept_errno;       /* what accept4 fails with, 0: it does not */
static int inet6_socket_errno; /* the same of socket, for IPv6 */
static int inet6_bind_errno;
static int option_errno;

WRAP(int, accept4, int fd, struct sockaddr *peer, socklen_t *len, int flags)
{
    errno = accept_errno;
    return accept_errno != 0 ? -1 : __real_accept4(fd, peer, len, flags);
}

WRAP(int, socket, int family, int type, int protocol)
{
    if (family != AF_INET6 || inet6_socket_errno == 0)
        return __real_socket(family, type, protocol);
    errno = inet6_socket_errno;
    return -1;
}

WRAP(int, bind, int fd, const struct sockaddr *address, socklen_t len)
{
    if (address->sa_family != AF_INET6 || inet6_bind_errno == 0)
        return __real_bind(fd, address, len);
    errno = inet6_bind_errno;
    return -1;
}

WRAP(int, setsockopt, int fd, int level, int name, const void *value,
     socklen_t len)
{
    errno = option_errno;
    return option_errno != 0 ? -1
                             : __real_setsockopt(fd, level, name, value, len);
}

/* --- Helpers ------------------------------------------------------------- */

static struct place place;
static struct listener listener;

static int set_up(void **state)
{
    (void)state;
    accept_errno = inet6_socket_errno = inet6_bind_errno = option_errno = 0;
    listener = (struct listener){.fd = -1};
    if (place_open(&place) != 0)
        return -1;
    return 0;
}

/* Nothing may be left open by any test. */
static int tear_down(void **state)
{
    (void)state;
    listener_close(&listener);
    return place_close_tidy(&place);
}

static bool has_ipv6(void)
{
    struct listener other;
    bool has = listener_open_tcp(&other, "::1", 0) == 0;

    listener_close(&other);
    return has;
}

/* The port that the text names. */
static uint16_t port_of(const struct listener *of)
{
    return (uint16_t)strtoul(strrchr(of->text, ':') + 1, NULL, 10);
}

/* A client of that address that has sent a byte, or -errno. */
static int connect_tcp(int family, const char *address, uint16_t port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
                               .sin6_port = htons(port)};
    bool is_v4 = family == AF_INET;
    const void *to = is_v4 ? (const void *)&in : (const void *)&in6;
    int fd = socket(family, SOCK_STREAM, 0);

    inet_pton(family, address,
              is_v4 ? (void *)&in.sin_addr : (void *)&in6.sin6_addr);
    if (connect(fd, to, is_v4 ? sizeof(in) : sizeof(in6)) == -1) {
        int err = -errno;

        close(fd);
        return err;
    }
    assert_int_equal(send(fd, "x", 1, 0), 1);
    return fd;
}

static int connect_unix(const char *path)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
    if (connect(fd, (const struct sockaddr *)&un, sizeof(un)) == -1) {
        close(fd);
        return -1;
    }
    return fd;
}

static int accept_one(struct address *peer)
{
    struct pollfd ready = {.fd = listener.fd, .events = POLLIN};
    int fd;

    assert_int_equal(poll(&ready, 1, WAIT_MS), 1);
    fd = listener_accept(&listener, peer);
    assert_true(fd >= 0);
    return fd;
}

static void assert_reachable(int family, const char *address)
{
    char text[ADDRESS_TEXT_MAX];
    struct address peer;
    int client = connect_tcp(family, address, port_of(&listener));
    int fd;

    assert_true(client >= 0);
    fd = accept_one(&peer);
    text[address_format(&peer, text)] = '\0';
    assert_string_equal(text, address);
    close(fd);
    close(client);
}

/* --- TCP ----------------------------------------------------------------- */

TEST(without_an_address_both_families_are_served)
{
    if (!has_ipv6())
        skip();
    assert_int_equal(listener_open_tcp(&listener, NULL, 0), 0);
    assert_true(listener.is_tcp);
    assert_reachable(AF_INET, "127.0.0.1");
    assert_reachable(AF_INET6, "::1");
}

TEST(without_ipv6_all_ipv4_addresses_are_served)
{
    inet6_socket_errno = EAFNOSUPPORT;
    assert_int_equal(listener_open_tcp(&listener, NULL, 0), 0);
    assert_reachable(AF_INET, "127.0.0.1");
}

TEST(with_ipv6_disabled_all_ipv4_addresses_are_served)
{
    inet6_bind_errno = EADDRNOTAVAIL;
    assert_int_equal(listener_open_tcp(&listener, NULL, 0), 0);
    assert_reachable(AF_INET, "127.0.0.1");
}

TEST(port_0_takes_a_free_one_and_the_text_names_it)
{
    char expected[LISTENER_TEXT_MAX];
    struct sockaddr_in bound;
    socklen_t len = sizeof(bound);

    assert_int_equal(listener_open_tcp(&listener, "127.0.0.1", 0), 0);
    assert_int_equal(getsockname(listener.fd, (struct sockaddr *)(void *)&bound,
                                 &len),
                     0);
    assert_int_not_equal(bound.sin_port, 0);
    snprintf(expected, sizeof(expected), "http://127.0.0.1:%u/",
             ntohs(bound.sin_port));
    assert_string_equal(listener.text, expected);
}

TEST(a_listener_on_all_addresses_is_called_localhost)
{
    assert_int_equal(listener_open_tcp(&listener, NULL, 0), 0);
    assert_memory_equal(listener.text, "http://localhost:", 17);
    assert_true(port_of(&listener) > 0);
}

TEST(the_text_of_an_ipv6_address_has_brackets)
{
    if (!has_ipv6())
        skip();
    assert_int_equal(listener_open_tcp(&listener, "::1", 0), 0);
    assert_memory_equal(listener.text, "http://[::1]:", 13);
}

TEST(an_ipv6_address_does_not_serve_ipv4)
{
    if (!has_ipv6())
        skip();
    assert_int_equal(listener_open_tcp(&listener, "::", 0), 0);
    assert_reachable(AF_INET6, "::1");
    assert_int_equal(connect_tcp(AF_INET, "127.0.0.1", port_of(&listener)),
                     -ECONNREFUSED);
}

TEST(accepted_sockets_inherit_nodelay)
{
    struct address peer;
    int client;
    int fd;
    int on = 0;
    socklen_t len = sizeof(on);

    assert_int_equal(listener_open_tcp(&listener, "127.0.0.1", 0), 0);
    client = connect_tcp(AF_INET, "127.0.0.1", port_of(&listener));
    fd = accept_one(&peer);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &len), 0);
    assert_int_not_equal(on, 0);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    close(client);
}

TEST(a_port_in_use_is_refused)
{
    struct listener other;

    assert_int_equal(listener_open_tcp(&listener, "127.0.0.1", 0), 0);
    assert_int_equal(listener_open_tcp(&other, "127.0.0.1", port_of(&listener)),
                     -EADDRINUSE);
}

TEST(what_is_no_numeric_address_is_refused)
{
    static const char *const bad[] = {"localhost", "1.2.3", "1.2.3.4.5",
                                      "[::1]",     "::g",   ""};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(listener_open_tcp(&listener, bad[i], 0), -EINVAL);
}

TEST(an_address_of_another_machine_is_refused)
{
    assert_int_equal(listener_open_tcp(&listener, "192.0.2.1", 0),
                     -EADDRNOTAVAIL);
}

TEST(a_socket_that_takes_no_options_is_closed_again)
{
    option_errno = ENOPROTOOPT;
    assert_int_equal(listener_open_tcp(&listener, NULL, 0), -ENOPROTOOPT);
}

/* --- Accepting ----------------------------------------------------------- */

TEST(nobody_there_is_eagain)
{
    struct address peer;

    assert_int_equal(listener_open_tcp(&listener, "127.0.0.1", 0), 0);
    assert_int_equal(listener_accept(&listener, &peer), -EAGAIN);
}

TEST(errors_of_accept_are_reported_and_end)
{
    static const int errors[] = {EMFILE, ENFILE,       ENOMEM, ENOBUFS,
                                 EINTR,  ECONNABORTED, EPERM,  EPROTO};
    struct address peer;
    int client;

    assert_int_equal(listener_open_tcp(&listener, "127.0.0.1", 0), 0);
    client = connect_tcp(AF_INET, "127.0.0.1", port_of(&listener));
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        accept_errno = errors[i];
        assert_int_equal(listener_accept(&listener, &peer), -errors[i]);
    }
    accept_errno = 0;
    close(accept_one(&peer));
    close(client);
}

/* --- Unix sockets -------------------------------------------------------- */

TEST(a_unix_socket_accepts_and_is_removed_on_close)
{
    const char *path = place_path(&place, "socket");
    char expected[LISTENER_TEXT_MAX];
    struct address peer;
    int client;

    assert_int_equal(listener_open_unix(&listener, path), 0);
    snprintf(expected, sizeof(expected), "unix:%s", path);
    assert_string_equal(listener.text, expected);
    assert_false(listener.is_tcp);
    client = connect_unix(path);
    assert_true(client >= 0);
    close(accept_one(&peer));
    assert_int_equal(peer.family, ADDRESS_UNIX);
    close(client);
    listener_close(&listener);
    assert_int_equal(access(path, F_OK), -1);
    listener_close(&listener);
}

TEST(a_socket_left_behind_is_replaced)
{
    const char *path = place_path(&place, "socket");

    assert_int_equal(listener_open_unix(&listener, path), 0);
    close(listener.fd); /* as if the server had been killed */
    assert_int_equal(listener_open_unix(&listener, path), 0);
    close(connect_unix(path));
}

TEST(a_live_socket_stays)
{
    const char *path = place_path(&place, "socket");
    struct listener other;
    int client;

    assert_int_equal(listener_open_unix(&listener, path), 0);
    assert_int_equal(listener_open_unix(&other, path), -EADDRINUSE);
    listener_close(&other);
    client = connect_unix(path);
    assert_true(client >= 0);
    close(client);
}

TEST(what_is_no_socket_stays)
{
    assert_int_equal(place_write(&place, "file", "precious"), 0);
    assert_int_equal(symlinkat("file", place.fd, "link"), 0);
    assert_int_equal(listener_open_unix(&listener, place_path(&place, "file")),
                     -EEXIST);
    assert_int_equal(listener_open_unix(&listener, place_path(&place, "link")),
                     -EEXIST);
    listener_close(&listener);
    assert_int_equal(access(place_path(&place, "file"), F_OK), 0);
    assert_int_equal(access(place_path(&place, "link"), F_OK), 0);
}

TEST(a_path_that_is_too_long_or_empty_is_refused)
{
    char path[200];

    memset(path, 'x', sizeof(path));
    path[108] = '\0';
    assert_int_equal(listener_open_unix(&listener, path), -ENAMETOOLONG);
    assert_int_equal(listener_open_unix(&listener, ""), -EINVAL);
}

TEST(a_folder_that_is_not_there_is_refused)
{
    assert_int_equal(listener_open_unix(&listener,
                                        place_path(&place, "none/socket")),
                     -ENOENT);
}

TEST(only_its_owner_may_connect_to_a_private_socket)
{
    const char *path = place_path(&place, "socket");
    mode_t mask = umask(0);
    struct stat st;

    assert_int_equal(listener_open_private(&listener, path), 0);
    umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

/* --- Sockets of others --------------------------------------------------- */

/* A listening socket as a stranger opens it: without any of our options. */
static int open_strange(const char *address)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    inet_pton(AF_INET, address, &in.sin_addr);
    assert_int_equal(bind(fd, (const struct sockaddr *)&in, sizeof(in)), 0);
    assert_int_equal(listen(fd, 5), 0);
    return fd;
}

TEST(an_adopted_socket_is_like_one_of_ours)
{
    int fd = open_strange("127.0.0.1");
    int on = 0;
    socklen_t len = sizeof(on);

    assert_int_equal(listener_adopt(&listener, fd, true), 0);
    assert_true(listener.is_tcp);
    assert_memory_equal(listener.text, "http://127.0.0.1:", 17);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &len), 0);
    assert_int_not_equal(on, 0);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &on, &len),
                     0);
    assert_int_not_equal(on, 0);
    assert_reachable(AF_INET, "127.0.0.1");
}

TEST(a_socket_is_adopted_under_the_name_it_was_opened_with)
{
    static const char *const addresses[] = {NULL, "127.0.0.1", "0.0.0.0", "::1",
                                            "::"};

    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
        const char *address = addresses[i];
        struct listener adopted;

        if (address && strchr(address, ':') && !has_ipv6())
            continue;
        assert_int_equal(listener_open_tcp(&listener, address, 0), 0);
        assert_int_equal(listener_adopt(&adopted, dup(listener.fd), true), 0);
        /* "0.0.0.0" is all there is, where there is no IPv6. */
        if (!address || strcmp(address, "0.0.0.0") != 0)
            assert_string_equal(adopted.text, listener.text);
        assert_true(listener_is_at(&adopted, address, port_of(&listener)));
        assert_true(listener_is_at(&adopted, address, 0));
        assert_false(listener_is_at(&adopted, address,
                                    port_of(&listener) ^ 1u));
        assert_false(listener_is_at(&adopted, "127.0.0.2", 0));
        assert_false(listener_is_at(&adopted, "nonsense", 0));
        assert_false(listener_is_at_path(&adopted, adopted.text));
        listener_close(&adopted);
        listener_close(&listener);
    }
}

TEST(an_address_is_told_from_all_addresses)
{
    assert_int_equal(listener_open_tcp(&listener, "127.0.0.1", 0), 0);
    assert_false(listener_is_at(&listener, NULL, 0));
    listener_close(&listener);
    assert_false(listener_is_at(&listener, "127.0.0.1", 0));
    if (!has_ipv6())
        skip();
    assert_int_equal(listener_open_tcp(&listener, NULL, 0), 0);
    assert_false(listener_is_at(&listener, "::", 0));
    assert_false(listener_is_at(&listener, "0.0.0.0", 0));
}

TEST(the_file_of_an_adopted_socket_is_removed_only_by_its_owner)
{
    const char *path = place_path(&place, "socket");
    struct listener adopted;

    assert_int_equal(listener_open_unix(&listener, path), 0);
    assert_int_equal(listener_adopt(&adopted, dup(listener.fd), false), 0);
    assert_string_equal(adopted.text, listener.text);
    assert_true(listener_is_at_path(&adopted, path));
    assert_false(listener_is_at_path(&adopted, "other"));
    assert_false(listener_is_at(&adopted, NULL, 0));
    listener_close(&adopted);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(listener_adopt(&adopted, dup(listener.fd), true), 0);
    listener_leave(&listener);
    assert_int_equal(access(path, F_OK), 0);
    close(connect_unix(path));
    listener_close(&adopted);
    assert_int_equal(access(path, F_OK), -1);
}

TEST(an_abstract_socket_is_adopted_without_a_file)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    /* The kernel chooses a name of five digits. */
    assert_int_equal(bind(fd, (const struct sockaddr *)&un,
                          sizeof(un.sun_family)),
                     0);
    assert_int_equal(listen(fd, 5), 0);
    assert_int_equal(listener_adopt(&listener, fd, true), 0);
    assert_int_equal(strlen(listener.text), strlen("unix:@00000"));
    assert_string_equal(listener.path, "");
}

TEST(what_cannot_accept_is_not_adopted)
{
    int pair[2];
    int fd;

    assert_int_equal(listener_adopt(&listener, place.fd, true), -ENOTSOCK);
    assert_int_equal(listener_adopt(&listener, 1000, true), -EBADF);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(listener_adopt(&listener, fd, true), -EINVAL);
    close(fd);
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(listener_adopt(&listener, fd, true), -EPROTOTYPE);
    close(fd);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    assert_int_equal(listener_adopt(&listener, pair[0], true), -EPROTOTYPE);
    assert_int_equal(listener.fd, -1);
    close(pair[0]);
    close(pair[1]);
    fd = open_strange("127.0.0.1");
    option_errno = ENOPROTOOPT;
    assert_int_equal(listener_adopt(&listener, fd, true), -ENOPROTOOPT);
    close(fd);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
