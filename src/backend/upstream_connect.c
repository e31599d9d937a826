#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "backend/upstream_priv.h"

/* RFC 8305, 5: 250 ms, and never less than 100 or more than 2000. The wheel
 * makes it up to a tick more. */
enum { STAGGER_MS = 250 };

/* A server whose backlog is full says nothing to a SYN, and its kernel would
 * hear it again after a second: from all who wait at the same moment. It answers
 * each, and has then room for a few, while the others believe to be connected.
 * So we begin anew before that (with a tick on top). The last round is left to
 * the kernel, for servers that are farther away than that. */
enum { SILENCE_MS = 800, ROUNDS_MAX = 4 };

/* On this machine no answer at once is none, unless it is busy: so more patience
 * by and by. Who waits there knocks whenever a connection has ended, one after
 * the other: otherwise those who come in just then take the place, each time. */
enum { KNOCK_MS = 10, KNOCKS_ALIKE = 8 };

/* The backlog of a unix socket is full: again with the next tick. */
enum { BACKLOG_MS = 1 };

static void race_go_on(struct upstream_race *race);

/* --- A race, and its end --------------------------------------------------- */

static void close_attempts(struct upstream_race *race)
{
    while (!list_is_empty(&race->attempts))
        upstream_close(OWNER_OF(race->attempts.next, struct upstream, link));
}

static void race_close(struct upstream_race *race)
{
    struct upstream_pool *pool = race->server->pool;

    close_attempts(race);
    upstream_alarm_drop(pool, &race->limit);
    upstream_alarm_drop(pool, &race->next);
    race->ask->race = NULL;
    list_drop(&race->link);
    pool_give(&pool->races, race);
}

static void race_win(struct upstream_race *race, struct upstream *upstream)
{
    struct upstream_pool *pool = race->server->pool;
    struct upstream_ask *ask = race->ask;

    list_drop(&upstream->link);
    race_close(race);
    upstream_count(&upstream->server->counts->connects);
    pool->events.on_won(ask, upstream);
}

static void race_lose(struct upstream_race *race, enum upstream_error error,
                      int err)
{
    struct upstream_pool *pool = race->server->pool;
    struct upstream_ask *ask = race->ask;

    race_close(race);
    pool->events.on_lost(ask, error, err);
}

static void on_limit(struct upstream_alarm *alarm)
{
    race_lose(OWNER_OF(alarm, struct upstream_race, limit), UPSTREAM_TIMEOUT,
              0);
}

static void race_begin_anew(struct upstream_race *race)
{
    close_attempts(race);
    race->at = 0;
    race->rounds++;
    race_go_on(race);
}

static void on_next(struct upstream_alarm *alarm)
{
    struct upstream_race *race = OWNER_OF(alarm, struct upstream_race, next);

    if (race->at < race->count)
        race_go_on(race);
    else
        race_begin_anew(race);
}

static struct upstream_race *race_create(struct upstream_server *server,
                                         struct upstream_ask *ask)
{
    struct upstream_pool *pool = server->pool;
    struct upstream_race *race = pool_take(&pool->races);

    if (!race)
        return NULL;
    race->ask = ask;
    race->server = server;
    race->limit.on_due = on_limit;
    race->next.on_due = on_next;
    race->count = race->at = race->rounds = 0;
    race->error = UPSTREAM_UNRESOLVED;
    race->err = 0;
    deadline_init(&race->limit.deadline);
    deadline_init(&race->next.deadline);
    list_init(&race->link);
    list_init(&race->attempts);
    ask->race = race;
    return race;
}

/* --- One address ----------------------------------------------------------- */

static enum upstream_error judge(int err)
{
    switch (err) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case EAGAIN:        /* routes */
    case EADDRNOTAVAIL: /* ports */
        return UPSTREAM_SHORT;
    case ETIMEDOUT:
        return UPSTREAM_TIMEOUT;
    default:
        return UPSTREAM_REFUSED;
    }
}

/* What the server has done to us says more than what we lack: IPv6, often. */
static void note_failure(struct upstream_race *race, int err)
{
    if (race->error == UPSTREAM_REFUSED || race->error == UPSTREAM_TIMEOUT)
        return;
    race->error = judge(err);
    race->err = err;
}

