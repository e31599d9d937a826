/*
 * h2 - HTTP/2 as a protocol of connections (engine/protocol.h; RFC 9113, 9218,
 * 8441).
 *
 *            frames             a head           begun
 *   client --------> receive ----------> stream ------> exchange --> handler
 *      ^                |  \                ^               |
 *      |                |   +--- DATA ------+--> sink       | answer
 *      |                | SETTINGS, PING, ...               v
 *      |                v                           ready: heap by urgency,
 *      |             control                        then by the key of sched
 *      |                |                                   |
 *      |                +---> plan: frames of one go <------+ the first
 *      +---- transport ---------+
 *
 * Each stream has one exchange. The bytes of a stream are framed when its turn
 * has come and not earlier, in the order of the heap. The connection's
 * candidate is the first of the heap, so no connection gets more by opening
 * more streams or by calling them urgent (engine/sched.h). Framed bytes that
 * the socket has not taken are called the rest. The rest goes before all else,
 * as nothing can overtake a frame that has begun.
 *
 * Frames that cost the server work and the client nothing (resets, settings,
 * pings, empty frames, heads that grow) are counted against budgets; when a
 * client has used up a budget, its connection ends (h2_abuse.c). All limits
 * stand at the head of h2_priv.h.
 *
 * Frames are read and written by this code and not by nghttp2, since the order
 * of sending is decided frame by frame; only the header compression is
 * nghttp2's (http/http2/hpack.h).
 *
 * Invariant: a stream is in ready exactly while it has something to send, its
 *            window and the connection's are open, and it does not wait for
 *            its handler.
 */
#ifndef ENGINE_H2_H2_H
#define ENGINE_H2_H2_H

#include "engine/protocol.h"

/* Creates what all HTTP/2 sessions of a worker share. Returns NULL when there
 * is no memory. */
MUST_USE struct h2_context *h2_context_create(void);
void h2_context_destroy(struct h2_context *context);

/* Whether a connection's first line is the beginning of HTTP/2's preface. */
bool h2_is_preface(struct bytes line);

extern const struct protocol h2_protocol;

#endif
