#include "engine/link.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/now.h"

enum {
    NS_PER_S = 1000000000,
    MEASURE_NS = 100000 /* looking more often tells nothing new */
};

/* --- What all workers share ----------------------------------------------- */

int link_shared_init(struct link_shared *shared, enum link_mode mode,
                     uint64_t rate, size_t worker_count)
{
    shared->mode = mode;
    shared->rate = rate / 100 * LINK_RATE_PERCENT;
    shared->burst = shared->rate / (NS_PER_S / (2 * LINK_TICK_NS));
    if (shared->burst < LINK_BURST_BYTES)
        shared->burst = LINK_BURST_BYTES;
    shared->worker_count = worker_count;
    atomic_init(&shared->limit, LINK_LIMIT_START);
    atomic_init(&shared->busy_ns, 0);
    shared->lines = aligned_alloc(_Alignof(struct link_line),
                                  worker_count * sizeof(*shared->lines));
    if (!shared->lines)
        return -ENOMEM;
    for (size_t i = 0; i < worker_count; i++) {
        atomic_init(&shared->lines[i].queued, 0);
        atomic_init(&shared->lines[i].waiting_key, UINT64_MAX);
    }
    return 0;
}

void link_shared_fini(struct link_shared *shared)
{
    free(shared->lines);
    shared->lines = NULL;
}

static uint64_t load(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static void store(_Atomic uint64_t *number, uint64_t value)
{
    if (load(number) != value) /* leave the line shared when nothing is new */
        atomic_store_explicit(number, value, memory_order_relaxed);
}

/* What the other workers have in the kernel; *is_next_out: none of them has
 * anything waiting that comes before key. */
static uint64_t ask_others(const struct link *link, uint64_t key,
                           bool *is_next_out)
{
    const struct link_shared *shared = link->shared;
    uint64_t queued = 0;

    *is_next_out = true;
    for (size_t i = 0; i < shared->worker_count; i++) {
        const struct link_line *line = &shared->lines[i];

        if (line == link->line)
            continue;
        queued += load(&line->queued);
        if (load(&line->waiting_key) < key)
            *is_next_out = false;
    }
    return queued;
}

void link_publish(struct link *link, uint64_t waiting_key)
{
    store(&link->line->queued, link->queued);
    store(&link->line->waiting_key, waiting_key);
}

/* --- Flows ------------------------------------------------------------------ */

void link_init(struct link *link, struct link_shared *shared, size_t worker)
{
    *link = (struct link){.shared = shared, .line = &shared->lines[worker]};
    link->is_engaged = shared->mode == LINK_AUTO;
    list_init(&link->flows);
}

static void set_queued(struct link *link, struct link_flow *flow,
                       uint32_t queued)
{
    link->queued = link->queued - flow->queued + queued;
    flow->queued = queued;
}

void link_drop(struct link *link, struct link_flow *flow)
{
    if (link->probe == flow)
        link->probe = NULL;
    if (list_is_empty(&flow->link))
        return;
    set_queued(link, flow, 0);
    list_drop(&flow->link);
}

/* What flow has between socket and wire. Bytes not sent for want of room
 * there count too; those that wait for acknowledgements do not: they wait for
 * their own client, and nobody else waits for them. */
static uint32_t measure(struct link *link, const struct link_flow *flow)
{
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    socklen_t len = sizeof(memory);

    link->counters.measured++;
    if (getsockopt(flow->fd, SOL_SOCKET, SO_MEMINFO, memory, &len) == -1)
        return 0;
    return memory[SK_MEMINFO_WMEM_ALLOC];
}

static void measure_all(struct link *link)
{
    struct list *at = link->flows.next;

    while (at != &link->flows) {
        struct link_flow *flow = OWNER_OF(at, struct link_flow, link);
        uint32_t queued = measure(link, flow);

        at = at->next;
        if (queued == 0 && flow->key == 0)
            link_drop(link, flow);
        else
            set_queued(link, flow, queued);
    }
}

/* Bytes of the flows before or equal to key, its own among them. */
static uint64_t count_ahead(const struct link *link, uint64_t key)
{
    uint64_t ahead = 0;

    for (struct list *at = link->flows.next; at != &link->flows;
         at = at->next) {
        const struct link_flow *flow = OWNER_OF(at, struct link_flow, link);

        if (flow->key <= key)
            ahead += flow->queued;
    }
    return ahead;
}

/* --- auto -------------------------------------------------------------------- */

static void disengage(struct link *link)
{
    while (!list_is_empty(&link->flows))
        link_drop(link, OWNER_OF(link->flows.next, struct link_flow, link));
    link->is_engaged = false;
    link->unprobed = 0;
}

static void engage(struct link *link)
{
    link->is_engaged = true;
    store(&link->shared->limit, LINK_LIMIT_START);
}

/* Room below the limit for one that has ahead bytes before it. */
static uint64_t room_for(uint64_t limit, uint64_t ahead, uint64_t want)
{
    uint64_t room;

    if (ahead >= limit)
        return 0;
    room = limit - ahead;
    if (room < LINK_SEGMENT_BYTES)
        room = LINK_SEGMENT_BYTES; /* half a segment is of no use */
    return want < room ? want : room;
}

static uint64_t allow_auto(struct link *link, uint64_t key, uint64_t want)
{
    uint64_t limit = load(&link->shared->limit);
    bool is_next;
    uint64_t others = ask_others(link, key, &is_next);
    uint64_t room = room_for(limit, others + count_ahead(link, key), want);
    uint64_t now_ns;

    if (room == 0 &&
        (now_ns = now_read_ns()) - link->measured_ns > MEASURE_NS) {
        link->measured_ns = now_ns;
        measure_all(link);
        room = room_for(limit, others + count_ahead(link, key), want);
    }
    /* Somebody else's turn, unless the link would run dry. */
    if (!is_next && others + link->queued > limit / 4)
        room = 0;
    return room;
}

void link_tick(struct link *link)
{
    uint64_t limit;
    uint64_t queued;
    bool is_next;

    if (link->shared->mode != LINK_AUTO || !link->is_engaged || !link->was_held)
        return;
    link->was_held = false;
    link->measured_ns = now_read_ns();
    measure_all(link);
    limit = load(&link->shared->limit);
    queued = link->queued + ask_others(link, 0, &is_next);
    if (queued == 0)
        limit += limit / 4; /* it has stood idle */
    else if (queued < limit / 8)
        limit += limit / 12;
    else if (queued > limit / 2)
        limit -= limit / 16;
    if (limit < LINK_LIMIT_MIN)
        limit = LINK_LIMIT_MIN;
    store(&link->shared->limit, limit);
    if (limit > LINK_LIMIT_MAX)
        disengage(link);
}

/* A fast link is looked at once in a while: whether what was handed over is
 * still there a little later. */
static void probe(struct link *link, struct link_flow *flow, uint64_t bytes,
                  uint64_t now_ms)
{
    link->unprobed += bytes;
    if (link->probe) {
        if (now_ms - link->probe_ms < LINK_PROBE_MS)
            return;
        if (measure(link, link->probe) > 0)
            engage(link);
        link->probe = NULL;
    } else if (link->unprobed >= LINK_PROBE_BYTES) {
        link->unprobed = 0;
        link->probe = measure(link, flow) > 0 ? flow : NULL;
        link->probe_ms = now_ms;
    }
}

/* A socket that waits for its own client takes no more than a little ahead. */
static void bound_unsent(struct link_flow *flow)
{
    int bytes = LINK_UNSENT_MAX;

    flow->is_bounded = true;
    setsockopt(flow->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes));
}

