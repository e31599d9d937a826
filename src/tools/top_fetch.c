#include "tools/top_fetch.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"
#include "http/reply.h"

/* --- The connection ------------------------------------------------------ */

struct attempt {
    const struct top_target *target;
    const struct top_interrupt *interrupt;
    uint64_t deadline_ns;
    int fd;
};

/* Waits until the socket is ready for `events`. Returns 0 or -errno. */
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

/* Connects to the first address that answers. Returns 0 or -errno.
 * *resolved_out is the result of getaddrinfo(). */
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

/* --- The reply ----------------------------------------------------------- */

enum { PIECE_BYTES = 16384 };

struct fetched_answer {
    struct buf head; /* the head, and bytes received behind it */
    struct http1_progress progress;
    unsigned status; /* 0 until the head is complete */
    struct body_reader reader;
    struct buf *body;
};

/* Takes received bytes. Returns BODY_AGAIN if the reply needs more bytes. */
static enum body_event take_piece(struct fetched_answer *answer,
                                  struct bytes piece)
{
    enum http1_verdict verdict = HTTP1_DONE;
    enum body_event event;
    const char *fault;
    struct reply reply;
    struct bytes data;
    size_t used;

    if (answer->status == 0) {
        buf_put(&answer->head, piece);
        verdict = http1_parse_reply(&answer->progress, answer->head.data,
                                    answer->head.len, &reply, &used, &fault);
        if (verdict == HTTP1_MORE && !answer->head.failed)
            return BODY_AGAIN;
        if (verdict != HTTP1_DONE || reply.status < 200)
            return BODY_BAD; /* an interim reply is unexpected */
        answer->status = reply.status;
        body_reader_init(&answer->reader, reply_framing(&reply, METHOD_GET),
                         reply.content_length);
        piece = bytes_between(answer->head.data + used,
                              answer->head.data + answer->head.len);
    }
    while ((event = body_reader_next(&answer->reader, &piece, &data)) ==
           BODY_DATA)
        buf_put(answer->body, data);
    return answer->body->failed ? BODY_BAD : event;
}

/* Reads the reply. Returns 0 after setting *event_out to BODY_END or BODY_BAD;
 * returns -errno if reading fails. */
static int read_reply(const struct attempt *attempt,
                      struct fetched_answer *answer, enum body_event *event_out)
{
    char piece[PIECE_BYTES];

    *event_out = BODY_AGAIN;
    while (*event_out == BODY_AGAIN) {
        int err = wait_for(attempt, POLLIN);
        ssize_t got;

        if (err != 0)
            return err;
        got = recv(attempt->fd, piece, sizeof(piece), 0);
        if (got > 0)
            *event_out = take_piece(answer, (struct bytes){piece, (size_t)got});
        else if (got == 0)
            *event_out = answer->status > 0
                             ? body_reader_finish(&answer->reader)
                             : BODY_BAD;
        else if (errno != EAGAIN && errno != EINTR)
            return -errno;
    }
    return 0;
}

/* --- All of it ----------------------------------------------------------- */

static void put_where(struct buf *why, const struct top_target *target)
{
    buf_printf(why, "%s%s%s: ",
               target->is_unix ? target->socket.sun_path : target->host,
               target->is_unix ? "" : ":", target->port);
}

static int explain_status(const struct top_target *target, unsigned status,
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
        buf_printf(why, "answers with %u", status);
    return EX_UNAVAILABLE;
}

int top_fetch(const struct top_target *target,
              const struct top_interrupt *interrupt, struct buf *body,
              struct buf *why)
{
    struct attempt attempt = {
        target, interrupt, now_read_ns() + (uint64_t)TOP_FETCH_MS * NS_PER_MS,
        -1};
    struct fetched_answer answer = {.body = body};
    enum body_event event;
    int resolved;
    int err = connect_any(&attempt, &resolved);

    if (err != 0) {
        put_where(why, target);
        buf_printf(why, "cannot connect: %s",
                   resolved != 0 ? gai_strerror(resolved) : strerror(-err));
        return EX_UNAVAILABLE;
    }
    buf_init(&answer.head, NULL, 0, REPLY_HEAD_BYTES_MAX + PIECE_BYTES);
    if ((err = send_request(&attempt)) == 0)
        err = read_reply(&attempt, &answer, &event);
    buf_fini(&answer.head);
    close(attempt.fd);
    if (err != 0) {
        put_where(why, target);
        buf_printf(why, "no answer: %s", strerror(-err));
        return EX_UNAVAILABLE;
    }
    if (event == BODY_BAD) {
        put_where(why, target);
        buf_printf(why, "its answer is no HTTP/1.1 that sprintd would send");
        return EX_PROTOCOL;
    }
    return explain_status(target, answer.status, why);
}
