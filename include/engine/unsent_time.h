/*
 * unsent_time - samples how long the last bytes of a response stay in the
 * kernel.
 *
 * When the last byte of a response has been handed over, the server is done
 * with the response, but the kernel may keep some of its bytes unsent. After
 * each large response, and after one in UNSENT_TIME_ANSWERS small ones, the
 * kernel is asked how many bytes the socket has unsent (SIOCOUTQNSD), until all
 * are sent. Usually all are sent at the first question, which costs one system
 * call. Otherwise the kernel is asked again after 1 ms, and then whenever the
 * time so far has grown by an eighth: so the noted time is too long by an
 * eighth at most. The time until acknowledgements come does not count, because
 * a kept-alive client sends them with its next request, whenever that is.
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
    /* Of this many answers, one is watched, even if all of them are small. */
    UNSENT_TIME_ANSWERS = 64,
    /* An answer of more bytes is watched, unless another is watched then. */
    UNSENT_TIME_LARGE_BYTES = 65536
};

struct unsent_time {
    /* private */
    struct ev_loop *loop;
    struct stats *stats;
    ev_timer timer;
    int fd;             /* the socket that is watched; -1: no socket */
    uint64_t handed_ns; /* when the last byte was handed over */
    unsigned answers;   /* answers since one was last watched */
};

void unsent_time_init(struct unsent_time *unsent_time, struct ev_loop *loop,
                      struct stats *stats);
void unsent_time_fini(struct unsent_time *unsent_time);

/* Called only by unsent_time_note_answer() and unsent_time_drop(). */
void unsent_time_begin(struct unsent_time *unsent_time, int fd,
                       uint64_t now_ns);
void unsent_time_end(struct unsent_time *unsent_time);

/* Notes that a response of `bytes` bytes has been handed over. Begins to watch
 * `fd` when this response is to be sampled and no socket is watched. */
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

/* Stops watching `fd`, if it is watched. Called when the client has sent
 * another request, or when the connection is about to be closed. */
static inline void unsent_time_drop(struct unsent_time *unsent_time, int fd)
{
    if (unsent_time->fd == fd)
        unsent_time_end(unsent_time);
}

#endif
