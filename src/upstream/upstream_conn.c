#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "upstream/upstream_priv.h"

/* TCP_RTO_MAX_MS of Linux 6.15, which older headers of libc lack. */
enum { RTO_MAX_MS_OPTION = 44, RTO_MAX_MS = 1000, CALM_MS = 120000 };

/* --- Events -------------------------------------------------------------- */

/* Called when libev has stopped watching the descriptor, because the kernel has
 * no memory. Shuts the connection down, so that the asker reads the end of the
 * connection. */
static void end(const struct upstream *upstream)
{
    (void)shutdown(upstream->reading.fd, SHUT_RDWR);
}

/* Limits the time between retransmissions. Older kernels refuse the option, and
 * has_rto_max stays false. */
static void limit_resending(struct upstream *upstream, int ms)
{
    upstream->has_rto_max = setsockopt(upstream->reading.fd, IPPROTO_TCP,
                                       RTO_MAX_MS_OPTION, &ms,
                                       sizeof(ms)) == 0 &&
                            ms == RTO_MAX_MS;
}

void upstream_bound_rto(struct upstream *upstream)
{
    limit_resending(upstream, RTO_MAX_MS);
}

/* Whether an idle connection has received only records of TLS itself, such as a
 * ticket. Returns false if the server has closed the connection or has sent
 * unexpected bytes. */
static bool is_ticket(const struct upstream *upstream)
{
    char byte;
    size_t len;

    return transport_is_secure(&upstream->transport) &&
           transport_receive(&upstream->transport, &byte, 1, &len) ==
               IO_AGAIN_READ;
}

static void on_read_event(struct ev_loop *loop, ev_io *io, int events)
{
    struct upstream *upstream = io->data;

    (void)loop;
    if (upstream->connecting) {
        upstream->server->pool->events.on_connected(upstream,
                                                    events & EV_ERROR);
        return;
    }
    if (!upstream->lease) {
        if (!is_ticket(upstream))
            upstream_close(upstream);
        return;
    }
    if (events & EV_ERROR)
        end(upstream);
    /* The server has answered. If retransmissions stayed as frequent as before,
     * an outage of 15 s would end the connection. */
    if (upstream->has_rto_max)
        limit_resending(upstream, CALM_MS);
    upstream->lease->on_readable(upstream->lease);
}

/* Sends TLS records and alerts that could not be sent earlier. They are sent
 * before all other bytes, and before anything is read. Returns false if some
 * are still unsent. */
static bool send_kept(struct upstream *upstream)
{
    const struct transport *transport = &upstream->transport;
    struct ev_loop *loop = upstream->server->pool->loop;

    if (!transport_is_secure(transport) || !tls_has_kept(transport->tls))
        return true;
    if (tls_flush(transport->tls) == IO_AGAIN_WRITE)
        return false;
    if (ev_is_active(&upstream->reading))
        ev_feed_event(loop, &upstream->reading, EV_READ);
    return true;
}

static void on_write_event(struct ev_loop *loop, ev_io *io, int events)
{
    struct upstream *upstream = io->data;

    if (upstream->connecting) {
        upstream->server->pool->events.on_connected(upstream,
                                                    events & EV_ERROR);
        return;
    }
    if (events & EV_ERROR)
        end(upstream);
    else if (!send_kept(upstream))
        return;
    ev_io_stop(loop, io);
    upstream->lease->on_writable(upstream->lease);
}

/* --- Idle ones ----------------------------------------------------------- */

static void put_idle(struct upstream *upstream)
{
    struct upstream_server *server = upstream->server;

    list_put_first(&server->idle, &upstream->list_node);
    server->idle_count++;
    atomic_fetch_add_explicit(&server->counts->idle, 1, memory_order_relaxed);
}

static void drop_idle(struct upstream *upstream)
{
    struct upstream_server *server = upstream->server;

    list_drop(&upstream->list_node);
    server->idle_count--;
    atomic_fetch_sub_explicit(&server->counts->idle, 1, memory_order_relaxed);
}

