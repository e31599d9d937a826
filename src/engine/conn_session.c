#include "engine/conn_priv.h"

static struct conn *conn_of(struct session *session)
{
    return OWNER_OF(session, struct conn, session);
}

static void on_change(struct session *session, bool has_more)
{
    struct conn *conn = conn_of(session);

    conn_watch_beside(conn);
    /* When the ring has no room, an event makes the connection read on. Closing
     * it here is impossible, since a function of its session is running. */
    if (session->holds_input && conn_reads(conn)) {
        conn_shared_of(conn)->has_work = true;
        if (!conn_costly_put(conn_ring(conn), conn))
            ev_feed_event(conn_shared_of(conn)->loop, &conn->io, EV_READ);
    }
    if (has_more && conn->state == CONN_WAITING)
        conn_wake(conn);
}

static void on_answered(struct session *session, uint64_t bytes,
                        uint64_t now_ns)
{
    unsent_time_note_answer(&conn_shared_of(conn_of(session))->unsent_time,
                            session->transport.fd, bytes, now_ns);
}

static void on_ready(struct session *session)
{
    struct conn *conn = conn_of(session);

    switch ((enum conn_state)conn->state) {
    case CONN_WAITING:
        conn_wake(conn);
        break;
    case CONN_READING:
    case CONN_QUEUED:
        conn_requeue(conn);
        break;
    case CONN_HANDSHAKE:
    case CONN_BLOCKED:
    case CONN_LINGERING:
    case CONN_CLOSED:
        break;
    }
}

static void on_arrive(struct session *session, struct sched_item *place,
                      uint64_t bytes, bool is_stream)
{
    place->is_of_many = true;
    sched_arrive(&conn_shared_of(conn_of(session))->sched, place,
                 client_share_name(&session->peer), bytes, is_stream);
}

static uint64_t key_of(const struct session *session,
                       const struct sched_item *place, uint64_t bytes)
{
    const struct conn *conn = OWNER_OF(session, struct conn, session);

    return sched_key(&conn_shared_of(conn)->sched, place, bytes);
}

static bool on_introduced(struct session *session, const struct address *client)
{
    struct conn *conn = conn_of(session);
    struct address_count *addresses = conn_shared_of(conn)->addresses;

    session->peer = *client;
    return !addresses ||
           (conn->session.ticket = address_count_take(addresses, client)) != 0;
}

const struct session_hooks conn_session_hooks = {.on_change = on_change,
                                                 .on_answered = on_answered,
                                                 .on_introduced = on_introduced,
                                                 .on_ready = on_ready,
                                                 .on_arrive = on_arrive,
                                                 .key_of = key_of};
