#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "backend/upstream_probe_priv.h"

enum { WHY_MAX = 128 };

static void try_next_address(struct upstream_prober *prober, int err);

/* --- The reply ------------------------------------------------------------ */

static void judge_status(struct upstream_prober *prober, unsigned status)
{
    const struct upstream_probe_options *options = &prober->probe->options;
    char why[WHY_MAX];

    snprintf(why, sizeof(why), "status %u", status);
    prober->on_judged(prober,
                      status >= options->status_min &&
                          status <= options->status_max,
                      why);
}

/* False: more is to be read. */
static bool take_head(struct upstream_prober *prober)
{
    struct reply reply;
    const char *fault = NULL;
    char why[WHY_MAX];

    for (;;) {
        size_t used = 0;

        switch (http1_parse_reply(&prober->progress,
                                  prober->reply + prober->head_at,
                                  prober->received - prober->head_at, &reply,
                                  &used, &fault)) {
        case HTTP1_MORE:
            if (prober->received < sizeof(prober->reply))
                return false;
            prober->on_judged(prober, false, "its reply's head is too large");
            return true;
        case HTTP1_BAD:
            snprintf(why, sizeof(why), "its reply %s", fault);
            prober->on_judged(prober, false, why);
            return true;
        case HTTP1_DONE:
            break;
        }
        if (!reply_is_interim(&reply)) {
            judge_status(prober, reply.status);
            return true;
        }
        prober->head_at += used;
    }
}

static void on_readable(struct upstream_prober *prober)
{
    for (;;) {
        ssize_t len = recv(prober->fd, prober->reply + prober->received,
                           sizeof(prober->reply) - prober->received, 0);

        if (len == -1 && errno == EINTR)
            continue;
        if (len == -1 && errno == EAGAIN)
            return;
        if (len <= 0) {
            prober->on_judged(prober, false,
                              len == 0 ? "closed before a reply"
                                       : strerror(errno));
            return;
        }
        prober->received += (size_t)len;
        if (take_head(prober))
            return;
    }
}

/* --- The request ---------------------------------------------------------- */

static void watch(struct upstream_prober *prober, int events)
{
    ev_io_stop(prober->probe->loop.loop, &prober->watcher);
    ev_io_set(&prober->watcher, prober->fd, events);
    ev_io_start(prober->probe->loop.loop, &prober->watcher);
}

/* That a connection could not be made is heard here too, by sending. */
static void on_writable(struct upstream_prober *prober)
{
    while (prober->sent < prober->request_len) {
        ssize_t len = send(prober->fd, prober->request + prober->sent,
                           prober->request_len - prober->sent, MSG_NOSIGNAL);

        if (len == -1 && errno == EINTR)
            continue;
        if (len == -1 && errno == EAGAIN)
            return;
        if (len == -1 && prober->sent == 0) {
            try_next_address(prober, errno);
            return;
        }
        if (len == -1) {
            prober->on_judged(prober, false, strerror(errno));
            return;
        }
        prober->sent += (size_t)len;
    }
    watch(prober, EV_READ);
}

void upstream_prober_on_event(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct upstream_prober *prober = watcher->data;

    (void)loop;
    if (events & EV_READ)
        on_readable(prober);
    else
        on_writable(prober);
}

/* --- The connection ------------------------------------------------------- */

void upstream_prober_close(struct upstream_prober *prober)
{
    if (prober->fd == -1)
        return;
    ev_io_stop(prober->probe->loop.loop, &prober->watcher);
    close(prober->fd);
    prober->fd = -1;
}

/* The next one to try; false: there is none. */
static bool find_address(struct upstream_prober *prober, union address_any *to,
                         socklen_t *len_out)
{
    static const struct address at_path = {.family = ADDRESS_UNIX};
    const struct address *address = &at_path;
    size_t count = 1;

    if (prober->name)
        address = resolver_name_addresses(prober->name, &count);
    if (prober->addresses_tried >= count)
        return false;
    *len_out = address_fill(&address[prober->addresses_tried++],
                            upstream_prober_place(prober)->unix_path, to);
    return true;
}

/* 0, or the errno of a socket that is not even connecting. */
static int open_connection(struct upstream_prober *prober,
                           const union address_any *to, socklen_t len)
{
    int fd = socket(to->any.sa_family,
                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int err;

    if (fd == -1)
        return errno;
    if (connect(fd, &to->any, len) == -1 && errno != EINPROGRESS &&
        errno != EINTR) {
        err = errno;
        close(fd);
        return err;
    }
    prober->fd = fd;
    prober->sent = 0;
    watch(prober, EV_WRITE);
    return 0;
}

static bool is_ours(int err)
{
    return err == EMFILE || err == ENFILE || err == ENOMEM || err == ENOBUFS ||
           err == EADDRNOTAVAIL;
}

/* err: what became of the one before; 0: this is the first. What a server does
 * to us says more than what we lack for another address: IPv6, often. */
static void try_next_address(struct upstream_prober *prober, int err)
{
    union address_any to;
    socklen_t len;

    upstream_prober_close(prober);
    while (find_address(prober, &to, &len)) {
        int next = open_connection(prober, &to, len);

        if (next == 0)
            return;
        if (err == 0 || is_ours(err))
            err = next;
    }
    if (is_ours(err))
        prober->on_nothing(prober);
    else
        prober->on_judged(prober, false,
                          err != 0 ? strerror(err) : "its name has no address");
}

void upstream_prober_ask(struct upstream_prober *prober)
{
    prober->addresses_tried = 0;
    prober->progress = (struct http1_progress){0};
    prober->head_at = prober->received = 0;
    try_next_address(prober, 0);
}