/* --- rate -------------------------------------------------------------------- */

static uint64_t wire_ns(const struct link_shared *shared, uint64_t bytes)
{
    uint64_t segments = (bytes + LINK_SEGMENT_BYTES - 1) / LINK_SEGMENT_BYTES;

    return (bytes + segments * LINK_HEADER_BYTES) * NS_PER_S / shared->rate;
}

static uint64_t allow_rate(struct link *link, uint64_t key, uint64_t want)
{
    const struct link_shared *shared = link->shared;
    uint64_t now_ns = now_read_ns();
    uint64_t busy_ns = load(&shared->busy_ns);
    uint64_t owed = 0;
    bool is_next;

    if (busy_ns > now_ns)
        owed = (busy_ns - now_ns) * shared->rate / NS_PER_S;
    ask_others(link, key, &is_next);
    if (!is_next && owed > shared->burst / 4)
        return 0;
    return room_for(shared->burst, owed, want);
}

static void pay(struct link_shared *shared, uint64_t bytes)
{
    uint64_t cost_ns = wire_ns(shared, bytes);
    uint64_t now_ns = now_read_ns();
    uint64_t busy_ns = load(&shared->busy_ns);

    while (!atomic_compare_exchange_weak_explicit(&shared->busy_ns, &busy_ns,
                                                  (busy_ns > now_ns ? busy_ns
                                                                    : now_ns) +
                                                      cost_ns,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

/* --- Both -------------------------------------------------------------------- */

uint64_t link_allow(struct link *link, struct link_flow *flow, uint64_t key,
                    uint64_t want)
{
    uint64_t room = want;

    if (link->shared->mode == LINK_RATE)
        room = allow_rate(link, key, want);
    else if (link->is_engaged)
        room = allow_auto(link, key, want);
    else
        return want;
    if (!flow->is_bounded)
        bound_unsent(flow);
    if (room == 0) {
        link->was_held = true;
        link->counters.held++;
        link->counters.held_bytes += want;
    }
    return room;
}

void link_handed(struct link *link, struct link_flow *flow, uint64_t bytes,
                 uint64_t key, uint64_t now_ms)
{
    switch (link->shared->mode) {
    case LINK_OFF:
        return;
    case LINK_RATE:
        pay(link->shared, bytes);
        return;
    case LINK_AUTO:
        break;
    }
    if (!link->is_engaged) {
        probe(link, flow, bytes, now_ms);
        return;
    }
    flow->key = key;
    if (list_is_empty(&flow->link))
        list_put_last(&link->flows, &flow->link);
    set_queued(link, flow, flow->queued + (uint32_t)bytes);
}
