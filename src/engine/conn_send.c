#include "engine/conn_priv.h"
#include "observe/profile.h"

void conn_queue(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SCHEDULE);

    sched_put(&conn->shared->sched, &conn->item, conn_candidate(conn).bytes);
    conn_enter(conn, CONN_QUEUED);
    profile_leave(before);
}

/* How much of it the link lets through now; 0: it has to wait. */
static uint64_t allow(struct conn *conn)
{
    struct conn_shared *shared = conn->shared;
    uint64_t quantum = shared->context.limits.quantum;
    struct candidate candidate;

    if (shared->link.shared->mode == LINK_OFF)
        return quantum;
    candidate = conn_candidate(conn);
    shared->link.base = sched_base(&shared->sched);
    return link_allow(&shared->link, &conn->flow,
                      sched_key(&shared->sched, &conn->item, candidate.bytes),
                      candidate.is_stream || candidate.bytes > quantum
                          ? quantum
                          : candidate.bytes);
}

static void note_sent(struct conn *conn, uint64_t sent)
{
    struct conn_shared *shared = conn->shared;
    uint64_t left;

    sched_sent(&shared->sched, sent);
    if (shared->link.shared->mode == LINK_OFF)
        return;
    left = conn_candidate(conn).bytes;
    link_handed(&shared->link, &conn->flow, sent,
                left > 0 ? sched_key(&shared->sched, &conn->item, left) : 0,
                conn_now_ms(conn));
}

/* Sends up to a quantum; what is left waits. *sent_out counts the bytes. */
enum conn_progress conn_send(struct conn *conn, uint64_t *sent_out)
{
    struct session *session = &conn->session;
    uint64_t budget = allow(conn);

    if (budget == 0) {
        conn->shared->is_held = true;
        conn_queue(conn);
        return CONN_WAITS;
    }
    for (;;) {
        uint64_t sent;
        enum sender_result result = session->protocol->send(session, budget,
                                                            &sent);

        *sent_out += sent;
        budget -= sent;
        note_sent(conn, sent);
        switch (result) {
        case SENDER_DONE:
            return CONN_SENT;
        case SENDER_FAILED:
            conn_close(conn, (enum conn_end)session->why);
            return CONN_ENDED;
        case SENDER_FULL:
            conn_enter(conn, CONN_BLOCKED);
            return CONN_WAITS;
        case SENDER_LATER:
            conn_enter(conn, CONN_WAITING);
            return CONN_WAITS;
        case SENDER_SLICE:
            break;
        }
        if (budget == 0 || sent == 0) {
            conn_queue(conn);
            return CONN_WAITS;
        }
    }
}

/* Notes that its candidate, which is new, has come to the scheduler. */
static struct candidate arrive(struct conn *conn)
{
    struct candidate candidate = conn_candidate(conn);

    sched_arrive(&conn->shared->sched, &conn->item, candidate.bytes,
                 candidate.is_stream);
    return candidate;
}

/* With --server-timing: what stands before it. */
static void note_position(struct conn *conn, uint64_t bytes)
{
    const struct sched *sched = &conn->shared->sched;

    conn->session.position =
        (uint32_t)sched_count_before(sched, &conn->item, bytes) + 1;
    conn->session.waiting = sched->heap.count + 1;
}

/* Sends now if nothing in the queue goes before it, or queues it. */
enum conn_progress conn_submit(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SCHEDULE);
    const struct session_context *context = &conn->shared->context;
    const struct sched *sched = &conn->shared->sched;
    struct candidate candidate = arrive(conn);
    enum conn_progress progress = CONN_WAITS;
    uint64_t sent = 0;

    if (context->style.server_timing)
        note_position(conn, candidate.bytes);
    /* What is not more than a quantum and comes before all that wait would be
     * taken next anyway. */
    if (candidate.bytes <= context->limits.quantum &&
        sched_goes_first(sched, &conn->item, candidate.bytes)) {
        if (sched_overtakes(sched, &conn->item))
            stats_note_overtake(context->stats);
        progress = conn_send(conn, &sent);
    } else {
        conn_queue(conn);
    }
    profile_leave(before);
    return progress;
}

void conn_wake(struct conn *conn)
{
    list_drop(&conn->wait_node);
    (void)arrive(conn);
    conn_queue(conn);
}
