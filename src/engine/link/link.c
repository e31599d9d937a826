#include "engine/link/link.h"

#include <errno.h>
#include <stdlib.h>

#include "base/units.h"
#include "engine/link/link_priv.h"
#include "io/socket_state.h"

enum {
    FD_MAX = (1 << 30) - 1,
    LATE_UP = 8, /* late_ns rises by 1 / LATE_UP of the difference */
    LATE_DOWN = 64
};

int link_init(struct link *link, struct link_shared *shared, size_t worker)
{
    *link = (struct link){.shared = shared,
                          .line = &shared->lines[worker],
                          .is_local = shared->mode == LINK_AUTO,
                          .probe_bytes = LINK_PROBE_BYTES,
                          .probe_bytes_max = LINK_PROBE_BYTES_MAX};
    list_init(&link->flows);
    if (shared->mode != LINK_AUTO)
        return 0;
    link->paths = calloc(LINK_PATHS, sizeof(*link->paths));
    return link->paths ? 0 : -ENOMEM;
}

void link_fini(struct link *link)
{
    free(link->paths);
    link->paths = NULL;
}

/* Returns a hash of a client's path. Clients behind one address, or in one IPv6
 * network, share a path. Returns 0 for a client on this machine, which has no
 * path. */
static uint32_t hash_path(const struct address *peer)
{
    size_t len = peer->family == ADDRESS_IPV4 ? 4 : 8;
    uint32_t hash = 2166136261u; /* FNV-1a */

    if (address_is_local(peer))
        return 0;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ peer->octets[i]) * 16777619u;
    return hash != 0 ? hash : 1;
}

/* --- Is it fast? --------------------------------------------------------- */

/* Looks whether the bytes of `flow` are acknowledged late. */
static void look_for_delay(struct link *link, const struct link_flow *flow,
                           uint64_t now_ms)
{
    link->asked_ms = now_ms;
    if (link_delay_window_probe(link, flow, now_read_ns()))
        link->probe_bytes = LINK_PROBE_BYTES;
}

/* Counts the bytes that are sent, and probes `flow` after each probe_bytes of
 * them. A probe looks whether `flow` is delayed, and whether its bytes are
 * still in the local queue a little later. Probes that find nothing become
 * rarer. A narrow link takes long to carry probe_bytes, and new responses wait
 * meanwhile. So a delay is also looked for after LINK_PROBE_LATE_MS. */
static void probe(struct link *link, struct link_flow *flow, uint64_t bytes,
                  uint64_t now_ms)
{
    link->unprobed += bytes;
    if (link->probe) {
        if (now_ms - link->probe_ms < LINK_PROBE_MS)
            return;
        if (link_queue_limit_measure(link, link->probe) > 0)
            link_queue_limit_engage(link);
        link->probe = NULL;
    } else if (link->unprobed >= link->probe_bytes) {
        link->unprobed = 0;
        if (link->probe_bytes < link->probe_bytes_max)
            link->probe_bytes *= 2;
        look_for_delay(link, flow, now_ms);
        if (!link->is_local && link_queue_limit_measure(link, flow) > 0) {
            link->probe = flow;
            link->probe_ms = now_ms;
        }
    } else if (link->unprobed >= LINK_PROBE_BYTES &&
               now_ms - link->asked_ms >= LINK_PROBE_LATE_MS) {
        look_for_delay(link, flow, now_ms);
    }
}

/* --- All modes ----------------------------------------------------------- */

void link_open(struct link *link, struct link_flow *flow, int fd,
               const struct address *peer)
{
    struct link_shared *shared = link->shared;

    *flow = (struct link_flow){.fd = (unsigned)fd & FD_MAX,
                               .path = hash_path(peer)};
    list_init(&flow->link);
    if (shared->mode == LINK_RATE || (link->is_local && flow->path != 0))
        link_pacer_pay(link, LINK_OPEN_PACKETS * LINK_HEADER_BYTES);
}

/* Limits the unsent bytes of a flow's socket, or lifts the limit. Under the
 * limit, a socket that waits for its client takes only a few bytes ahead. */
static void bound_unsent(struct link_flow *flow, bool is_bounded)
{
    flow->is_bounded = is_bounded;
    socket_limit_unsent(flow->fd, is_bounded ? LINK_UNSENT_MAX : 0);
}

