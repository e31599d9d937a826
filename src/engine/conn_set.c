#include "engine/conn_set.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cidr.h"
#include "engine/h1.h"
#include "engine/refusal.h"
#include "observe/profile.h"

enum {
    CACHE_LINE = 64,
    SLAB_CONNS = 64,
    /* What is sent before the loop looks for arrivals again, and how often
     * a response gets its turn until then. */
    TURN_BYTES = 524288,
    TURN_RUNS = 256,
    /* Connections of which one above its address's share is looked for. */
    LOOKED_AT_MAX = 1024
};

struct slab {
    struct list link;
    _Alignas(CACHE_LINE) char conns[]; /* conn_bytes each */
};

/* --- Connections --------------------------------------------------------- */

static bool add_slab(struct conn_set *set)
{
    size_t allocated = set->allocated + SLAB_CONNS;
    struct slab *slab;

    if (set->allocated >= set->shared.context.limits.connections_max ||
        sched_reserve(&set->shared.sched, allocated) != 0)
        return false;
    slab = aligned_alloc(CACHE_LINE,
                         sizeof(*slab) + SLAB_CONNS * set->conn_bytes);
    if (!slab)
        return false;
    list_put_last(&set->slabs, &slab->link);
    for (size_t i = 0; i < SLAB_CONNS; i++) {
        void *at = slab->conns + i * set->conn_bytes;
        struct conn *conn = at;

        list_put_last(&set->free, &conn->link);
    }
    set->allocated = allocated;
    return true;
}

/* Its descriptor is closed. */
static void note_turned_away(struct conn_set *set, enum stats_close reason)
{
    stats_note_close(set->shared.context.stats, reason);
    atomic_fetch_add_explicit(&set->closed_count, 1, memory_order_relaxed);
}

/* Who connects through a unix socket has been let in by the file system. */
static bool is_trusted(const struct conn_set *set, const struct address *peer)
{
    return peer->family == ADDRESS_UNIX || cidrs_contain(set->proxies, peer);
}

/* NULL: there is no room, and it has been turned away. */
static struct conn *take_conn(struct conn_set *set, int fd)
{
    struct conn *conn;

    if (list_is_empty(&set->free) && !add_slab(set)) {
        close(fd);
        note_turned_away(set, STATS_CLOSE_ERROR);
        return NULL;
    }
    conn = OWNER_OF(set->free.next, struct conn, link);
    list_drop(&conn->link);
    return conn;
}

static void reap(struct conn_set *set)
{
    while (!list_is_empty(&set->closed)) {
        struct list *link = set->closed.next;

        list_drop(link);
        list_put_first(&set->free, link);
    }
}

/* One of an address that has more than its share, whatever it is doing: about
 * the one that has been open longest. Those that are passed over go behind all
 * others, so that no two newcomers have the same ones looked at. */
static struct conn *find_above(struct conn_set *set)
{
    struct address_count *addresses = set->shared.addresses;

    for (size_t i = 0; i < LOOKED_AT_MAX && i < set->count; i++) {
        struct list *link = set->open.next;
        struct conn *conn = OWNER_OF(link, struct conn, link);

        if (address_count_is_above(addresses, conn->ticket))
            return conn;
        list_drop(link);
        list_put_last(&set->open, link);
    }
    return NULL;
}

/* For fd, of the ticket. False: there is no room, and it has been turned
 * away. */
static bool make_room(struct conn_set *set, int fd, uint32_t ticket)
{
    struct address_count *addresses = set->shared.addresses;
    struct conn *conn = conn_idle_take(&set->idle, &set->open,
                                       set->shared.context.now->mono_ms);

    if (!conn && addresses && !address_count_is_above(addresses, ticket))
        conn = find_above(set);
    if (conn) {
        conn_close(conn, CONN_END_LIMIT);
        reap(set); /* none is at work while another one comes */
        return true;
    }
    refusal_send(fd);
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

    /* An address that has all it may does not push others out. */
    if (addresses && !is_local && !is_proxy &&
        !(ticket = address_count_take(addresses, peer))) {
        close(fd);
        note_turned_away(set, STATS_CLOSE_LIMIT);
        return;
    }
    conn = mail->makes_room && !make_room(set, fd, ticket) ? NULL
                                                           : take_conn(set, fd);
    if (!conn) {
        if (ticket != 0)
            address_count_give(addresses, &ticket);
        return;
    }
    *conn = (struct conn){.shared = &set->shared,
                          .state = CONN_READING,
                          .ticket = ticket,
                          .session = {.protocol = set->protocol,
                                      .context = &set->shared.context,
                                      .peer = *peer,
                                      .awaits_proxy = set->proxies_introduce &&
                                                      is_proxy,
                                      .number = set->next_number}};
    set->next_number += set->number_step;
    list_put_last(&set->open, &conn->link);
    set->count++;
    conn_start(conn, fd);
}

void conn_set_open(struct conn_set *set, const struct mail *mail)
{
    enum stats_phase before = profile_enter(STATS_PHASE_ACCEPT);

    stats_note_open(set->shared.context.stats);
    open_conn(set, mail);
    profile_leave(before);
}

