/*
 * proxy_preamble - for whom a trusted proxy speaks on a connection, by the
 * PROXY protocol: once, before all requests, and before TLS.
 *
 * Thread: the worker of the connection.
 */
#ifndef ENGINE_PROXY_PREAMBLE_H
#define ENGINE_PROXY_PREAMBLE_H

#include "engine/protocol.h"
#include "http/proxy_protocol.h"

/* Makes the client that proxy names the session's peer. False: it has as many
 * connections as it may. */
MUST_USE bool proxy_preamble_apply(struct session *session,
                                   const struct proxy_protocol *proxy);

#endif
