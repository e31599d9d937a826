#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "upstream/upstream_priv.h"

/* While an address does not answer, the next one is tried beside it after this
 * time. RFC 8305, section 5, recommends 250 ms, and allows 100 to 2000 ms. The
 * deadline wheel may be late by a tick. */
enum { STAGGER_MS = 250 };

/* How long to wait for an unanswered connection before connecting anew. A
 * server with a full backlog drops the SYN, and the kernel repeats the SYN of
 * all waiting connections at the same moment, after a second. The server would
 * answer each, but has room for a few; the rest would only seem connected. So
 * we connect anew shortly before the second is over. In the last round the
 * connection stays, since a server far away may need longer to answer. */
enum { SILENCE_MS = 800 };

/* The pause between two tries grows by BACKLOG_RETRY_MS after RETRIES_ALIKE
 * tries. A server on this machine answers at once, unless its backlog is full,
 * so the pauses are short. When a connection has ended, the oldest waiting
 * attempt is retried first: otherwise newer attempts would take each place in
 * the backlog that becomes free. */
enum { BACKLOG_RETRY_MS = 10, RETRIES_ALIKE = 8 };

/* The pause, of one tick, before a unix socket whose backlog is full is tried
 * again. */
enum { BACKLOG_MS = 1 };

static void connecting_go_on(struct upstream_connecting *connecting);

/* --- Connecting, and its end --------------------------------------------- */

static void close_attempts(struct upstream_connecting *connecting)
{
    while (!list_is_empty(&connecting->attempts))
        upstream_close(OWNER_OF(connecting->attempts.next, struct upstream,
                                list_node));
}

static void connecting_close(struct upstream_connecting *connecting)
{
    struct upstream_pool *pool = connecting->server->pool;

    close_attempts(connecting);
    upstream_alarm_drop(pool, &connecting->limit);
    upstream_alarm_drop(pool, &connecting->next);
    connecting->lease->connecting = NULL;
    list_drop(&connecting->list_node);
    pool_give(&pool->connectings, connecting);
}

static void connecting_win(struct upstream_connecting *connecting,
                           struct upstream *upstream)
{
    struct upstream_pool *pool = connecting->server->pool;
    struct upstream_lease *lease = connecting->lease;

    list_drop(&upstream->list_node);
    connecting_close(connecting);
    upstream_count(&upstream->server->counts->connects);
    pool->events.on_won(lease, upstream);
}

static void connecting_lose(struct upstream_connecting *connecting,
                            enum upstream_error error, int err)
{
    struct upstream_pool *pool = connecting->server->pool;
    struct upstream_lease *lease = connecting->lease;
    const char *why = connecting->why;

    connecting_close(connecting);
    pool->events.on_lost(lease, error, err, why);
}

static void on_limit(struct upstream_alarm *alarm)
{
    struct upstream_connecting *connecting =
        OWNER_OF(alarm, struct upstream_connecting, limit);

    connecting->why = NULL;
    if (connecting->is_shaking) {
        connecting->why = "the handshake takes too long";
        upstream_count(&connecting->server->counts->handshakes_failed);
    }
    connecting_lose(connecting, UPSTREAM_TIMEOUT, 0);
}

static void connecting_begin_anew(struct upstream_connecting *connecting)
{
    close_attempts(connecting);
    connecting->at = 0;
    connecting->rounds++;
    connecting_go_on(connecting);
}

static void on_next(struct upstream_alarm *alarm)
{
    struct upstream_connecting *connecting =
        OWNER_OF(alarm, struct upstream_connecting, next);

    if (connecting->at < connecting->count)
        connecting_go_on(connecting);
    else
        connecting_begin_anew(connecting);
}

static struct upstream_connecting *connecting_create(
    struct upstream_server *server, struct upstream_lease *lease)
{
    struct upstream_pool *pool = server->pool;
    struct upstream_connecting *connecting = pool_take(&pool->connectings);

    if (!connecting)
        return NULL;
    connecting->lease = lease;
    connecting->server = server;
    connecting->limit.on_due = on_limit;
    connecting->next.on_due = on_next;
    connecting->count = connecting->at = connecting->rounds = 0;
    connecting->error = UPSTREAM_UNRESOLVED;
    connecting->err = 0;
    connecting->why = NULL;
    connecting->is_shaking = false;
    deadline_init(&connecting->limit.deadline);
    deadline_init(&connecting->next.deadline);
    list_init(&connecting->list_node);
    list_init(&connecting->attempts);
    lease->connecting = connecting;
    return connecting;
}

/* --- One address --------------------------------------------------------- */

