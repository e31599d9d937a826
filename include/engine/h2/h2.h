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
 * One exchange per stream. What a stream sends is framed when its turn has come
 * and not earlier, in the order of the heap; the connection's candidate is the
 * first of that heap, so between connections nobody claims more by opening more
 * streams or by calling them urgent (engine/sched.h). Framed bytes that the
 * socket has not taken are the rest, which goes before all else, as nothing can
 * overtake a frame that has begun.
 *
 * What costs the server work and the client nothing (resets, settings, pings,
 * empty frames, heads that grow) is counted against budgets; a client that uses
 * one up is sent away (h2_abuse.c). All limits stand at the head of h2_priv.h.
 *
 * Frames are read and written here, since the order is a matter of single
 * frames; the header compression is nghttp2's (http/hpack).
 *
 * Invariant: a stream is in ready exactly while it has something to send, its
 *            window and the connection's are open, and it does not wait for
 *            its handler.
 */
#ifndef ENGINE_H2_H2_H
#define ENGINE_H2_H2_H

#include "engine/protocol.h"

/* Sets up what sessions of this protocol share in a context. NULL: no
 * memory. */
MUST_USE struct h2_context *h2_context_create(void);
void h2_context_destroy(struct h2_context *context);

/* Whether a connection's first line is the beginning of HTTP/2's preface. */
bool h2_is_preface(struct bytes line);

extern const struct protocol h2_protocol;

#endif
