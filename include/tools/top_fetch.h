/*
 * top_fetch - asks a running sprintd for its status.json, once.
 *
 * Each request has a connection of its own, and may take TOP_FETCH_MS in all;
 * the lookup of a name does not count.
 *
 * Thread: the main thread's; no state.
 */
#ifndef TOOLS_TOP_FETCH_H
#define TOOLS_TOP_FETCH_H

#include "base/buf.h"
#include "tools/top_target.h"

enum {
    TOP_FETCH_MS = 5000,
    TOP_BODY_BYTES_MAX = 8 << 20, /* bytes of body at most */
    TOP_INTERRUPT_FDS = 3
};

/* Descriptors that interrupt the wait for an answer. When a descriptor is
 * readable, gives_up() reads it and says whether to stop fetching. */
struct top_interrupt {
    int fds[TOP_INTERRUPT_FDS]; /* watched for reading; -1 if not used */
    bool (*gives_up)(void *self);
    void *self;
};

/* Appends the document to `body`. Returns EX_OK. After a failure, writes one
 * line to `why` and returns EX_UNAVAILABLE or EX_PROTOCOL. Also returns
 * EX_UNAVAILABLE when `interrupt` gives up; *interrupt may change during the
 * call. */
MUST_USE int top_fetch(const struct top_target *target,
                       const struct top_interrupt *interrupt, struct buf *body,
                       struct buf *why);

#endif
