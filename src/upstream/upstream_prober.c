#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "upstream/upstream_probe_priv.h"

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

/* Reads the head of the reply. Returns false if more must be read. */
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

/* Judges the failure of a connection that was established. */
static void judge_failure(struct upstream_prober *prober)
{
    char why[WHY_MAX];

    if (transport_is_secure(&prober->transport))
        snprintf(why, sizeof(why), "TLS: %s", tls_why(prober->transport.tls));
    else
        snprintf(why, sizeof(why), "%s", strerror(errno));
    prober->on_judged(prober, false, why);
}

static void on_readable(struct upstream_prober *prober)
{
    for (;;) {
        size_t len;

        switch (transport_receive(&prober->transport,
                                  prober->reply + prober->received,
                                  sizeof(prober->reply) - prober->received,
                                  &len)) {
        case IO_DONE:
            break;
        case IO_AGAIN_READ:
        case IO_AGAIN_WRITE:
            return;
        case IO_EOF:
            prober->on_judged(prober, false, "closed before a reply");
            return;
        case IO_FAILED:
            judge_failure(prober);
            return;
        }
        prober->received += len;
        if (take_head(prober))
            return;
    }
}

/* --- The request ---------------------------------------------------------- */

static void watch(struct upstream_prober *prober, int events)
{
    ev_io_stop(prober->probe->loop.loop, &prober->watcher);
    ev_io_set(&prober->watcher, prober->transport.fd, events);
    ev_io_start(prober->probe->loop.loop, &prober->watcher);
}

/* Continues to send the request. The first send also shows whether connecting
 * has failed. */
static void on_writable(struct upstream_prober *prober)
{
    while (prober->sent < prober->request_len) {
        struct iovec part = {prober->request + prober->sent,
                             prober->request_len - prober->sent};
        size_t len;

        switch (transport_send(&prober->transport, &part, 1, false, &len)) {
        case IO_DONE:
            prober->sent += len;
            continue;
        case IO_AGAIN_READ:
        case IO_AGAIN_WRITE:
            return;
        case IO_EOF:
        case IO_FAILED:
            break;
        }
        if (prober->sent == 0 && !transport_is_secure(&prober->transport))
            try_next_address(prober, errno);
        else
            judge_failure(prober);
        return;
    }
    watch(prober, EV_READ);
}

/* --- TLS ------------------------------------------------------------------ */

/* Returns the result of connecting: 0 or an errno. */
static int find_error(const struct upstream_prober *prober)
{
    int err = 0;
    socklen_t len = sizeof(err);

    return getsockopt(prober->transport.fd, SOL_SOCKET, SO_ERROR, &err, &len) ==
                   -1
               ? errno
               : err;
}

/* Begins TLS. If it cannot begin, tries the next address, or ends the probe if
 * none is left, and returns false. */
static bool begin_tls(struct upstream_prober *prober)
{
    const struct upstream_probe *probe = prober->probe;
    int err = find_error(prober);

    if (err == 0 && !transport_secure_to(&prober->transport,
                                         probe->loop.tls_buffers, prober->tls))
        err = ENOMEM;
    if (err != 0)
        try_next_address(prober, err);
    return err == 0;
}

static void shake(struct upstream_prober *prober)
{
    if (!prober->transport.tls && !begin_tls(prober))
        return;
    switch (tls_handshake(prober->transport.tls)) {
    case IO_AGAIN_READ:
        watch(prober, EV_READ);
        return;
    case IO_AGAIN_WRITE:
        watch(prober, EV_WRITE);
        return;
    case IO_DONE:
        prober->is_shaking = false;
        watch(prober, EV_WRITE);
        return;
    case IO_EOF:
    case IO_FAILED:
        judge_failure(prober);
        return;
    }
}

void upstream_prober_on_event(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct upstream_prober *prober = watcher->data;

    (void)loop;
    if (prober->is_shaking)
        shake(prober);
    else if (events & EV_READ)
        on_readable(prober);
    else
        on_writable(prober);
}

/* --- The connection ------------------------------------------------------- */

void upstream_prober_close(struct upstream_prober *prober)
{
    if (prober->transport.fd == -1)
        return;
    ev_io_stop(prober->probe->loop.loop, &prober->watcher);
    transport_close(&prober->transport, false);
}

/* Finds the next address to try. Returns false if no address is left. */
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

/* Opens a socket and begins to connect. Returns 0, or an errno. */
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
    transport_open(&prober->transport, fd);
    prober->is_shaking = prober->tls;
    prober->sent = 0;
    watch(prober, EV_WRITE);
    return 0;
}

static bool is_ours(int err)
{
    return err == EMFILE || err == ENFILE || err == ENOMEM || err == ENOBUFS ||
           err == EADDRNOTAVAIL;
}

/* Tries the next address. `err` is the errno of the address before, or 0 if
 * this is the first. A failure of our own, such as a lack of ports, never
 * replaces a failure of the server, which says more. */
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
