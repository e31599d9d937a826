#include <stdlib.h>
#include <unistd.h>

#include "base/now.h"
#include "engine/h2/h2_priv.h"
#include "observe/profile.h"

enum {
    VECTOR_MAX = 128, /* most pieces in one system call */
    /* Roughly the framing bytes of one response. Framing beyond this is charged
     * to the next response. */
    H2_FRAMING_BYTES = 256
};

/*
 * The part of a plan that the socket did not take. Text of the plan is copied;
 * bytes of responses in memory stay where they are. Bytes that were read from
 * files are read again. This is safe over TLS, too: a transport that has to
 * repeat a write does not look at the memory again (io/tls).
 */
struct h2_rest {
    uint64_t bytes;
    unsigned at;
    unsigned count;
    char *text;
    struct h2_segment segments[];
};

/* The segments that are being sent, of the plan or of the rest. */
struct row {
    struct h2_segment *segments;
    unsigned at;
    unsigned count;
};

/* --- What goes ----------------------------------------------------------- */

/* Gives memory back: nothing of the answer is unsent for now. */
static void settle(struct h2_stream *stream)
{
    const struct response *response = &stream->exchange->response;
    struct source *source = response->source;

    if (source && source->settle && response->bytes_left == 0)
        source->settle(source);
    if (stream->is_waiting)
        h2_save_room(stream);
    else if (h2_stream_is_shut(stream))
        h2_save_shut_room(stream);
}

static void note_sent(struct h2 *h2, struct h2_segment *segment, uint32_t len)
{
    struct h2_stream *stream = segment->stream;
    struct exchange *exchange;

    h2->sent += len;
    segment->len -= len;
    segment->offset += len;
    if (segment->memory)
        segment->memory += len;
    if (!stream)
        return;
    stream->unsent -= len;
    exchange = stream->exchange;
    if (exchange && segment->is_answer)
        exchange->response.bytes_sent += len;
    if (exchange && exchange->times.first_ns == 0)
        exchange->times.first_ns = now_read_ns();
    if (stream->unsent > 0)
        return;
    if (stream->is_gone)
        h2_give_up(stream);
    else if (stream->is_framed)
        h2_finish(stream);
    else if (exchange)
        settle(stream);
}

static void note_all_sent(struct h2 *h2, struct row *row, size_t sent)
{
    while (sent > 0) {
        struct h2_segment *segment = &row->segments[row->at];
        uint32_t len = segment->len < sent ? segment->len : (uint32_t)sent;

        sent -= len;
        row->at += len == segment->len;
        note_sent(h2, segment, len);
    }
}

/* Gathers the next pieces of the row up to the first that is not in memory.
 * Sets *follows_out when a file or pipe follows. */
static size_t gather(const struct row *row, uint64_t budget,
                     struct iovec parts[VECTOR_MAX], size_t *bytes_out,
                     bool *follows_out)
{
    size_t count = 0;
    size_t bytes = 0;
    unsigned at = row->at;

    *follows_out = false;
    for (; at < row->count && bytes < budget; at++) {
        const struct h2_segment *segment = &row->segments[at];
        struct iovec *last = &parts[count > 0 ? count - 1 : 0];
        size_t len = segment->len;

        if (!segment->memory) {
            *follows_out = true;
            break;
        }
        if (len > budget - bytes)
            len = (size_t)(budget - bytes);
        if (count > 0 &&
            (const char *)last->iov_base + last->iov_len == segment->memory) {
            last->iov_len += len;
        } else if (count == VECTOR_MAX) {
            break;
        } else {
            parts[count++] = (struct iovec){(void *)(uintptr_t)segment->memory,
                                            len};
        }
        bytes += len;
    }
    *bytes_out = bytes;
    return count;
}

/* Sends bytes of a file, or bytes that a source has in a pipe. */
static enum io_result send_kernel(const struct transport *transport,
                                  const struct row *row, uint64_t budget,
                                  size_t *len_out, size_t *sent_out)
{
    const struct h2_segment *segment = &row->segments[row->at];
    size_t len = segment->len < budget ? segment->len : (size_t)budget;

    *len_out = len;
    if (segment->kind == PART_PIPE)
        return transport_splice(transport, segment->fd, len,
                                row->at + 1 < row->count, sent_out);
    return transport_send_file(transport, segment->fd, segment->offset, len,
                               sent_out);
}

