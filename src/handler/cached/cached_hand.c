#include <stdlib.h>

#include "handler/cached/cached_priv.h"
#include "handler/encode.h"
#include "http/head_edit.h"

/* The body of a fetch's answer, handed to another response. The parts of the
 * answer come first, then its source. */
struct handed {
    struct source source;
    struct fetch *fetch;
    struct exchange *from;
    struct exchange *to;
    unsigned part_at; /* index of the next part of `from` */
};

static bool has_parts(const struct handed *handed)
{
    return handed->part_at < handed->from->response.part_count;
}

static struct piece next_part(struct handed *handed, uint64_t at_most)
{
    struct part *part = &handed->from->response.parts[handed->part_at];
    struct part borrowed = *part;

    if (borrowed.len > at_most)
        borrowed.len = at_most;
    part->len -= borrowed.len;
    part->at.memory += borrowed.len; /* these parts lie in memory */
    handed->part_at += part->len == 0;
    return (struct piece){
        .state = has_parts(handed) || response_has_more(&handed->from->response)
                     ? PIECE_MORE
                     : PIECE_END,
        .part = borrowed};
}

static struct piece next(struct source *source, uint64_t at_most)
{
    struct handed *handed = OWNER_OF(source, struct handed, source);
    struct response *response = &handed->from->response;
    struct piece piece = {.state = PIECE_END};

    if (has_parts(handed))
        return next_part(handed, at_most);
    if (response_has_more(response))
        piece = response->source->next(response->source, at_most);
    response->has_ended |= piece.state == PIECE_END;
    return piece;
}

static void destroy(struct source *source)
{
    struct handed *handed = OWNER_OF(source, struct handed, source);

    if (handed->to->wants_upstream)
        handed->to->upstream = handed->from->upstream;
    fetch_destroy(handed->fetch);
    free(handed);
}

/* Copies the head, except for the fields that every answer of this server has
 * already. */
static void copy_head(struct response *to, const struct response *from)
{
    const char *data = from->head.data;

    response_begin_relayed(to, from->status,
                           (struct bytes){data, from->phrase_len});
    to->has_phrase = from->has_phrase;
    to->has_date = from->has_date;
    to->is_error = from->is_error;
    to->reason = from->reason;
    buf_put(&to->head, fetched_lines(from));
}

/* Gives a 304 or a partial answer the ETag that the client knows. The client
 * may have got the whole body compressed before, and so with a weak ETag. */
static void note_codings(struct exchange *exchange)
{
    const struct response *response = &exchange->response;

    if (response->status == 206 || response->status == 304)
        encode_unsent(response->encode, exchange, BYTES(""));
}

_Static_assert(CACHE_LENGTH_UNKNOWN == ENCODE_UNSIZED, "both say no length");

/* Adds the body as it comes. Its length, if known, is in the copied head. */
static void add_body(struct response *response, const struct response *from,
                     struct source *source)
{
    uint64_t length = fetched_length(from);

    response_add_head(response);
    if (response->is_head || response->head.failed) {
        source->destroy(source);
        return;
    }
    response->source = source;
    response->is_unsized = from->is_unsized;
    response->has_length = from->has_length ||
                           (from->part_count > 1 && !from->source);
    response->has_ended = from->part_count <= 1 && !response_has_more(from);
    response->length_left = length != CACHE_LENGTH_UNKNOWN ? length : 0;
}

/* Adds the body compressed, if a stored answer's body would be compressed, and
 * returns whether it was added. For HEAD, adds only the fields of a compressed
 * answer. */
static bool is_coded(struct exchange *exchange, const struct response *from,
                     struct source *source)
{
    struct response *response = &exchange->response;
    uint64_t length = fetched_length(from);

    if (from->is_error)
        return false;
    if (response->is_head) {
        encode_head(response->encode, exchange);
        return false;
    }
    if (!encode_wants(response->encode, exchange, length))
        return false;
    head_drop(&response->head, RESPONSE_HEADROOM, BYTES("Content-Length"));
    encode_add_source(response->encode, exchange, source, length);
    return true;
}

void cached_hand_over(struct cached *cached, struct exchange *exchange,
                      struct fetch *fetch, const struct cached_note *note)
{
    struct exchange *from = fetch_hand(fetch, exchange);
    struct response *response = &exchange->response;
    struct handed *handed = malloc(sizeof(*handed));

    if (!handed || from->response.head.failed || !from->response.has_head) {
        free(handed);
        fetch_destroy(fetch);
        response_break_off(response);
        return;
    }
    *handed = (struct handed){.source = {.next = next, .destroy = destroy},
                              .fetch = fetch,
                              .from = from,
                              .to = exchange,
                              .part_at = 1};
    copy_head(response, &from->response);
    note_codings(exchange);
    if (from->response.is_relayed) /* own errors get none (RFC 9211 2) */
        cached_note_put(cached, note, &response->head);
    cached_note_use(cached, exchange, note);
    if (!is_coded(exchange, &from->response, &handed->source))
        add_body(response, &from->response, &handed->source);
}
