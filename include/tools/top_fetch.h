/*
 * top_fetch - asks a running sprintd for its status.json, once.
 *
 * Each request has a connection of its own, and TOP_FETCH_MS in all (name
 * lookups excepted).
 *
 * Thread: the main thread's; no state.
 */
#ifndef TOOLS_TOP_FETCH_H
#define TOOLS_TOP_FETCH_H

#include "base/buf.h"
#include "tools/top_target.h"

enum {
    TOP_FETCH_MS = 5000,
    TOP_BODY_BYTES_MAX = 8 << 20, /* limit of body */
    TOP_INTERRUPT_FDS = 3
};

/* What else ends the wait: when one of the descriptors is readable, gives_up()
 * reads it and says whether to stop fetching. */
struct top_interrupt {
    int fds[TOP_INTERRUPT_FDS]; /* watched for reading; -1: none */
    bool (*gives_up)(void *self);
    void *self;
};

/* Appends the document to body. Returns EX_OK; or EX_UNAVAILABLE or EX_PROTOCOL
 * with one line in why; EX_UNAVAILABLE, too, when interrupt gives up. interrupt
 * may change meanwhile. */
MUST_USE int top_fetch(const struct top_target *target,
                       const struct top_interrupt *interrupt, struct buf *body,
                       struct buf *why);

#endif
