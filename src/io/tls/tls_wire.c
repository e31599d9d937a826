#include "io/tls/tls_priv.h"

#include <assert.h>
#include <errno.h>
#include <openssl/bio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* --- The socket ---------------------------------------------------------- */

/* Whether an error passes. Now and then the kernel is short of memory; another
 * try may then succeed, as with a full socket. */
static bool is_passing(int error)
{
    return error == EAGAIN || error == EINTR || error == ENOBUFS ||
           error == ENOMEM;
}

/* Returns how many bytes the kernel took, 0 when it takes none now, or -1 with
 * tls->error set. */
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

/* Ends sending, because the peer has closed or reset the connection. If the
 * peer has sent an alert with its reason before, the alert can still be
 * read. */
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
    tls->is_deferred = false;
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

/* Keeps the bytes that the socket did not take. Returns false when memory is
 * short. */
static bool keep(struct tls *tls, const char *data, size_t len)
{
    tls->kept = malloc(len);
    if (!tls->kept)
        return false;
    memcpy(tls->kept, data, len);
    tls->kept_at = 0;
    tls->kept_len = (uint32_t)len;
    return true;
}

bool tls_wire_defer(struct tls *tls)
{
    enum { MOST = 2048 }; /* leaves room for records behind the kept bytes */
    struct tls_buffers *buffers = tls->buffers;

    if (buffers->out_len == 0 || buffers->out_len > MOST ||
        !keep(tls, buffers->out, buffers->out_len))
        return false;
    buffers->out_len = 0;
    tls->is_deferred = true;
    return true;
}

void tls_wire_resume(struct tls *tls)
{
    struct tls_buffers *buffers = tls->buffers;

    if (!tls->is_deferred)
        return;
    assert(buffers->out_len == 0 && tls->kept_at == 0);
    memcpy(buffers->out, tls->kept, tls->kept_len);
    buffers->out_len = tls->kept_len;
    free(tls->kept);
    tls->kept = NULL;
    tls->kept_len = 0;
    tls->is_deferred = false;
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
    /* While bytes are kept, write_bytes() takes nothing. */
    assert(tls->kept_len == 0);
    sent = send_bytes(tls, buffers->out, len, more);
    if (sent == -1)
        return fall_silent(tls);
    *sent_out = (size_t)sent;
    if (*sent_out == len)
        return IO_DONE;
    if (keep(tls, buffers->out + sent, len - *sent_out))
        return IO_AGAIN_WRITE;
    tls->error = ENOMEM;
    return fall_silent(tls);
}

/* --- The BIO ------------------------------------------------------------- */

static struct tls *tls_of(BIO *bio)
{
    const struct tls_buffers *buffers = BIO_get_data(bio);

    return buffers->current;
}

/* Whether the first byte shows HTTP without TLS. A request begins with a letter
 * or a line end, but a record of a handshake with the byte 22. */
static bool is_plain_http(const char *data)
{
    return (*data >= 'A' && *data <= 'Z') || *data == '\r' || *data == '\n';
}

/* Receives up to `len` bytes. After IO_FAILED, tls->error says why. */
static enum io_result receive_bytes(struct tls *tls, char *data, size_t len,
                                    size_t *len_out)
{
    ssize_t received = recv(tls->fd, data, len, 0);

    if (received > 0) {
        *len_out = (size_t)received;
        return IO_DONE;
    }
    *len_out = 0;
    if (received == 0) {
        tls->has_ended = true;
        return IO_EOF;
    }
    if (errno == EAGAIN || errno == EINTR)
        return IO_AGAIN_READ;
    tls->error = errno;
    return IO_FAILED;
}

enum io_result tls_wire_gather(struct tls *tls)
{
    struct tls_buffers *buffers = tls->buffers;
    size_t end = buffers->in_at + buffers->in_len;
    size_t received;
    enum io_result result = receive_bytes(tls, buffers->in + end,
                                          sizeof(buffers->in) - end, &received);

