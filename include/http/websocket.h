/*
 * websocket - checks Sec-WebSocket-Accept, by which a server shows that it has
 * understood a request for a WebSocket (RFC 6455 4.1). The check is for
 * requests that came over HTTP/2 (RFC 8441 5), whose key is our own. The bytes
 * of a WebSocket pass through a tunnel: see handler/proxy/proxy_priv.h.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_WEBSOCKET_H
#define HTTP_WEBSOCKET_H

#include "http/reply.h"
#include "http/request.h"

enum { WEBSOCKET_KEY_LEN = 24 };

/* Whether the reply, a 101, has a Sec-WebSocket-Accept that fits the request's
 * key. Only a server that has read the key can send that value. */
bool websocket_is_answered(const struct request *request,
                           const struct reply *reply);

#endif
