#include <assert.h>

#include "http/response.h"

/* Adds the head and the source. A source from which nothing will be sent is
 * destroyed at once. */
static void add_head_and_source(struct response *response,
                                struct source *source)
{
    response_add_head(response);
    if (source && (response->is_head || response->head.failed))
        source->destroy(source);
    else
        response->source = source;
}

void response_add_source(struct response *response, struct source *source)
{
    response->is_unsized = true;
    add_head_and_source(response, source);
}

void response_add_source_of(struct response *response, struct source *source,
                            uint64_t length)
{
    response->has_length = true;
    response->length_left = length;
    head_number(&response->head, BYTES("Content-Length"), length);
    add_head_and_source(response, source);
}

/* Whether a piece fits the announced length: it is not longer than what is left
 * and, if it is the last piece, not shorter. */
static bool fits_length(struct response *response, const struct piece *piece)
{
    if (!response->has_length)
        return true;
    if (piece->part.len > response->length_left)
        return false;
    response->length_left -= piece->part.len;
    return piece->state != PIECE_END || response->length_left == 0;
}

bool response_pull(struct response *response, uint64_t at_most)
{
    struct piece piece;

    assert(response->bytes_left == 0);
    response->part_count = response->part_at = 0;
    do {
        piece = response->source->next(response->source, at_most);
        if (piece.state == PIECE_FAILED || !fits_length(response, &piece))
            return false;
        if (!piece.is_framing)
            response->body_bytes += piece.part.len;
        assert(response->part_count < RESPONSE_PARTS_INLINE);
        response_add_part(response, piece.part);
    } while (piece.joins);
    response->has_ended = piece.state == PIECE_END;
    if (response->has_ended)
        response->trailer = piece.trailer;
    response->is_waiting = piece.state == PIECE_LATER;
    if (response->is_waiting && !piece.is_paused)
        response->bytes_before = response->bytes_sent;
    return true;
}
