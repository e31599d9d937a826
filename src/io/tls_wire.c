#include "io/tls_priv.h"

#include <assert.h>
#include <errno.h>
#include <openssl/bio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* --- The socket ------------------------------------------------------------ */

/* The kernel is short of memory now and then, and says so: worth another try,
 * like a full socket. */
static bool is_passing(int error)
{
    return error == EAGAIN || error == EINTR || error == ENOBUFS ||
           error == ENOMEM;
}

/* How many bytes the kernel has taken; 0: none for now. -1: tls->error. */
static ssize_t send_bytes(struct tls *tls, const char *data, size_t len,
                          bool more)
{
    ssize_t sent = send(tls->fd, data, len,
                        MSG_NOSIGNAL | (more ? MSG_MORE : 0));

    if (sent >= 0)
        return sent;
    if (is_passing(errno))
        return 0;
    tls->error = errno;
    return -1;
}

/* The other side has closed, or reset, and may have said why before. */
static enum io_result fall_silent(struct tls *tls)
{
    tls->is_mute = true;
    tls->kept_len = 0;
    free(tls->kept);
    tls->kept = NULL;
    return IO_FAILED;
}

enum io_result tls_wire_send_kept(struct tls *tls)
{
    ssize_t sent;

    if (tls->kept_len == 0)
        return IO_DONE;
    sent = send_bytes(tls, tls->kept + tls->kept_at, tls->kept_len, false);
    if (sent == -1)
        return fall_silent(tls);
    tls->kept_at += (uint32_t)sent;
    tls->kept_len -= (uint32_t)sent;
    if (tls->kept_len > 0)
        return IO_AGAIN_WRITE;
    free(tls->kept);
    tls->kept = NULL;
    return IO_DONE;
}

/* False: no memory. */
static bool keep(struct tls *tls, const char *data, size_t len)
{
    tls->kept = malloc(len);
    if (!tls->kept) {
        tls->error = ENOMEM;
        return false;
    }
    memcpy(tls->kept, data, len);
    tls->kept_at = 0;
    tls->kept_len = (uint32_t)len;
    return true;
}

enum io_result tls_wire_flush(struct tls *tls, bool more, size_t *sent_out)
{
    struct tls_buffers *buffers = tls->buffers;
    size_t len = buffers->out_len;
    ssize_t sent;

    *sent_out = 0;
    buffers->out_len = 0;
    if (len == 0 || tls->is_mute)
        return IO_DONE;
    assert(tls->kept_len == 0); /* write_bytes() has taken nothing behind it */
    sent = send_bytes(tls, buffers->out, len, more);
    if (sent == -1)
        return fall_silent(tls);
    *sent_out = (size_t)sent;
    if (*sent_out == len)
        return IO_DONE;
    return keep(tls, buffers->out + sent, len - *sent_out) ? IO_AGAIN_WRITE
                                                           : fall_silent(tls);
}

/* --- The BIO --------------------------------------------------------------- */

static struct tls *tls_of(BIO *bio)
{
    const struct tls_buffers *buffers = BIO_get_data(bio);

    return buffers->current;
}

/* The record of a handshake begins with 22, a request with a letter. */
static bool is_plain_http(const char *data)
{
    return (*data >= 'A' && *data <= 'Z') || *data == '\r' || *data == '\n';
}

static int read_bytes(BIO *bio, char *data, int len)
{
    struct tls *tls = tls_of(bio);
    ssize_t received = recv(tls->fd, data, (size_t)len, 0);

    BIO_clear_retry_flags(bio);
    if (received > 0) {
        if (!tls->has_heard && is_plain_http(data)) {
            tls->failure = TLS_FAILURE_PLAIN_HTTP;
            return -1;
        }
        tls->has_heard = true;
        return (int)received;
    }
    if (received == 0) {
        tls->has_ended = true;
        return 0;
    }
    if (errno == EAGAIN || errno == EINTR)
        BIO_set_retry_read(bio);
    else
        tls->error = errno;
    return -1;
}

/* What is written goes out when the call is over. Behind what is kept nothing is
 * taken: a client that has keys updated again and again, and reads nothing, is
 * not answered for ever. */
static int write_bytes(BIO *bio, const char *data, int len)
{
    struct tls *tls = tls_of(bio);
    struct tls_buffers *buffers = tls->buffers;
    size_t taken = (size_t)len;
    size_t sent;

    BIO_clear_retry_flags(bio);
    if (tls->kept_len == 0 && taken > tls_wire_room(buffers) &&
        tls_wire_flush(tls, false, &sent) == IO_FAILED)
        return -1;
    if (taken > tls_wire_room(buffers))
        taken = tls_wire_room(buffers);
    if (tls->kept_len > 0 || taken == 0) {
        BIO_set_retry_write(bio);
        return -1;
    }
    memcpy(buffers->out + buffers->out_len, data, taken);
    buffers->out_len += taken;
    return (int)taken;
}

static long control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH; /* whoever called OpenSSL does that */
}

bool tls_wire_init(struct tls_buffers *buffers)
{
    buffers->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "connection");
    if (!buffers->method ||
        BIO_meth_set_read(buffers->method, read_bytes) != 1 ||
        BIO_meth_set_write(buffers->method, write_bytes) != 1 ||
        BIO_meth_set_ctrl(buffers->method, control) != 1)
        return false;
    buffers->bio = BIO_new(buffers->method);
    if (!buffers->bio)
        return false;
    BIO_set_data(buffers->bio, buffers);
    BIO_set_init(buffers->bio, 1);
    return true;
}

void tls_wire_fini(struct tls_buffers *buffers)
{
    BIO_free(buffers->bio);
    BIO_meth_free(buffers->method);
}
