#include "engine/worker_priv.h"

/* Notes all responses that wait when a sample begins, since later ones have to
 * compete with them. */
static void note_waiting(struct conn_shared *shared, uint64_t now_ns)
{
    const struct heap *heap = &shared->sched.heap;

    for (uint32_t i = 0; i < heap->count; i++) {
        struct sched_item *item = OWNER_OF(heap->items[i].node,
                                           struct sched_item, node);
        struct conn *conn = OWNER_OF(item, struct conn, item);

        what_if_note(&shared->what_if, &conn->mark, item->bytes, now_ns, false);
    }
}

/* Returns the rate of this worker's part of the link during the sample; 0 when
 * nothing was held back or nothing was sent. */
static uint64_t rate_of(const struct worker *worker)
{
    const struct conn_shared *shared = &worker->conns.shared;
    const struct worker_sample *begin = &worker->sample;
    uint64_t own = shared->sched.bytes_sent - begin->sent;
    uint64_t all = own + link_sent_elsewhere(&shared->link) -
                   begin->sent_elsewhere;
    struct link_state state;

    link_look(&shared->link, &state);
    if (shared->link.counters.held == begin->held || own == 0)
        return 0;
    return (uint64_t)((double)state.rate * ((double)own / (double)all));
}

void worker_tick_what_if(struct worker *worker)
{
    struct conn_shared *shared = &worker->conns.shared;
    struct what_if *what_if = &shared->what_if;
    uint64_t now_ns = now_read_ns();

    if (what_if_has_ended(what_if))
        what_if_tell(what_if, rate_of(worker), now_ns, worker->options.stats);
    if (!what_if_tick(what_if, now_ns))
        return;
    worker->sample = (struct worker_sample){
        .held = shared->link.counters.held,
        .sent = shared->sched.bytes_sent,
        .sent_elsewhere = link_sent_elsewhere(&shared->link)};
    note_waiting(shared, now_ns);
}
