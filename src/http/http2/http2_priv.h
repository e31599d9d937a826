/*
 * http2_priv - how http2_head.c and http2_request.c write the text of a head:
 *
 *   struct text_front | GET /path HTTP/2.0 | record | record | ...
 *
 * and a record:  name's length, value's length | name | value
 */
#ifndef HTTP_HTTP2_HTTP2_PRIV_H
#define HTTP_HTTP2_HTTP2_PRIV_H

#include "http/http2/http2_head.h"

/* The end of the text's first line. */
#define HTTP2_VERSION " HTTP/2.0"

struct record_front {
    uint16_t name_len;
    uint16_t value_len;
};

/* Whether ":scheme" is https. */
bool http2_head_is_https(const struct http2_head *head);

/* Returns the records of all fields but Host, which is ":authority". */
struct bytes http2_head_records(const struct http2_head *head);

#endif
