/*
 * pipes - reusable pipes, by which bytes go from one socket to another without
 * being copied (splice(2)).
 *
 * Pipes may run out, because descriptors are scarce, and so is the memory that
 * a user's pipes may have (/proc/sys/fs/pipe-user-pages-soft). The caller then
 * copies the bytes.
 *
 * Invariant: a kept pipe is empty, so that nobody ever gets bytes of another
 *            connection.
 * Thread:    one worker's.
 * Owns:      the kept pipes; a taken pipe is closed and freed by pipes_give()
 *            only.
 */
#ifndef IO_PIPES_H
#define IO_PIPES_H

#include "base/bytes.h"

enum {
    PIPE_BYTES = 262144,    /* size asked of the kernel */
    PIPE_BYTES_MIN = 65536, /* a smaller pipe is not worth the calls */
    PIPES_KEPT_MAX = 32     /* unused pipes kept; further ones are closed */
};

struct pipe {
    struct pipe *next; /* private */
    int from;          /* the end to read; neither end blocks */
    int into;
    /* The most bytes that the pipe holds; fewer fit when they come in small
     * pieces. */
    size_t bytes;
};

struct pipes {
    struct pipe *kept; /* private, as all below */
    size_t kept_count;
    size_t open_count; /* how many pipes are open, kept or taken */
    size_t open_max;
};

/* Prepares for at most open_max pipes at a time; each has two descriptors. */
void pipes_init(struct pipes *pipes, size_t open_max);
void pipes_fini(struct pipes *pipes); /* after all pipes were given back */

/* Takes an empty pipe. Returns NULL when no pipe can be had. */
MUST_USE struct pipe *pipes_take(struct pipes *pipes);

/* Gives a pipe back. A pipe that still has bytes in it is closed. */
void pipes_give(struct pipes *pipes, struct pipe **pipe_ref);

#endif
