/*
 * top_fetch - asks a running sprintd for its status.json, once.
 *
 * One connection a request, all within TOP_FETCH_MS (but for names that must
 * be looked up).
 *
 * Thread: the main thread's; no state.
 */
#ifndef TOOLS_TOP_FETCH_H
#define TOOLS_TOP_FETCH_H

#include "base/buf.h"
#include "tools/top_target.h"

enum {
    TOP_FETCH_MS = 5000,
    TOP_BODY_BYTES_MAX = 8 << 20, /* for the ceiling of body */
    TOP_INTERRUPT_FDS = 3
};

/* What else is minded meanwhile: when one of the descriptors is ready,
 * gives_up() takes what is there and says whether that ends the fetching. */
struct top_interrupt {
    int fds[TOP_INTERRUPT_FDS]; /* to be read; -1: none */
    bool (*gives_up)(void *self);
    void *self;
};

/* Appends the document to body. Returns EX_OK; or EX_UNAVAILABLE or EX_PROTOCOL
 * with one line in why. Gives up with EX_UNAVAILABLE. interrupt may change
 * while it runs. */
MUST_USE int top_fetch(const struct top_target *target,
                       const struct top_interrupt *interrupt, struct buf *body,
                       struct buf *why);

#endif
