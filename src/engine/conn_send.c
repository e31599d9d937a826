#include <assert.h>

#include "engine/conn_priv.h"
#include "observe/profile.h"

static void queue_bytes(struct conn *conn, uint64_t bytes)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SCHEDULE);

    assert(list_is_empty(&conn->item.place.link)); /* the connection is not
                                                      WAITING */
    sched_put(&conn_shared_of(conn)->sched, &conn->item, bytes);
    conn_enter(conn, CONN_QUEUED);
    profile_leave(before);
}

void conn_queue(struct conn *conn)
{
    queue_bytes(conn, conn_candidate(conn).bytes);
}

/* Limits the socket's unsent bytes to the protocol's own limit. The link has
 * just lifted its smaller limit, because it holds nothing back any more. */
static void limit_unsent(const struct conn *conn)
{
    const struct session *session = &conn->session;

    if (session->protocol->unsent_max > 0)
        transport_limit_unsent(&session->transport,
                               session->protocol->unsent_max);
}

/* Returns `want` if there is room for all of it. Otherwise returns `room`
 * rounded down to whole segments, because a short segment needs as long a
 * header as a full one. Over TLS `room` counts as four segments at least, since
 * each record adds 2 % of a segment. */
static uint64_t whole_segments(const struct conn *conn, uint64_t want,
                               uint64_t room)
{
    enum { RECORD_BYTES = 4 * LINK_SEGMENT_BYTES };

    if (conn_is_secure(conn) && room > 0 && room < RECORD_BYTES)
        room = RECORD_BYTES;
    if (room >= want)
        return want;
    return room > LINK_SEGMENT_BYTES ? room - room % LINK_SEGMENT_BYTES : room;
}

/* Returns how many bytes of the candidate the link lets through now, including
 * the bytes that TLS adds; 0 when the candidate has to wait. */
static uint64_t allow(struct conn *conn, const struct candidate *candidate)
{
    struct conn_shared *shared = conn_shared_of(conn);
    uint64_t quantum = shared->context.limits.quantum;
    uint64_t want, room;
    bool was_bounded;

    if (shared->link.shared->mode == LINK_OFF)
        return quantum;
    if (shared->sched.policy == SCHED_POLICY_FAIR)
        quantum = link_quantum(&shared->link, &conn->flow, quantum);
    want = candidate->bytes + candidate->beside;
    if (conn_is_secure(conn))
        want = tls_wire_bytes(conn->session.transport.tls, want);
    if (candidate->is_stream || want > quantum)
        want = quantum;
    if (link_lets_all(&shared->link, &conn->flow))
        return candidate->has_others ? quantum : want;
    shared->link.base = sched_base(&shared->sched);
    was_bounded = conn->flow.is_bounded;
    room = link_allow(&shared->link, &conn->flow,
                      sched_key(&shared->sched, &conn->item, candidate->bytes),
                      want);
    if (was_bounded && !conn->flow.is_bounded)
        limit_unsent(conn);
    return whole_segments(conn, want, room);
}

/* Returns how many bytes of payload become `budget` bytes over TLS; 0 when
 * `budget` is too small for a record of one byte. A whole quantum gives at
 * least 1, since otherwise nothing would ever be sent. */
static uint64_t payload_of(const struct conn *conn, uint64_t budget)
{
    const struct tls *tls = conn->session.transport.tls;
    bool is_quantum = budget == conn_shared_of(conn)->context.limits.quantum;
    uint64_t bytes = tls_payload_bytes(tls, budget);

    return bytes == 0 && is_quantum ? 1 : bytes;
}

static void note_sent(struct conn *conn, uint64_t sent, uint64_t wire_bytes)
{
    struct conn_shared *shared = conn_shared_of(conn);
    uint64_t left = 0;

    sched_sent(&shared->sched, &conn->item, sent);
    if (!link_counts(&shared->link, &conn->flow))
        return;
    if (link_tracks(&shared->link))
        left = conn_candidate(conn).bytes;
    link_handed(&shared->link, &conn->flow, wire_bytes,
                left > 0 ? sched_key(&shared->sched, &conn->item, left) : 0,
                conn_now_ms(conn));
}

/* Whether the candidate has no byte to send, only its end: this is so after a
 * body of known length, or when there was no memory for an answer. The link,
 * which counts bytes only, would never let such a candidate go, and all others
 * would wait behind it. */