/* The socket, or -errno. */
static int open_socket(struct upstream_pool *pool, int family)
{
    const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    const int on = 1;
    int fd = socket(family, type, 0);

    if (fd == -1 && (errno == EMFILE || errno == ENFILE) &&
        upstream_close_one_idle(pool))
        fd = socket(family, type, 0);
    if (fd == -1)
        return -errno;
    /* Without it, a request in two parts would be slow, not wrong. */
    if (family != AF_UNIX)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

/* 0: connected; -EINPROGRESS; another -errno. */
static int connect_to(int fd, const union address_any *to, socklen_t len)
{
    int rc = connect(fd, &to->any, len);

    /* On the same machine the other end has answered by now. To ask for that
     * is cheaper than to have the loop watch for it. */
    if (rc == -1 && errno == EINPROGRESS)
        rc = connect(fd, &to->any, len);
    if (rc == 0 || errno == EISCONN)
        return 0;
    return errno == EALREADY || errno == EINTR ? -EINPROGRESS : -errno;
}

/* 0: *upstream_out is connected, and among the attempts of race; -EINPROGRESS:
 * it is the latter only; another -errno: there is none. */
static int attempt(struct upstream_race *race, const struct address *address,
                   struct upstream **upstream_out)
{
    struct upstream_server *server = race->server;
    struct upstream *upstream = upstream_create(server);
    union address_any to;
    socklen_t len = address_fill(address, server->place->unix_path, &to);
    int fd, err;

    if (!upstream)
        return -ENOMEM;
    fd = open_socket(server->pool, to.any.sa_family);
    if (fd < 0) {
        upstream_close(upstream);
        return fd;
    }
    upstream_set_fd(upstream, fd);
    upstream->race = race;
    upstream->address = *address;
    if (address->family != ADDRESS_UNIX &&
        (race->rounds < ROUNDS_MAX || address_is_local(address)))
        upstream_hurry(upstream);
    list_put_last(&race->attempts, &upstream->link);
    err = connect_to(fd, &to, len);
    if (err == -EINPROGRESS)
        ev_io_start(server->pool->loop, &upstream->writing);
    else if (err != 0)
        upstream_close(upstream);
    *upstream_out = upstream;
    return err;
}

/* --- One after the other --------------------------------------------------- */

/* All addresses are being tried. */
static void race_linger(struct upstream_race *race)
{
    struct upstream_server *server = race->server;
    struct upstream_pool *pool = server->pool;

    race->since_ms = pool->now->mono_ms;
    if (address_is_local(&race->addresses[race->count - 1])) {
        list_put_last(&server->knocking, &race->link);
        if (!ev_is_active(&server->knocks)) {
            ev_timer_set(&server->knocks, KNOCK_MS / 1000., KNOCK_MS / 1000.);
            ev_timer_start(pool->loop, &server->knocks);
        }
    } else if (race->rounds < ROUNDS_MAX) {
        upstream_alarm_set(pool, &race->next, SILENCE_MS);
    }
}

/* Tries addresses until one is under way, or none is left. */
static void race_go_on(struct upstream_race *race)
{
    struct upstream_pool *pool = race->server->pool;

    upstream_alarm_drop(pool, &race->next);
    list_drop(&race->link);
    while (race->at < race->count) {
        const struct address *address = &race->addresses[race->at];
        struct upstream *upstream;
        int err = attempt(race, address, &upstream);

        if (err == 0) {
            race_win(race, upstream);
            return;
        }
        if (err == -EAGAIN && address->family == ADDRESS_UNIX) {
            upstream_alarm_set(pool, &race->next, BACKLOG_MS);
            return;
        }
        race->at++;
        if (err != -EINPROGRESS) {
            note_failure(race, -err);
        } else if (race->at < race->count) {
            upstream_alarm_set(pool, &race->next, STAGGER_MS);
            return;
        }
    }
    if (list_is_empty(&race->attempts))
        race_lose(race, race->error, race->err);
    else
        race_linger(race);
}

void upstream_race_note(struct upstream *upstream, bool has_failed)
{
    struct upstream_race *race = upstream->race;
    int err = 0;
    socklen_t len = sizeof(err);

    if (has_failed)
        err = ENOMEM;
    else if (getsockopt(upstream_fd(upstream), SOL_SOCKET, SO_ERROR, &err,
                        &len) == -1)
        err = errno;
    if (err == 0) {
        race_win(race, upstream);
        return;
    }
    note_failure(race, err);
    upstream_close(upstream);
    race_go_on(race);
}

void upstream_race_knock(struct upstream_server *server)
{
    /* Not at once: that would be within a callback of another ask's. */
    if (!list_is_empty(&server->knocking))
        ev_feed_event(server->pool->loop, &server->knocks, EV_CUSTOM);
}

void upstream_on_knock(struct ev_loop *loop, ev_timer *knocks, int events)
{
    struct upstream_server *server = knocks->data;

    (void)events;
    while (!list_is_empty(&server->knocking)) {
        struct upstream_race *race = OWNER_OF(server->knocking.next,
                                              struct upstream_race, link);
        uint64_t waited_ms = server->pool->now->mono_ms - race->since_ms;

        if (waited_ms < KNOCK_MS * (1 + race->rounds / KNOCKS_ALIKE))
            return;
        race_begin_anew(race);
        if (server->knocking.prev == &race->link)
            return; /* nobody opens */
    }
    ev_timer_stop(loop, knocks);
}

/* With what there is of addresses now. */
static void race_begin(struct upstream_race *race)
{
    const struct resolver_name *name = race->server->name;

    if (!name) {
        race->addresses[0] = (struct address){.family = ADDRESS_UNIX};
        race->count = 1;
    } else if (resolver_name_state(name) == RESOLVER_KNOWN) {
        const struct address *addresses = resolver_name_addresses(name,
                                                                  &race->count);

        memcpy(race->addresses, addresses, race->count * sizeof(*addresses));
    }
    race_go_on(race);
}

void upstream_race_start(struct upstream_server *server,
                         struct upstream_ask *ask)
{
    struct upstream_pool *pool = server->pool;
    struct upstream_race *race = race_create(server, ask);

    if (!race) {
        pool->events.on_lost(ask, UPSTREAM_SHORT, ENOMEM);
        return;
    }
    upstream_alarm_set(pool, &race->limit, pool->options.connect_ms);
    if (server->name && resolver_name_state(server->name) == RESOLVER_ASKING)
        list_put_last(&server->waiting, &race->link);
    else
        race_begin(race);
}

void upstream_race_stop(struct upstream_race *race)
{
    race_close(race);
}

void upstream_race_wake(struct upstream_server *server)
{
    /* None comes back into it: the name is not looked up for the first time
     * any more. Each may take others away. */
    while (!list_is_empty(&server->waiting)) {
        struct upstream_race *race = OWNER_OF(server->waiting.next,
                                              struct upstream_race, link);

        list_drop(&race->link);
        race_begin(race);
    }
}
