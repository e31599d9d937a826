/*
 * reply - the head of another server's answer, taken apart: views into the
 * buffer that the head was read into (RFC 9112 4, 6).
 *
 * Replies are read as strictly as requests are (http/http1/http1.h). Otherwise
 * a client that reads a reply in another way than we do could see two responses
 * in it. A reply with a fault is refused whole, and its connection is of no
 * more use.
 *
 * Thread: the worker that reads it.
 * Owns:   nothing; every struct bytes lives as long as the buffer.
 */
#ifndef HTTP_REPLY_H
#define HTTP_REPLY_H

#include "http/body_reader.h"
#include "http/http1/http1.h"

enum {
    REPLY_HEAD_BYTES_MAX = 32768, /* limit for status line and fields */
    REPLY_FIELDS_MAX = 100
};

struct reply {
    unsigned status;         /* 100 to 599; a 1xx is a reply of its own */
    unsigned minor;          /* HTTP/1.minor: 0 or 1 */
    bool persists;           /* the connection can be used again, unless the
                                body ends only with it (RFC 9112 9.3) */
    bool is_chunked;         /* Transfer-Encoding: chunked came */
    bool has_length;         /* Content-Length came; never with is_chunked */
    uint64_t content_length; /* 0 without has_length */
    struct bytes reason;     /* may be empty; no controls */
    struct bytes upgrade;    /* value of Upgrade, when Connection names it and
                                it comes once, as a 101 needs; else empty */
    uint32_t seen;           /* bit 1 << id: the reply has such a field */
    uint8_t field_count;
    struct field fields[REPLY_FIELDS_MAX];
};

/* Goes on checking the head at `data`, of which len bytes have come in, as
 * http1_parse() does. On HTTP1_DONE `reply` holds views into `data`, and
 * *used_out is the length of the head with its empty line. The body follows
 * (reply_framing()), or after a 1xx the next head. On HTTP1_BAD *fault_out
 * says what is wrong, in words to put behind "the reply" in a log line.
 * `progress` is reset on both verdicts. */
enum http1_verdict http1_parse_reply(struct http1_progress *progress,
                                     const char *data, size_t len,
                                     struct reply *reply, size_t *used_out,
                                     const char **fault_out);

/* Returns how the body of a reply is framed (RFC 9112 6.3), for a body_reader.
 * `asked` is the method of the request. BODY_TUNNEL means that HTTP ends with
 * this head, which is a 101 or answers a CONNECT with success. */
enum body_framing reply_framing(const struct reply *reply, enum method asked);

/* Whether the reply is a 1xx but not a 101: another reply to the same request
 * follows. */
static inline bool reply_is_interim(const struct reply *reply)
{
    return reply->status < 200 && reply->status != 101;
}

/* Returns the first field with that id, or NULL. */
const struct field *reply_find(const struct reply *reply, enum field_id id);

#endif
