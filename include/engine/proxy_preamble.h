/*
 * proxy_preamble - takes over the client whom a trusted proxy names by the
 * PROXY protocol, once on a connection, before all requests and before TLS.
 *
 * Thread: the worker of the connection.
 */
#ifndef ENGINE_PROXY_PREAMBLE_H
#define ENGINE_PROXY_PREAMBLE_H

#include "engine/protocol.h"
#include "http/proxy_protocol.h"

/* The client that `proxy` names becomes the session's peer. Returns false when
 * this client already has as many connections as it may have. */
MUST_USE bool proxy_preamble_apply(struct session *session,
                                   const struct proxy_protocol *proxy);

#endif
