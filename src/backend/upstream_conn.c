#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/upstream_priv.h"

/* Linux 6.15; libc's headers may be older. */
enum { RTO_MAX_MS_OPTION = 44, HASTY_MS = 1000, CALM_MS = 120000 };

/* --- Events ---------------------------------------------------------------- */

/* libev has given the descriptor up (no memory for it in the kernel): the asker
 * finds it closed. */
static void end(const struct upstream *upstream)
{
    (void)shutdown(upstream->reading.fd, SHUT_RDWR);
}

/* Kernels that do not know it are as slow as they are. */
static void limit_resending(struct upstream *upstream, int ms)
{
    upstream->is_hasty = setsockopt(upstream->reading.fd, IPPROTO_TCP,
                                    RTO_MAX_MS_OPTION, &ms, sizeof(ms)) == 0 &&
                         ms == HASTY_MS;
}

void upstream_hurry(struct upstream *upstream)
{
    limit_resending(upstream, HASTY_MS);
}

static void on_read_event(struct ev_loop *loop, ev_io *io, int events)
{
    struct upstream *upstream = io->data;

    (void)loop;
    if (!upstream->ask) {
        /* Closed by the server, or bytes that nobody has asked for. */
        upstream_close(upstream);
        return;
    }
    if (events & EV_ERROR)
        end(upstream);
    /* In haste it would be given up after some 15 s without a network. */
    if (upstream->is_hasty)
        limit_resending(upstream, CALM_MS);
    upstream->ask->on_readable(upstream->ask);
}

static void on_write_event(struct ev_loop *loop, ev_io *io, int events)
{
    struct upstream *upstream = io->data;

    if (upstream->race) {
        upstream->server->pool->events.on_connected(upstream,
                                                    events & EV_ERROR);
        return;
    }
    ev_io_stop(loop, io);
    if (events & EV_ERROR)
        end(upstream);
    upstream->ask->on_writable(upstream->ask);
}

/* --- Idle ones ------------------------------------------------------------- */

static void put_idle(struct upstream *upstream)
{
    struct upstream_server *server = upstream->server;

    list_put_first(&server->idle, &upstream->link);
    server->idle_count++;
    atomic_fetch_add_explicit(&server->counts->idle, 1, memory_order_relaxed);
}

static void drop_idle(struct upstream *upstream)
{
    struct upstream_server *server = upstream->server;

    list_drop(&upstream->link);
    server->idle_count--;
    atomic_fetch_sub_explicit(&server->counts->idle, 1, memory_order_relaxed);
}

static bool is_idle(const struct upstream *upstream)
{
    return !upstream->ask && !upstream->race && !list_is_empty(&upstream->link);
}

static void close_oldest(struct upstream_server *server)
{
    upstream_close(OWNER_OF(server->idle.prev, struct upstream, link));
}

static void on_idle_limit(struct upstream_alarm *alarm)
{
    struct upstream *upstream = OWNER_OF(alarm, struct upstream, idle_limit);

    if (is_idle(upstream)) /* else it is set anew when that is over */
        upstream_close(upstream);
}

/* How long it is kept. Of what the server says a second is left out, or half:
 * what is sent at the last moment would cross its closing. */
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

/* Whether the server still has its address. */
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

/* Whether there is nothing to be read, not even its end. Only when the loop has
 * yet to tell of something is it worth a system call: that may have been read
 * already, or be the beginning of a reply to nobody. */
static bool is_quiet(const struct upstream *upstream)
{
    char byte;

    return !ev_is_pending(&upstream->reading) ||
           (recv(upstream->reading.fd, &byte, 1, MSG_PEEK) == -1 &&
            errno == EAGAIN);
}

void upstream_keep(struct upstream *upstream, uint64_t idle_ms)
{
    struct upstream_server *server = upstream->server;
    struct upstream_pool *pool = server->pool;
    const struct upstream_options *options = &pool->options;

    upstream->ask = NULL;
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
                                             link);

        /* Its end may be among the events of this turn that are yet to be
         * told; and the wheel is late by up to a tick. */
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
        struct upstream *upstream = OWNER_OF(at, struct upstream, link);

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

/* --- Life ------------------------------------------------------------------- */

struct upstream *upstream_create(struct upstream_server *server)
{
    struct upstream_pool *pool = server->pool;
    struct upstream *upstream = pool_take(&pool->upstreams);

    if (!upstream)
        return NULL;
    *upstream = (struct upstream){.server = server, .changes = server->changes};
    list_init(&upstream->link);
    upstream->idle_limit.on_due = on_idle_limit;
    deadline_init(&upstream->idle_limit.deadline);
    upstream_set_fd(upstream, -1);
    return upstream;
}

void upstream_set_fd(struct upstream *upstream, int fd)
{
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
        close(upstream->reading.fd);
    }
    upstream_alarm_drop(pool, &upstream->idle_limit);
    list_drop(&upstream->link);
    pool_give(&pool->upstreams, upstream);
}

void upstream_give_to(struct upstream *upstream, struct upstream_ask *ask)
{
    struct ev_loop *loop = upstream->server->pool->loop;

    upstream->race = NULL;
    upstream->ask = ask;
    upstream->requests++;
    ev_io_stop(loop, &upstream->writing);
    ev_io_start(loop, &upstream->reading);
    ask->upstream = upstream;
}

/* --- For the asker ---------------------------------------------------------- */

int upstream_fd(const struct upstream *upstream)
{
    return upstream->reading.fd;
}

void upstream_wait_writable(struct upstream_ask *ask)
{
    assert(ask->upstream);
    ev_io_start(ask->pool->loop, &ask->upstream->writing);
}

void upstream_pause(struct upstream_ask *ask)
{
    assert(ask->upstream);
    ev_io_stop(ask->pool->loop, &ask->upstream->reading);
}

void upstream_resume(struct upstream_ask *ask)
{
    assert(ask->upstream);
    ev_io_start(ask->pool->loop, &ask->upstream->reading);
}
