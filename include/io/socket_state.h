/*
 * socket_state - what the kernel knows of the bytes that a connected socket has
 * sent: how many wait, and how long the way is. All other calls on a client's
 * socket are in io/transport and io/tls.
 *
 * Thread: any.
 */
#ifndef IO_SOCKET_STATE_H
#define IO_SOCKET_STATE_H

#include <stdint.h>

#include "base/bytes.h"

/* The path to the peer of a TCP connection, as TCP_INFO tells it. */
struct socket_path {
    uint32_t rtt_us;        /* smoothed round-trip time; 0: not measured */
    uint32_t least_rtt_us;  /* least round-trip time; UINT32_MAX: unknown */
    uint32_t segment_bytes; /* the largest payload of a segment */
    uint32_t unacked;       /* segments sent and not acknowledged */
    uint32_t under_way;     /* unacked segments neither received nor lost,
                               plus those that were sent again */
    uint32_t acked_ms;      /* time since the last acknowledgement */
    uint32_t sent_ms;       /* time since the last byte left */
};

/* Asks the kernel about the path to the peer of `fd`. Returns false when `fd`
 * is not a TCP socket, or is no longer connected. */
MUST_USE bool socket_ask_path(int fd, struct socket_path *path_out);

/* Returns how many bytes are between the socket and the wire, the kernel's
 * overhead included; 0: not known. */
uint32_t socket_count_queued(int fd);

/* Returns roughly how many bytes the socket takes before it is full; 0: none,
 * or not known. */
uint32_t socket_count_room(int fd);

/* Returns how many more bytes the socket takes before unsent_max bytes wait in
 * it unsent. Bytes that the peer's window and congestion control allow to leave
 * at once do not count as waiting. 0: none, or not known. */
uint32_t socket_count_passing(int fd, uint32_t unsent_max);

/* Returns how many bytes in the socket were not sent even once; -1 when `fd` is
 * not a TCP socket. */
int socket_count_unsent(int fd);

/* Makes the socket refuse further bytes while at least `bytes` bytes wait in it
 * unsent (TCP_NOTSENT_LOWAT). 0 restores the system's default. */
void socket_limit_unsent(int fd, int bytes);

#endif