static enum upstream_error judge(int err)
{
    switch (err) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case EAGAIN:        /* no entry left in the routing cache */
    case EADDRNOTAVAIL: /* no free port */
        return UPSTREAM_SHORT;
    case ETIMEDOUT:
        return UPSTREAM_TIMEOUT;
    default:
        return UPSTREAM_REFUSED;
    }
}

/* Notes a failure, unless a refusal or timeout of the server, or a failure of
 * TLS, is noted already: these say more than a failure of our own, such as a
 * lack of ports. */
static void note_failure(struct upstream_connecting *connecting, int err)
{
    if (connecting->error == UPSTREAM_REFUSED ||
        connecting->error == UPSTREAM_TIMEOUT || connecting->why)
        return;
    connecting->error = judge(err);
    connecting->err = err;
}

/* Notes why TLS failed. This reason replaces all others, since it proves that a
 * server listens at the address. */
static void note_tls_failure(struct upstream_connecting *connecting,
                             const struct tls *tls)
{
    connecting->error = tls_failure(tls) == TLS_FAILURE_CERTIFICATE
                            ? UPSTREAM_UNTRUSTED
                            : UPSTREAM_TLS;
    connecting->err = 0;
    connecting->why = tls_why(tls);
    upstream_count(&connecting->server->counts->handshakes_failed);
}

/* --- TLS ----------------------------------------------------------------- */

static void watch(struct upstream *upstream, enum io_result result)
{
    struct ev_loop *loop = upstream->server->pool->loop;
    bool reads = result == IO_AGAIN_READ;

    ev_io_stop(loop, reads ? &upstream->writing : &upstream->reading);
    ev_io_start(loop, reads ? &upstream->reading : &upstream->writing);
}

static void count_handshake(const struct upstream *upstream)
{
    struct upstream_counts *counts = upstream->server->counts;
    struct tls_facts facts;

    tls_tell(upstream->transport.tls, &facts);
    upstream_count(&counts->handshakes);
    if (facts.is_resumed)
        upstream_count(&counts->resumed);
}

/* Continues the handshake. */
static void shake(struct upstream *upstream)
{
    struct upstream_connecting *connecting = upstream->connecting;
    enum io_result result = tls_handshake(upstream->transport.tls);

    switch (result) {
    case IO_AGAIN_READ:
    case IO_AGAIN_WRITE:
        watch(upstream, result);
        return;
    case IO_DONE:
        count_handshake(upstream);
        connecting_win(connecting, upstream);
        return;
    case IO_EOF:
    case IO_FAILED:
        break;
    }
    note_tls_failure(connecting, upstream->transport.tls);
    connecting->is_shaking = false;
    upstream_close(upstream);
    connecting_go_on(connecting);
}

/* Chooses the attempt that connected first, as RFC 8305 (section 5) says, and
 * closes the others. The next address is tried only if TLS fails. */
static void connecting_settle(struct upstream_connecting *connecting,
                              struct upstream *upstream)
{
    struct upstream_server *server = connecting->server;
    struct upstream_pool *pool = server->pool;

    if (!server->tls) {
        connecting_win(connecting, upstream);
        return;
    }
    list_drop(&upstream->list_node);
    close_attempts(connecting);
    list_put_last(&connecting->attempts, &upstream->list_node);
    upstream_alarm_drop(pool, &connecting->next);
    list_drop(&connecting->list_node);
    if (transport_secure_to(&upstream->transport, pool->tls_buffers,
                            server->tls)) {
        connecting->is_shaking = true;
        shake(upstream);
        return;
    }
    note_failure(connecting, ENOMEM);
    upstream_close(upstream);
    connecting_go_on(connecting);
}

/* --- One after the other ------------------------------------------------- */

/* Waits for the attempts under way, since all addresses are being tried. Sets
 * the time when another round begins. */
static void connecting_linger(struct upstream_connecting *connecting)
{
    struct upstream_server *server = connecting->server;
    struct upstream_pool *pool = server->pool;

    connecting->since_ms = pool->now->mono_ms;
    if (address_is_local(&connecting->addresses[connecting->count - 1])) {
        list_put_last(&server->backlogged, &connecting->list_node);
        if (!ev_is_active(&server->backlog_retries)) {
            ev_timer_set(&server->backlog_retries, BACKLOG_RETRY_MS / 1000.,
                         BACKLOG_RETRY_MS / 1000.);
            ev_timer_start(pool->loop, &server->backlog_retries);
        }
    } else if (connecting->rounds < UPSTREAM_ROUNDS_MAX) {
        upstream_alarm_set(pool, &connecting->next, SILENCE_MS);
    }
}

