/*
 * http2_head - gathers the decoded field lines of a head, and is as strict as
 * http1 (RFC 9113 8.2 and 8.3).
 *
 *   http2_head_begin()  http2_head_add() for each line  http2_head_end()
 *                  --> http2_request.h
 *
 * A head that is malformed by RFC 9113 is no request, and ends the stream. A
 * well-formed head that HTTP/1 would refuse (a path with a byte that must be
 * encoded, an invalid host, a method that nobody knows) is refused with the
 * same reason. Any other head can be written as a request of HTTP/1.1 that all
 * servers read alike: no line has control bytes, no line says anything of a
 * connection, and the length of the body is either true or not said.
 *
 * Several cookie lines become one (8.2.3), ":authority" stands as Host, and a
 * request for a WebSocket in the form of RFC 8441 gets the form of RFC 6455.
 *
 * Thread: any; no state but the struct.
 * Owns:   nothing.
 */
#ifndef HTTP_HTTP2_HTTP2_HEAD_H
#define HTTP_HTTP2_HTTP2_HEAD_H

#include "http/priority.h"
#include "http/reason.h"
#include "http/request.h"

enum {
    /* The first limit: a head with more bytes than this, counted as names,
     * values and 32 for each line (RFC 9113 6.5.2), is answered with 431. So is
     * a head of more than REQUEST_FIELDS_MAX fields, counted as the request of
     * HTTP/1.1 has them: all cookies are one field. */
    HTTP2_LIST_BYTES_MAX = 16384,
    /* The second limit: at four times as many bytes or lines, decoding breaks
     * off. Such a head is an attack and no mistake ("HPACK bomb": a short block
     * that refers to a long line of its table again and again). */
    HTTP2_LIST_BYTES_READ = 4 * HTTP2_LIST_BYTES_MAX,
    HTTP2_LINES_READ = 4 * REQUEST_FIELDS_MAX,
    HTTP2_LINE_EXTRA = 32,
    HTTP2_HOST_BYTES_MAX = 512 /* a longer name is no host */
};

enum http2_verdict {
    HTTP2_DONE,
    HTTP2_MALFORMED, /* the stream ends with PROTOCOL_ERROR */
    HTTP2_REFUSED    /* the request is refused for *reason_out */
};

/* A head that is being gathered. The struct is large: one serves all
 * connections of a worker. */
struct http2_head {
    struct bytes method; /* views into `text`; data NULL: no such field came */
    struct bytes scheme;
    struct bytes authority;
    struct bytes path;
    struct bytes protocol;
    struct bytes host;
    uint64_t content_length; /* valid only with has_length */
    bool has_length;
    bool has_priority;        /* the field Priority came (RFC 9218) */
    struct priority priority; /* what all lines of that field say */
    bool is_trailer;
    /* private */
    bool has_fields;   /* a field came: no pseudo-field may follow */
    bool is_malformed; /* further lines are not looked at */
    enum reason reason;
    uint64_t list_bytes;
    unsigned line_count;
    unsigned field_count; /* number of records from records_at on */
    size_t records_at;    /* valid only with a record */
    size_t text_len;
    size_t cookie_len;
    char host_text[HTTP2_HOST_BYTES_MAX];
    char cookies[HTTP2_LIST_BYTES_MAX];
    char text[HTTP2_LIST_BYTES_MAX + 1024];
};

void http2_head_begin(struct http2_head *head, bool is_trailer);

/* Takes one more line. Returns false when the head has reached
 * HTTP2_LIST_BYTES_READ or HTTP2_LINES_READ; decoding then breaks off. */
MUST_USE bool http2_head_add(struct http2_head *head, struct bytes name,
                             struct bytes value);

/* Ends a head when all its lines have come. `ends` tells that no body follows.
 * socket_key points to 24 bytes: a new Sec-WebSocket-Key, for a request for a
 * WebSocket (RFC 6455 4.1). *reason_out is set with HTTP2_REFUSED. */
enum http2_verdict http2_head_end(struct http2_head *head, bool ends,
                                  const char *socket_key,
                                  enum reason *reason_out);

/* Whether the head asks for a WebSocket (RFC 8441), and was found to be
 * well-formed. */
static inline bool http2_head_wants_socket(const struct http2_head *head)
{
    return head->protocol.data;
}

#endif
