#include "handler/cached/cached_priv.h"

#include <stdlib.h>

/* The source of a body that some worker may still be filling. */
struct cached_source {
    struct source source;
    struct exchange *exchange;
    struct cache_body *body;
    struct cache_reader reader;
    struct cache_wait wait;
    uint64_t
        borrowed; /* behind reader.at: has left when next is called again */
    uint64_t end; /* UINT64_MAX: where the body does */
};

static void on_more(struct cache_wait *wait)
{
    exchange_wake(OWNER_OF(wait, struct cached_source, wait)->exchange);
}

static enum piece_state state_of(const struct cached_source *reading,
                                 enum cache_body_state state, uint64_t len)
{
    uint64_t at = reading->reader.at + len;

    if (at == reading->end)
        return PIECE_END;
    switch (state) {
    case CACHE_BODY_FILLING: /* with nothing it waits to be told */
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

static struct piece next(struct source *source, uint64_t at_most)
{
    struct cached_source *reading = OWNER_OF(source, struct cached_source,
                                             source);
    enum cache_body_state state;
    struct part part;
    uint64_t left;

    /* It may be asked again before it was told. */
    cache_body_cancel(reading->body, &reading->wait);
    cache_body_advance(reading->body, &reading->reader, reading->borrowed);
    left = reading->end - reading->reader.at;
    part = cache_body_read(reading->body, &reading->reader,
                           at_most < left ? at_most : left, &reading->wait,
                           &state);
    reading->borrowed = part.len;
    return (struct piece){.state = state_of(reading, state, part.len),
                          .part = part};
}

static void destroy(struct source *source)
{
    struct cached_source *reading = OWNER_OF(source, struct cached_source,
                                             source);

    cache_body_cancel(reading->body, &reading->wait);
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
                                      .end = end};
    cache_wait_init(&reading->wait, cached->options.port, on_more);
    cache_body_join(body, &reading->reader, first);
    return &reading->source;
}
