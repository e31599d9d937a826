/*
 * transport - a connection as a way for bytes: a client's, or ours to a server.
 *
 * All system calls on such a socket are here: whoever is above speaks of
 * bytes, and of what the way can do. A transport without TLS is the socket
 * itself; that is a predicted branch and no call through a table. Bytes count
 * as sent when the kernel has them; those of a record that it has in part
 * (io/tls/tls) do not, but can be overtaken by nothing any more.
 *
 *   transport_receive()    bytes out of it, at most so many
 *   transport_send()       a vector of memory into it
 *   transport_send_file()  a range of a file: sendfile(2), or pread(2) for TLS
 *   transport_splice()     what is in a pipe, splice(2); where bytes can be
 *                          spliced
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

/* What is known of the client without reading what it has sent. */
enum transport_peer {
    /* The client is there, and nothing waits to be read. */
    TRANSPORT_PEER_SILENT,
    /* The client is there, and something waits to be read. */
    TRANSPORT_PEER_SPEAKS,
    /* The client sends no more, and may still read (FIN). */
    TRANSPORT_PEER_ENDED,
    TRANSPORT_PEER_CLOSED, /* neither way is open any more */
    TRANSPORT_PEER_BROKEN  /* by a reset, or an error on the way */
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
 * of mapped pages. Else they are looked at before. */
static inline bool transport_can_splice(const struct transport *transport)
{
    return !transport->tls;
}

/* From now on, what is sent may lie in mapped files. Their pages can be lost,
 * which the kernel survives and a read by this process does not (SIGBUS), so
 * nothing is copied to be sent any more. Any thread. */
void transport_expect_mappings(void);

/* Whether files, out of the page cache, can go by sendfile(2). */
static inline bool transport_can_sendfile(const struct transport *transport)
{
    return !transport->tls;
}

/* Whether bytes do not count as sent and yet can be overtaken no more. */
static inline bool transport_has_owed(const struct transport *transport)
{
    return transport_is_secure(transport) && tls_has_owed(transport->tls);
}

/* Whether the connection should end with the answer to the next request. */
static inline bool transport_is_worn(const struct transport *transport)
{
    return transport_is_secure(transport) && tls_is_worn(transport->tls);
}

/* Whether IO_EOF came without TLS's close_notify: what was sent last may be
 * missing. */
static inline bool transport_was_cut(const struct transport *transport)
{
    return transport_is_secure(transport) && tls_was_cut(transport->tls);
}

/* What follows is TLS: tls_handshake(transport->tls) comes first. False: no
 * memory. */
MUST_USE bool transport_secure(struct transport *transport,
                               struct tls_buffers *buffers,
                               struct tls_context *context);

/* Secures the connection to a server: io/tls/tls_connector. */
MUST_USE bool transport_secure_to(struct transport *transport,
                                  struct tls_buffers *buffers,
                                  struct tls_target *target);

/* Goes on in clear text, after a handshake that has failed. */
void transport_bare(struct transport *transport);

/* Bounds how many bytes may wait unsent in the socket until it takes no more,
 * as what lies there can be overtaken by nothing. */
void transport_limit_unsent(const struct transport *transport, uint32_t bytes);

/* What the next three functions do without TLS, on the socket alone. */
MUST_USE enum io_result transport_receive_bare(
    const struct transport *transport, char *data, size_t len, size_t *len_out);
MUST_USE enum io_result transport_send_bare(const struct transport *transport,
                                            struct iovec *parts, size_t count,
                                            bool more, size_t *len_out);
MUST_USE enum io_result transport_send_file_bare(
    const struct transport *transport, int file, uint64_t offset, size_t len,
    size_t *len_out);

/* Receives at most len bytes. *len_out counts them. */
MUST_USE static inline enum io_result transport_receive(
    const struct transport *transport, char *data, size_t len, size_t *len_out)
{
    return transport_is_secure(transport)
               ? tls_receive(transport->tls, data, len, len_out)
               : transport_receive_bare(transport, data, len, len_out);
}

/* Sends as much of the parts as goes. more: what follows shall share segments
 * with it, and comes at once. */
MUST_USE static inline enum io_result transport_send(
    const struct transport *transport, struct iovec *parts, size_t count,
    bool more, size_t *len_out)
{
    return transport_is_secure(transport)
               ? tls_send(transport->tls, parts, count, more, len_out)
               : transport_send_bare(transport, parts, count, more, len_out);
}

/* Sends up to len bytes of file from offset on. IO_EOF: the file has no such
 * bytes. */
MUST_USE static inline enum io_result transport_send_file(
    const struct transport *transport, int file, uint64_t offset, size_t len,
    size_t *len_out)
{
    return transport_is_secure(transport)
               ? tls_send_file(transport->tls, file, offset, len, len_out)
               : transport_send_file_bare(transport, file, offset, len,
                                          len_out);
}

/* Moves up to len bytes out of a pipe. */
MUST_USE enum io_result transport_splice(const struct transport *transport,
                                         int pipe, size_t len, bool more,
                                         size_t *len_out);

/* Sends a short text. False: not all of it went. */
MUST_USE bool transport_say(const struct transport *transport,
                            struct bytes text);

/* Tells the client that nothing more will be sent. IO_AGAIN_WRITE: call again
 * when the socket takes more; IO_FAILED: the client is gone already. */
MUST_USE enum io_result transport_shut_down(const struct transport *transport);

/* Receives at most len bytes, which nobody needs any more. */
MUST_USE enum io_result transport_discard(const struct transport *transport,
                                          char *data, size_t len,
                                          size_t *len_out);

/* resets: tells the client that what was sent is no complete answer. */
void transport_close(struct transport *transport, bool resets);

/* Whether the client is still there, by what the kernel knows (POLLRDHUP), so
 * that bytes which wait to be read hide nothing. */
MUST_USE enum transport_peer transport_look(const struct transport *transport);

/* Looks at the first bytes that wait in the socket, which stay there. */
MUST_USE enum io_result transport_peek(const struct transport *transport,
                                       char *data, size_t len, size_t *len_out);

/* Whether bytes of the client, and not its end, wait to be read. */
MUST_USE bool transport_has_bytes(const struct transport *transport);

#endif
