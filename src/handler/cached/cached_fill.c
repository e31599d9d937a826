#include <unistd.h>

#include "handler/cached/cached_fetch_priv.h"

enum {
    TURN_BYTES = 262144, /* after so many bytes, a fetch lets others go on */
    PIECE_BYTES = 65536,
    /* A body of at most this many bytes is fetched to its end even if nobody
     * reads it. */
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
        break; /* a proxy's answers have no such parts */
    }
    return part.len == 0;
}

/* Stops storing the body. From now on the body holds only bytes that its
 * readers need. */
static void stop_keeping(struct fetch *fetch)
{
    struct cache_store *store = fetch->cached->options.store;

    fetch->is_passing = true;
    if (cache_body_filled(fetch->body) >
        cache_store_options_of(store)->object_max)
        cache_store_note_long(store, (struct bytes){fetch->key, fetch->key_len},
                              fetch->entry->variant,
                              cached_mono_s(fetch->cached));
    cache_store_drop(store, fetch->entry);
    cache_body_pass(fetch->body);
}

/* Whether the body is too long to be stored, or the store has no room left. */
static bool is_too_long(const struct fetch *fetch)
{
    const struct cache_store *store = fetch->cached->options.store;

    return !fetch->is_passing &&
           (cache_body_has_fallen(fetch->body) ||
            (cache_body_length(fetch->body) == CACHE_LENGTH_UNKNOWN &&
             cache_store_is_full(store)) ||
            cache_body_filled(fetch->body) >
                cache_store_options_of(store)->object_max);
}

/* Whether a body that nobody reads should be completed for later clients. */
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

static void settle(struct fetch *fetch)
{
    if (fetch->is_part)
        fetch_put_part(fetch);
    else
        cache_store_settle(fetch->cached->options.store, fetch->entry);
}

static void finish(struct fetch *fetch, bool is_whole)
{
    struct cache_store *store = fetch->cached->options.store;

    cache_body_cancel(fetch->body, &fetch->turn);
    cache_body_end(fetch->body, is_whole);
    if (is_whole && !fetch->is_passing &&
        cache_body_state_of(fetch->body) != CACHE_BODY_BROKEN)
        settle(fetch);
    else
        cache_store_drop(store, fetch->entry);
    cache_body_release(&fetch->body);
    fetch_destroy(fetch);
}

/* Puts the bytes that came with the head into the body. Returns false if there
 * is no room for them. */
static bool put_first(struct fetch *fetch)
{
    struct response *response = &fetch->exchange.response;
    bool is_put = true;

    for (unsigned i = 1; i < response->part_count && is_put; i++) {
        fetch->mended += response->parts[i].len;
        is_put = put_part(fetch, response->parts[i]);
    }
    response->part_count = response->part_at = 0;
    response->bytes_left = 0;
    return is_put;
}

/* --- Bytes that are stored already --------------------------------------- */

/* Copies the next stored bytes, up to `end`, from the ranges of the earlier
 * entry into the body. Returns false if they cannot be read, or if there is no
 * room for them. */
static bool put_held(struct fetch *fetch, uint64_t end, uint64_t *bytes)
{
    const struct cache_ranges *ranges = fetch->earlier.entry->ranges;
    uint64_t len = end - fetch->held_at;
    struct part part = cache_ranges_part(ranges, fetch->held_at,
                                         len < PIECE_BYTES ? len : PIECE_BYTES);
    struct bytes data = {part.at.memory, (size_t)part.len};
    char copy[PIECE_BYTES];

    if (part.kind != PART_MEMORY) {
        ssize_t n = pread(part.fd, copy, (size_t)part.len,
                          (off_t)part.at.offset);

        data = (struct bytes){copy, n > 0 ? (size_t)n : 0};
    }
    fetch->held_at += data.len;
    *bytes += data.len;
    return data.len > 0 && cache_body_put(fetch->body, data);
}

/* Sets held_at behind the gap, if the gap is filled: stored bytes come next.
 * Returns false if it is not filled. */
static bool leave_gap(struct fetch *fetch)
{
    if (fetch->mended != fetch->gap.last - fetch->gap.first + 1)
        return false;
    fetch->held_at = fetch->gap.last + 1;
    return true;
}

/* Returns the end of the stored range in which held_at lies. Returns held_at
 * itself if the next byte of the body is in no stored range. */
static uint64_t held_end(const struct fetch *fetch)
{
    if (!fetch->mends)
        return fetch->held_at;
    return fetch->held_at <= fetch->gap.first
               ? fetch->gap.first
               : fetch->earlier.entry->ranges->length;
}

/* --- Bytes of the reply -------------------------------------------------- */

static bool is_beyond_gap(const struct fetch *fetch)
{
    return fetch->mends &&
           fetch->mended > fetch->gap.last - fetch->gap.first + 1;
}

/* Puts the next piece of the reply into the body. Returns false if no more
 * bytes come now, or if the body has ended. */
static bool fill_piece(struct fetch *fetch, uint64_t *bytes)
{
    struct response *response = &fetch->exchange.response;
    struct piece piece = {.state = PIECE_END};

    if (response_has_more(response))
        piece = response->source->next(response->source, PIECE_BYTES);
    *bytes += piece.part.len;
    fetch->mended += piece.part.len;
    if (piece.state == PIECE_FAILED || is_beyond_gap(fetch) ||
        !put_part(fetch, piece.part)) {
        finish(fetch, false);
        return false;
    }
    if (is_too_long(fetch))
        stop_keeping(fetch);
    if (piece.state != PIECE_END)
        return piece.state == PIECE_MORE;
    if (fetch->mends && leave_gap(fetch) &&
        fetch->held_at < fetch->earlier.entry->ranges->length)
        return true;
    finish(fetch, !fetch->mends || leave_gap(fetch));
    return false;
}

/* Puts the next bytes into the body: from the reply, or from stored ranges.
 * Returns false if no more bytes come now, or if the body has ended. */
static bool fill_next(struct fetch *fetch, uint64_t *bytes)
{
    uint64_t end = held_end(fetch);
    bool is_behind = fetch->mends && fetch->held_at > fetch->gap.first;

    if (fetch->held_at == end) {
        if (fetch->exchange.response.part_count == 0)
            return fill_piece(fetch, bytes);
        if (put_first(fetch))
            return true;
        finish(fetch, false);
        return false;
    }
    if (!put_held(fetch, end, bytes)) {
        finish(fetch, false);
        return false;
    }
    if (is_behind && fetch->held_at == end) {
        finish(fetch, true);
        return false;
    }
    return true;
}

void fetch_fill(struct fetch *fetch)
{
    uint64_t bytes = 0;

    if (!fetch->body) { /* the answer has no body */
        fetch_destroy(fetch);
        return;
    }
    do {
        if (!cache_body_takes_more(fetch->body, &fetch->turn))
            return; /* a reader wakes the fetch */
        if (cache_body_is_forsaken(fetch->body) ||
            (!cache_body_is_wanted(fetch->body) && !is_worth_ending(fetch))) {
            finish(fetch, false);
            return;
        }
        if (bytes >= TURN_BYTES) {
            cache_wait_later(&fetch->turn);
            return;
        }
    } while (fill_next(fetch, &bytes));
}
