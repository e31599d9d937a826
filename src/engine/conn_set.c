#include "engine/conn_set.h"

#include <errno.h>
#include <unistd.h>

#include "base/cidr.h"
#include "base/now.h"
#include "engine/conn_memory_priv.h"
#include "engine/h1/h1.h"
#include "engine/h2/h2.h"
#include "engine/refusal.h"
#include "observe/profile.h"

enum {
    /* A turn sends at most TURN_BYTES, and calls conn_run() at most TURN_RUNS
     * times, before the loop looks for new input again. */
    TURN_BYTES = 524288,
    TURN_RUNS = 256,
    /* In a turn, TURN_EMPTY_RUNS calls of conn_run() may send nothing. After
     * that, further such calls may go on for TURN_EMPTY_NS. A listing, for
     * instance, reads for long before its first byte. */
    TURN_EMPTY_RUNS = 8,
    TURN_EMPTY_NS = 1000000,
    TURN_SHAKES = 2, /* steps of handshakes, of up to 0.5 ms each */
    TURN_COSTLY = 1, /* costly connections that are read from */
    /* How many connections are searched for one whose address has more than its
     * share. */
    LOOKED_AT_MAX = 1024
};

/* --- Connections --------------------------------------------------------- */

/* Counts a connection that was closed before it began. */
static void note_turned_away(struct conn_set *set, enum stats_close reason)
{
    stats_note_close(set->shared.context.stats, reason);
    atomic_fetch_add_explicit(&set->closed_count, 1, memory_order_relaxed);
}

/* Whether `peer` may name the client for whom it speaks. A peer on a unix
 * socket may, since the file system has let it in. */
static bool is_trusted(const struct conn_set *set, const struct address *peer)
{
    return peer->family == ADDRESS_UNIX || cidrs_contain(set->proxies, peer);
}

/* Takes memory for a connection. When there is no memory, closes `fd`, counts
 * the connection and returns NULL. */
static struct conn *take_conn(struct conn_set *set, int fd)
{
    struct conn *conn;

    conn = conn_memory_take(set);
    if (!conn) {
        close(fd);
        note_turned_away(set, STATS_CLOSE_ERROR);
        return NULL;
    }
    return conn;
}

/* Finds a connection, busy or idle, of an address that has more than its share;
 * usually the connection that has been open longest. Connections of other
 * addresses move to the end of the list, so that the next search looks at
 * others. */
static struct conn *find_above(struct conn_set *set)
{
    struct address_count *addresses = set->shared.addresses;

    for (size_t i = 0; i < LOOKED_AT_MAX && i < set->count; i++) {
        struct list *list_node = set->open.next;
        struct conn *conn = OWNER_OF(list_node, struct conn, list_node);

        if (address_count_is_above(addresses, conn->session.ticket))
            return conn;
        list_drop(list_node);
        list_put_last(&set->open, list_node);
    }
    return NULL;
}

/* Makes room for a new connection, whose address has `ticket`. If no connection
 * can be closed, turns the new client away and returns false. */
static bool make_room(struct conn_set *set, const struct mail *mail,
                      uint32_t ticket)
{
    struct address_count *addresses = set->shared.addresses;
    struct conn *conn = conn_idle_take(&set->idle, &set->open,
                                       set->shared.context.now->mono_ms);

    if (!conn && addresses && !address_count_is_above(addresses, ticket))
        conn = find_above(set);
    if (conn) {
        if (conn->session.protocol->farewell)
            conn->session.protocol->farewell(&conn->session);
        conn_close(conn, CONN_END_LIMIT);
        conn_memory_reap(set); /* no connection's function is running */
        return true;
    }
    if (mail->is_tls)
        close(mail->fd); /* the client expects TLS, not clear text */
    else
        refusal_send(mail->fd);
    note_turned_away(set, STATS_CLOSE_LIMIT);
    return false;
}

static void open_conn(struct conn_set *set, const struct mail *mail)
{
    const struct address *peer = &mail->peer;
    bool is_local = peer->family == ADDRESS_UNIX;
    bool is_proxy = set->proxies->count > 0 && is_trusted(set, peer);
    struct address_count *addresses = set->shared.addresses;
    uint32_t ticket = 0;
    int fd = mail->fd;
    struct conn *conn;

    /* An address that has as many connections as it may have gets no other,
     * even if there is room. */
    if (addresses && !is_local && !is_proxy &&
        !(ticket = address_count_take(addresses, peer))) {
        close(fd);
        note_turned_away(set, STATS_CLOSE_LIMIT);
        return;
    }
    conn = mail->makes_room && !make_room(set, mail, ticket)
               ? NULL
               : take_conn(set, fd);
    if (!conn) {
        if (ticket != 0)
            address_count_give(addresses, &ticket);
        return;
    }
    *conn = (struct conn){.state = mail->is_tls ? CONN_HANDSHAKE : CONN_READING,
                          .session = {.protocol = set->protocol,
                                      .context = &set->shared.context,
                                      .peer = *peer,
                                      .ticket = ticket,
                                      .awaits_proxy = set->proxies_introduce &&
                                                      is_proxy,
                                      .number = set->next_number}};
    set->next_number += set->number_step;
    list_put_last(&set->open, &conn->list_node);
    set->count++;
    conn_start(conn, fd, mail->is_tls);
}

