/*
 * socket_state - what the kernel knows of what a connected socket has sent: how
 * much waits, and how long the way is. With io/transport it is all that is
 * asked of a client's socket.
 *
 * Thread: any.
 */
#ifndef IO_SOCKET_STATE_H
#define IO_SOCKET_STATE_H

#include <stdint.h>

#include "base/bytes.h"

/* The way to the other end of a TCP connection, by TCP_INFO. */
struct socket_path {
    uint32_t rtt_us;        /* smoothed; 0: none was measured */
    uint32_t least_rtt_us;  /* least so far; UINT32_MAX: not known */
    uint32_t segment_bytes; /* the largest payload of a segment */
    uint32_t unacked;       /* segments sent and not acknowledged */
    uint32_t under_way;     /* of these, neither received nor lost, and those
                               that were sent again */
    uint32_t acked_ms;      /* since the last acknowledgement */
    uint32_t sent_ms;       /* since the last byte left */
};

/* Asks how the path is. False: fd is no TCP socket, or not connected any
 * more. */
MUST_USE bool socket_ask_path(int fd, struct socket_path *path_out);

/* Bytes between socket and wire, with what the kernel adds; 0: not known. */
uint32_t socket_count_queued(int fd);

/* Bytes that the socket takes before it is full, roughly; 0: none, or not
 * known. */
uint32_t socket_count_room(int fd);

/* Bytes that the socket takes until unsent_max of them wait unsent, beyond what
 * the other end's window and congestion let leave at once; 0: none, or not
 * known. */
uint32_t socket_count_passing(int fd, uint32_t unsent_max);

/* Bytes that have not left yet for the first time. -1: it is no TCP socket. */
int socket_count_unsent(int fd);

/* Lets so many unsent bytes wait in the socket before it takes no more for now
 * (TCP_NOTSENT_LOWAT); 0: as the system has it. */
void socket_limit_unsent(int fd, int bytes);

#endif