static bool is_idle(const struct upstream *upstream)
{
    return !upstream->lease && !upstream->connecting &&
           !list_is_empty(&upstream->list_node);
}

static void close_oldest(struct upstream_server *server)
{
    upstream_close(OWNER_OF(server->idle.prev, struct upstream, list_node));
}

static void on_idle_limit(struct upstream_alarm *alarm)
{
    struct upstream *upstream = OWNER_OF(alarm, struct upstream, idle_limit);

    /* A connection in use stays; upstream_keep() will set its limit anew. */
    if (is_idle(upstream))
        upstream_close(upstream);
}

/* Returns how long to keep a connection idle. `said_ms` is the server's own
 * limit, or 0 if the server named none. We close a second earlier than the
 * server, or after half its limit if that is below two seconds, since a request
 * in the last moment would find the connection closed. */
static uint64_t choose_idle_ms(const struct upstream_pool *pool,
                               uint64_t said_ms)
{
    uint64_t ms = pool->options.idle_ms;

    if (said_ms > 0) {
        said_ms -= said_ms / 2 < 1000 ? said_ms / 2 : 1000;
        if (said_ms < ms)
            ms = said_ms;
    }
    return ms;
}

/* Whether the server's name still has the connection's address. */
static bool is_current(struct upstream *upstream)
{
    const struct upstream_server *server = upstream->server;
    const struct address *addresses;
    size_t count;

    if (upstream->changes == server->changes)
        return true;
    addresses = resolver_name_addresses(server->name, &count);
    for (size_t i = 0; i < count; i++) {
        if (addresses[i].family == upstream->address.family &&
            memcmp(addresses[i].octets, upstream->address.octets,
                   sizeof(addresses[i].octets)) == 0) {
            upstream->changes = server->changes;
            return true;
        }
    }
    return false;
}

/* Whether nothing can be read, not even the end of the connection. Without a
 * pending event, no system call is needed. With one, recv() must tell whether
 * the event's bytes were read already or begin an unexpected reply. */
static bool is_quiet(const struct upstream *upstream)
{
    char byte;

    if (transport_is_secure(&upstream->transport) &&
        (tls_has_unread(upstream->transport.tls) ||
         tls_has_kept(upstream->transport.tls)))
        return false;
    return !ev_is_pending(&upstream->reading) ||
           (recv(upstream->reading.fd, &byte, 1, MSG_PEEK) == -1 &&
            errno == EAGAIN);
}

void upstream_keep(struct upstream *upstream, uint64_t idle_ms)
{
    struct upstream_server *server = upstream->server;
    struct upstream_pool *pool = server->pool;
    const struct upstream_options *options = &pool->options;

    upstream->lease = NULL;
    if (options->idle_max == 0 ||
        (options->requests_max > 0 &&
         upstream->requests >= options->requests_max) ||
        !is_current(upstream) || !is_quiet(upstream)) {
        upstream_close(upstream);
        return;
    }
    if (server->idle_count >= options->idle_max)
        close_oldest(server);
    ev_io_stop(pool->loop, &upstream->writing);
    ev_clear_pending(pool->loop, &upstream->reading);
    ev_io_start(pool->loop, &upstream->reading);
    upstream_alarm_set(pool, &upstream->idle_limit,
                       choose_idle_ms(pool, idle_ms));
    put_idle(upstream);
}

struct upstream *upstream_take_idle(struct upstream_server *server)
{
    const struct upstream_pool *pool = server->pool;

    while (!list_is_empty(&server->idle)) {
        struct upstream *upstream = OWNER_OF(server->idle.next, struct upstream,
                                             list_node);

        /* A pending event of this turn may be the end of the connection. The
         * deadline wheel is up to a tick late, so the idle limit may be over
         * before on_idle_limit() has been called. */
        if (!ev_is_pending(&upstream->reading) &&
            pool->now->mono_ms < upstream->idle_limit.deadline.at_ms) {
            drop_idle(upstream);
            return upstream;
        }
        upstream_close(upstream);
    }
    return NULL;
}

