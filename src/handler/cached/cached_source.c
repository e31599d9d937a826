#include "handler/cached/cached_priv.h"

#include <stdlib.h>

enum {
    /* Bytes of the first piece of a body that several clients read. The piece
     * is sent with the head. Each reader gets it before any reader gets more.
     * Otherwise, the last of 1,000 readers would get its first byte only after
     * all others got a quantum. */
    FIRST_BYTES = 16384,
    /* The most turns of the loop that a reader waits for readers without a
     * first piece. One of these readers may never take anything. A turn sends
     * 32 first pieces. */
    PAUSE_TURNS_MAX = 64
};

enum stage {
    STAGE_FIRST,  /* nothing was read yet */
    STAGE_SECOND, /* the first piece was read; other readers may go first */
    STAGE_PAUSE,  /* waits until the other readers have their first piece */
    STAGE_REST
};

/* The source of a body that a worker may still be filling. */
struct cached_source {
    struct source source;
    struct exchange *exchange;
    struct cache_body *body;
    struct cache_reader reader;
    struct cache_wait wait;
    uint64_t
        borrowed; /* bytes behind reader.at, lent until next() is called anew */
    uint64_t end; /* where the source ends; UINT64_MAX: at the body's end */
    enum stage stage;
    unsigned turns; /* turns of the loop that the pause has lasted */
};

bool cached_is_mapped(const struct exchange *exchange)
{
    return exchange->tls || address_is_local(exchange->neighbour);
}

static void on_more(struct cache_wait *wait)
{
    struct cached_source *reading = OWNER_OF(wait, struct cached_source, wait);

    if (reading->stage == STAGE_PAUSE) {
        if (++reading->turns < PAUSE_TURNS_MAX &&
            cache_body_has_beginners(reading->body)) {
            cache_wait_later(wait);
            return;
        }
        reading->stage = STAGE_REST;
    }
    exchange_wake(reading->exchange);
}

static enum piece_state state_of(const struct cached_source *reading,
                                 enum cache_body_state state, uint64_t len)
{
    uint64_t at = reading->reader.at + len;

    if (at == reading->end)
        return PIECE_END;
    switch (state) {
    case CACHE_BODY_FILLING: /* without bytes, the source waits to be woken */
        return len > 0 ? PIECE_MORE : PIECE_LATER;
    case CACHE_BODY_WHOLE:
        if (at < cache_body_filled(reading->body))
            return PIECE_MORE;
        return reading->end == UINT64_MAX ? PIECE_END : PIECE_FAILED;
    case CACHE_BODY_BROKEN:
        break;
    }
    return len > 0 ? PIECE_MORE : PIECE_FAILED;
}

/* Gives no bytes for now. More come when the other readers have their first
 * piece, or a little later. Readers that were just woken need their first piece
 * in this turn, too: an answer that has not begun comes first. */
static struct piece pause_here(struct cached_source *reading)
{
    if (reading->stage == STAGE_SECOND)
        cache_wait_later(&reading->wait);
    reading->stage = STAGE_PAUSE;
    return (struct piece){.state = PIECE_LATER,
                          .is_paused = true,
                          .part = part_of_memory(BYTES(""))};
}

/* Returns how many bytes the first piece may have: FIRST_BYTES at most, if
 * several clients read the body. */
static uint64_t limit_first(struct cached_source *reading, uint64_t at_most)
{
    return at_most > FIRST_BYTES && cache_body_is_crowded(reading->body)
               ? FIRST_BYTES
               : at_most;
}

static void note_begun(struct cached_source *reading)
{
    if (reading->stage == STAGE_FIRST)
        cache_body_note_begun(reading->body);
    reading->stage = STAGE_REST;
}

static struct piece next(struct source *source, uint64_t at_most)
{
    struct cached_source *reading = OWNER_OF(source, struct cached_source,
                                             source);
    bool is_first = reading->stage == STAGE_FIRST;
    enum cache_body_state state;
    struct part part;
    uint64_t left;

    if (reading->stage == STAGE_PAUSE || (reading->stage == STAGE_SECOND &&
                                          cache_body_is_crowded(reading->body)))
        return pause_here(reading);
    /* The source may have been asked again before the body has woken it. */
    cache_body_cancel(reading->body, &reading->wait);
    cache_body_advance(reading->body, &reading->reader, reading->borrowed);
    if (is_first)
        at_most = limit_first(reading, at_most);
    left = reading->end - reading->reader.at;
    part = cache_body_read(reading->body, &reading->reader,
                           at_most < left ? at_most : left, &reading->wait,
                           &state);
    reading->borrowed = part.len;
    if (part.len > 0) {
        note_begun(reading);
        if (is_first)
            reading->stage = STAGE_SECOND;
    }
    return (struct piece){.state = state_of(reading, state, part.len),
                          .part = part};
}

static void destroy(struct source *source)
{
    struct cached_source *reading = OWNER_OF(source, struct cached_source,
                                             source);

    cache_body_cancel(reading->body, &reading->wait);
    note_begun(reading);
    cache_body_leave(reading->body, &reading->reader);
    cache_body_release(&reading->body);
    free(reading);
}

struct source *cached_source_create(struct cached *cached,
                                    struct exchange *exchange,
                                    struct cache_body *body, uint64_t first,
                                    uint64_t end)
{
    struct cached_source *reading = malloc(sizeof(*reading));

    if (!reading)
        return NULL;
    *reading = (struct cached_source){.source = {.next = next,
                                                 .destroy = destroy},
                                      .exchange = exchange,
                                      .body = cache_body_acquire(body),
                                      .reader.is_mapped = exchange->tls != NULL,
                                      .end = end};
    cache_wait_init(&reading->wait, cached->options.port, on_more);
    cache_body_join(body, &reading->reader, first);
    return &reading->source;
}
