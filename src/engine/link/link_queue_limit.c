#include "engine/link/link_priv.h"
#include "io/socket_state.h"

enum {
    /* The queue is not measured again before this time, which would tell
     * nothing new. */
    MEASURE_NS = 100000
};

/* Measures the bytes between socket and wire, including the unsent bytes for
 * which there was no room. Bytes that wait for acknowledgements do not count,
 * because no other flow waits for them. */
uint32_t link_queue_limit_measure(struct link *link,
                                  const struct link_flow *flow)
{
    link->counters.measured++;
    return socket_count_queued(flow->fd);
}

/* Whether bytes of a flow may soon come into the queue: the flow has more to
 * hand over, or its socket waits for acknowledgements. Both may last for ever,
 * so this holds only for a while after bytes were handed over. */
static bool may_come(const struct link_flow *flow)
{
    return flow->is_fresh &&
           (flow->key != 0 || socket_count_unsent((int)flow->fd) > 0);
}

/* Measures all flows, and forgets those with nothing under way. */
static void look(struct link *link, uint64_t now_ns)
{
    struct list *at = link->flows.next;

    link->news++;
    link->most = NULL;
    while (at != &link->flows) {
        struct link_flow *flow = OWNER_OF(at, struct link_flow, link);

        at = at->next;
        link->queued -= flow->queued;
        flow->queued = link_queue_limit_measure(link, flow);
        link->queued += flow->queued;
        if (!link->most || link->most->queued < flow->queued)
            link->most = flow;
        if (flow->queued == 0 && !may_come(flow))
            link_drop_idle(link, flow);
    }
    link->seen_ns = now_ns;
}

/* Returns the queued bytes of all flows whose key is at most `key`. */
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

/* While a pace is known, the pace keeps the queue short, and the limit is
 * higher: it only guards against a pace that is too quick. */
uint64_t link_queue_limit_bytes(const struct link *link)
{
    const struct link_shared *shared = link->shared;
    uint64_t limit = link_load(&shared->limit);
    uint64_t pacer = link_load(&shared->pacer);
    uint64_t limit_paced = 2 * link_pacer_burst(link, pacer);

    if (limit_paced < LINK_LIMIT_PACED)
        limit_paced = LINK_LIMIT_PACED;
    if (limit_paced > LINK_LIMIT_MAX)
        limit_paced = LINK_LIMIT_MAX;
    return pacer > 0 && limit < limit_paced ? limit_paced : limit;
}

uint64_t link_queue_limit_allow(struct link *link, uint64_t key, uint64_t want)
{
    uint64_t limit = link_queue_limit_bytes(link);
    uint64_t now_ns = now_read_ns();
    struct link_others others = link_ask_others(link, key, now_ns);
    uint64_t room = link_room(limit, others.queued + count_ahead(link, key),
                              want);

    if (room == 0 && now_ns - link->seen_ns > MEASURE_NS) {
        look(link, now_ns);
        room = link_room(limit, others.queued + count_ahead(link, key), want);
    }
    if (!others.is_after && others.queued + link->queued > limit / 4)
        room = 0;
    if (room == 0)
        link->was_held = true;
    return room;
}

static void disengage(struct link *link)
{
    link->is_local = false;
    link->unprobed = 0;
    link->probe_bytes = LINK_PROBE_BYTES;
    /* The queue that the probe saw was only passing, so the next probe comes
     * late. */
    if (!link->was_found) {
        link->probe_bytes = link->probe_bytes_max;
        if (link->probe_bytes_max < LINK_PROBE_BYTES_REST)
            link->probe_bytes_max *= 4;
    }
    for (struct list *at = link->flows.next; at != &link->flows; at = at->next)
        OWNER_OF(at, struct link_flow, link)->queued = 0;
    link->queued = 0;
    link_forget(link);
}

void link_queue_limit_engage(struct link *link)
{
    link->is_local = true;
    link->was_found = false;
    link_store(&link->shared->limit, LINK_LIMIT_START);
    link_store(&link->shared->pacer, 0);
    link_store(&link->shared->crest, 0);
    link_store(&link->shared->rises, 0);
    link_store(&link->shared->rate, 0);
}

/* Returns the limit that follows `limit`, now that `queued` bytes were found in
 * the queue. */
static uint64_t move(uint64_t limit, uint64_t queued)
{
    if (queued == 0)
        limit += limit / 4; /* the link has stood idle */
    else if (queued < limit / 8)
        limit += limit / 12;
    else if (queued > limit / 2)
        limit -= limit / 16;
    return limit > LINK_LIMIT_MIN ? limit : LINK_LIMIT_MIN;
}

void link_queue_limit_loosen(struct link *link)
{
    struct link_shared *shared = link->shared;
    uint64_t limit = link_load(&shared->limit);
    uint64_t now_ns = now_read_ns();

    look(link, now_ns);
    if (link_count_queued(link, limit / 8, now_ns) >= limit / 8)
        return;
    limit += limit / 4;
    link_store(&shared->limit, limit);
    if (limit > LINK_LIMIT_MAX)
        disengage(link);
}

void link_queue_limit_adapt(struct link *link, uint64_t now_ns)
{
    struct link_shared *shared = link->shared;
    uint64_t limit = link_queue_limit_bytes(link);
    uint64_t queued;

    look(link, now_ns);
    queued = link_count_queued(link, LINK_LIMIT_MAX, now_ns);
    link_pacer_adapt(link, queued, now_ns);
    if (!link->was_held)
        return;
    if (limit > LINK_LIMIT_MAX) {
        disengage(link);
        return;
    }
    if (!link_may_move(&shared->limit_ns, now_ns, LINK_TICK_NS / 2))
        return;
    if (queued >= limit / 8) {
        link->was_found = true;
        link->probe_bytes_max = LINK_PROBE_BYTES_MAX;
    }
    link_store(&shared->limit, move(limit, queued));
}
