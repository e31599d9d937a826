#include "engine/conn_set.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cidr.h"
#include "engine/conn_priv.h"
#include "engine/refusal.h"
#include "http/exchange.h"
#include "observe/profile.h"

enum {
    SLAB_CONNS = 64,
    /* What is sent before the loop looks for arrivals again, and how often
     * a response gets its turn until then. */
    TURN_BYTES = 524288,
    TURN_RUNS = 256
};

struct slab {
    struct list link;
    struct conn conns[SLAB_CONNS];
};

static bool add_slab(struct conn_set *set)
{
    struct slab *slab;

    if (set->allocated >= set->limits.connections_max ||
        sched_reserve(&set->sched, set->allocated + SLAB_CONNS) != 0)
        return false;
    slab = aligned_alloc(_Alignof(struct slab), sizeof(*slab));
    if (!slab)
        return false;
    list_put_last(&set->slabs, &slab->link);
    for (size_t i = 0; i < SLAB_CONNS; i++)
        list_put_last(&set->free, &slab->conns[i].link);
    set->allocated += SLAB_CONNS;
    return true;
}

/* --- Connections --------------------------------------------------------- */

/* Its descriptor is closed. */
static void note_turned_away(struct conn_set *set, enum stats_close reason)
{
    stats_note_close(set->stats, reason);
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

/* False: there is no room, and fd has been turned away. */
static bool make_room(struct conn_set *set, int fd)
{
    struct conn *conn = conn_idle_take(&set->idle, &set->open,
                                       set->now->mono_ms);

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
    uint32_t ticket = 0;
    int fd = mail->fd;
    struct conn *conn;

    /* An address that has all it may does not push others out. */
    if (set->addresses && !is_local && !is_proxy &&
        !(ticket = address_count_take(set->addresses, peer))) {
        close(fd);
        note_turned_away(set, STATS_CLOSE_LIMIT);
        return;
    }
    conn = mail->makes_room && !make_room(set, fd) ? NULL : take_conn(set, fd);
    if (!conn) {
        if (ticket != 0)
            address_count_give(set->addresses, &ticket);
        return;
    }
    *conn = (struct conn){.set = set,
                          .peer = *peer,
                          .state = CONN_READING,
                          .awaits_proxy = set->proxies_introduce && is_proxy,
                          .ticket = ticket,
                          .number = set->next_number};
    set->next_number += set->number_step;
    list_init(&conn->exchanges);
    list_init(&conn->wait_node);
    deadline_init(&conn->deadline);
    list_put_last(&set->open, &conn->link);
    set->count++;
    conn_set_note_reading(set, 1);
    conn->io.fd = fd;
    link_open(&set->link, &conn->flow, fd, peer);
    conn_log_event(conn, LOG_EVENT_ACCEPT);
    conn_start(conn);
}

void conn_set_open(struct conn_set *set, const struct mail *mail)
{
    enum stats_phase before = profile_enter(STATS_PHASE_ACCEPT);

    stats_note_open(set->stats);
    open_conn(set, mail);
    profile_leave(before);
}

void conn_set_retire(struct conn_set *set, struct conn *conn)
{
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
    return atomic_load_explicit(&set->reading_count, memory_order_relaxed);
}

static void tell_queue(const struct conn_set *set)
{
    stats_set_queue(set->stats, set->sched.heap.count,
                    set->sched.bytes_waiting);
}

void conn_set_turn(struct conn_set *set)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SCHEDULE);
    uint64_t sent = 0;
    struct sched_item *item;

    set->is_held = false;
    if (!sched_is_empty(&set->sched))
        tell_queue(set); /* as long as it is in this turn */
    while (sent < TURN_BYTES && !set->is_held &&
           (item = sched_take(&set->sched))) {
        if (sched_overtakes(&set->sched, item))
            stats_note_overtake(set->stats);
        sent += TURN_BYTES / TURN_RUNS +
                conn_run(OWNER_OF(item, struct conn, item));
    }
    set->link.base = sched_base(&set->sched);
    tell_queue(set);
    if (set->link.shared->mode != LINK_OFF)
        link_publish(&set->link, sched_next_key(&set->sched));
    profile_leave(before);
    reap(set);
}

static void close_where(struct conn_set *set, bool only_idle)
{
    struct list *link = set->open.next;

    while (link != &set->open) {
        struct conn *conn = OWNER_OF(link, struct conn, link);

        link = link->next;
        if (!only_idle || (conn_is_idle(conn) && !conn_has_more(conn)))
            conn_close(conn, CONN_END_DRAIN);
    }
}

void conn_set_wake(struct conn_set *set)
{
    while (!list_is_empty(&set->waiting))
        conn_wake(OWNER_OF(set->waiting.next, struct conn, wait_node));
}

/* Whoever has not been answered yet is told that the connection ends. */
static void tell_end(const struct conn *conn)
{
    if (conn->current && conn->current->response.status == 0)
        conn->current->response.persists = false;
    for (struct list *link = conn->exchanges.next; link != &conn->exchanges;
         link = link->next) {
        struct exchange *exchange = OWNER_OF(link, struct exchange, link);

        if (exchange->response.status == 0)
            exchange->response.persists = false;
    }
}

void conn_set_leave(struct conn_set *set)
{
    set->is_draining = true;
    for (struct list *link = set->open.next; link != &set->open;
         link = link->next)
        tell_end(OWNER_OF(link, struct conn, link));
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

int conn_set_init(struct conn_set *set, enum sched_policy policy,
                  uint64_t starvation_bound, struct link_shared *link_shared,
                  size_t worker)
{
    bool has_pools = conn_pools_init(set);

    list_init(&set->open);
    list_init(&set->waiting);
    list_init(&set->closed);
    list_init(&set->free);
    list_init(&set->slabs);
    set->count = set->allocated = 0;
    set->next_number = worker + 1;
    set->number_step = link_shared->worker_count;
    set->is_draining = set->is_held = false;
    set->idle = (struct conn_idle){0};
    atomic_init(&set->closed_count, 0);
    atomic_init(&set->reading_count, 0);
    sched_init(&set->sched, policy, starvation_bound);
    sender_init(&set->sender, (size_t)set->limits.quantum);
    drain_init(&set->drain, set->loop, set->stats);
    deadline_wheel_init(&set->deadlines, set->loop, set->now, on_expired, set);
    return link_init(&set->link, link_shared, worker) == 0 && has_pools &&
                   add_slab(set)
               ? 0
               : -ENOMEM;
}

void conn_set_fini(struct conn_set *set)
{
    conn_set_close_all(set);
    deadline_wheel_fini(&set->deadlines);
    drain_fini(&set->drain);
    conn_pools_fini(set);
    while (!list_is_empty(&set->slabs)) {
        struct slab *slab = OWNER_OF(set->slabs.next, struct slab, link);

        list_drop(&slab->link);
        free(slab);
    }
    link_fini(&set->link);
    sched_fini(&set->sched);
    sender_fini(&set->sender);
}
