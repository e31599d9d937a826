/*
 * websocket - checks Sec-WebSocket-Accept: whether a server that was asked for
 * a WebSocket has understood the request (RFC 6455 4.1). It is for requests
 * whose key is ours, since they came over HTTP/2 (RFC 8441 5). The bytes of a
 * WebSocket pass through a tunnel: handler/proxy/proxy_priv.h says where.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_WEBSOCKET_H
#define HTTP_WEBSOCKET_H

#include "http/reply.h"
#include "http/request.h"

enum { WEBSOCKET_KEY_LEN = 24 };

/* Whether the reply, a 101, has the answer to the request's key that only a
 * server which read the key can give. */
bool websocket_is_answered(const struct request *request,
                           const struct reply *reply);

#endif
