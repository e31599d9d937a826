#include "io/transport.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/socket_state.h"

/* Translates the result of a call that sends. Now and then the kernel says that
 * it is short of memory for buffers. Such an error is worth another try, like a
 * full socket. */
static enum io_result result_of_sending(ssize_t sent, size_t *len_out)
{
    *len_out = sent > 0 ? (size_t)sent : 0;
    if (sent > 0)
        return IO_DONE;
    if (sent == 0)
        return IO_EOF;
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ||
                   errno == ENOMEM
               ? IO_AGAIN_WRITE
               : IO_FAILED;
}

static enum io_result result_of_receiving(ssize_t received, size_t *len_out)
{
    *len_out = received > 0 ? (size_t)received : 0;
    if (received > 0)
        return IO_DONE;
    if (received == 0)
        return IO_EOF;
    return errno == EAGAIN || errno == EINTR ? IO_AGAIN_READ : IO_FAILED;
}

enum io_result transport_receive_bare(const struct transport *transport,
                                      char *data, size_t len, size_t *len_out)
{
    return result_of_receiving(recv(transport->fd, data, len, 0), len_out);
}

enum io_result transport_peek(const struct transport *transport, char *data,
                              size_t len, size_t *len_out)
{
    return result_of_receiving(recv(transport->fd, data, len, MSG_PEEK),
                               len_out);
}

/* A head and its body are copied into one piece if they have at most this many
 * bytes together: the copy takes less time than the kernel takes to read a
 * vector. */
enum { JOINED_BYTES_MAX = 2048 };

/* Set for the whole process and never taken back, because mapped bytes may
 * still be on their way after a reload. */
static atomic_bool has_mappings;

void transport_expect_mappings(void)
{
    atomic_store_explicit(&has_mappings, true, memory_order_relaxed);
}

/* Copies all parts to `out`. Returns their length, or 0 when they are too
 * long. */
static size_t join(const struct iovec *parts, size_t count,
                   char out[JOINED_BYTES_MAX])
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        if (parts[i].iov_len > JOINED_BYTES_MAX - bytes)
            return 0;
        memcpy(out + bytes, parts[i].iov_base, parts[i].iov_len);
        bytes += parts[i].iov_len;
    }
    return bytes;
}

static __attribute__((noinline)) enum io_result send_vector(
    const struct transport *transport, struct iovec *parts, size_t count,
    int flags, size_t *len_out)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    char joined[JOINED_BYTES_MAX];
    size_t bytes = atomic_load_explicit(&has_mappings, memory_order_relaxed)
                       ? 0
                       : join(parts, count, joined);
    ssize_t n = bytes > 0 ? send(transport->fd, joined, bytes, flags)
                          : sendmsg(transport->fd, &message, flags);

    return result_of_sending(n, len_out);
}

enum io_result transport_send_bare(const struct transport *transport,
                                   struct iovec *parts, size_t count, bool more,
                                   size_t *len_out)
{
    int flags = MSG_NOSIGNAL | (more ? MSG_MORE : 0);

    if (count == 1) /* one part goes without a vector */
        return result_of_sending(send(transport->fd, parts->iov_base,
                                      parts->iov_len, flags),
                                 len_out);
    return send_vector(transport, parts, count, flags, len_out);
}

enum io_result transport_send_file_bare(const struct transport *transport,
                                        int file, uint64_t offset, size_t len,
                                        size_t *len_out)
{
    off_t at = (off_t)offset;

    return result_of_sending(sendfile(transport->fd, file, &at, len), len_out);
}

enum io_result transport_splice(const struct transport *transport, int pipe,
                                size_t len, bool more, size_t *len_out)
{
    unsigned flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK |
                     (more ? SPLICE_F_MORE : 0);

    assert(transport_can_splice(transport));
    return result_of_sending(splice(pipe, NULL, transport->fd, NULL, len,
                                    flags),
                             len_out);
}

bool transport_say(const struct transport *transport, struct bytes text)
{
    struct iovec part = {(void *)(uintptr_t)text.data, text.len};
    size_t sent;

    return transport_send(transport, &part, 1, false, &sent) == IO_DONE &&
           sent == text.len;
}

bool transport_secure(struct transport *transport, struct tls_buffers *buffers,
                      struct tls_context *context)
{
    transport->tls = tls_accept(buffers, context, transport->fd);
    return transport->tls;
}

bool transport_secure_to(struct transport *transport,
                         struct tls_buffers *buffers, struct tls_target *target)
{
    transport->tls = tls_connect(buffers, target, transport->fd);
    return transport->tls;
}

void transport_bare(struct transport *transport)
{
    tls_destroy(transport->tls);
    transport->tls = NULL;
}

enum io_result transport_shut_down(const struct transport *transport)
{
    enum io_result result = transport->tls ? tls_shut_down(transport->tls)
                                           : IO_DONE;

    if (result == IO_DONE && shutdown(transport->fd, SHUT_WR) == -1)
        return IO_FAILED;
    return result;
}

void transport_limit_unsent(const struct transport *transport, uint32_t bytes)
{
    socket_limit_unsent(transport->fd, (int)bytes);
    if (transport->tls)
        tls_limit_unsent(transport->tls, bytes);
}

enum io_result transport_discard(const struct transport *transport, char *data,
                                 size_t len, size_t *len_out)
{
    return transport_receive_bare(transport, data, len, len_out);
}

/* Closes the connection. Over TLS, close_notify is sent before, unless it was
 * sent already or the connection is reset: a client may take an end without
 * close_notify for an attack. */
void transport_close(struct transport *transport, bool resets)
{
    if (transport->tls && !resets)
        (void)!tls_shut_down(transport->tls);
    transport_bare(transport);
    if (resets) {
        struct linger reset = {.l_onoff = 1, .l_linger = 0};

        (void)setsockopt(transport->fd, SOL_SOCKET, SO_LINGER, &reset,
                         sizeof(reset));
    }
    close(transport->fd);
    transport->fd = -1;
}

enum transport_peer transport_look(const struct transport *transport)
{
    struct pollfd client = {.fd = transport->fd, .events = POLLIN | POLLRDHUP};

    if (poll(&client, 1, 0) != 1)
        return TRANSPORT_PEER_SILENT;
    if (client.revents & (POLLERR | POLLNVAL))
        return TRANSPORT_PEER_BROKEN;
    if (client.revents & POLLHUP)
        return TRANSPORT_PEER_CLOSED;
    return client.revents & POLLRDHUP ? TRANSPORT_PEER_ENDED
                                      : TRANSPORT_PEER_SPEAKS;
}

bool transport_has_bytes(const struct transport *transport)
{
    char byte;

    if (transport->tls && tls_has_unread(transport->tls))
        return true;
    return recv(transport->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}