void conn_set_open(struct conn_set *set, const struct mail *mail)
{
    enum stats_phase before = profile_enter(STATS_PHASE_ACCEPT);

    stats_note_open(set->shared.context.stats);
    open_conn(set, mail);
    profile_leave(before);
}

/* Moves a connection to the list of closed ones. Its memory is valid until the
 * end of the turn. */
static void on_closed(struct conn_shared *shared, struct conn *conn)
{
    struct conn_set *set = OWNER_OF(shared, struct conn_set, shared);

    list_drop(&conn->list_node);
    list_put_last(&set->closed, &conn->list_node);
    set->count--;
    atomic_fetch_add_explicit(&set->closed_count, 1, memory_order_relaxed);
}

uint64_t conn_set_closed(const struct conn_set *set)
{
    return atomic_load_explicit(&set->closed_count, memory_order_relaxed);
}

size_t conn_set_reading(const struct conn_set *set)
{
    return atomic_load_explicit(&set->shared.reading_count,
                                memory_order_relaxed);
}

/* --- Turns --------------------------------------------------------------- */

static inline void tell_queue(const struct conn_set *set)
{
    const struct sched *sched = &set->shared.sched;

    stats_set_queue(set->shared.context.stats, sched->heap.count,
                    sched->bytes_waiting);
}

/* Tells other workers what waits at this worker. */
static void tell_others(struct conn_shared *shared)
{
    const struct sched *sched = &shared->sched;

    shared->link.base = sched_base(sched);
    link_publish(&shared->link, sched_next_key(sched));
    link_tell_clients(&shared->link, &sched->clients, sched->bytes_sent);
}

/* Does the work that comes last in a turn: steps of handshakes, reading from
 * costly connections, and reading on from connections that have asked for much
 * at once. All ready answers have been sent before, and the next turn looks at
 * new input before it does more of this work. */
static __attribute__((noinline)) void work_late(struct conn_set *set)
{
    struct conn_shared *shared = &set->shared;
    struct list *shaking = &shared->shaking;
    struct conn *conn;

    for (int i = 0; i < TURN_SHAKES && !list_is_empty(shaking); i++)
        conn_shake(conn_of_work(shaking->next));
    for (int i = 0;
         i < TURN_COSTLY && (conn = conn_costly_take(&shared->costly)); i++)
        conn_read_on(conn);
    for (unsigned i = 0;
         i < shared->held_before && (conn = conn_costly_take(&shared->held));
         i++)
        conn_read_on(conn);
    shared->held_before = shared->held.count;
    shared->has_work = !list_is_empty(&shared->unread) ||
                       !list_is_empty(shaking) || shared->costly.count > 0 ||
                       shared->held.count > 0;
    conn_feed_unread(shared);
}

/* Counts the calls of conn_run() that have sent nothing in this turn. */
struct idling {
    unsigned runs;
    uint64_t since_ns; /* when the runs became too many; 0: not yet */
};

/* Notes a run that sent nothing. Returns true when the turn has to end. */
static bool note_empty(struct idling *idling)
{
    uint64_t now_ns;

    if (++idling->runs <= TURN_EMPTY_RUNS)
        return false;
    now_ns = now_read_ns();
    if (idling->since_ns == 0)
        idling->since_ns = now_ns;
    return now_ns - idling->since_ns >= TURN_EMPTY_NS;
}

void conn_set_turn(struct conn_set *set)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SCHEDULE);
    struct conn_shared *shared = &set->shared;
    struct sched *sched = &shared->sched;
    struct sched_item *item;
    struct idling idling = {0};
    uint64_t sent = 0;

    shared->is_held = false;
    if (!sched_is_empty(sched)) {
        tell_queue(set); /* now the queue is longest */
        if (link_has_others(&shared->link))
            link_hear_clients(&shared->link, &sched->clients);
    }
    while (sent < TURN_BYTES && !shared->is_held && sched_has_work(sched) &&
           (item = sched_take(sched))) {
        uint64_t now_sent;

        if (sched_overtakes(sched, item))
            stats_note_overtake(shared->context.stats);
        now_sent = conn_run(OWNER_OF(item, struct conn, item));
        if (now_sent == 0 && note_empty(&idling))
            break;
        sent += TURN_BYTES / TURN_RUNS + now_sent;
    }
    tell_queue(set);
    if (link_has_others(&shared->link))
        tell_others(shared);
    profile_leave(before);
    if (__builtin_expect(shared->has_work, 0))
        work_late(set);
    conn_memory_reap(set);
}

