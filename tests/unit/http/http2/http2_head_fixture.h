/*
 * http2_head_fixture - a head of HTTP/2 that is gathered from text.
 */
#ifndef UNIT_HTTP2_HEAD_FIXTURE_H
#define UNIT_HTTP2_HEAD_FIXTURE_H

#include "http/http2/http2_head.h"

extern struct http2_head head;

/* The new Sec-WebSocket-Key that it gets. */
#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define GET ":method=GET|:scheme=https|:path=/a?b|:authority=h.example"

/* Lines are "name=value", joined by '|'. */
enum http2_verdict gather(const char *lines, bool ends, enum reason *reason);

#endif
