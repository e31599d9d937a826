#include <errno.h>
#include <ev.h>
#include <hiredis/async.h>
#include <hiredis/sds.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "kv/redis/kv_redis_connection_priv.h"

/* A function of hiredis that is not in its public headers. hiredis's own TLS
 * uses this function, too. */
void redisProcessCallbacks(redisAsyncContext *context);

enum {
    READ_BYTES = 16384,
    READS_MAX = 16 /* how many reads in a row, before answers are handled */
};

/* Replaces hiredis's own reading and writing. */
struct kv_connection_tls {
    struct ev_loop *loop;
    ev_io io;
    redisAsyncContext *context;
    struct tls_buffers *buffers;
    struct tls_target *target;
    struct tls *tls; /* NULL until the socket is connected */
    bool is_open;    /* the handshake is complete */
    /* EV_WRITE if the socket is watched for that, too; else 0 */
    int wanted;
    bool *is_gone; /* set to true when the struct is freed; may be NULL */
};

/* --- What the socket is watched for -------------------------------------- */

static size_t unsent(const struct kv_connection_tls *tls)
{
    const char *rest = tls->context->c.obuf;

    return rest ? sdslen((sds)(uintptr_t)rest) : 0;
}

static void watch(struct kv_connection_tls *tls, int events)
{
    if (ev_is_active(&tls->io) && tls->io.events == events)
        return;
    ev_io_stop(tls->loop, &tls->io);
    ev_io_set(&tls->io, tls->context->c.fd, events);
    ev_io_start(tls->loop, &tls->io);
}

static void watch_open(struct kv_connection_tls *tls)
{
    watch(tls, EV_READ | tls->wanted | (unsent(tls) > 0 ? EV_WRITE : 0));
}

/* --- What the library asks of its loop ----------------------------------- */

static void on_wanted(void *data)
{
    struct kv_connection_tls *tls = data;

    if (tls->is_open)
        watch_open(tls);
}

/* Ignores hiredis's requests for events: this file watches the socket, and
 * hiredis does not read or write itself. */
static void on_unwanted(void *data)
{
    (void)data;
}

static void on_cleanup(void *data)
{
    struct kv_connection_tls *tls = data;

    if (tls->is_gone)
        *tls->is_gone = true;
    ev_io_stop(tls->loop, &tls->io);
    tls_destroy(tls->tls);
    free(tls);
}

/* --- Bytes --------------------------------------------------------------- */

/* Ends the connection, and frees `tls`. */
static void lose(struct kv_connection_tls *tls, const char *why)
{
    struct kv_connection *connection = tls->context->data;

    if (connection)
        kv_connection_lose(connection, why);
    else
        redisAsyncFree(tls->context);
}

static const char *why_not(const struct kv_connection_tls *tls)
{
    const char *why = tls_why(tls->tls);

    return why ? why : "the connection was closed";
}

/* Sends the bytes that hiredis has buffered. Returns false if the connection is
 * lost. */
static bool send_all(struct kv_connection_tls *tls)
{
    enum io_result result = IO_DONE;

    tls->wanted = 0;
    while (result == IO_DONE && unsent(tls) > 0) {
        struct iovec part = {.iov_base = tls->context->c.obuf,
                             .iov_len = unsent(tls)};
        size_t len = 0;

        result = tls_send(tls->tls, &part, 1, false, &len);
        if (result == IO_DONE)
            sdsrange(tls->context->c.obuf, (int)len, -1);
    }
    if (result != IO_EOF && result != IO_FAILED)
        return true;
    lose(tls, why_not(tls));
    return false;
}

/* Receives the bytes that have come, up to a limit. Returns IO_FAILED if there
 * is no memory or the connection is lost. */
static enum io_result receive_some(struct kv_connection_tls *tls)
{
    char data[READ_BYTES];
    enum io_result result = IO_DONE;

    for (int i = 0; i < READS_MAX && result == IO_DONE; i++) {
        size_t len = 0;

        result = tls_receive(tls->tls, data, sizeof(data), &len);
        if (result == IO_DONE &&
            redisReaderFeed(tls->context->c.reader, data, len) != REDIS_OK)
            return IO_FAILED;
    }
    return result;
}

static void receive_all(struct kv_connection_tls *tls)
{
    enum io_result result = receive_some(tls);
    bool is_gone = false;

    tls->is_gone = &is_gone;
    /* Answers that came before the connection's end are handled, too. */
    redisProcessCallbacks(tls->context);
    if (is_gone)
        return;
    tls->is_gone = NULL;
    if (result == IO_EOF || result == IO_FAILED) {
        lose(tls, why_not(tls));
        return;
    }
    if (result == IO_AGAIN_WRITE)
        tls->wanted = EV_WRITE;
    /* TLS may hold bytes that the socket does not signal */
    if (result == IO_DONE)
        ev_feed_event(tls->loop, &tls->io, EV_READ);
    watch_open(tls);
}

/* --- Its beginning ------------------------------------------------------- */

/* Begins the handshake. Returns false if the connection is lost. */
static bool begin(struct kv_connection_tls *tls)
{
    socklen_t len = sizeof(int);
    int fd = tls->context->c.fd;
    int error = 0;

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == -1)
        error = errno;
    if (error != 0) {
        lose(tls, strerrordesc_np(error));
        return false;
    }
    tls->tls = tls_connect(tls->buffers, tls->target, fd);
    if (!tls->tls)
        lose(tls, "out of memory");
    return tls->tls;
}

/* Continues the handshake. hiredis regards the connection as connected when the
 * handshake is complete. */
static void shake_hands(struct kv_connection_tls *tls)
{
    redisAsyncContext *context = tls->context;

    switch (tls_handshake(tls->tls)) {
    case IO_DONE:
        tls->is_open = true;
        context->c.flags |= REDIS_CONNECTED;
        context->onConnect(context, REDIS_OK);
        watch_open(tls);
        break;
    case IO_AGAIN_READ:
        watch(tls, EV_READ);
        break;
    case IO_AGAIN_WRITE:
        watch(tls, EV_WRITE);
        break;
    case IO_EOF:
    case IO_FAILED:
        lose(tls, why_not(tls));
        break;
    }
}

static void on_io(struct ev_loop *loop, ev_io *io, int events)
{
    struct kv_connection_tls *tls = io->data;

    (void)loop;
    (void)events;
    if (!tls->tls && !begin(tls))
        return;
    if (!tls->is_open)
        shake_hands(tls);
    else if (send_all(tls))
        receive_all(tls);
}

bool kv_connection_encrypt(struct kv_connection *connection)
{
    struct kv_connection_tls *tls = calloc(1, sizeof(*tls));
    redisAsyncContext *context = connection->context;

    if (!tls)
        return false;
    tls->loop = connection->options.loop;
    tls->context = context;
    tls->buffers = connection->options.tls_buffers;
    tls->target = connection->target;
    ev_init(&tls->io, on_io);
    tls->io.data = tls;
    context->ev.data = tls;
    context->ev.addRead = on_wanted;
    context->ev.addWrite = on_wanted;
    context->ev.delRead = on_unwanted;
    context->ev.delWrite = on_unwanted;
    context->ev.cleanup = on_cleanup;
    watch(tls, EV_WRITE);
    return true;
}
