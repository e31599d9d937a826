#include "engine/h2/h2_priv.h"

/*
 * What a connection bids for its turn among others, when its client has said an
 * order for its own streams (h2_stream.c).
 *
 * Were it the bytes that the first of them has left, a page whose large picture
 * comes first would wait with all its small files until nobody else has anything
 * to send. Were it the shortest of them, whatever is sent, one small file that is
 * never sent would carry a download past everybody.
 *
 * So the streams have two orders. Each brings its bytes to the connection as a
 * bid; bids are spent shortest first, as if each stream had a connection of its
 * own; what is sent for them is the client's choice. A byte that is sent spends
 * one of a bid, whosever it was, and what a stream leaves of its bid when it is
 * complete goes to those whose bids were spent for it.
 *
 * Claim: a connection is sent no more, and no sooner, than if its streams went
 * shortest first. Proof: a bid is spent once, by as many bytes as are sent, and
 * what is spent next is the least that is left, which is what the connection is
 * ordered by; so for all others it is a connection whose streams go in the order
 * of the bids. Bids that are passed on are put together, never divided: what is
 * put together is longer, and goes later.
 *
 * Who resets a stream takes its bid away, as far as it has not been spent. What
 * was spent of it is gone, as it would have been sent.
 *
 * Invariant: bidder is the stream with the least bid above 0, or NULL when all
 *            are 0.
 */

static uint64_t key_of(const struct h2_stream *stream)
{
    const struct session *session = stream->h2->session;

    return session->context->hooks->key_of(session, &stream->place,
                                           stream->bid);
}

/* The least, and of equals the first that came. */
static void choose(struct h2 *h2)
{
    uint64_t least = UINT64_MAX;

    h2->bidder = NULL;
    for (struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, list_node);
        uint64_t key;

        if (stream->bid == 0)
            continue;
        key = key_of(stream);
        if (h2->bidder && key >= least)
            continue;
        h2->bidder = stream;
        least = key;
    }
}

void h2_bid_begin(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;
    struct candidate candidate;

    if (!h2->is_ordered)
        return;
    candidate = h2_stream_candidate(stream);
    stream->bid = candidate.is_stream ? 0 : candidate.bytes;
    if (h2->bidder == stream)
        choose(h2);
    else if (stream->bid > 0 &&
             (!h2->bidder || key_of(stream) < key_of(h2->bidder)))
        h2->bidder = stream;
}

void h2_bid_spend(struct h2 *h2, uint64_t bytes)
{
    while (bytes > 0 && h2->bidder) {
        struct h2_stream *stream = h2->bidder;
        uint64_t step = bytes < stream->bid ? bytes : stream->bid;

        stream->bid -= step;
        bytes -= step;
        if (stream->bid == 0)
            choose(h2);
    }
}

void h2_bid_drop(struct h2_stream *stream)
{
    stream->bid = 0;
    if (stream->h2->bidder == stream)
        choose(stream->h2);
}

/* How many bytes the stream will send beyond its bid. */
static uint64_t count_unbid(const struct h2_stream *stream)
{
    struct candidate candidate;

    if (!stream->is_put || stream->is_gone || stream->is_framed)
        return 0;
    candidate = h2_stream_candidate(stream);
    return !candidate.is_stream && candidate.bytes > stream->bid
               ? candidate.bytes - stream->bid
               : 0;
}

void h2_bid_pass_on(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;
    struct h2_stream *heir = NULL;

    if (stream->bid == 0)
        return;
    for (struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next) {
        struct h2_stream *other = OWNER_OF(node, struct h2_stream, list_node);

        if (other == stream || count_unbid(other) == 0)
            continue;
        heir = other;
        if (other->bid == 0)
            break; /* the bid stays as it is */
    }
    if (heir)
        heir->bid += stream->bid;
    stream->bid = 0;
    choose(h2);
}

void h2_heed_client(struct h2 *h2)
{
    if (h2->is_ordered)
        return;
    h2->is_ordered = true;
    for (struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, list_node);

        if (stream->is_put && !stream->is_gone && !stream->is_framed)
            h2_bid_begin(stream);
        if (heap_has(&stream->ready))
            h2_stream_ready(stream);
    }
}
