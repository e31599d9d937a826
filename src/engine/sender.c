#include "engine/sender.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "observe/profile.h"

enum {
    GATHER_PARTS_MAX = 64,
    /* Pieces are not limited to fewer bytes than this: a shorter piece could
     * not show that the socket takes more again. */
    PIECE_MIN = 65536
};

struct gather {
    struct iovec parts[GATHER_PARTS_MAX];
    size_t count;
    uint64_t bytes;
    bool more;         /* more of the pipeline follows these parts */
    bool ends;         /* nothing follows, and the connection ends */
    bool file_follows; /* a file or pipe follows these parts */
};

static struct exchange *exchange_of(struct list *list_node)
{
    return OWNER_OF(list_node, struct exchange, list_node);
}

/* Whether the connection is shut down right after this response. */
static bool is_last(const struct exchange *exchange)
{
    return !exchange->response.persists && !exchange->is_tunnel &&
           !exchange->sink;
}

/* Collects parts in memory from the head of the pipeline, until the budget is
 * used up or a part comes that is not in memory. */
static void gather_parts(struct gather *gather, const struct list *exchanges,
                         uint64_t budget)
{
    gather->count = 0;
    gather->bytes = 0;
    gather->more = true;
    gather->ends = false;
    gather->file_follows = false;
    for (struct list *list_node = exchanges->next; list_node != exchanges;
         list_node = list_node->next) {
        const struct exchange *exchange = exchange_of(list_node);
        const struct response *response = &exchange->response;

        for (unsigned i = response->part_at; i < response->part_count; i++) {
            const struct part *part = &response->parts[i];
            uint64_t len = part->len;

            if (gather->count == GATHER_PARTS_MAX || gather->bytes == budget)
                return;
            if (part->kind != PART_MEMORY) {
                gather->file_follows = true;
                return;
            }
            if (len > budget - gather->bytes)
                len = budget - gather->bytes;
            gather->parts[gather->count++] = (struct iovec){
                (void *)(uintptr_t)part->at.memory, len};
            gather->bytes += len;
            if (len < part->len)
                return;
        }
        if (exchange->pending || response_has_more(response))
            return;
    }
    gather->more = false;
    gather->ends = is_last(exchange_of(exchanges->prev));
}

/* Copies the rest of a cached head that was sent in part, since the head in the
 * cache entry gets a new Date each second. Returns false when there is no
 * memory. */
static bool detach_head(struct response *response)
{
    struct part *part = &response->parts[response->part_at];
    uint64_t rest = response->head_bytes - response->bytes_sent;

    if (response->bytes_sent == 0 ||
        response->bytes_sent >= response->head_bytes ||
        response->head.len > RESPONSE_HEADROOM || !response->origin.object)
        return true;
    if (rest > part->len)
        rest = part->len; /* later parts of the head are static text */
    buf_put(&response->head, (struct bytes){part->at.memory, (size_t)rest});
    if (response->head.failed)
        return false;
    if (rest < part->len) { /* the body follows in the same part */
        assert(response->part_count < RESPONSE_PARTS_INLINE);
        memmove(part + 1, part,
                (size_t)(response->part_count - response->part_at) *
                    sizeof(*part));
        response->part_count++;
        part[1].at.memory += rest;
        part[1].len -= rest;
        part->len = rest;
    }
    part->at.memory = response->head.data + RESPONSE_HEADROOM;
    return true;
}

/* Moves the responses forward, in order, by the bytes that were sent. Returns
 * false when there is no memory. */
static bool advance_row(struct list *exchanges, uint64_t sent)
{
    struct list *list_node = exchanges->next;
    struct response *response;

    for (;;) {
        uint64_t step;

        response = &exchange_of(list_node)->response;
        step = sent < response->bytes_left ? sent : response->bytes_left;
        response_advance(response, step);
        sent -= step;
        if (sent == 0)
            break;
        list_node = list_node->next;
    }
    return response->bytes_left == 0 || detach_head(response);
}

static enum sender_result result_of(enum io_result result)
{
    switch (result) {
    case IO_DONE:
        return SENDER_MORE;
    case IO_AGAIN_READ:
    case IO_AGAIN_WRITE:
        return SENDER_FULL;
    case IO_EOF: /* the file has become shorter */
    case IO_FAILED:
        break;
    }
    return SENDER_FAILED;
}

static enum sender_result send_gathered(const struct transport *transport,
                                        struct list *exchanges,
                                        struct gather *gather,
                                        uint64_t *sent_out)
{
    /* When the connection ends after these bytes, they wait for the FIN, and
     * leave together with the FIN. */
    bool more = gather->file_follows || gather->ends;
    size_t sent;
    enum io_result result = transport_send(transport, gather->parts,
                                           gather->count, more, &sent);

    if (result != IO_DONE)
        return result_of(result);
    *sent_out = sent;
    if (!advance_row(exchanges, sent))
        return SENDER_FAILED;
    if (sent < gather->bytes)
        return SENDER_FULL;
    return gather->more ? SENDER_MORE : SENDER_DONE;
}

/* Returns the length of the next piece. Bytes that the socket does not take
 * must be read again later. So if the socket took only a part of the last
 * piece, the next piece is at most twice as long as that part. */
static size_t piece_bytes(const struct sender *sender,
                          const struct response *response, size_t len)
{
    size_t most = sender->buffer_bytes;
    size_t likely = 2 * (size_t)response->taken_bytes;

    if (likely != 0 && likely < PIECE_MIN)
        likely = PIECE_MIN;
    if (likely != 0 && likely < most)
        most = likely;
    return len < most ? len : most;
}

