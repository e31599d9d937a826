/*
 * h1 - HTTP/1.x as a protocol of connections (engine/protocol.h; RFC 9112).
 *
 *            bytes                head complete
 *   head ------------> parse ---------------------> answer --> pipeline
 *    ^                      \  head with a body       ^          |
 *    |                       +---> body --(taken)-----+          | send
 *    |                             \                             v
 *    |                              +--> upload: beside its answer
 *    +----------------- all sent, keep-alive --------------------+
 *
 * Requests that came in one read are answered ahead while the answers are
 * small; their responses stand in the pipeline and leave together.
 *
 * The body of a request is taken in one of two ways. Most handlers answer when
 * all of it has come. A handler that wants the bytes as they come (its sink has
 * end()) has an upload: the body goes on coming while the answer is made and
 * sent, and so does what a client says through a tunnel. A client that waits
 * with its body (Expect: 100-continue) is told "100 Continue" in h1_body.c.
 *
 * Invariant: the input buffer is held only while it has bytes, or an exchange
 *            that points into it.
 */
#ifndef ENGINE_H1_H1_H
#define ENGINE_H1_H1_H

#include "engine/protocol.h"

/* Sets up the pools of a context for sessions of this protocol. False: no
 * memory; h1_context_fini() either way. */
MUST_USE bool h1_context_init(struct session_context *context);
void h1_context_fini(struct session_context *context);

extern const struct protocol h1_protocol;

#endif
