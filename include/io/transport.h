/*
 * transport - a client's connection as a way for bytes.
 *
 * All system calls on a client's socket are here: whoever is above speaks of
 * bytes, and of what the way can do. A transport without TLS is the socket
 * itself; that is a predicted branch and no call through a table.
 *
 *   transport_receive()    bytes out of it, at most so many
 *   transport_send()       a vector of memory into it
 *   transport_send_file()  a range of a file, sendfile(2)
 *   transport_splice()     what is in a pipe, splice(2)
 *
 * A result of IO_AGAIN_READ or IO_AGAIN_WRITE names what the socket must be
 * watched for before the same call is worth repeating. Over TLS each of them
 * can follow either direction. Errors are told as IO_FAILED, with errno as the
 * system left it.
 *
 * Thread: the worker of its connection.
 * Owns:   the descriptor, from transport_open() to transport_close().
 */
#ifndef IO_TRANSPORT_H
#define IO_TRANSPORT_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/bytes.h"

enum io_result {
    IO_DONE,        /* at least a byte has passed */
    IO_AGAIN_READ,  /* nothing, until there is something to be read */
    IO_AGAIN_WRITE, /* nothing, until the socket takes more */
    IO_EOF,         /* the other side will say no more */
    IO_FAILED       /* the connection is broken */
};

struct transport {
    int fd;
};

/* What is known of the client without reading what it has sent. */
enum transport_peer {
    TRANSPORT_PEER_SILENT, /* it is there, and nothing waits to be read */
    TRANSPORT_PEER_SPEAKS, /* the same, and something does */
    TRANSPORT_PEER_ENDED,  /* it sends no more, and may still read (FIN) */
    TRANSPORT_PEER_CLOSED, /* neither way is open any more */
    TRANSPORT_PEER_BROKEN  /* by a reset, or an error on the way */
};

static inline void transport_open(struct transport *transport, int fd)
{
    transport->fd = fd;
}

/* Receives at most len bytes. *len_out counts them. */
MUST_USE enum io_result transport_receive(const struct transport *transport,
                                          char *data, size_t len,
                                          size_t *len_out);

/* Sends as much of the parts as goes. more: what follows shall share segments
 * with it, and comes at once. */
MUST_USE enum io_result transport_send(const struct transport *transport,
                                       struct iovec *parts, size_t count,
                                       bool more, size_t *len_out);

/* Sends up to len bytes of file from offset on. IO_EOF: the file has no such
 * bytes. */
MUST_USE enum io_result transport_send_file(const struct transport *transport,
                                            int file, uint64_t offset,
                                            size_t len, size_t *len_out);

/* Moves up to len bytes out of a pipe. */
MUST_USE enum io_result transport_splice(const struct transport *transport,
                                         int pipe, size_t len, bool more,
                                         size_t *len_out);

/* Nothing more will be sent. False: the client is gone already. */
bool transport_shut_down(const struct transport *transport);

/* resets: what was sent is no complete answer, and the client is told so. */
void transport_close(struct transport *transport, bool resets);

/* Whether the client is still there, by what the kernel knows (POLLRDHUP), so
 * that bytes which wait to be read hide nothing. */
MUST_USE enum transport_peer transport_look(const struct transport *transport);

/* Whether bytes of the client, and not its end, wait to be read. */
MUST_USE bool transport_has_bytes(const struct transport *transport);

#endif
