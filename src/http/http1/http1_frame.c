#include "http/http1/http1_frame.h"

#include <assert.h>

#include "http/date.h"
#include "http/status.h"

static void put_status_line(struct buf *out, unsigned status,
                            struct bytes phrase)
{
    char line[] = "HTTP/1.1 000 ";

    line[9] = (char)('0' + status / 100 % 10);
    line[10] = (char)('0' + status / 10 % 10);
    line[11] = (char)('0' + status % 10);
    buf_put(out, (struct bytes){line, sizeof(line) - 1});
    buf_put(out, phrase);
    buf_put_literal(out, "\r\n");
}

static void put_date(struct buf *out, const struct now *clock)
{
    char *to;

    buf_put_literal(out, "Date: ");
    to = buf_reserve(out, DATE_LEN);
    if (!to)
        return;
    date_format_now(clock->wall_s, to);
    out->len += DATE_LEN;
    buf_put_literal(out, "\r\n");
}

void http1_begin_cached_head(struct buf *head, const struct now *clock)
{
    put_status_line(head, 200, BYTES("OK"));
    put_date(head, clock);
}

void http1_put_interim(struct buf *out, unsigned status, struct bytes phrase,
                       struct bytes fields)
{
    put_status_line(out, status, phrase);
    buf_put(out, fields);
    buf_put_literal(out, "\r\n");
}

/* --- Behind the fields --------------------------------------------------- */

/* Returns the lines about connection and framing that end the head. */
static struct bytes end_of(const struct response *response, bool is_http10)
{
    bool is_chunked = response->is_unsized && !is_http10;

    if (response->status == 101)
        return BYTES("Connection: upgrade\r\n\r\n");
    if (!response->persists)
        return is_chunked ? BYTES("Transfer-Encoding: chunked\r\n"
                                  "Connection: close\r\n\r\n")
                          : BYTES("Connection: close\r\n\r\n");
    if (is_http10)
        return BYTES("Connection: keep-alive\r\n\r\n");
    return is_chunked ? BYTES("Transfer-Encoding: chunked\r\n\r\n")
                      : BYTES("\r\n");
}

/* --- A cached head ------------------------------------------------------- */

/* Replaces the empty line at the end of a cached head by `end`. Most replies
 * keep the empty line. */
static void end_cached_head(struct response *response, struct bytes end)
{
    struct part *head = &response->parts[0];
    struct part rest = *head;

    if (end.len == 2)
        return;
    assert(response->part_count < RESPONSE_PARTS_INLINE);
    rest.at.memory += response->head_bytes;
    rest.len -= response->head_bytes;
    head->len = response->head_bytes - 2;
    response->bytes_left += end.len - 2;
    response->head_bytes += (uint32_t)end.len - 2;
    memmove(head + 2, head + 1, (response->part_count - 1u) * sizeof(*head));
    head[1] = part_of_memory(end);
    response->part_count++;
    if (rest.len == 0)
        return;
    assert(response->part_count == 2); /* the head's block was the only part */
    head[2] = rest;
    response->part_count++;
}

/* --- A head of the response's own ---------------------------------------- */

/* Returns the phrase that came with the status, or the usual one. */
static struct bytes phrase_of(const struct response *response)
{
    return response->has_phrase
               ? (struct bytes){response->head.data, response->phrase_len}
               : status_reason(response->status);
}

static void surround_head(struct response *response, struct bytes end,
                          const struct now *clock)
{
    char storage[RESPONSE_HEADROOM];
    struct part *head = &response->parts[0];
    struct buf front;

    buf_init(&front, storage, sizeof(storage), sizeof(storage));
    put_status_line(&front, response->status, phrase_of(response));
    if (!response->has_date && response->status >= 200)
        put_date(&front, clock);
    assert(!front.failed && end.len <= RESPONSE_TAILROOM);
    memcpy(response->head.data + RESPONSE_HEADROOM - front.len, front.data,
           front.len);
    memcpy(response->head.data + RESPONSE_HEADROOM + head->len, end.data,
           end.len);
    head->at.memory -= front.len;
    head->len += front.len + end.len;
    response->bytes_left += front.len + end.len;
    response->head_bytes = (uint32_t)head->len;
    if (response->head_copy) {
        response->head_copy->len = 0;
        buf_put(response->head_copy,
                (struct bytes){head->at.memory, (size_t)head->len});
    }
}

/* --- Both ---------------------------------------------------------------- */

/* Frames the body. Returns false when memory is short. */
static bool frame_body(struct response *response, bool is_http10)
{
    if (!response->is_unsized)
        return true;
    if (is_http10)
        response->persists = false;
    else if (response->source)
        response->source = chunk_source_create(response->source);
    return response->source || response->is_head || is_http10;
}

void http1_frame_rest(struct response *response, bool is_http10,
                      const struct now *clock)
{
    struct bytes end;

    response->is_framed = true;
    if (!frame_body(response, is_http10)) {
        response_break_off(response);
        return;
    }
    end = end_of(response, is_http10);
    if (response->is_borrowed)
        end_cached_head(response, end);
    else
        surround_head(response, end, clock);
}
