/*
 * socket_state - what the kernel knows of the bytes that a connected socket has
 * sent: how many wait, and how long the way is. Only io/transport asks more of
 * a client's socket.
 *
 * Thread: any.
 */
#ifndef IO_SOCKET_STATE_H
#define IO_SOCKET_STATE_H

#include <stdint.h>

#include "base/bytes.h"

/* The way to the other end of a TCP connection, as TCP_INFO tells it. */
struct socket_path {
    uint32_t rtt_us;        /* smoothed; 0: none was measured */
    uint32_t least_rtt_us;  /* the least so far; UINT32_MAX: not known */
    uint32_t segment_bytes; /* the largest payload of a segment */
    uint32_t unacked;       /* segments sent and not acknowledged */
    uint32_t under_way;     /* the unacked ones that are neither received nor
                               lost, and those that were sent again */
    uint32_t acked_ms;      /* time since the last acknowledgement */
    uint32_t sent_ms;       /* time since the last byte left */
};

/* Asks how the path is. Returns false when fd is no TCP socket, or no longer
 * connected. */
MUST_USE bool socket_ask_path(int fd, struct socket_path *path_out);

/* Returns the bytes between socket and wire, with what the kernel adds; 0: not
 * known. */
uint32_t socket_count_queued(int fd);

/* Returns roughly how many bytes the socket takes before it is full; 0: none,
 * or not known. */
uint32_t socket_count_room(int fd);

/* Returns how many bytes the socket takes until unsent_max of them wait unsent.
 * The bytes that may leave at once, by the other end's window and by congestion
 * control, do not wait. 0: none, or not known. */
uint32_t socket_count_passing(int fd, uint32_t unsent_max);

/* Returns how many bytes have never left yet; -1 when fd is no TCP socket. */
int socket_count_unsent(int fd);

/* Lets at most that many unsent bytes wait in the socket before it takes no
 * more for now (TCP_NOTSENT_LOWAT). 0 restores the system's default. */
void socket_limit_unsent(int fd, int bytes);

#endif
