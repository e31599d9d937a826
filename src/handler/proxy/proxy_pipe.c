#include "handler/proxy/proxy_priv.h"

#include <errno.h>
#include <fcntl.h>

#include "observe/profile.h"

/* A pipe pays if at least this many bytes of a body remain. Fewer are cheaper
 * to copy. */
enum { PIPED_BYTES_MIN = 65536 };

/* --- Taking a pipe ------------------------------------------------------- */

/* Returns true if the body is sent without framing: its length is in the head,
 * or the client reads until the connection closes. For framing, the bytes would
 * have to be in memory. */
static bool goes_as_it_comes(const struct exchange *exchange)
{
    return exchange->response.has_length || exchange->request.minor == 0;
}

/* Whether the rest of the body goes to the client unchanged, and is long enough
 * for a pipe. */
static bool is_worth_it(const struct transfer *transfer)
{
    return transfer->is_answered && !transfer->is_tunnel &&
           exchange_can_splice(transfer->exchange) &&
           transport_can_splice(transfer_transport(transfer)) &&
           goes_as_it_comes(transfer->exchange) &&
           body_reader_plain(&transfer->reader) >= PIPED_BYTES_MIN;
}

bool transfer_is_piped(struct transfer *transfer)
{
    struct pipes *pipes = transfer->proxy->options.pipes;

    if (transfer->pipe || transfer->is_copied || !pipes ||
        !is_worth_it(transfer))
        return transfer->pipe;
    transfer->pipe = pipes_take(pipes);
    transfer->is_copied = !transfer->pipe;
    return transfer->pipe;
}

/* --- Filling the pipe ---------------------------------------------------- */

/* Moves bytes from the upstream's socket into the pipe: not more than the rest
 * of the body, and not more than the pipe has room for. */
static ssize_t receive(const struct transfer *transfer)
{
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    uint64_t left = body_reader_plain(&transfer->reader);
    size_t room = transfer->pipe->bytes - transfer->piped;
    ssize_t n = splice(transfer_transport(transfer)->fd, NULL,
                       transfer->pipe->into, NULL,
                       left < room ? (size_t)left : room,
                       SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

    profile_leave(before);
    return n;
}

/* Notes that the pipe is full. A pipe may be full before it holds its capacity
 * in bytes, since each piece takes a slot of its own. */
static void note_full(struct transfer *transfer)
{
    transfer->piped_full = transfer->piped;
    transfer_pause(transfer);
}

static void take_in(struct transfer *transfer, size_t n)
{
    transfer_count_in(transfer, n);
    transfer->piped += n;
    body_reader_pass(&transfer->reader, n);
    if (body_reader_plain(&transfer->reader) == 0) {
        transfer_finish(transfer, transfer_has_read_all(transfer));
        return;
    }
    if (transfer->piped == transfer->pipe->bytes)
        note_full(transfer);
    transfer_watch(transfer);
}

void transfer_read_piped(struct transfer *transfer)
{
    ssize_t n = receive(transfer);

    if (n == -1 && errno == EINTR)
        return;
    if (n == -1 && errno == EAGAIN) {
        /* If the pipe has bytes, it may be full: then the socket still has
         * bytes, too. Otherwise, the event was for another reason. */
        if (transfer->piped > 0) {
            note_full(transfer);
            transfer_watch(transfer);
        }
        return;
    }
    if (n == -1 && errno == EINVAL && transfer->piped == 0) {
        /* This kind of socket cannot be spliced. */
        transfer_give_pipe(transfer);
        transfer->is_copied = true;
        return;
    }
    if (n > 0)
        take_in(transfer, (size_t)n);
    else
        transfer_meet_end(transfer, n == 0);
    transfer_wake(transfer);
}

/* --- Emptying the pipe --------------------------------------------------- */

struct part transfer_lend_pipe(struct transfer *transfer, uint64_t at_most)
{
    transfer->piped_borrowed = transfer->piped < at_most ? transfer->piped
                                                         : (size_t)at_most;
    return (struct part){.kind = PART_PIPE,
                         .fd = transfer->pipe ? transfer->pipe->from : -1,
                         .len = transfer->piped_borrowed};
}

bool transfer_reclaim_pipe(struct transfer *transfer)
{
    transfer->piped -= transfer->piped_borrowed;
    transfer->piped_borrowed = 0;
    return transfer->piped <= transfer->piped_full / 2;
}