/* Sends as much of the row as one call of the transport can take. */
static enum sender_result send_some(struct h2 *h2, struct row *row,
                                    uint64_t budget, uint64_t *sent_out)
{
    const struct transport *transport = &h2->session->transport;
    struct iovec parts[VECTOR_MAX];
    size_t sent = 0;
    size_t bytes;
    bool follows;
    size_t count = gather(row, budget, parts, &bytes, &follows);
    enum io_result result =
        count > 0 ? transport_send(transport, parts, count, follows, &sent)
                  : send_kernel(transport, row, budget, &bytes, &sent);

    switch (result) {
    case IO_DONE:
        break;
    case IO_AGAIN_READ:
    case IO_AGAIN_WRITE:
        return SENDER_FULL;
    case IO_EOF: /* the file is shorter than its frame */
    case IO_FAILED:
        return SENDER_FAILED;
    }
    *sent_out += sent;
    note_all_sent(h2, row, sent);
    return sent < bytes ? SENDER_FULL : SENDER_MORE;
}

static enum sender_result send_row(struct h2 *h2, struct row *row,
                                   uint64_t budget, uint64_t *sent_out)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SEND);
    enum sender_result result = SENDER_MORE;

    while (row->at < row->count && *sent_out < budget && result == SENDER_MORE)
        result = send_some(h2, row, budget - *sent_out, sent_out);
    profile_leave(before);
    return result;
}

/* --- The rest ------------------------------------------------------------ */

static size_t count_text(const struct row *row)
{
    size_t bytes = 0;

    for (unsigned at = row->at; at < row->count; at++)
        if (row->segments[at].is_text)
            bytes += row->segments[at].len;
    return bytes;
}

/* Keeps the unsent segments of the row as the rest. Returns false when there is
 * no memory. */
static bool keep_rest(struct h2 *h2, const struct row *row)
{
    unsigned count = row->count - row->at;
    size_t segment_bytes = count * sizeof(struct h2_segment);
    struct h2_rest *rest = malloc(sizeof(*rest) + segment_bytes +
                                  count_text(row));
    char *text;

    if (!rest)
        return false;
    *rest = (struct h2_rest){.count = count};
    text = (char *)rest->segments + segment_bytes;
    memcpy(rest->segments, row->segments + row->at, segment_bytes);
    for (unsigned i = 0; i < count; i++) {
        struct h2_segment *segment = &rest->segments[i];

        rest->bytes += segment->len;
        if (segment->is_text) {
            memcpy(text, segment->memory, segment->len);
            segment->memory = text;
            text += segment->len;
        }
    }
    h2->rest = rest;
    return true;
}

void h2_drop_rest(struct h2 *h2)
{
    for (struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next)
        OWNER_OF(node, struct h2_stream, list_node)->unsent = 0;
    free(h2->rest);
    h2->rest = NULL;
}

/* The rest has no copy of bytes that were read from files. Reads these bytes
 * again, into the plan's text. Returns false when a file can no longer be
 * read. */
static bool read_again(struct h2 *h2)
{
    struct h2_rest *rest = h2->rest;
    struct h2_plan *plan = &h2->context->plan;
    size_t at = 0;

    for (unsigned i = rest->at; i < rest->count; i++) {
        struct h2_segment *segment = &rest->segments[i];
        ssize_t n;

        if (segment->kind != PART_READ)
            continue;
        n = pread(segment->fd, plan->text + at, segment->len,
                  (off_t)segment->offset);
        if (n != (ssize_t)segment->len)
            return false;
        segment->memory = plan->text + at;
        at += segment->len;
    }
    return true;
}

static enum sender_result send_rest(struct h2 *h2, uint64_t budget,
                                    uint64_t *sent_out)
{
    struct h2_rest *rest = h2->rest;
    struct row row = {rest->segments, rest->at, rest->count};
    enum sender_result result;

    if (!read_again(h2))
        return SENDER_FAILED;
    result = send_row(h2, &row, budget, sent_out);
    rest->bytes -= *sent_out;
    rest->at = row.at;
    if (rest->at == rest->count) {
        free(rest);
        h2->rest = NULL;
    }
    return result;
}

/* --- The connection's call ----------------------------------------------- */

bool h2_has_output(const struct h2 *h2)
{
    return h2->rest || h2->control.len > 0 || h2->ready.count > 0;
}

/* Control frames and the rest go before all streams, and count as bytes beside
 * the first stream. */
