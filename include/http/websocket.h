/*
 * websocket - whether somebody who was asked for a WebSocket has understood
 * that (RFC 6455 4.1), for requests whose key is ours (RFC 8441 5).
 *
 * Thread: any; no state.
 */
#ifndef HTTP_WEBSOCKET_H
#define HTTP_WEBSOCKET_H

#include "http/reply.h"
#include "http/request.h"

enum { WEBSOCKET_KEY_LEN = 24 };

/* Whether the reply, a 101, answers the key in the request as only one who
 * read it can. */
bool websocket_is_answered(const struct request *request,
                           const struct reply *reply);

#endif
