/*
 * unsent_time - how long what was handed over stays in the kernel, by samples.
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
 * One socket is watched at a time, until its client asks for something else or
 * its connection ends.
 *
 * Thread: the worker's.
 * Owns:   its timer.
 */
#ifndef ENGINE_UNSENT_TIME_H
#define ENGINE_UNSENT_TIME_H

#include <ev.h>
#include <stdint.h>

#include "observe/stats.h"

enum {
    UNSENT_TIME_ANSWERS = 64,       /* watches one small answer of so many */
    UNSENT_TIME_LARGE_BYTES = 65536 /* and every answer that is larger */
};

struct unsent_time {
    /* private */
    struct ev_loop *loop;
    struct stats *stats;
    ev_timer timer;
    int fd;             /* the socket that is watched; -1: none */
    uint64_t handed_ns; /* when fd's last byte was handed over */
    unsigned answers;   /* small answers since one was watched */
};

void unsent_time_init(struct unsent_time *unsent_time, struct ev_loop *loop,
                      struct stats *stats);
void unsent_time_fini(struct unsent_time *unsent_time);

/* For unsent_time_note_answer() and unsent_time_drop() only. */
void unsent_time_begin(struct unsent_time *unsent_time, int fd,
                       uint64_t now_ns);
void unsent_time_end(struct unsent_time *unsent_time);

/* A response of so many bytes was handed over now. */
static inline void unsent_time_note_answer(struct unsent_time *unsent_time,
                                           int fd, uint64_t bytes,
                                           uint64_t now_ns)
{
    if (++unsent_time->answers < UNSENT_TIME_ANSWERS &&
        bytes <= UNSENT_TIME_LARGE_BYTES)
        return;
    if (unsent_time->fd == -1)
        unsent_time_begin(unsent_time, fd, now_ns);
}

/* Stops watching fd: its client asks for more, or it is about to be closed. */
static inline void unsent_time_drop(struct unsent_time *unsent_time, int fd)
{
    if (unsent_time->fd == fd)
        unsent_time_end(unsent_time);
}

#endif
