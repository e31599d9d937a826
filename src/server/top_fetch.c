#include "server/top_fetch.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"

/* --- The connection -------------------------------------------------------- */

struct attempt {
    const struct top_target *target;
    const struct top_interrupt *interrupt;
    uint64_t deadline_ns;
    int fd;
};

/* Waits until the socket is ready for events. 0 or -errno. */
static int wait_for(const struct attempt *attempt, short events)
{
    const struct top_interrupt *interrupt = attempt->interrupt;

    for (;;) {
        struct pollfd fds[1 + TOP_INTERRUPT_FDS] = {
            {.fd = attempt->fd, .events = events}};
        uint64_t now_ns = now_read_ns();
        int count;

        if (now_ns >= attempt->deadline_ns)
            return -ETIMEDOUT;
        for (int i = 0; i < TOP_INTERRUPT_FDS; i++)
            fds[1 + i] = (struct pollfd){.fd = interrupt->fds[i],
                                         .events = POLLIN};
        count = poll(fds, 1 + TOP_INTERRUPT_FDS,
                     (int)((attempt->deadline_ns - now_ns) / NS_PER_MS) + 1);
        if (count == -1 && errno != EINTR)
            return -errno;
        if (count > (fds[0].revents != 0) &&
            interrupt->gives_up(interrupt->self))
            return -ECANCELED;
        if (count > 0 && fds[0].revents)
            return 0;
    }
}

static int connect_to(struct attempt *attempt, const struct sockaddr *address,
                      socklen_t len)
{
    int err = 0;
    socklen_t size = sizeof(err);

    attempt->fd = socket(address->sa_family,
                         SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (attempt->fd == -1)
        return -errno;
    if (connect(attempt->fd, address, len) == -1) {
        err = errno == EINPROGRESS ? wait_for(attempt, POLLOUT) : -errno;
        if (err == 0 &&
            getsockopt(attempt->fd, SOL_SOCKET, SO_ERROR, &err, &size) == 0)
            err = -err;
    }
    if (err != 0) {
        close(attempt->fd);
        attempt->fd = -1;
    }
    return err;
}

/* The first address that answers. 0 or -errno; *resolved_out is what
 * getaddrinfo() says. */
static int connect_any(struct attempt *attempt, int *resolved_out)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICSERV};
    const struct top_target *target = attempt->target;
    struct addrinfo *addresses;
    int err = -EHOSTUNREACH;

    *resolved_out = 0;
    if (target->is_unix)
        return connect_to(attempt, (const struct sockaddr *)&target->socket,
                          sizeof(target->socket));
    *resolved_out = getaddrinfo(target->host, target->port, &hints, &addresses);
    if (*resolved_out != 0)
        return err;
    for (const struct addrinfo *at = addresses;
         at && err != 0 && err != -ECANCELED; at = at->ai_next)
        err = connect_to(attempt, at->ai_addr, at->ai_addrlen);
    freeaddrinfo(addresses);
    return err;
}

static int send_request(const struct attempt *attempt)
{
    const struct top_target *target = attempt->target;
    char text[TOP_PATH_BYTES_MAX + TOP_HOST_BYTES_MAX + 256];
    bool is_ipv6 = strchr(target->host, ':');
    struct bytes left;

    left.data = text;
    left.len = (size_t)snprintf(
        text, sizeof(text),
        "GET %s HTTP/1.1\r\nHost: %s%s%s%s%s\r\nAccept: application/json\r\n"
        "User-Agent: sprintd-top\r\nConnection: close\r\n\r\n",
        target->path, is_ipv6 ? "[" : "", target->host, is_ipv6 ? "]" : "",
        target->is_unix ? "" : ":", target->port);
    while (left.len > 0) {
        ssize_t sent = send(attempt->fd, left.data, left.len, MSG_NOSIGNAL);
        int err;

        if (sent >= 0) {
            left.data += sent;
            left.len -= (size_t)sent;
        } else if (errno != EAGAIN && errno != EINTR) {
            return -errno;
        } else if ((err = wait_for(attempt, POLLOUT)) != 0) {
            return err;
        }
    }
    return 0;
}

static int read_reply(const struct attempt *attempt, struct top_reply *reply)
{
    char piece[16384];

    while (reply->state != TOP_REPLY_DONE && reply->state != TOP_REPLY_BAD) {
        int err = wait_for(attempt, POLLIN);
        ssize_t got;

        if (err != 0)
            return err;
        got = recv(attempt->fd, piece, sizeof(piece), 0);
        if (got > 0)
            top_reply_take(reply, (struct bytes){piece, (size_t)got});
        else if (got == 0)
            top_reply_end(reply);
        else if (errno != EAGAIN && errno != EINTR)
            return -errno;
    }
    return 0;
}

/* --- All of it ------------------------------------------------------------- */

static void put_where(struct buf *why, const struct top_target *target)
{
    buf_printf(why, "%s%s%s: ",
               target->is_unix ? target->socket.sun_path : target->host,
               target->is_unix ? "" : ":", target->port);
}

static int explain_status(const struct top_target *target, int status,
                          struct buf *why)
{
    int prefix_len = (int)(strlen(target->path) - strlen("/" TOP_DOCUMENT));

    if (status == 200)
        return EX_OK;
    put_where(why, target);
    if (status == 403)
        buf_printf(why, "403: it tells only some addresses, and by some "
                        "names; see its --status-allow and --status-host");
    else if (status == 404)
        buf_printf(why, "404: nothing at '%s'; start it with --status %.*s",
                   target->path, prefix_len, target->path);
    else
        buf_printf(why, "answers with %d", status);
    return EX_UNAVAILABLE;
}

int top_fetch(const struct top_target *target,
              const struct top_interrupt *interrupt, struct top_reply *reply,
              struct buf *why)
{
    struct attempt attempt = {
        target, interrupt, now_read_ns() + (uint64_t)TOP_FETCH_MS * NS_PER_MS,
        -1};
    int resolved;
    int err = connect_any(&attempt, &resolved);

    if (err != 0) {
        put_where(why, target);
        buf_printf(why, "cannot connect: %s",
                   resolved != 0 ? gai_strerror(resolved) : strerror(-err));
        return EX_UNAVAILABLE;
    }
    if ((err = send_request(&attempt)) == 0)
        err = read_reply(&attempt, reply);
    close(attempt.fd);
    if (err != 0) {
        put_where(why, target);
        buf_printf(why, "no answer: %s", strerror(-err));
        return EX_UNAVAILABLE;
    }
    if (reply->state == TOP_REPLY_BAD) {
        put_where(why, target);
        buf_printf(why, "its answer is no HTTP/1.1 that sprintd would send");
        return EX_PROTOCOL;
    }
    return explain_status(target, reply->status, why);
}