/* --- The end of them ----------------------------------------------------- */

/* Whether the connection may be closed without loss. If the client's next
 * request had arrived unread, closing would answer the request by a reset. */
static bool may_close(const struct conn *conn)
{
    return conn_is_idle(conn) && !transport_has_bytes(&conn->session.transport);
}

static void close_where(struct conn_set *set, bool only_idle)
{
    struct list *list_node = set->open.next;

    while (list_node != &set->open) {
        struct conn *conn = OWNER_OF(list_node, struct conn, list_node);

        list_node = list_node->next;
        if (!only_idle || may_close(conn))
            conn_close(conn, CONN_END_DRAIN);
    }
}

void conn_set_wake(struct conn_set *set)
{
    struct list *waiting = &set->shared.waiting;

    while (!list_is_empty(waiting))
        conn_wake(OWNER_OF(waiting->next, struct conn, item.place.link));
}

void conn_set_leave(struct conn_set *set)
{
    set->shared.context.is_draining = true;
    for (struct list *list_node = set->open.next; list_node != &set->open;
         list_node = list_node->next) {
        struct session *session =
            &OWNER_OF(list_node, struct conn, list_node)->session;

        session->protocol->leave(session);
    }
    conn_set_wake(set);
}

void conn_set_drain(struct conn_set *set)
{
    set->shared.context.ends_idle = true;
    conn_set_leave(set);
    close_where(set, true);
}

void conn_set_close_all(struct conn_set *set)
{
    close_where(set, false);
    tell_queue(set);
    conn_memory_reap(set);
}

/* --- Coming and going ---------------------------------------------------- */

static void on_expired(void *context, struct deadline *deadline)
{
    (void)context;
    conn_expire(OWNER_OF(deadline, struct conn, deadline));
}

static int init_shared(struct conn_shared *shared, enum sched_policy policy,
                       struct sched_bounds bounds,
                       struct link_shared *link_shared, size_t worker)
{
    struct session_context *context = &shared->context;
    bool has_pools;
    int err;

    list_init(&shared->waiting);
    list_init(&shared->unread);
    list_init(&shared->shaking);
    shared->costly = shared->held = (struct conn_costly){0};
    shared->held_before = 0;
    shared->tls_buffers = NULL;
    shared->is_held = false;
    shared->has_work = false;
    atomic_init(&shared->reading_count, 0);
    shared->on_closed = on_closed;
    context->is_draining = false;
    context->ends_idle = false;
    context->hooks = &conn_session_hooks;
    shared->http2 = &h2_protocol;
    context->h2 = h2_context_create();
    has_pools = h1_context_init(context) && context->h2;
    sender_init(&context->sender, (size_t)context->limits.quantum);
    sched_init(&shared->sched, policy, bounds);
    unsent_time_init(&shared->unsent_time, shared->loop, context->stats);
    deadline_wheel_init(&shared->deadlines, shared->loop, context->now,
                        on_expired, NULL);
    err = link_init(&shared->link, link_shared, worker);
    if (link_has_others(&shared->link)) {
        shared->sched.clients.count_elsewhere = link_count_elsewhere;
        shared->sched.clients.context = &shared->link;
    }
    if (err == 0 && link_shared->mode != LINK_OFF)
        err = what_if_init(&shared->what_if);
    return err == 0 && !has_pools ? -ENOMEM : err;
}

int conn_set_init(struct conn_set *set, enum sched_policy policy,
                  struct sched_bounds bounds, struct link_shared *link_shared,
                  size_t worker)
{
    int err = init_shared(&set->shared, policy, bounds, link_shared, worker);

    list_init(&set->open);
    list_init(&set->closed);
    list_init(&set->free);
    list_init(&set->slabs);
    set->count = set->allocated = 0;
    set->idle = (struct conn_idle){0};
    set->conn_bytes = conn_memory_count_bytes(set->protocol);
    set->next_number = worker + 1;
    set->number_step = link_shared->worker_count;
    atomic_init(&set->closed_count, 0);
    if (err == 0 && !conn_memory_grow(set))
        err = -ENOMEM;
    return err;
}

void conn_set_fini(struct conn_set *set)
{
    struct conn_shared *shared = &set->shared;

    conn_set_close_all(set);
    deadline_wheel_fini(&shared->deadlines);
    unsent_time_fini(&shared->unsent_time);
    conn_memory_free(set);
    tls_buffers_destroy(shared->tls_buffers);
    h1_context_fini(&shared->context);
    h2_context_destroy(shared->context.h2);
    what_if_fini(&shared->what_if);
    link_fini(&shared->link);
    sched_fini(&shared->sched);
    sender_fini(&shared->context.sender);
}
