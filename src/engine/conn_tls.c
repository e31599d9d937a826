#include "engine/conn_priv.h"

#include <stdio.h>

#include "engine/proxy_preamble.h"
#include "http/date.h"
#include "observe/profile.h"

enum {
    /* A preamble that has come in part is looked at again after this time. */
    PREAMBLE_MS = 20
};

/* --- Counting ------------------------------------------------------------ */

static enum stats_tls_failure failure_of(enum tls_failure failure)
{
    switch (failure) {
    case TLS_FAILURE_VERSION:
        return STATS_TLS_VERSION;
    case TLS_FAILURE_CIPHER:
        return STATS_TLS_CIPHER;
    case TLS_FAILURE_NAME:
        return STATS_TLS_NAME;
    case TLS_FAILURE_CERTIFICATE:
        return STATS_TLS_CERTIFICATE;
    case TLS_FAILURE_ALERT:
        return STATS_TLS_ALERT;
    case TLS_FAILURE_PLAIN_HTTP:
        return STATS_TLS_PLAIN_HTTP;
    case TLS_FAILURE_GONE:
        return STATS_TLS_GONE;
    case TLS_FAILURE_NONE:
    case TLS_FAILURE_OTHER:
    case TLS_FAILURE_COUNT:
        break;
    }
    return STATS_TLS_OTHER;
}

static void count_done(const struct conn *conn)
{
    struct tls_facts facts;

    tls_tell(conn->session.transport.tls, &facts);
    stats_tls_note(&conn_shared_of(conn)->context.stats->tls, facts.is_resumed,
                   bytes_of(facts.version), bytes_of(facts.group));
}

/* --- The steps ----------------------------------------------------------- */

void conn_put_handshake(struct conn *conn)
{
    conn_watch(conn, 0);
    conn_shared_of(conn)->has_work = true;
    if (list_is_empty(conn_work(conn)))
        list_put_last(&conn_shared_of(conn)->shaking, conn_work(conn));
}

bool conn_begin_handshake(struct conn *conn)
{
    struct conn_shared *shared = conn_shared_of(conn);

    if (!shared->tls_buffers)
        shared->tls_buffers = tls_buffers_create();
    if (!shared->tls_buffers || !shared->tls ||
        !transport_secure(&conn->session.transport, shared->tls_buffers,
                          shared->tls))
        return false;
    tls_work(conn->session.transport.tls)->owner = conn;
    conn_enter(conn, CONN_HANDSHAKE);
    conn_put_handshake(conn); /* the client's first bytes are probably here */
    return true;
}

bool conn_waits_for_handshake(struct conn *conn)
{
    if (conn_now_ms(conn) < conn->mark_ms) {
        conn_limit(conn, conn->mark_ms);
        conn_put_handshake(conn);
        return true;
    }
    stats_tls_note_failure(&conn_shared_of(conn)->context.stats->tls,
                           STATS_TLS_TIMEOUT);
    return false;
}

/* Takes a proxy's preamble in clear text, which comes before TLS. The preamble
 * stays in the socket until all of it has come. Until then the socket is looked
 * at now and then, since a watcher would only tell that there are bytes. */
static enum conn_handshake take_preamble(struct conn *conn,
                                         enum conn_end *end_out)
{
    struct session *session = &conn->session;
    char text[PROXY_PROTOCOL_BYTES_MAX];
    struct proxy_protocol proxy;
    size_t len;

    switch (transport_peek(&session->transport, text, sizeof(text), &len)) {
    case IO_DONE:
        break;
    case IO_AGAIN_READ:
    case IO_AGAIN_WRITE:
        conn_watch(conn, EV_READ);
        return CONN_SHAKES;
    case IO_EOF:
        *end_out = CONN_END_CLIENT;
        return CONN_SHAKES_NOT;
    case IO_FAILED:
        return CONN_SHAKES_NOT;
    }
    switch (proxy_protocol_parse(&proxy, (struct bytes){text, len})) {
    case PROXY_PROTOCOL_MORE:
        conn_limit(conn, conn_now_ms(conn) + PREAMBLE_MS);
        return CONN_SHAKES;
    case PROXY_PROTOCOL_BAD:
        return CONN_SHAKES_NOT;
    case PROXY_PROTOCOL_DONE:
        break;
    }
    if (transport_discard(&session->transport, text, proxy.used, &len) !=
            IO_DONE ||
        len != proxy.used)
        return CONN_SHAKES_NOT;
    *end_out = CONN_END_LIMIT;
    return proxy_preamble_apply(session, &proxy) ? CONN_SHAKEN
                                                 : CONN_SHAKES_NOT;
}

/* Answers in clear text, since the client has spoken in clear text. */
static enum conn_handshake answer_plainly(struct conn *conn)
{
    static const char text[] =
        "This port speaks HTTPS: use https:// in the address\n";
    struct transport *transport = &conn->session.transport;
    char answer[512];
    char date[DATE_LEN];
    int len;

    date_format(conn_shared_of(conn)->context.now->wall_s, date);
    len = snprintf(answer, sizeof(answer),
                   "HTTP/1.1 400 Bad Request\r\n"
                   "Date: %.*s\r\n"
                   "Content-Type: text/plain; charset=utf-8\r\n"
                   "X-Content-Type-Options: nosniff\r\n"
                   "Content-Length: %zu\r\n"
                   "Connection: close\r\n\r\n%s",
                   DATE_LEN, date, sizeof(text) - 1, text);
    transport_bare(transport);
    return transport_say(transport, (struct bytes){answer, (size_t)len})
               ? CONN_SHOUTS
               : CONN_SHAKES_NOT;
}

static enum conn_handshake fail(struct conn *conn, enum conn_end *end_out)
{
    enum tls_failure failure = tls_failure(conn->session.transport.tls);

    stats_tls_note_failure(&conn_shared_of(conn)->context.stats->tls,
                           failure_of(failure));
    if (failure == TLS_FAILURE_PLAIN_HTTP)
        return answer_plainly(conn);
    *end_out = failure == TLS_FAILURE_GONE ? CONN_END_CLIENT : CONN_END_ERROR;
    return CONN_SHAKES_NOT;
}

static enum conn_handshake step(struct conn *conn, enum conn_end *end_out)
{
    if (conn->session.awaits_proxy) {
        enum conn_handshake result = take_preamble(conn, end_out);

        if (result != CONN_SHAKEN)
            return result;
    }
    switch (tls_handshake(conn->session.transport.tls)) {
    case IO_DONE:
        count_done(conn);
        return CONN_SHAKEN;
    case IO_AGAIN_READ:
        conn_watch(conn, EV_READ);
        return CONN_SHAKES;
    case IO_AGAIN_WRITE:
        conn_watch(conn, EV_WRITE);
        return CONN_SHAKES;
    case IO_EOF:
    case IO_FAILED:
        break;
    }
    return fail(conn, end_out);
}

enum conn_handshake conn_step_handshake(struct conn *conn,
                                        enum conn_end *end_out)
{
    enum stats_phase before = profile_enter(STATS_PHASE_ACCEPT);
    enum conn_handshake result = step(conn, end_out);

    profile_leave(before);
    return result;
}
