#include "handler/cached/cached_fetch_priv.h"

enum {
    TURN_BYTES = 262144, /* that one fetch takes before others get their turn */
    PIECE_BYTES = 65536,
    /* Worth ending though whoever asked has gone. */
    ALONE_BYTES = 4 * 1048576
};

static bool put_part(struct fetch *fetch, struct part part)
{
    switch (part.kind) {
    case PART_MEMORY:
        return cache_body_put(fetch->body,
                              (struct bytes){part.at.memory, (size_t)part.len});
    case PART_PIPE:
        return cache_body_put_pipe(fetch->body, part.fd, part.len);
    case PART_SENDFILE:
    case PART_READ:
        break; /* no proxy has any */
    }
    return part.len == 0;
}

/* Nothing more is kept of it than its readers need, from now on. */
static void stop_keeping(struct fetch *fetch)
{
    fetch->is_passing = true;
    cache_store_drop(fetch->cached->options.store, fetch->entry);
    cache_body_pass(fetch->body);
}

/* Or there is no room where it was to lie. */
static bool is_too_long(const struct fetch *fetch)
{
    const struct cache_store *store = fetch->cached->options.store;

    return !fetch->is_passing &&
           (cache_body_has_fallen(fetch->body) ||
            cache_body_filled(fetch->body) >
                cache_store_options_of(store)->object_max);
}

/* Whether it is to go on when nobody reads: for who comes later. */
static bool is_worth_ending(const struct fetch *fetch)
{
    uint64_t length = cache_body_length(fetch->body);
    uint64_t filled = cache_body_filled(fetch->body);

    if (fetch->is_passing)
        return false;
    return length == CACHE_LENGTH_UNKNOWN
               ? filled <= ALONE_BYTES
               : length <= ALONE_BYTES || filled >= length / 2;
}

static void finish(struct fetch *fetch, bool is_whole)
{
    struct cache_store *store = fetch->cached->options.store;

    cache_body_end(fetch->body, is_whole);
    if (is_whole && !fetch->is_passing &&
        cache_body_state_of(fetch->body) != CACHE_BODY_BROKEN)
        cache_store_settle(store, fetch->entry);
    else
        cache_store_drop(store, fetch->entry);
    cache_body_release(&fetch->body);
    fetch_destroy(fetch);
}

/* What has come with the head. False: there is no room. */
static bool put_first(struct fetch *fetch)
{
    struct response *response = &fetch->exchange.response;
    bool is_put = true;

    for (unsigned i = 1; i < response->part_count && is_put; i++)
        is_put = put_part(fetch, response->parts[i]);
    response->part_count = response->part_at = 0;
    response->bytes_left = 0;
    return is_put;
}

/* The next piece. False: nothing more comes now, or ever. */
static bool fill_piece(struct fetch *fetch, uint64_t *bytes)
{
    struct response *response = &fetch->exchange.response;
    struct piece piece = {.state = PIECE_END};

    if (response_has_more(response))
        piece = response->source->next(response->source, PIECE_BYTES);
    *bytes += piece.part.len;
    if (piece.state == PIECE_FAILED || !put_part(fetch, piece.part)) {
        finish(fetch, false);
        return false;
    }
    if (is_too_long(fetch))
        stop_keeping(fetch);
    if (piece.state == PIECE_END)
        finish(fetch, true);
    return piece.state == PIECE_MORE;
}

void fetch_fill(struct fetch *fetch)
{
    uint64_t bytes = 0;

    if (!fetch->body) { /* it has none */
        fetch_destroy(fetch);
        return;
    }
    if (fetch->exchange.response.part_count > 0 && !put_first(fetch)) {
        finish(fetch, false);
        return;
    }
    do {
        if (!cache_body_takes_more(fetch->body, &fetch->turn))
            return; /* a reader tells when it does */
        if (!cache_body_is_wanted(fetch->body) && !is_worth_ending(fetch)) {
            finish(fetch, false);
            return;
        }
        if (bytes >= TURN_BYTES) {
            cache_wait_later(&fetch->turn);
            return;
        }
    } while (fill_piece(fetch, &bytes));
}
