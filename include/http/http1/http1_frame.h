/*
 * http1_frame - what HTTP/1.1 says around a response: status line and Date in
 * front of its fields, Transfer-Encoding and Connection behind them, chunks
 * around its body (RFC 9112).
 *
 *   head:  |    headroom    | fields of the response | tailroom |
 *          |   status, Date | ...                    | framing  |
 *
 * A cached head has its status line and Date already, and is a piece of its
 * own.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_HTTP1_HTTP1_FRAME_H
#define HTTP_HTTP1_HTTP1_FRAME_H

#include "http/response.h"

enum {
    /* A cached head begins with "HTTP/1.1 200 OK" and "Date: " with its value,
     * which may be overwritten by a newer date; the fields follow. */
    HTTP1_CACHED_DATE_AT = 17 + 6,
    HTTP1_CACHED_FIELDS_AT = HTTP1_CACHED_DATE_AT + 29 + 2
};

/* Begins a head for response_borrow_head(): writes all before the fields. */
void http1_begin_cached_head(struct buf *head, const struct now *clock);

/* Private: frames a response that cannot be sent as it lies in the cache. */
__attribute__((noinline)) void http1_frame_rest(struct response *response,
                                                bool is_http10,
                                                const struct now *clock);

/* Frames a response that has been made; only the first call does anything. A
 * client of HTTP/1.0 reads no chunks. For it a body of unknown length ends with
 * the connection, and `persists` is cleared. */
static inline void http1_frame(struct response *response, bool is_http10,
                               const struct now *clock)
{
    if (response->is_framed || !response->has_head)
        return;
    if (response->is_borrowed && response->persists && !is_http10)
        response->is_framed = true; /* the cached head is right as it is */
    else
        http1_frame_rest(response, is_http10, clock);
}

/* Appends a whole 1xx response. */
void http1_put_interim(struct buf *out, unsigned status, struct bytes phrase,
                       struct bytes fields);

#endif
