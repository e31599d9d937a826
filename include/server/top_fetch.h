/*
 * top_fetch - asks a running sprintd for its status.json, once.
 *
 * One connection a request, all within TOP_FETCH_MS (but for names that must
 * be looked up).
 *
 * Thread: the main thread's; no state.
 */
#ifndef SERVER_TOP_FETCH_H
#define SERVER_TOP_FETCH_H

#include "server/top_reply.h"
#include "server/top_target.h"

enum { TOP_FETCH_MS = 5000 };

/* Fetches the document into reply, which the caller inits and finis. Returns
 * EX_OK; or EX_UNAVAILABLE or EX_PROTOCOL with one line in why. Gives up, with
 * EX_UNAVAILABLE, when cancel_fd can be read (-1: never). */
MUST_USE int top_fetch(const struct top_target *target, int cancel_fd,
                       struct top_reply *reply, struct buf *why);

#endif
