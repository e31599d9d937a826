#include "engine/h2/h2_priv.h"

/*
 * A bid is the number of bytes by which the scheduler orders a connection whose
 * client has given its streams an order (h2_stream.c).
 *
 * The bid cannot be what the connection's first stream has left: a page whose
 * large picture comes first would wait with all its small files until no other
 * connection has anything to send. Nor can the bid be what the shortest stream
 * has left: one small file that the client lets wait behind a download would
 * let the download pass all other connections.
 *
 * So there are two orders. Each stream brings its bytes to the connection as a
 * bid, and the bids are spent shortest first, as if each stream had a
 * connection of its own. Which stream is sent is the client's choice. Each byte
 * that is sent, of any stream, spends one byte of the shortest bid. When a
 * stream is complete, the rest of its bid goes to streams whose bids were spent
 * for it.
 *
 * Claim: a connection is sent neither more nor sooner than if its streams went
 * shortest first. Proof: a bid is spent once, by as many bytes as are sent. The
 * bid that is spent next is the smallest, and the connection is ordered by this
 * bid. So for all others the connection behaves as one whose streams go in the
 * order of the bids. Bids that are passed on are added to other bids, never
 * divided: the sum is longer, and goes later.
 *
 * When a stream is reset, what is left of its bid is dropped. What was spent of
 * the bid stays spent.
 *
 * A page. Files that are asked for together are of use only when all have
 * come. If the page were one job with a weight of n, the number of its files,
 * it would be sent as soon as the bytes left of it, divided by n, were fewer
 * than what others have left (Smith, "Various optimizers for single-stage
 * production", 1956: the least sum of weighted times). But then all its files
 * would wait for the last one, and others would wait behind it. So each file
 * goes by its own bid, or by the page's bytes left, divided by n and multiplied
 * by H2_PAGE_TIMES, whichever is less. The first files of a page go as they
 * would alone, and the last ones go the sooner, the less of the page is
 * missing. An answer larger than a page's files has no part in this, nor in n;
 * and a client that keeps asking begins another page. So a connection may be
 * sent sooner than the claim says, by no more than the bytes of its page, and
 * never before something small, or something due (client_share.h).
 *
 * Invariant: bidder is the stream with the smallest bid above 0, or NULL when
 *            all bids are 0; page_bytes is the sum of the bids of the page's
 *            files.
 */

static uint64_t key_of(const struct h2_stream *stream)
{
    const struct session *session = stream->h2->session;

    return session->context->hooks->key_of(session, &stream->place,
                                           stream->bid);
}

/* Makes the stream with the smallest bid the bidder; of equal bids, the first
 * that came. */
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

static void set_bid(struct h2_stream *stream, uint64_t bid)
{
    if (stream->is_of_page)
        stream->h2->page_bytes += bid - stream->bid;
    stream->bid = bid;
}

/* Returns how many files of the page are not complete. */
static uint32_t count_files(const struct h2 *h2)
{
    uint32_t files = 0;

    for (const struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next) {
        const struct h2_stream *stream = OWNER_OF(node, struct h2_stream,
                                                  list_node);

        files += stream->is_of_page && stream->bid > 0;
    }
    return files;
}

static void join_page(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;

    if (h2->page_bytes == 0)
        h2->page_files = 0;
    else if (h2->page_files == H2_PAGE_FILES)
        h2->page_files = count_files(h2);
    h2->page_files++;
    stream->is_of_page = true;
    h2->page_bytes += stream->bid; /* the stream may have got a bid before */
}

/* Counts one file less in the page, because a file is given up. The page's
 * bytes shrink later, when the file's bid is dropped. */
static void leave_page(const struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;

    if (stream->is_of_page && stream->bid > 0 && h2->page_files > 1)
        h2->page_files--;
}

uint64_t h2_bid_bytes(const struct h2 *h2)
{
    const struct h2_stream *stream = h2->bidder;
    uint64_t most;

    if (!stream->is_of_page || stream->bid <= H2_PAGE_BID_MIN)
        return stream->bid;
    most = h2->page_bytes * H2_PAGE_TIMES / h2->page_files;
    if (most < H2_PAGE_BID_MIN)
        most = H2_PAGE_BID_MIN;
    return stream->bid < most ? stream->bid : most;
}

void h2_bid_begin(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;
    struct candidate candidate;
    uint64_t bid;

    if (!h2->is_ordered)
        return;
    candidate = h2_stream_candidate(stream);
    bid = candidate.is_stream ? 0 : candidate.bytes;
    if (!stream->is_of_page && bid > 0 && bid <= H2_PAGE_FILE)
        join_page(stream);
    set_bid(stream, bid);
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

        set_bid(stream, stream->bid - step);
        bytes -= step;
        if (stream->bid == 0)
            choose(h2);
    }
}

void h2_bid_drop(struct h2_stream *stream)
{
    leave_page(stream);
    set_bid(stream, 0);
    if (stream->h2->bidder == stream)
        choose(stream->h2);
}

/* Returns how many bytes the stream will send beyond its bid. */
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
            break; /* added to 0, the bid that is passed on gets no longer */
    }
    if (heir)
        set_bid(heir, heir->bid + stream->bid);
    set_bid(stream, 0);
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