void upstream_close_moved(struct upstream_server *server)
{
    struct list *at = server->idle.next;

    while (at != &server->idle) {
        struct upstream *upstream = OWNER_OF(at, struct upstream, list_node);

        at = at->next;
        if (!is_current(upstream))
            upstream_close(upstream);
    }
}

bool upstream_close_one_idle(struct upstream_pool *pool)
{
    for (size_t i = 0; i < pool->options.server_count; i++) {
        if (pool->servers[i].idle_count > 0) {
            close_oldest(&pool->servers[i]);
            return true;
        }
    }
    return false;
}

/* --- Life ---------------------------------------------------------------- */

struct upstream *upstream_create(struct upstream_server *server)
{
    struct upstream_pool *pool = server->pool;
    struct upstream *upstream = pool_take(&pool->upstreams);

    if (!upstream)
        return NULL;
    *upstream = (struct upstream){.server = server, .changes = server->changes};
    list_init(&upstream->list_node);
    upstream->idle_limit.on_due = on_idle_limit;
    deadline_init(&upstream->idle_limit.deadline);
    upstream_set_fd(upstream, -1);
    return upstream;
}

void upstream_set_fd(struct upstream *upstream, int fd)
{
    transport_open(&upstream->transport, fd);
    ev_io_init(&upstream->reading, on_read_event, fd, EV_READ);
    ev_io_init(&upstream->writing, on_write_event, fd, EV_WRITE);
    upstream->reading.data = upstream->writing.data = upstream;
}

void upstream_close(struct upstream *upstream)
{
    struct upstream_pool *pool = upstream->server->pool;

    if (is_idle(upstream))
        drop_idle(upstream);
    if (upstream->reading.fd != -1) {
        ev_io_stop(pool->loop, &upstream->reading);
        ev_io_stop(pool->loop, &upstream->writing);
        transport_close(&upstream->transport, false);
    }
    upstream_alarm_drop(pool, &upstream->idle_limit);
    list_drop(&upstream->list_node);
    pool_give(&pool->upstreams, upstream);
}

/* Watches the socket. Bytes that TLS has already read from the socket raise no
 * event, so an event is fed to the loop for them. */
static void start_reading(struct upstream *upstream)
{
    struct ev_loop *loop = upstream->server->pool->loop;

    ev_io_start(loop, &upstream->reading);
    if (transport_is_secure(&upstream->transport) &&
        tls_has_unread(upstream->transport.tls))
        ev_feed_event(loop, &upstream->reading, EV_READ);
}

void upstream_give_to(struct upstream *upstream, struct upstream_lease *lease)
{
    struct ev_loop *loop = upstream->server->pool->loop;

    upstream->connecting = NULL;
    upstream->lease = lease;
    upstream->requests++;
    ev_io_stop(loop, &upstream->writing);
    lease->upstream = upstream;
    start_reading(upstream);
}

/* --- For the asker ------------------------------------------------------- */

const struct transport *upstream_transport(const struct upstream *upstream)
{
    return &upstream->transport;
}

void upstream_wait_writable(struct upstream_lease *lease)
{
    assert(lease->upstream);
    ev_io_start(lease->pool->loop, &lease->upstream->writing);
}

void upstream_pause(struct upstream_lease *lease)
{
    assert(lease->upstream);
    ev_io_stop(lease->pool->loop, &lease->upstream->reading);
}

void upstream_resume(struct upstream_lease *lease)
{
    assert(lease->upstream);
    start_reading(lease->upstream);
}

void upstream_read_again(struct upstream_lease *lease)
{
    assert(lease->upstream);
    ev_feed_event(lease->pool->loop, &lease->upstream->reading, EV_READ);
}
