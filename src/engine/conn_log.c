#include "engine/conn_log.h"

#include "observe/profile.h"

static const char *name_of(enum conn_end end)
{
    static const char *const names[CONN_END_COUNT] = {
        "none", "client", "idle", "timeout", "error", "limit", "drain"};

    return names[end];
}

static enum stats_close close_of(enum conn_end end)
{
    static const uint8_t reasons[] = {
        [CONN_END_NONE] = STATS_CLOSE_ERROR, /* never used: conn_close() sets a
                                                reason */
        [CONN_END_CLIENT] = STATS_CLOSE_CLIENT,
        [CONN_END_IDLE] = STATS_CLOSE_IDLE,
        [CONN_END_TIMEOUT] = STATS_CLOSE_TIMEOUT,
        [CONN_END_ERROR] = STATS_CLOSE_ERROR,
        [CONN_END_LIMIT] = STATS_CLOSE_LIMIT,
        [CONN_END_DRAIN] = STATS_CLOSE_DRAIN,
    };

    _Static_assert(sizeof(reasons) == CONN_END_COUNT, "one for each");
    _Static_assert(CONN_END_COUNT - 1 == (int)STATS_CLOSE_COUNT,
                   "and no two alike, but for none");
    return (enum stats_close)reasons[end];
}

static void put_event(const struct session *session, enum log_event event)
{
    const struct log_entry entry = {
        .event = event,
        .peer = &session->peer,
        .connection = session->number,
        .requests = session->finished,
        .reason = bytes_of(name_of((enum conn_end)session->end))};
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);

    access_log_put(session->context->access_log, &entry);
    profile_leave(before);
}

/* Logs an event of the connection, if the log's format has such events; most
 * formats have requests only. */
static void log_event(const struct session *session, enum log_event event)
{
    if (access_log_tells(session->context->access_log, event))
        put_event(session, event);
}

void conn_log_open(const struct session *session)
{
    log_event(session, LOG_EVENT_ACCEPT);
}

void conn_log_close(const struct session *session)
{
    stats_note_close(session->context->stats,
                     close_of((enum conn_end)session->end));
    log_event(session, LOG_EVENT_CLOSE);
}