static uint64_t allow_auto(struct link *link, uint64_t key, uint64_t want)
{
    uint64_t room = want;

    if (link_is_windowed(link)) {
        link_delay_window_adapt(link, now_read_ns());
        room = link_delay_window_allow(link, key, room);
    }
    if (room > 0 && link->is_local)
        room = link_pacer_allow(link, key, room);
    return room > 0 && link->is_local ? link_queue_limit_allow(link, key, room)
                                      : room;
}

uint64_t link_quantum(const struct link *link, const struct link_flow *flow,
                      uint64_t quantum)
{
    uint64_t bytes;

    if (!link_holds_back(link, flow))
        return quantum;
    bytes = link_narrowest(link) / (NS_PER_S / LINK_TURN_NS);
    if (bytes < LINK_SEGMENT_BYTES)
        bytes = LINK_SEGMENT_BYTES;
    return bytes < quantum ? bytes : quantum;
}

uint64_t link_allow(struct link *link, struct link_flow *flow, uint64_t key,
                    uint64_t want)
{
    bool is_rated = link->shared->mode == LINK_RATE;
    bool is_held = link_holds_back(link, flow);
    uint64_t room = want;

    if (flow->is_bounded != is_held)
        bound_unsent(flow, is_held);
    if (!flow->is_bounded)
        return want;
    room = is_rated ? link_pacer_allow(link, key, want)
                    : allow_auto(link, key, want);
    if (room == 0) {
        link->counters.held++;
        link->counters.held_bytes += want;
    }
    return room;
}

static void note_unheld(struct link *link)
{
    link->unheld = 0;
    if (link_load(&link->shared->pacer) == 0)
        link_queue_limit_loosen(link);
}

void link_handed(struct link *link, struct link_flow *flow, uint64_t bytes,
                 uint64_t key, uint64_t now_ms)
{
    if (link->shared->mode == LINK_RATE) {
        link_pacer_pay(link, link_wire_bytes(bytes));
        return;
    }
    if (!link_counts(link, flow) || bytes == 0)
        return;
    if (!link_is_windowed(link))
        probe(link, flow, bytes, now_ms);
    if (!link_tracks(link))
        return;
    flow->key = key;
    if (list_is_empty(&flow->link))
        list_put_last(&link->flows, &flow->link);
    if (link->is_local) {
        link_pacer_pay(link, link_wire_bytes(bytes));
        flow->queued += (uint32_t)bytes;
        flow->is_fresh = true;
        link->news++;
        link->last = flow;
        if (!link->most || link->most->queued < flow->queued)
            link->most = flow;
        link->queued += bytes;
        link->unheld += bytes;
        if (link->unheld >= LINK_UNHELD_BYTES)
            note_unheld(link);
    }
    if (link_is_windowed(link)) {
        link_window_pacer_pay(link, bytes);
        flow->flight += (uint32_t)bytes;
        link->flight += bytes;
    }
}

void link_await(struct link *link)
{
    link->due_ns = now_read_ns() + LINK_TICK_NS;
}

/* Averages how late ticks are. A worker that is often late then sends more per
 * tick, and a single late tick changes little. */
static void note_late(struct link *link, uint64_t now_ns)
{
    uint64_t late_ns = 0;

    if (link->due_ns == 0)
        return;
    if (now_ns > link->due_ns)
        late_ns = now_ns - link->due_ns;
    if (late_ns > LINK_LATE_NS)
        late_ns = LINK_LATE_NS;
    if (late_ns > link->late_ns)
        link->late_ns += (late_ns - link->late_ns) / LATE_UP;
    else
        link->late_ns -= (link->late_ns - late_ns) / LATE_DOWN;
    link->due_ns = 0;
}

void link_tick(struct link *link)
{
    uint64_t now_ns = now_read_ns();

    note_late(link, now_ns);
    link->unheld = 0;
    if (link->shared->mode != LINK_AUTO)
        return; /* a known rate does not change */
    if (link->was_windowed)
        link_delay_window_adapt(link, now_ns);
    if (link->is_local && (link->was_held || link->was_paced))
        link_queue_limit_adapt(link, now_ns);
    link->was_held = link->was_paced = link->was_windowed = false;
}
