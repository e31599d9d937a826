#include "handler/cached/cached_priv.h"
#include "http/head_edit.h"

static const struct bytes ways[] = {
    [CACHED_HIT] = {"; hit", 5},
    [CACHED_METHOD] = {"; fwd=method", 12},
    [CACHED_BYPASS] = {"; fwd=bypass", 12},
    [CACHED_REQUEST] = {"; fwd=request", 13},
    [CACHED_MISS] = {"; fwd=uri-miss", 14},
    [CACHED_VARY_MISS] = {"; fwd=vary-miss", 15},
    [CACHED_PARTIAL] = {"; fwd=partial", 13},
    [CACHED_STALE] = {"; fwd=stale", 11},
};

static void put_signed(struct buf *out, int64_t number)
{
    if (number < 0)
        buf_put_literal(out, "-");
    buf_put_number(out, (uint64_t)(number < 0 ? -number : number));
}

void cached_note_put(const struct cached *cached,
                     const struct cached_note *note, struct buf *out)
{
    struct bytes name = cached->options.name;
    struct bytes quote = head_is_sf_token(name) ? BYTES("") : BYTES("\"");

    buf_put_literal(out, "Cache-Status: ");
    buf_put(out, quote);
    buf_put(out, name);
    buf_put(out, quote);
    buf_put(out, ways[note->way]);
    if (note->has_ttl) {
        buf_put_literal(out, "; ttl=");
        put_signed(out, note->ttl_s);
    }
    if (note->status > 0) {
        buf_put_literal(out, "; fwd-status=");
        buf_put_number(out, note->status);
    }
    if (note->is_stored)
        buf_put_literal(out, "; stored");
    if (note->is_collapsed)
        buf_put_literal(out, "; collapsed");
    if (note->detail) {
        buf_put_literal(out, "; detail=");
        buf_put(out, bytes_of(note->detail));
    }
    buf_put_literal(out, "\r\n");
}

static enum response_cache use_of(const struct cached_note *note)
{
    switch (note->way) {
    case CACHED_HIT:
        return note->has_ttl && note->ttl_s <= 0 ? RESPONSE_CACHE_STALE
                                                 : RESPONSE_CACHE_HIT;
    case CACHED_STALE:
    case CACHED_REQUEST:
        if (note->status == 304)
            return RESPONSE_CACHE_REVALIDATED;
        /* A ttl means here that a stale answer has replaced a failure. */
        if (note->has_ttl)
            return RESPONSE_CACHE_STALE;
        return note->way == CACHED_REQUEST && note->status == 0
                   ? RESPONSE_CACHE_BYPASS
                   : RESPONSE_CACHE_MISS;
    case CACHED_METHOD:
    case CACHED_BYPASS:
        return RESPONSE_CACHE_BYPASS;
    case CACHED_MISS:
    case CACHED_VARY_MISS:
    case CACHED_PARTIAL:
    case CACHED_WAYS:
        break;
    }
    return RESPONSE_CACHE_MISS;
}

#define NUMBER(member) (offsetof(struct stats_kept, member) / sizeof(uint64_t))

void cached_note_use(const struct cached *cached, struct exchange *exchange,
                     const struct cached_note *note)
{
    static const uint8_t numbers[RESPONSE_CACHE_USES] = {
        [RESPONSE_CACHE_HIT] = NUMBER(hits),
        [RESPONSE_CACHE_MISS] = NUMBER(misses),
        [RESPONSE_CACHE_STALE] = NUMBER(stale),
        [RESPONSE_CACHE_REVALIDATED] = NUMBER(revalidated),
        [RESPONSE_CACHE_BYPASS] = NUMBER(bypassed)};
    enum response_cache use = use_of(note);

    exchange->response.cache_use = (uint8_t)use;
    counter_add(&cached->options.counts[numbers[use]], 1);
}

void cached_note_past(const struct cached *cached, struct exchange *exchange,
                      enum cached_way way)
{
    struct cached_note note = {.way = way};

    cached_note_use(cached, exchange, &note);
    exchange->response.relayed_line = bytes_of(cached->past[way]);
}

void cached_note_prepare(struct cached *cached)
{
    for (unsigned way = 0; way < CACHED_WAYS; way++) {
        struct cached_note note = {.way = (enum cached_way)way};
        struct buf line;

        buf_init(&line, cached->past[way], CACHED_NOTE_BYTES - 1,
                 CACHED_NOTE_BYTES - 1);
        cached_note_put(cached, &note, &line);
        cached->past[way][line.failed ? 0 : line.len] = '\0';
    }
}
