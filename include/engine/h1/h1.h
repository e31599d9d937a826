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
 * When several requests came in one read, they are answered before anything is
 * sent, as long as the answers are small. Their responses wait in the pipeline
 * and leave together.
 *
 * The body of a request is taken in one of two ways. Most handlers answer when
 * the whole body has come. A handler whose sink has end() takes the bytes as
 * they come: this is called an upload. The body of an upload is read while the
 * answer is made and sent; so are the bytes of a tunnel. A client that holds
 * its body back (Expect: 100-continue) is sent "100 Continue" by h1_body.c.
 *
 * Invariant: a session has an input buffer only while the buffer contains
 *            bytes, or an exchange points into it.
 */
#ifndef ENGINE_H1_H1_H
#define ENGINE_H1_H1_H

#include "engine/protocol.h"

/* Sets up the pools of a context for sessions of this protocol. Returns false
 * when there is no memory. h1_context_fini() is needed in both cases. */
MUST_USE bool h1_context_init(struct session_context *context);
void h1_context_fini(struct session_context *context);

extern const struct protocol h1_protocol;

#endif
