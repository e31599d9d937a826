#include "engine/h2/h2_priv.h"

/*
 * A sink may keep bytes of its body until an upstream server is connected, or
 * for another try, and a hundred sinks may do so at once. So the connection's
 * window does not open again for bytes that sinks keep:
 *
 *   receive_size = receive_window + held of streams + owed + credit
 *
 * To ease a sink is to tell it that it may keep no more. When the window cannot
 * open, the sink that keeps most is eased; this happens for each piece of a
 * body that comes. When the window is nearly shut, all sinks are eased.
 */
enum {
    CREDIT_MIN = 1024, /* fewer bytes are not worth a frame */
    WINDOW_LOW = 32768
};

/* --- What is kept -------------------------------------------------------- */

static const struct sink *keeping_sink(const struct h2_stream *stream)
{
    const struct exchange *exchange = stream->exchange;

    return exchange && exchange->sink && exchange->sink->kept ? exchange->sink
                                                              : NULL;
}

/* Moves bytes that sinks no longer keep from h2->owed to h2->credit. */
static void pay(struct h2 *h2)
{
    size_t kept = 0;

    for (const struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next) {
        const struct sink *sink = keeping_sink(OWNER_OF(node, struct h2_stream,
                                                        list_node));

        kept += sink ? sink->kept(sink) : 0;
    }
    if (kept >= h2->owed)
        return;
    h2->credit += h2->owed - (uint32_t)kept;
    h2->owed = (uint32_t)kept;
}

static void ease_one(struct sink *sink)
{
    sink->is_eased = true;
    sink->ease(sink);
}

static void ease(struct h2 *h2)
{
    bool eases_all = h2->receive_window < WINDOW_LOW;
    struct sink *most = NULL;
    size_t most_bytes = 0;

    for (struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, list_node);
        struct sink *sink = keeping_sink(stream) ? stream->exchange->sink
                                                 : NULL;
        size_t bytes = sink && !sink->is_eased ? sink->kept(sink) : 0;

        if (bytes <= most_bytes)
            continue;
        if (eases_all) {
            ease_one(sink);
        } else {
            most = sink;
            most_bytes = bytes;
        }
    }
    if (most)
        ease_one(most);
}

/* --- What is given back -------------------------------------------------- */

/* Whether the credit is at least as large as what is left of the window. When
 * sinks keep nothing and nothing is held, this is so as soon as half of the
 * window is used up. */
static bool is_worth_it(const struct h2 *h2)
{
    return h2->credit >= CREDIT_MIN &&
           (int64_t)h2->credit >= h2->receive_window;
}

/* Opens the connection's window by the credit, and by the growth of windows. */
static void open_connection(struct h2 *h2)
{
    uint32_t size = H2_CONN_WINDOW + (h2->body_window - H2_STREAM_WINDOW);
    uint32_t increment = h2->credit + (size - h2->receive_size);

    if (!is_worth_it(h2))
        return;
    h2_put_window(h2, 0, increment);
    h2->receive_window += (int32_t)increment;
    h2->receive_size = size;
    h2->credit = 0;
}

static void open_stream(struct h2 *h2, struct h2_stream *stream)
{
    uint32_t increment = stream->credit +
                         (h2->body_window - stream->receive_size);

    if (stream->credit < stream->receive_size / 2)
        return;
    h2_put_window(h2, stream->id, increment);
    stream->receive_window += (int32_t)increment;
    stream->receive_size = h2->body_window;
    stream->credit = 0;
}

void h2_settle_windows(struct h2 *h2)
{
    if (h2->is_over || (int64_t)h2->credit + h2->owed < h2->receive_window)
        return;
    if (h2->owed > 0)
        pay(h2);
    if (h2->owed > 0 &&
        (!is_worth_it(h2) || h2->owed >= h2->receive_size / 2)) {
        ease(h2);
        pay(h2);
    }
    open_connection(h2);
}

static void give_to_stream(struct h2 *h2, struct h2_stream *stream,
                           uint32_t len)
{
    stream->credit += len;
    if (!stream->has_ended && !stream->discards)
        open_stream(h2, stream);
}

void h2_give_back(struct h2 *h2, struct h2_stream *stream, uint32_t len)
{
    if (stream && !stream->discards)
        h2_measure(h2, stream, len);
    h2->credit += len;
    open_connection(h2);
    if (stream)
        give_to_stream(h2, stream, len);
}

void h2_give_taken(struct h2 *h2, struct h2_stream *stream, uint32_t len)
{
    if (!stream || !keeping_sink(stream)) {
        h2_give_back(h2, stream, len);
        return;
    }
    if (!stream->discards)
        h2_measure(h2, stream, len);
    h2->owed += len;
    h2_settle_windows(h2);
    give_to_stream(h2, stream, len);
}
