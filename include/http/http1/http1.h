/*
 * http1 - bytes to request: strict HTTP/1.x heads (RFC 9112).
 *
 * http-parser, as distributions build it, forgives what other servers refuse
 * (bare LF, folded lines, space before a colon, HTTP/9.9, ...). But a request
 * can be smuggled in a head that two servers read differently. So a head is
 * first found and checked here, line by line as it comes in. Only a complete
 * head without fault is given to http-parser, which takes it apart and stops.
 * The verdict depends neither on how http-parser was built nor on how the bytes
 * were split into reads. http1.c alone includes http_parser.h.
 *
 * Its files are listed in src/http/http1/http1_priv.h: http1_lint.c checks
 * every byte, http1_meaning.c what the fields say together (Host, the target,
 * the framing of the body by Content-Length and Transfer-Encoding).
 *
 * Thread: the worker that reads. State: struct http1_progress, and each
 *         thread's last Host.
 */
#ifndef HTTP_HTTP1_HTTP1_H
#define HTTP_HTTP1_HTTP1_H

#include <stdint.h>

#include "http/reason.h"
#include "http/request.h"

enum {
    HTTP1_LINE_BYTES_MAX = 8192,  /* limit of the request line, else 414 */
    HTTP1_HEAD_BYTES_MAX = 16384, /* limit of line and fields, else 431 */
    HTTP1_LEADING_CRLF_MAX = 4    /* most empty lines in front (9112 2.2) */
};

enum http1_verdict {
    HTTP1_MORE, /* no fault so far; the head is not complete */
    HTTP1_DONE, /* `request` is filled in */
    HTTP1_BAD   /* answer with the reason given, then close */
};

/* How far an incomplete head has been checked; all zero for a new head. */
struct http1_progress {
    uint32_t checked; /* bytes checked so far */
    uint32_t line;    /* where the line being checked begins */
    uint16_t start;   /* where the request line begins (after empty lines) */
    uint8_t lines;    /* number of complete lines, request line included */
};

/* Goes on checking the head at `data`, of which len bytes have come in. Each
 * call for one head passes the same data, or a moved copy, with a len that
 * never falls. On HTTP1_DONE `request` holds views into `data`, and *used_out
 * is the length of the head with its empty line. On HTTP1_BAD *reason_out says
 * why, and request->line is what there is of the request line. `progress` is
 * reset on both verdicts. The caller has set request->many to room for a head
 * with many fields. */
enum http1_verdict http1_parse(struct http1_progress *progress,
                               const char *data, size_t len,
                               struct request *request, size_t *used_out,
                               enum reason *reason_out);

/* Returns the version of http-parser that is linked: major << 16 | minor << 8 |
 * patch. */
unsigned long http1_parser_version(void);

#endif
