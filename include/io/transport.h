/*
 * transport - the way that bytes take over a connection: a client's connection,
 * or ours to a server.
 *
 * All system calls on such a socket are here, or in io/tls. The layers above
 * know only bytes, and what a transport can do with them. A transport without
 * TLS is the socket itself, chosen by a predicted branch and not by a table of
 * calls. Bytes count as sent when the kernel has them. The bytes of a TLS
 * record of which the kernel has only a part (io/tls/tls) do not count yet, but
 * nothing can overtake them.
 *
 *   transport_receive()    bytes out of the socket, at most so many
 *   transport_send()       a vector of memory into it
 *   transport_send_file()  a range of a file: sendfile(2), or pread(2) for TLS
 *   transport_splice()     the bytes of a pipe, by splice(2), where
 *                          transport_can_splice()
 *
 * Thread: the worker of its connection.
 * Owns:   the descriptor and what TLS needs beside it, from transport_open() to
 *         transport_close().
 */
#ifndef IO_TRANSPORT_H
#define IO_TRANSPORT_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/bytes.h"
#include "io/tls/tls.h"
#include "io/tls/tls_connector.h"

struct transport {
    int fd;
    struct tls *tls; /* NULL: clear text */
};

/* What the kernel tells of the client before anything is read. */
enum transport_peer {
    /* The client is there, and nothing waits to be read. */
    TRANSPORT_PEER_SILENT,
    /* The client is there, and something waits to be read. */
    TRANSPORT_PEER_SPEAKS,
    /* The client sends no more, and may still read (FIN). */
    TRANSPORT_PEER_ENDED,
    TRANSPORT_PEER_CLOSED, /* neither way is open any more */
    TRANSPORT_PEER_BROKEN  /* the connection was reset, or failed */
};

static inline void transport_open(struct transport *transport, int fd)
{
    transport->fd = fd;
    transport->tls = NULL;
}

static inline bool transport_is_secure(const struct transport *transport)
{
    return __builtin_expect(transport->tls != NULL, 0);
}

/* Whether the kernel moves bytes to the client by itself: out of pipes, and out
 * of mapped pages. Otherwise this process has to encrypt the bytes first. */
static inline bool transport_can_splice(const struct transport *transport)
{
    return !transport->tls;
}

/* Notes that from now on, bytes to be sent may lie in mapped files. Such pages
 * can be lost. The kernel survives that, but a read by this process does not
 * (SIGBUS), so bytes are no longer copied before they are sent. Any thread may
 * call this function. */
void transport_expect_mappings(void);

/* Whether files can go out of the page cache by sendfile(2). */
static inline bool transport_can_sendfile(const struct transport *transport)
{
    return !transport->tls;
}

/* Whether bytes are owed: the kernel has only a part of their TLS record. They
 * do not count as sent yet, but nothing can overtake them. */
static inline bool transport_has_owed(const struct transport *transport)
{
    return transport_is_secure(transport) && tls_has_owed(transport->tls);
}

/* Whether the connection should end with the answer to the next request,
 * because its key is nearly used up. */
static inline bool transport_is_worn(const struct transport *transport)
{
    return transport_is_secure(transport) && tls_is_worn(transport->tls);
}

/* Whether IO_EOF came without TLS's close_notify: the peer's last bytes may be
 * missing. */
static inline bool transport_was_cut(const struct transport *transport)
{
    return transport_is_secure(transport) && tls_was_cut(transport->tls);
}

/* Begins TLS on the socket; tls_handshake(transport->tls) comes next. Returns
 * false when memory is short. */
MUST_USE bool transport_secure(struct transport *transport,
                               struct tls_buffers *buffers,
                               struct tls_context *context);

/* Secures the connection to a server (io/tls/tls_connector). Returns false when
 * memory is short. */
MUST_USE bool transport_secure_to(struct transport *transport,
                                  struct tls_buffers *buffers,
                                  struct tls_target *target);

/* Goes on in clear text, after a handshake that has failed. */
void transport_bare(struct transport *transport);

/* Limits how many bytes may wait unsent in the socket, because nothing can
 * overtake bytes that wait there. */
void transport_limit_unsent(const struct transport *transport, uint32_t bytes);

/* These functions do the work of the next three functions for a transport
 * without TLS. */
MUST_USE enum io_result transport_receive_bare(
    const struct transport *transport, char *data, size_t len, size_t *len_out);
MUST_USE enum io_result transport_send_bare(const struct transport *transport,
                                            struct iovec *parts, size_t count,
                                            bool more, size_t *len_out);
MUST_USE enum io_result transport_send_file_bare(
    const struct transport *transport, int file, uint64_t offset, size_t len,
    size_t *len_out);

/* Receives at most `len` bytes, and counts them in *len_out. */
MUST_USE static inline enum io_result transport_receive(
    const struct transport *transport, char *data, size_t len, size_t *len_out)
{
    return transport_is_secure(transport)
               ? tls_receive(transport->tls, data, len, len_out)
               : transport_receive_bare(transport, data, len, len_out);
}

/* Sends as many bytes of the parts as the socket takes. `more` says that
 * further bytes come at once, and shall share segments with the present
 * ones. */
MUST_USE static inline enum io_result transport_send(
    const struct transport *transport, struct iovec *parts, size_t count,
    bool more, size_t *len_out)
{
    return transport_is_secure(transport)
               ? tls_send(transport->tls, parts, count, more, len_out)
               : transport_send_bare(transport, parts, count, more, len_out);
}

/* Sends up to `len` bytes of `file` from `offset` on. Returns IO_EOF when the
 * file has no such bytes. */
MUST_USE static inline enum io_result transport_send_file(
    const struct transport *transport, int file, uint64_t offset, size_t len,
    size_t *len_out)
{
    return transport_is_secure(transport)
               ? tls_send_file(transport->tls, file, offset, len, len_out)
               : transport_send_file_bare(transport, file, offset, len,
                                          len_out);
}

/* Sends up to `len` bytes out of a pipe; `more` is as in transport_send(). */
MUST_USE enum io_result transport_splice(const struct transport *transport,
                                         int pipe, size_t len, bool more,
                                         size_t *len_out);

/* Sends a short text. Returns false when not all of it was sent. */
MUST_USE bool transport_say(const struct transport *transport,
                            struct bytes text);

/* Tells the client that nothing more will be sent. Returns IO_AGAIN_WRITE when
 * the call has to be repeated once the socket takes more, and IO_FAILED when
 * the client is gone already. */
MUST_USE enum io_result transport_shut_down(const struct transport *transport);

/* Receives at most `len` bytes, and throws them away. `data` is scratch memory
 * for them. Bytes of TLS are not decrypted. */
MUST_USE enum io_result transport_discard(const struct transport *transport,
                                          char *data, size_t len,
                                          size_t *len_out);

/* Closes the connection. If `resets` is true, a reset tells the client that the
 * answer was not sent completely. */
void transport_close(struct transport *transport, bool resets);

/* Tells whether the client is still there, as the kernel knows (POLLRDHUP),
 * even while bytes wait to be read. */
MUST_USE enum transport_peer transport_look(const struct transport *transport);

/* Copies the first bytes that wait in the socket, and leaves them there. */
MUST_USE enum io_result transport_peek(const struct transport *transport,
                                       char *data, size_t len, size_t *len_out);

/* Whether bytes of the client wait to be read. The end of its stream alone does
 * not count. */
MUST_USE bool transport_has_bytes(const struct transport *transport);

#endif
