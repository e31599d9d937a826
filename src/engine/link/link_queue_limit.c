#include "engine/link/link_priv.h"
#include "io/socket_state.h"

enum {
    MEASURE_NS = 100000 /* looking more often tells nothing new */
};

/* How much flow has between socket and wire. Bytes not sent for want of room
 * there count, too; bytes that wait for acknowledgements do not, as nobody else
 * waits for those. */
uint32_t link_queue_limit_measure(struct link *link,
                                  const struct link_flow *flow)
{
    link->counters.measured++;
    return socket_count_queued(flow->fd);
}

/* Whether bytes of a flow may still come into the queue: the flow waits for
 * more, or its socket for acknowledgements. That is supposed for a while only,
 * as either may last for ever. */
static bool may_come(const struct link_flow *flow)
{
    return flow->is_fresh &&
           (flow->key != 0 || socket_count_unsent((int)flow->fd) > 0);
}

/* Looks at all flows, and forgets those with nothing under way. */
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

/* Bytes of the flows before or equal to key, the key's own included. */
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

/* A known pace keeps the queue short; the limit is for one that is too
 * quick. */
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
    /* What the probe saw was only passing: it does not engage the limit again
     * soon. */
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

/* The next limit, when the queue was at least queued long. */
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