/* It stays where it is until the turn frees it. */
static void on_closed(struct conn_shared *shared, struct conn *conn)
{
    struct conn_set *set = OWNER_OF(shared, struct conn_set, shared);

    list_drop(&conn->link);
    list_put_last(&set->closed, &conn->link);
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

/* --- Turns ----------------------------------------------------------------- */

static void tell_queue(const struct conn_set *set)
{
    const struct sched *sched = &set->shared.sched;

    stats_set_queue(set->shared.context.stats, sched->heap.count,
                    sched->bytes_waiting);
}

void conn_set_turn(struct conn_set *set)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SCHEDULE);
    struct conn_shared *shared = &set->shared;
    struct sched *sched = &shared->sched;
    struct sched_item *item;
    uint64_t sent = 0;

    shared->is_held = false;
    if (!sched_is_empty(sched))
        tell_queue(set); /* as long as it is in this turn */
    while (sent < TURN_BYTES && !shared->is_held &&
           (item = sched_take(sched))) {
        if (sched_overtakes(sched, item))
            stats_note_overtake(shared->context.stats);
        sent += TURN_BYTES / TURN_RUNS +
                conn_run(OWNER_OF(item, struct conn, item));
    }
    shared->link.base = sched_base(sched);
    tell_queue(set);
    if (shared->link.shared->mode != LINK_OFF)
        link_publish(&shared->link, sched_next_key(sched));
    profile_leave(before);
    reap(set);
}

/* --- The end of them ------------------------------------------------------- */

/* Whether nothing would be lost: when its next request is already here, unread,
 * to close it now would be to answer that with a reset. */
static bool may_close(const struct conn *conn)
{
    return conn_is_idle(conn) && !transport_has_bytes(&conn->session.transport);
}

static void close_where(struct conn_set *set, bool only_idle)
{
    struct list *link = set->open.next;

    while (link != &set->open) {
        struct conn *conn = OWNER_OF(link, struct conn, link);

        link = link->next;
        if (!only_idle || may_close(conn))
            conn_close(conn, CONN_END_DRAIN);
    }
}

void conn_set_wake(struct conn_set *set)
{
    struct list *waiting = &set->shared.waiting;

    while (!list_is_empty(waiting))
        conn_wake(OWNER_OF(waiting->next, struct conn, wait_node));
}

void conn_set_leave(struct conn_set *set)
{
    set->shared.context.is_draining = true;
    for (struct list *link = set->open.next; link != &set->open;
         link = link->next) {
        struct session *session = &OWNER_OF(link, struct conn, link)->session;

        session->protocol->leave(session);
    }
    conn_set_wake(set);
}

void conn_set_drain(struct conn_set *set)
{
    conn_set_leave(set);
    close_where(set, true);
}

void conn_set_close_all(struct conn_set *set)
{
    close_where(set, false);
    tell_queue(set);
    reap(set);
}

/* --- Coming and going ---------------------------------------------------- */

static void on_expired(void *context, struct deadline *deadline)
{
    (void)context;
    conn_expire(OWNER_OF(deadline, struct conn, deadline));
}

/* A session lies at the end of its connection. */
static size_t count_conn_bytes(const struct protocol *protocol)
{
    size_t bytes = offsetof(struct conn, session) + protocol->session_bytes;

    if (bytes < sizeof(struct conn))
        bytes = sizeof(struct conn);
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static int init_shared(struct conn_shared *shared, enum sched_policy policy,
                       uint64_t starvation_bound,
                       struct link_shared *link_shared, size_t worker)
{
    struct session_context *context = &shared->context;
    bool has_pools;
    int err;

    list_init(&shared->waiting);
    shared->is_held = false;
    atomic_init(&shared->reading_count, 0);
    shared->on_closed = on_closed;
    context->is_draining = false;
    context->hooks = &conn_session_hooks;
    has_pools = h1_context_init(context);
    sender_init(&context->sender, (size_t)context->limits.quantum);
    sched_init(&shared->sched, policy, starvation_bound);
    drain_init(&shared->drain, shared->loop, context->stats);
    deadline_wheel_init(&shared->deadlines, shared->loop, context->now,
                        on_expired, NULL);
    err = link_init(&shared->link, link_shared, worker);
    return err == 0 && !has_pools ? -ENOMEM : err;
}

int conn_set_init(struct conn_set *set, enum sched_policy policy,
                  uint64_t starvation_bound, struct link_shared *link_shared,
                  size_t worker)
{
    int err = init_shared(&set->shared, policy, starvation_bound, link_shared,
                          worker);

    list_init(&set->open);
    list_init(&set->closed);
    list_init(&set->free);
    list_init(&set->slabs);
    set->count = set->allocated = 0;
    set->idle = (struct conn_idle){0};
    set->conn_bytes = count_conn_bytes(set->protocol);
    set->next_number = worker + 1;
    set->number_step = link_shared->worker_count;
    atomic_init(&set->closed_count, 0);
    if (err == 0 && !add_slab(set))
        err = -ENOMEM;
    return err;
}

void conn_set_fini(struct conn_set *set)
{
    struct conn_shared *shared = &set->shared;

    conn_set_close_all(set);
    deadline_wheel_fini(&shared->deadlines);
    drain_fini(&shared->drain);
    while (!list_is_empty(&set->slabs)) {
        struct slab *slab = OWNER_OF(set->slabs.next, struct slab, link);

        list_drop(&slab->link);
        free(slab);
    }
    h1_context_fini(&shared->context);
    link_fini(&shared->link);
    sched_fini(&shared->sched);
    sender_fini(&shared->context.sender);
}