struct candidate h2_candidate(const struct session *session)
{
    const struct h2 *h2 = h2_of(session);
    struct candidate candidate = {.is_stream = true};
    uint64_t before;

    if (!h2)
        return candidate;
    before = h2->control.len + (h2->rest ? h2->rest->bytes : 0);
    if (h2->ready.count > 0) {
        candidate = h2_stream_candidate(h2_stream_first(h2));
        if (h2->bidder && !candidate.is_stream) {
            candidate.bytes = h2_bid_bytes(h2);
            candidate.place = &h2->bidder->place;
            before += h2->bidder->bid - candidate.bytes;
        }
        candidate.bytes += candidate.bytes == 0 && !candidate.is_stream;
        candidate.beside = (uint32_t)before + H2_FRAMING_BYTES;
        candidate.has_others = h2->ready.count > 1;
    } else if (before > 0) {
        candidate = (struct candidate){.bytes = before};
    }
    return candidate;
}

/* Lets all waiting streams ask their handlers again, since nobody knows which
 * of these streams have more to send. */
static void revive(struct h2 *h2)
{
    for (struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, list_node);

        if (!stream->is_waiting || stream->is_gone)
            continue;
        stream->is_waiting = false;
        h2_stream_set_idle(stream, false);
        h2_stream_ready(stream);
    }
}

static enum sender_result send_plan(struct h2 *h2, uint64_t budget,
                                    uint64_t *sent_out)
{
    struct h2_plan *plan = &h2->context->plan;
    enum sender_result result;
    struct row row;

    h2_plan_fill(h2, budget);
    if (h2->control.failed)
        return SENDER_FAILED;
    if (plan->count == 0)
        return SENDER_MORE;
    row = (struct row){plan->segments, 0, plan->count};
    result = send_row(h2, &row, budget, sent_out);
    if (row.at < row.count && result != SENDER_FAILED && !keep_rest(h2, &row))
        return SENDER_FAILED;
    return result;
}

static enum sender_result step(struct h2 *h2, uint64_t budget,
                               uint64_t *sent_out)
{
    if (h2->has_room)
        h2_feed(h2);
    if (h2->is_over)
        (void)h2_give_up_all(h2);
    if (h2->rest)
        return send_rest(h2, budget, sent_out);
    if (!h2_has_output(h2))
        revive(h2);
    return send_plan(h2, budget, sent_out);
}

/* Gives up streams whose windows are shut, because a client that sends no more
 * will never open these windows. Then begins parked streams, which can have the
 * exchanges of the streams given up. */
static void drop_shut(struct h2 *h2)
{
    while (!list_is_empty(&h2->shut))
        h2_give_up(OWNER_OF(h2->shut.next, struct h2_stream, wait_node));
    h2_begin_parked(h2);
}

/* Decides what comes next when all that could be sent has been sent. */
static enum sender_result rest(struct h2 *h2)
{
    struct session *session = h2->session;

    h2->sent = 0;
    session->blocked_ms = 0;
    if (h2->has_ended) {
        h2->is_at_work = true;
        drop_shut(h2);
        h2->is_at_work = false;
        if (h2_has_output(h2) || h2->has_room)
            return SENDER_MORE;
    }
    if (h2->stream_count > 0 && !h2->is_over)
        return SENDER_LATER;
    h2->is_sending = false;
    return SENDER_DONE;
}

enum sender_result h2_send(struct session *session, uint64_t budget,
                           uint64_t *sent_out)
{
    struct h2 *h2 = h2_of(session);
    enum sender_result result;

    *sent_out = 0;
    session->why = CONN_END_ERROR;
    h2->is_at_work = true;
    if (h2->look_ms != 0 && h2_now_ms(h2) >= h2->look_ms)
        h2_look_at_streams(h2);
    result = step(h2, budget, sent_out);
    h2_settle_windows(h2);
    h2_begin_parked(h2);
    h2_stream_offer_stock(h2);
    if (session->beside != SESSION_TAKES && !h2->has_ended &&
        h2->control.len < H2_CONTROL_BYTES_REST) {
        session->beside = SESSION_TAKES;
        session->context->hooks->on_change(session, false);
    }
    h2->is_at_work = h2->is_ready = false;
    if (result == SENDER_MORE && !h2_has_output(h2) && !h2->has_room)
        return rest(h2);
    return result;
}
