/*
 * drain - how long what was handed over stays in the kernel, by samples.
 *
 * When the last byte of a response has been handed over, the server is done
 * with it; its client is not while the kernel keeps some of it unsent. Now and
 * then, after a large response or the last of some small ones, the socket is
 * asked how much that is (SIOCOUTQNSD) until it is none. Usually it is none
 * at once: that costs one system call. If not, it is asked again after 1 ms,
 * and then every time that an eighth as long has gone by: what is noted is
 * that much too long at most. The time for acknowledgements does not count:
 * those of a kept-alive client come with its next request, whenever that is.
 *
 * One socket at a time; given up when its client asks for something else, or
 * the connection ends.
 *
 * Thread: the worker's.
 * Owns:   its timer.
 */
#ifndef ENGINE_DRAIN_H
#define ENGINE_DRAIN_H

#include <ev.h>
#include <stdint.h>

#include "observe/stats.h"

enum {
    DRAIN_ANSWERS = 64,       /* of small responses, one is looked at */
    DRAIN_LARGE_BYTES = 65536 /* beyond which each is */
};

struct drain {
    /* private */
    struct ev_loop *loop;
    struct stats *stats;
    ev_timer timer;
    int fd;             /* -1: none is looked at */
    uint64_t handed_ns; /* when its last byte was handed over */
    unsigned answers;   /* since the last that was looked at */
};

void drain_init(struct drain *drain, struct ev_loop *loop, struct stats *stats);
void drain_fini(struct drain *drain);

/* For drain_note_answer() and drain_drop(). */
void drain_begin(struct drain *drain, int fd, uint64_t now_ns);
void drain_end(struct drain *drain);

/* A response of so many bytes was handed over now. */
static inline void drain_note_answer(struct drain *drain, int fd,
                                     uint64_t bytes, uint64_t now_ns)
{
    if (++drain->answers < DRAIN_ANSWERS && bytes <= DRAIN_LARGE_BYTES)
        return;
    if (drain->fd == -1)
        drain_begin(drain, fd, now_ns);
}

/* Its client asks for more, or it is about to be closed. */
static inline void drain_drop(struct drain *drain, int fd)
{
    if (drain->fd == fd)
        drain_end(drain);
}

#endif
