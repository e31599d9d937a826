#include "http/body.h"

#include <stdio.h>
#include <stdlib.h>

/* --- Text ---------------------------------------------------------------- */

static bool write_more(struct text_source *text)
{
    text->at = text->out.len = 0;
    if (!buf_reserve(&text->out, BODY_PIECE_BYTES))
        return false;
    text->state = text->fill(text, &text->out);
    return text->state != PIECE_FAILED && !text->out.failed;
}

static struct piece next_text(struct source *source, uint64_t at_most)
{
    struct text_source *text = (struct text_source *)source;
    struct bytes rest;

    if (text->at == text->out.len && !write_more(text))
        return (struct piece){.state = PIECE_FAILED};
    rest = bytes_between(text->out.data + text->at,
                         text->out.data + text->out.len);
    if (rest.len > at_most)
        rest.len = (size_t)at_most;
    text->at += rest.len;
    return (struct piece){.state = text->at < text->out.len ? PIECE_MORE
                                                            : text->state,
                          .part = part_of_memory(rest)};
}

static void destroy_text(struct source *source)
{
    struct text_source *text = (struct text_source *)source;

    buf_fini(&text->out);
    text->destroy(text);
}

void text_source_init(struct text_source *text,
                      enum piece_state (*fill)(struct text_source *text,
                                               struct buf *out),
                      void (*destroy)(struct text_source *text))
{
    *text = (struct text_source){.source = {.next = next_text,
                                            .destroy = destroy_text,
                                            .bytes = BODY_PIECE_BYTES},
                                 .fill = fill,
                                 .destroy = destroy};
    buf_init(&text->out, NULL, 0, BODY_TEXT_BYTES_MAX);
}

/* --- Chunks -------------------------------------------------------------- */

enum { SIZE_BYTES = 18 }; /* sixteen hex digits and CRLF */

enum chunk_stage {
    /* What the source sends next: */
    STAGE_SIZE,   /* the size of a chunk */
    STAGE_DATA,   /* the data of a chunk */
    STAGE_CLOSE,  /* the CRLF behind the data */
    STAGE_TRAILER /* the trailer, behind the last chunk */
};

struct chunk_source {
    struct source source; /* first, so that both have one address */
    struct source *inner;
    enum chunk_stage stage;
    struct piece piece; /* the piece of `inner` that is being framed */
    char size[SIZE_BYTES + 1];
};

static struct piece frame(struct bytes text, enum piece_state state)
{
    return (struct piece){.state = state,
                          .joins = state == PIECE_MORE,
                          .is_framing = true,
                          .part = part_of_memory(text)};
}

/* Makes the frame that ends the body. With has_data the frame first ends the
 * data of the last chunk. */
static struct piece end_chunks(struct chunk_source *chunks, bool has_data)
{
    if (chunks->piece.trailer.len == 0)
        return frame(has_data ? BYTES("\r\n0\r\n\r\n") : BYTES("0\r\n\r\n"),
                     PIECE_END);
    chunks->stage = STAGE_TRAILER;
    return frame(has_data ? BYTES("\r\n0\r\n") : BYTES("0\r\n"), PIECE_MORE);
}

static struct piece begin_chunk(struct chunk_source *chunks, uint64_t at_most)
{
    struct piece *piece = &chunks->piece;
    int len;

    *piece = chunks->inner->next(chunks->inner, at_most);
    if (piece->part.len == 0)
        return piece->state == PIECE_END ? end_chunks(chunks, false) : *piece;
    len = snprintf(chunks->size, sizeof(chunks->size), "%08llx\r\n",
                   (unsigned long long)piece->part.len);
    chunks->stage = STAGE_DATA;
    return frame((struct bytes){chunks->size, (size_t)len}, PIECE_MORE);
}

static struct piece next_chunk(struct source *source, uint64_t at_most)
{
    struct chunk_source *chunks = (struct chunk_source *)source;
    struct piece piece;

    switch (chunks->stage) {
    case STAGE_SIZE:
        return begin_chunk(chunks, at_most);
    case STAGE_DATA:
        piece = chunks->piece;
        piece.state = PIECE_MORE;
        piece.joins = true;
        chunks->stage = STAGE_CLOSE;
        return piece;
    case STAGE_CLOSE:
        chunks->stage = STAGE_SIZE;
        if (chunks->piece.state == PIECE_END)
            return end_chunks(chunks, true);
        piece = frame(BYTES("\r\n"), chunks->piece.state);
        piece.joins = chunks->piece.joins;
        return piece;
    case STAGE_TRAILER:
        break;
    }
    if (chunks->piece.trailer.len == 0)
        return frame(BYTES("\r\n"), PIECE_END);
    piece = frame(chunks->piece.trailer, PIECE_MORE);
    piece.joins = false; /* a response has no room for one more part */
    chunks->piece.trailer.len = 0;
    return piece;
}

static void destroy_chunks(struct source *source)
{
    struct chunk_source *chunks = (struct chunk_source *)source;

    chunks->inner->destroy(chunks->inner);
    free(chunks);
}

struct source *chunk_source_create(struct source *inner)
{
    struct chunk_source *chunks = malloc(sizeof(*chunks));

    if (!chunks) {
        inner->destroy(inner);
        return NULL;
    }
    *chunks = (struct chunk_source){.source = {.next = next_chunk,
                                               .destroy = destroy_chunks},
                                    .inner = inner};
    return &chunks->source;
}
