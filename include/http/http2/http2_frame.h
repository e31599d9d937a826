/*
 * http2_frame - how HTTP/2 looks on the wire: the heads of frames (RFC 9113 4
 * and 6), and responses as header blocks.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_HTTP2_HTTP2_FRAME_H
#define HTTP_HTTP2_HTTP2_FRAME_H

#include "http/http2/hpack.h"
#include "http/response.h"

#define HTTP2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

enum {
    HTTP2_PREFACE_BYTES = sizeof(HTTP2_PREFACE) - 1,
    HTTP2_FRAME_HEAD = 9,
    HTTP2_FRAME_BYTES_MAX = 16384, /* longest payload that every peer takes */
    HTTP2_WINDOW_DEFAULT = 65535,
    HTTP2_WINDOW_MAX = 0x7FFFFFFF,
    HTTP2_STREAM_MAX = 0x7FFFFFFF
};

enum http2_type {
    HTTP2_DATA = 0,
    HTTP2_HEADERS = 1,
    HTTP2_PRIORITY = 2,
    HTTP2_RST_STREAM = 3,
    HTTP2_SETTINGS = 4,
    HTTP2_PUSH_PROMISE = 5,
    HTTP2_PING = 6,
    HTTP2_GOAWAY = 7,
    HTTP2_WINDOW_UPDATE = 8,
    HTTP2_CONTINUATION = 9,
    HTTP2_PRIORITY_UPDATE = 16 /* RFC 9218 7.1 */
};

enum http2_flag {
    HTTP2_FLAG_ACK = 0x1,
    HTTP2_FLAG_END_STREAM = 0x1,
    HTTP2_FLAG_END_HEADERS = 0x4,
    HTTP2_FLAG_PADDED = 0x8,
    HTTP2_FLAG_PRIORITY = 0x20
};

enum http2_setting {
    HTTP2_SETTING_HEADER_TABLE_SIZE = 1,
    HTTP2_SETTING_ENABLE_PUSH = 2,
    HTTP2_SETTING_MAX_CONCURRENT_STREAMS = 3,
    HTTP2_SETTING_INITIAL_WINDOW_SIZE = 4,
    HTTP2_SETTING_MAX_FRAME_SIZE = 5,
    HTTP2_SETTING_MAX_HEADER_LIST_SIZE = 6,
    HTTP2_SETTING_ENABLE_CONNECT_PROTOCOL = 8, /* RFC 8441 */
    HTTP2_SETTING_NO_RFC7540_PRIORITIES = 9    /* RFC 9218 */
};

enum http2_error {
    HTTP2_NO_ERROR = 0,
    HTTP2_PROTOCOL_ERROR = 1,
    HTTP2_INTERNAL_ERROR = 2,
    HTTP2_FLOW_CONTROL_ERROR = 3,
    HTTP2_SETTINGS_TIMEOUT = 4,
    HTTP2_STREAM_CLOSED = 5,
    HTTP2_FRAME_SIZE_ERROR = 6,
    HTTP2_REFUSED_STREAM = 7,
    HTTP2_CANCEL = 8,
    HTTP2_COMPRESSION_ERROR = 9,
    HTTP2_CONNECT_ERROR = 10,
    HTTP2_ENHANCE_YOUR_CALM = 11,
    HTTP2_INADEQUATE_SECURITY = 12,
    HTTP2_HTTP_1_1_REQUIRED = 13
};

struct http2_frame {
    uint32_t len; /* length of the payload */
    uint8_t type;
    uint8_t flags;
    uint32_t stream;
};

static inline uint32_t http2_read32(const char *from)
{
    const unsigned char *at = (const unsigned char *)from;

    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
           (uint32_t)at[2] << 8 | at[3];
}

static inline void http2_write32(char *to, uint32_t value)
{
    to[0] = (char)(value >> 24);
    to[1] = (char)(value >> 16);
    to[2] = (char)(value >> 8);
    to[3] = (char)value;
}

/* Reads a frame's head of HTTP2_FRAME_HEAD bytes. */
static inline struct http2_frame http2_read_frame(const char *from)
{
    return (struct http2_frame){.len = http2_read32(from) >> 8,
                                .type = (uint8_t)from[3],
                                .flags = (uint8_t)from[4],
                                .stream = http2_read32(from + 5) & 0x7FFFFFFF};
}

static inline void http2_write_frame(char *to, const struct http2_frame *frame)
{
    http2_write32(to, frame->len << 8 | frame->type);
    to[4] = (char)frame->flags;
    http2_write32(to + 5, frame->stream);
}

/* --- Header blocks ------------------------------------------------------- */

/* Appends lines ("Name: value" CRLF) as fields. Lines about a connection of
 * HTTP/1 are left out (RFC 9113 8.2.2). */
void http2_put_lines(struct hpack_encoder *encoder, struct bytes lines,
                     struct buf *out);

/* Returns how many of a response's bytes_left are the lines of its head. To be
 * called before http2_put_head(). */
size_t http2_lines_bytes(const struct response *response);

/* Appends the head of a response that has been made: its status, Date and
 * fields. Afterwards bytes_left no longer counts the fields. `date` is a block
 * with nothing but a Date, for a response that has no Date itself.
 * *priority_out becomes the value of the field Priority, a view for the moment;
 * it stays untouched when there is no such field. */
void http2_put_head(struct hpack_encoder *encoder, struct response *response,
                    struct bytes date, struct buf *out,
                    struct bytes *priority_out);

#endif