    buffers->in_len += received;
    return result;
}

bool tls_wire_hold(struct tls *tls)
{
    struct tls_buffers *buffers = tls->buffers;
    size_t len = buffers->in_len;

    buffers->in_len = 0;
    if (len == 0)
        return true;
    assert(!tls->held);
    tls->held = malloc(len);
    if (!tls->held) {
        tls->error = ENOMEM;
        return false;
    }
    memcpy(tls->held, buffers->in + buffers->in_at, len);
    tls->cipher_at = 0;
    tls->cipher_len = (uint32_t)len;
    return true;
}

/* Takes bytes that are held. While there are any, nothing is read from the
 * socket. */
static size_t take_held(struct tls *tls, char *data, size_t len)
{
    if (len > tls->cipher_len)
        len = tls->cipher_len;
    memcpy(data, tls->held + tls->cipher_at, len);
    tls->cipher_at += (uint32_t)len;
    tls->cipher_len -= (uint32_t)len;
    if (tls->cipher_len == 0) {
        free(tls->held);
        tls->held = NULL;
    }
    return len;
}

static size_t take_gathered(struct tls_buffers *buffers, char *data, size_t len)
{
    if (len > buffers->in_len)
        len = buffers->in_len;
    memcpy(data, buffers->in + buffers->in_at, len);
    buffers->in_at += len;
    buffers->in_len -= len;
    return len;
}

/* Receives for a connection that stays with OpenSSL. A client that sends only
 * records without data is refused: it would keep the worker in one call, and
 * the connection open for ever. */
static enum io_result receive_some(struct tls *tls, char *data, size_t *len)
{
    enum io_result result;

    if (tls->idle_bytes > TLS_IDLE_BYTES_MAX) {
        tls->why = "too many records without data";
        tls->error = EPROTO;
        return IO_FAILED;
    }
    result = receive_bytes(tls, data, *len, len);
    if (tls->is_open)
        tls->idle_bytes += (uint32_t)*len;
    return result;
}

/* Finds bytes for OpenSSL. In the handshake of a connection that may be taken
 * over, OpenSSL asks for the head of a record and then for the rest, so that it
 * has no bytes behind the handshake. Otherwise OpenSSL reads ahead. */
static enum io_result find_bytes(struct tls *tls, char *data, size_t *len)
{
    struct tls_buffers *buffers = tls->buffers;
    enum io_result result = IO_DONE;

    if (tls->held) {
        *len = take_held(tls, data, *len);
        return IO_DONE;
    }
    if (!tls->secrets)
        return receive_some(tls, data, len);
    if (buffers->in_len == 0) {
        if (buffers->out_len > 0) /* the client waits for these bytes */
            return IO_AGAIN_READ;
        buffers->in_at = 0;
        result = tls_wire_gather(tls);
    }
    if (result == IO_DONE)
        *len = take_gathered(buffers, data, *len);
    return result;
}

static int read_bytes(BIO *bio, char *data, int len)
{
    struct tls *tls = tls_of(bio);
    size_t n = (size_t)len;

    BIO_clear_retry_flags(bio);
    switch (find_bytes(tls, data, &n)) {
    case IO_DONE:
        break;
    case IO_EOF:
        return 0;
    case IO_AGAIN_READ:
    case IO_AGAIN_WRITE:
        BIO_set_retry_read(bio);
        return -1;
    case IO_FAILED:
        return -1;
    }
    if (!tls->has_heard && is_plain_http(data)) {
        tls->failure = TLS_FAILURE_PLAIN_HTTP;
        tls->buffers->in_len = 0;
        return -1;
    }
    tls->has_heard = true;
    return (int)n;
}

/* Takes what OpenSSL writes, to be sent at the end of the call. While earlier
 * records are kept, nothing is taken. So a client that demands new keys again
 * and again, but reads nothing, does not get answers without end. */
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
    return command == BIO_CTRL_FLUSH; /* the caller of OpenSSL sends later */
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