static enum io_result send_read(struct sender *sender,
                                const struct transport *transport,
                                struct response *response,
                                const struct part *part, size_t *len,
                                size_t *sent_out)
{
    enum io_result result;
    struct iovec piece;
    ssize_t n;

    if (!sender->buffer && !(sender->buffer = malloc(sender->buffer_bytes)))
        return IO_FAILED; /* waiting would not help */
    n = pread(part->fd, sender->buffer, piece_bytes(sender, response, *len),
              (off_t)part->at.offset);
    if (n == 0)
        return IO_EOF;
    if (n == -1) /* only after EINTR is another try of use */
        return errno == EINTR ? IO_AGAIN_WRITE : IO_FAILED;
    *len = (size_t)n;
    piece = (struct iovec){sender->buffer, *len};
    result = transport_send(transport, &piece, 1, false, sent_out);
    if (result == IO_DONE && (*sent_out < *len || response->taken_bytes != 0))
        response->taken_bytes = *sent_out < UINT32_MAX ? (uint32_t)*sent_out
                                                       : UINT32_MAX;
    return result;
}

/* Sends a piece of the response's next part, which is not in memory. *len is
 * the greatest length of the piece, and is set to its actual length. */
static enum io_result send_file(struct sender *sender,
                                const struct transport *transport,
                                struct response *response, size_t *len,
                                size_t *sent_out)
{
    const struct part *part = &response->parts[response->part_at];

    /* When the piece is shorter than its part, more bytes follow it. */
    if (part->kind == PART_PIPE)
        return transport_splice(transport, part->fd, *len, *len < part->len,
                                sent_out);
    if (part->kind == PART_SENDFILE || !transport_can_sendfile(transport))
        return transport_send_file(transport, part->fd, part->at.offset, *len,
                                   sent_out);
    return send_read(sender, transport, response, part, len, sent_out);
}

static enum sender_result send_file_part(struct sender *sender,
                                         const struct transport *transport,
                                         struct list *exchanges,
                                         uint64_t budget, uint64_t *sent_out)
{
    struct response *response = &exchange_of(exchanges->next)->response;
    uint64_t left = response->parts[response->part_at].len;
    size_t len = (size_t)(left < budget ? left : budget);
    size_t sent = 0;
    enum io_result result = send_file(sender, transport, response, &len, &sent);

    if (result != IO_DONE)
        return result_of(result);
    *sent_out = sent;
    response_advance(response, sent);
    if (response_is_done(response) && exchanges->next->next == exchanges)
        return SENDER_DONE;
    /* A piece that was sent only in part nearly always means a full socket. If
     * the socket is not full, the wait for it ends at once. */
    return sent < len ? SENDER_FULL : SENDER_MORE;
}

static bool is_intact(const struct response *response)
{
    const struct origin *origin = &response->origin;

    return !origin->object || !origin->is_intact ||
           origin->is_intact(origin->object);
}

/* Returns false if a response at the front of the list is done, but its file
 * has changed since its head was made. */
static bool done_are_intact(const struct list *exchanges)
{
    for (struct list *list_node = exchanges->next; list_node != exchanges;
         list_node = list_node->next) {
        const struct exchange *exchange = exchange_of(list_node);

        if (!exchange_is_done(exchange))
            break;
        if (!is_intact(&exchange->response))
            return false;
    }
    return true;
}

/* Whether the next piece may be the file's last or only one: all that the
 * response has left fits into `budget`. */
static bool nears_its_end(const struct response *response, uint64_t budget)
{
    return response->bytes_left <= budget &&
           (response->parts[response->part_at].kind != PART_MEMORY ||
            response->bytes_sent > response->head_bytes);
}

/* Lets the source make the next piece. Returns false when the response has to
 * be broken off. */
static bool pull(struct response *response)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOOKUP);
    bool is_well = response_pull(response, UINT64_MAX);

    profile_leave(before);
    return is_well;
}

enum sender_result sender_step(struct sender *sender,
                               const struct transport *transport,
                               struct list *exchanges, uint64_t budget,
                               uint64_t *sent_out)
{
    struct response *first = &exchange_of(exchanges->next)->response;
    enum sender_result result;
    struct gather gather;

    *sent_out = 0;
    if (first->bytes_left == 0 && response_has_more(first)) {
        if (!pull(first))
            return SENDER_FAILED;
        if (first->bytes_left == 0 && first->is_waiting)
            return SENDER_LATER;
        if (first->bytes_left == 0 && !first->has_ended)
            return SENDER_MORE; /* other connections go on meanwhile */
    }
    /* A response is done already if its body ended without further bytes, or if
     * there was no memory even for its head. */
    if (response_is_done(first))
        return exchanges->next->next == exchanges ? SENDER_DONE : SENDER_MORE;
    if (nears_its_end(first, budget) && !is_intact(first))
        return SENDER_FAILED;
    gather_parts(&gather, exchanges, budget);
    if (gather.count > 0)
        result = send_gathered(transport, exchanges, &gather, sent_out);
    else
        result = send_file_part(sender, transport, exchanges, budget, sent_out);
    return *sent_out == 0 || done_are_intact(exchanges) ? result
                                                        : SENDER_FAILED;
}

void sender_init(struct sender *sender, size_t quantum)
{
    sender->buffer = NULL;
    sender->buffer_bytes = quantum;
}

void sender_fini(struct sender *sender)
{
    free(sender->buffer);
    sender->buffer = NULL;
}
