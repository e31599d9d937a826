#include <poll.h>

#include "engine/conn_priv.h"
#include "http/exchange.h"
#include "observe/profile.h"

/* How soon it is noticed that a client is gone while nothing is read. */
enum { LOOK_MS = 1000 };

void conn_limit_look(struct conn *conn)
{
    conn_limit(conn, conn->set->now->mono_ms + LOOK_MS);
}

/* What poll(2) says, which sees an end behind bytes that nobody has read. */
static int look(const struct conn *conn)
{
    struct pollfd client = {.fd = conn->io.fd, .events = POLLIN | POLLRDHUP};
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    int ready = poll(&client, 1, 0);

    profile_leave(before);
    return ready == 1 ? client.revents : 0;
}

/* Bytes that wait would make the watcher fire again and again. */
static void stop_watching(struct conn *conn)
{
    conn_watch(conn, 0);
    conn_limit_look(conn);
}

void conn_look_for_end(struct conn *conn)
{
    int seen = look(conn);

    if (seen & POLLERR)
        conn_close(conn, CONN_END_ERROR);
    else if (seen & (POLLHUP | POLLRDHUP))
        conn_close(conn, CONN_END_CLIENT);
    else if (seen & POLLIN || !ev_is_active(&conn->io))
        stop_watching(conn);
}

static const struct exchange *first_exchange(const struct conn *conn)
{
    return OWNER_OF(conn->exchanges.next, struct exchange, link);
}

/* POLLHUP: both ways are closed, one of them maybe by us. */
void conn_look_for_reset(struct conn *conn)
{
    int seen = look(conn);

    if (seen & POLLERR ||
        (seen & POLLHUP && !first_exchange(conn)->is_half_closed)) {
        conn_close(conn, CONN_END_ERROR);
    } else if (seen == 0 && !conn->is_uploading) {
        conn_watch(conn, EV_READ);
        conn->ignored_events = 0;
    } else {
        stop_watching(conn);
    }
}

/* What a client that is gone has said last may still wait to be passed on. */
void conn_look_at_tunnel(struct conn *conn)
{
    int seen = look(conn);
    struct sink *sink;

    if (seen & POLLERR || (seen & POLLHUP && !conn->is_uploading &&
                           !first_exchange(conn)->is_half_closed)) {
        conn_close(conn, CONN_END_ERROR);
        return;
    }
    conn_limit_look(conn);
    if (!(seen & POLLRDHUP) || !conn->is_uploading)
        return;
    sink = conn->current->sink;
    if (sink->is_full && sink->foresee_end)
        sink->foresee_end(sink);
}