/* Tries addresses until an attempt is under way, or none is left. */
static void connecting_go_on(struct upstream_connecting *connecting)
{
    struct upstream_pool *pool = connecting->server->pool;

    upstream_alarm_drop(pool, &connecting->next);
    list_drop(&connecting->list_node);
    while (connecting->at < connecting->count) {
        const struct address *address = &connecting->addresses[connecting->at];
        struct upstream *upstream;
        int err = upstream_attempt(connecting, address, &upstream);

        if (err == 0) {
            connecting->at++;
            connecting_settle(connecting, upstream);
            return;
        }
        if (err == -EAGAIN && address->family == ADDRESS_UNIX) {
            upstream_alarm_set(pool, &connecting->next, BACKLOG_MS);
            return;
        }
        connecting->at++;
        if (err != -EINPROGRESS) {
            note_failure(connecting, -err);
        } else if (connecting->at < connecting->count) {
            upstream_alarm_set(pool, &connecting->next, STAGGER_MS);
            return;
        }
    }
    if (list_is_empty(&connecting->attempts))
        connecting_lose(connecting, connecting->error, connecting->err);
    else
        connecting_linger(connecting);
}

void upstream_connecting_note(struct upstream *upstream, bool has_failed)
{
    struct upstream_connecting *connecting = upstream->connecting;
    int err = 0;
    socklen_t len = sizeof(err);

    if (has_failed)
        err = ENOMEM;
    else if (connecting->is_shaking) {
        shake(upstream);
        return;
    } else if (getsockopt(upstream->transport.fd, SOL_SOCKET, SO_ERROR, &err,
                          &len) == -1)
        err = errno;
    if (err == 0) {
        connecting_settle(connecting, upstream);
        return;
    }
    note_failure(connecting, err);
    connecting->is_shaking = false;
    upstream_close(upstream);
    connecting_go_on(connecting);
}

void upstream_connecting_retry_backlog(struct upstream_server *server)
{
    /* The timer's callback runs later, from the loop, because another lease's
     * callback is running now. */
    if (!list_is_empty(&server->backlogged))
        ev_feed_event(server->pool->loop, &server->backlog_retries, EV_CUSTOM);
}

void upstream_on_backlog_retry(struct ev_loop *loop, ev_timer *backlog_retries,
                               int events)
{
    struct upstream_server *server = backlog_retries->data;

    (void)events;
    while (!list_is_empty(&server->backlogged)) {
        struct upstream_connecting *connecting =
            OWNER_OF(server->backlogged.next, struct upstream_connecting,
                     list_node);
        uint64_t waited_ms = server->pool->now->mono_ms - connecting->since_ms;

        if (waited_ms <
            BACKLOG_RETRY_MS * (1 + connecting->rounds / RETRIES_ALIKE))
            return;
        connecting_begin_anew(connecting);
        if (server->backlogged.prev == &connecting->list_node)
            return; /* the server accepts no connection now */
    }
    ev_timer_stop(loop, backlog_retries);
}

/* Begins to connect to the addresses that are known now. */
static void connecting_begin(struct upstream_connecting *connecting)
{
    const struct resolver_name *name = connecting->server->name;

    if (!name) {
        connecting->addresses[0] = (struct address){.family = ADDRESS_UNIX};
        connecting->count = 1;
    } else if (resolver_name_state(name) == RESOLVER_KNOWN) {
        const struct address *addresses =
            resolver_name_addresses(name, &connecting->count);

        memcpy(connecting->addresses, addresses,
               connecting->count * sizeof(*addresses));
    }
    connecting_go_on(connecting);
}

void upstream_connecting_start(struct upstream_server *server,
                               struct upstream_lease *lease)
{
    struct upstream_pool *pool = server->pool;
    struct upstream_connecting *connecting = connecting_create(server, lease);

    if (!connecting) {
        pool->events.on_lost(lease, UPSTREAM_SHORT, ENOMEM, NULL);
        return;
    }
    upstream_alarm_set(pool, &connecting->limit, pool->options.connect_ms);
    if (server->name && resolver_name_state(server->name) == RESOLVER_ASKING)
        list_put_last(&server->waiting, &connecting->list_node);
    else
        connecting_begin(connecting);
}

void upstream_connecting_stop(struct upstream_connecting *connecting)
{
    connecting_close(connecting);
}

void upstream_connecting_wake(struct upstream_server *server)
{
    /* The loop ends, since no lease joins the list after the name's first
     * lookup. Each step may remove several leases from the list. */
    while (!list_is_empty(&server->waiting)) {
        struct upstream_connecting *connecting =
            OWNER_OF(server->waiting.next, struct upstream_connecting,
                     list_node);

        list_drop(&connecting->list_node);
        connecting_begin(connecting);
    }
}
