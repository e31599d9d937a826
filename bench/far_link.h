/*
 * far_link - a simulated path whose narrow place is further away, and a worker of
 * the link module that sends over it.
 *
 * Thread: one.
 */
#ifndef BENCH_FAR_LINK_H
#define BENCH_FAR_LINK_H

#include "engine/link/link.h"

enum {
    FAR_FETCHES_MAX = 200000,
    FAR_HEAD = 250, /* of a reply */
    FAR_OPENING = 74
};

#define FAR_S_NS UINT64_C(1000000000)

/* How far a fetch has come. */
enum fetch_state {
    FETCH_COMING,
    FETCH_WAITS,
    FETCH_BLOCKED,
    FETCH_SENT,
    FETCH_DONE
};

struct fetch {
    uint64_t begin, done;
    uint64_t trip_ns; /* without a queue */
    uint32_t size;    /* on the way, with its head */
    uint32_t came;
    enum fetch_state state;
    int flow;
    uint64_t wanted; /* bytes that its socket has not taken yet */
    uint64_t unsent; /* bytes in its socket */
    uint64_t acked;
    uint64_t sent_ns, acked_ns, round_ns;
    uint64_t slow_end_ns; /* when slow start ended */
    uint32_t window;      /* of congestion, in segments */
    uint32_t slow_end;
    uint32_t unacked, round_left;
    uint32_t rtt_us, least_us;
    double grown; /* of a segment */
    int lowat;
};

struct far_path {
    double rate;              /* bytes a second */
    double busy_ns, queue_ns; /* sums, of packets */
    double packets;
    uint64_t looks; /* of sockets */
};

extern struct far_path far_path;

/* Has all of them served, and says in each when it was done. */
void far_serve(struct fetch *fetches, size_t count, enum link_mode mode);

#endif