static bool has_no_bytes(const struct candidate *candidate)
{
    return candidate->bytes + candidate->beside == 0 && !candidate->is_stream;
}

static enum conn_progress send_candidate(struct conn *conn,
                                         const struct candidate *candidate,
                                         uint64_t *sent_out)
{
    struct session *session = &conn->session;
    const struct tls *tls = session->transport.tls;
    uint64_t budget = allow(conn, candidate);

    if (__builtin_expect(tls != NULL, 0))
        budget = payload_of(conn, budget);
    if (__builtin_expect(budget == 0, 0) && has_no_bytes(candidate))
        budget = conn_shared_of(conn)->context.limits.quantum;
    if (budget == 0) {
        conn_shared_of(conn)->is_held = true;
        conn_queue(conn);
        return CONN_WAITS;
    }
    for (;;) {
        uint64_t sent;
        enum sender_result result = session->protocol->send(session, budget,
                                                            &sent);

        *sent_out += sent;
        budget -= sent;
        note_sent(conn, sent,
                  __builtin_expect(tls != NULL, 0) ? tls_wire_bytes(tls, sent)
                                                   : sent);
        switch (result) {
        case SENDER_DONE:
            if (__builtin_expect(conn->mark.sample != 0, 0))
                what_if_end(&conn_shared_of(conn)->what_if, &conn->mark,
                            now_read_ns(), true);
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
        case SENDER_MORE:
            break;
        }
        if (budget <= session->protocol->crumb_bytes || sent == 0) {
            conn_queue(conn);
            return CONN_WAITS;
        }
    }
}

enum conn_progress conn_send(struct conn *conn, uint64_t *sent_out)
{
    struct candidate candidate = conn_candidate(conn);

    return send_candidate(conn, &candidate, sent_out);
}

/* Notes that a new candidate of the connection begins to wait, and returns this
 * candidate. */
static struct candidate arrive(struct conn *conn)
{
    struct candidate candidate = conn_candidate(conn);

    if (candidate.place)
        return candidate;
    sched_arrive(&conn_shared_of(conn)->sched, &conn->item,
                 client_share_name(&conn->session.peer), candidate.bytes,
                 candidate.is_stream);
    if (__builtin_expect(conn_shared_of(conn)->what_if.has_room, 0) &&
        !candidate.is_stream)
        what_if_note(&conn_shared_of(conn)->what_if, &conn->mark,
                     candidate.bytes, now_read_ns(), true);
    return candidate;
}

static uint16_t clamp(size_t count)
{
    return count < UINT16_MAX ? (uint16_t)count : UINT16_MAX;
}

/* Notes, for --server-timing, the position of an answer in the queue. */
static void note_position(struct conn *conn, uint64_t bytes)
{
    const struct sched *sched = &conn_shared_of(conn)->sched;

    conn->session.position =
        clamp(sched_count_before(sched, &conn->item, bytes) + 1);
    conn->session.waiting = clamp(sched->heap.count + 1);
}

enum conn_progress conn_submit(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SCHEDULE);
    const struct session_context *context = &conn_shared_of(conn)->context;
    const struct sched *sched = &conn_shared_of(conn)->sched;
    struct candidate candidate = arrive(conn);
    enum conn_progress progress = CONN_WAITS;
    uint64_t sent = 0;

    if (context->defaults.server_timing)
        note_position(conn, candidate.bytes);
    /* A candidate of at most a quantum that comes before the whole queue would
     * be taken next anyway, so queueing it is needless. */
    if (candidate.bytes <= context->limits.quantum &&
        sched_goes_first(sched, &conn->item, candidate.bytes)) {
        if (sched_overtakes(sched, &conn->item))
            stats_note_overtake(context->stats);
        progress = send_candidate(conn, &candidate, &sent);
    } else {
        queue_bytes(conn, candidate.bytes);
    }
    profile_leave(before);
    return progress;
}

void conn_requeue(struct conn *conn)
{
    sched_drop(&conn_shared_of(conn)->sched, &conn->item);
    queue_bytes(conn, arrive(conn).bytes);
}

void conn_wake(struct conn *conn)
{
    list_drop(&conn->item.place.link);
    conn_requeue(conn);
}
