/*
 * websocket - the frames of RFC 6455, of a client's and of a server's side.
 *
 * Thread: the test's.
 */
#ifndef E2E_WEBSOCKET_H
#define E2E_WEBSOCKET_H

#include "client.h"

enum websocket_side { WEBSOCKET_CLIENT, WEBSOCKET_SERVER };

enum {
    WEBSOCKET_MORE = 0,
    WEBSOCKET_TEXT = 1,
    WEBSOCKET_BINARY = 2,
    WEBSOCKET_CLOSE = 8,
    WEBSOCKET_PING = 9,
    WEBSOCKET_PONG = 10,
    WEBSOCKET_FINAL = 0x80 /* or'ed to one of these */
};

/* The key and its answer of RFC 6455 1.3. */
#define WEBSOCKET_KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define WEBSOCKET_ACCEPT \
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

/* The side that sends says it; a client's frames are masked. */
void websocket_say(struct client *client, enum websocket_side side,
                   unsigned kind, const char *data, size_t len);

/* Fails unless the next frame is exactly that one, sent by that side. */
void websocket_expect(struct client *client, enum websocket_side side,
                      unsigned kind, const char *data, size_t len);

#endif
