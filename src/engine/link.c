#include "engine/link.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/link_priv.h"
#include "io/socket_state.h"

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

/* Clients behind one address, or one IPv6 network, share a path; those of this
 * machine have none. */
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

/* --- Is it fast? -----------------------------------------------------------  */

/* It is looked at once in a while: whether what was handed over takes longer
 * to be acknowledged than it might, and whether it is still here a little
 * later. The less is found, the rarer. */
static void probe(struct link *link, struct link_flow *flow, uint64_t bytes,
                  uint64_t now_ms)
{
    link->unprobed += bytes;
    if (link->probe) {
        if (now_ms - link->probe_ms < LINK_PROBE_MS)
            return;
        if (link_local_measure(link, link->probe) > 0)
            link_local_engage(link);
        link->probe = NULL;
    } else if (link->unprobed >= link->probe_bytes) {
        link->unprobed = 0;
        if (link->probe_bytes < link->probe_bytes_max)
            link->probe_bytes *= 2;
        if (link_remote_probe(link, flow, now_read_ns()))
            link->probe_bytes = LINK_PROBE_BYTES;
        if (!link->is_local && link_local_measure(link, flow) > 0) {
            link->probe = flow;
            link->probe_ms = now_ms;
        }
    }
}

/* --- All modes ---------------------------------------------------------------- */

void link_open(struct link *link, struct link_flow *flow, int fd,
               const struct address *peer)
{
    struct link_shared *shared = link->shared;

    *flow = (struct link_flow){.fd = fd, .path = hash_path(peer)};
    list_init(&flow->link);
    if (shared->mode == LINK_RATE || (link->is_local && flow->path != 0))
        link_pace_pay(link, LINK_OPEN_PACKETS * LINK_HEADER_BYTES);
}

/* A socket that waits for its own client takes no more than a little ahead. */
static void bound_unsent(struct link_flow *flow, bool is_bounded)
{
    flow->is_bounded = is_bounded;
    socket_limit_unsent(flow->fd, is_bounded ? LINK_UNSENT_MAX : 0);
}

static uint64_t allow_auto(struct link *link, uint64_t key, uint64_t want)
{
    uint64_t room = want;

    if (link_is_windowed(link)) {
        link_remote_adapt(link, now_read_ns());
        room = link_remote_allow(link, key, room);
    }
    if (room > 0 && link->is_local)
        room = link_pace_allow(link, key, room);
    return room > 0 && link->is_local ? link_local_allow(link, key, room)
                                      : room;
}

uint64_t link_allow(struct link *link, struct link_flow *flow, uint64_t key,
                    uint64_t want)
{
    bool is_rated = link->shared->mode == LINK_RATE;
    bool is_held = is_rated || (flow->path != 0 && link_tracks(link));
    uint64_t room = want;

    if (flow->is_bounded != is_held)
        bound_unsent(flow, is_held);
    if (!flow->is_bounded)
        return want;
    room = is_rated ? link_pace_allow(link, key, want)
                    : allow_auto(link, key, want);
    if (room == 0) {
        link->counters.held++;
        link->counters.held_bytes += want;
    }
    return room;
}

void link_handed(struct link *link, struct link_flow *flow, uint64_t bytes,
                 uint64_t key, uint64_t now_ms)
{
    if (link->shared->mode == LINK_RATE) {
        link_pace_pay(link, link_wire_bytes(bytes));
        return;
    }
    if (link->shared->mode == LINK_OFF || flow->path == 0 || bytes == 0)
        return;
    if (!link_is_windowed(link))
        probe(link, flow, bytes, now_ms);
    if (!link_tracks(link))
        return;
    flow->key = key;
    if (list_is_empty(&flow->link))
        list_put_last(&link->flows, &flow->link);
    if (link->is_local) {
        link_pace_pay(link, link_wire_bytes(bytes));
        flow->queued += (uint32_t)bytes;
        link->queued += bytes;
    }
    if (link_is_windowed(link)) {
        flow->flight += (uint32_t)bytes;
        link->flight += bytes;
    }
}

void link_tick(struct link *link)
{
    uint64_t now_ns;

    if (link->shared->mode != LINK_AUTO)
        return; /* a known rate stays what it is */
    now_ns = now_read_ns();
    if (link->was_windowed)
        link_remote_adapt(link, now_ns);
    if (link->is_local && (link->was_held || link->was_paced))
        link_local_adapt(link, now_ns);
    link->was_held = link->was_paced = link->was_windowed = false;
}
