#include <errno.h>
#include <stdlib.h>

#include "base/units.h"
#include "engine/link/link_priv.h"
#include "io/socket_state.h"

/* --- Numbers that all workers steer by ------------------------------------ */

int link_shared_init(struct link_shared *shared, enum link_mode mode,
                     uint64_t rate, size_t worker_count)
{
    *shared = (struct link_shared){.mode = mode, .worker_count = worker_count};
    if (mode == LINK_RATE)
        atomic_init(&shared->pacer, rate / 100 * LINK_RATE_PERCENT);
    atomic_init(&shared->limit, LINK_LIMIT_START);
    atomic_init(&shared->least, UINT64_MAX);
    shared->lines = aligned_alloc(_Alignof(struct link_line),
                                  worker_count * sizeof(*shared->lines));
    if (!shared->lines)
        return -ENOMEM;
    for (size_t i = 0; i < worker_count; i++) {
        memset(&shared->lines[i], 0, sizeof(shared->lines[i]));
        atomic_init(&shared->lines[i].waiting_rank, UINT64_MAX);
        atomic_init(&shared->lines[i].last_fd, UINT64_MAX);
        atomic_init(&shared->lines[i].most_fd, UINT64_MAX);
    }
    return 0;
}

void link_shared_fini(struct link_shared *shared)
{
    free(shared->lines);
    shared->lines = NULL;
}

/* Returns the rank of a key, by which workers compare keys: the key's distance,
 * up or down, from its scheduler's base. */
static uint64_t rank_of(const struct link *link, uint64_t key)
{
    const uint64_t middle = UINT64_C(1) << 63;

    if (key >= link->base)
        return key - link->base < middle ? middle + (key - link->base)
                                         : UINT64_MAX;
    return link->base - key < middle ? middle - (link->base - key) : 0;
}

/* Whether another worker has found that none of the line's bytes are in the
 * local queue any more. */
static bool is_gone(const struct link_line *line)
{
    return link_load(&line->gone) == link_load(&line->news);
}

/* Returns how many of the line's bytes have gone out of the local queue, as far
 * as is known. */
static uint64_t count_left(const struct link_line *line)
{
    return link_load(&line->handed) -
           (is_gone(line) ? 0 : link_load(&line->queued));
}

struct link_others link_ask_others(const struct link *link, uint64_t key,
                                   uint64_t now_ns)
{
    const struct link_shared *shared = link->shared;
    struct link_others others = {.is_after = true};
    uint64_t rank = rank_of(link, key);

    for (size_t i = 0; i < shared->worker_count; i++) {
        const struct link_line *line = &shared->lines[i];

        if (line == link->line)
            continue;
        if (!link_has_passed(now_ns, link_load(&line->seen_ns), LINK_FRESH_NS))
            others.queued += link_load(&line->queued);
        if (!link_has_passed(now_ns, link_load(&line->looked_ns),
                             LINK_FLIGHT_FRESH_NS)) {
            others.flight += link_load(&line->flight);
            others.passing += link_load(&line->passing);
            others.standing += link_load(&line->standing);
        }
        others.left += count_left(line);
        if (link_load(&line->waiting_rank) < rank)
            others.is_after = false;
    }
    return others;
}

static uint64_t look_at_flow(struct link *link, uint64_t fd)
{
    if (fd == UINT64_MAX)
        return 0;
    link->counters.measured++;
    return socket_count_queued((int)fd);
}

/* Returns how many bytes the worker of `line` has in the local queue. The
 * number that it has published may be old, since a worker without a CPU, or
 * without held-back bytes, does not measure for a while. So two of its flows
 * are measured here: the one that handed over bytes last, and the one that had
 * most. When the bytes of both have left, all others have left, too, whether
 * the queue is in order of arrival or serves flows in turns. */
static uint64_t look_at(struct link *link, struct link_line *line,
                        uint64_t now_ns)
{
    uint64_t queued = link_load(&line->queued);
    uint64_t news = link_load(&line->news);
    uint64_t last_fd = link_load(&line->last_fd);
    uint64_t most_fd = link_load(&line->most_fd);
    uint64_t found;

    if (queued == 0 || is_gone(line))
        return 0;
    found = look_at_flow(link, last_fd);
    if (found == 0 && most_fd != last_fd)
        found = look_at_flow(link, most_fd);
    if (found == 0 && (last_fd & most_fd) != UINT64_MAX)
        link_store(&line->gone, news);
    else if (!link_has_passed(now_ns, link_load(&line->seen_ns),
                              LINK_QUEUED_FRESH_NS))
        return queued;
    return found;
}

uint64_t link_count_queued(struct link *link, uint64_t enough, uint64_t now_ns)
{
    const struct link_shared *shared = link->shared;
    uint64_t queued = link->queued;

    for (size_t i = 0; i < shared->worker_count && queued < enough; i++)
        if (&shared->lines[i] != link->line)
            queued += look_at(link, &shared->lines[i], now_ns);
    return queued;
}

bool link_may_move(_Atomic uint64_t *moved_ns, uint64_t now_ns,
                   uint64_t interval_ns)
{
    uint64_t last_ns = link_load(moved_ns);

    return link_has_passed(now_ns, last_ns, interval_ns) &&
           atomic_compare_exchange_strong_explicit(moved_ns, &last_ns, now_ns,
                                                   memory_order_relaxed,
                                                   memory_order_relaxed);
}

/* Publishes the flight as a rate. Workers have paths of different lengths, so
 * their bytes in flight cannot be compared. */
static void publish_flight(const struct link *link)
{
    uint64_t flight = 0;

    if (link->flight > 0 && link->span_us > 0)
        flight = link_count_flight(link, now_read_ns()) * US_PER_S /
                 link->span_us;
    link_store(&link->line->flight, flight);
    link_store(&link->line->passing, link_count_passing(link));
    link_store(&link->line->standing, link->standing);
}

void link_publish(struct link *link, uint64_t waiting_key)
{
    link_store(&link->line->queued, link->queued);
    link_store(&link->line->seen_ns, link->seen_ns);
    publish_flight(link);
    link_store(&link->line->looked_ns, link->looked_ns);
    link_store(&link->line->last_fd, link->last ? link->last->fd : UINT64_MAX);
    link_store(&link->line->most_fd, link->most ? link->most->fd : UINT64_MAX);
    link_store(&link->line->news, link->news);
    link_store(&link->line->handed, link->handed - link->unsent);
    link_store(&link->line->waiting_rank, rank_of(link, waiting_key));
}

void link_tell_clients(struct link *link, const struct client_share *clients,
                       uint64_t sent)
{
    link_store(&link->line->sent, sent);
    link_store(&link->line->clients, client_share_waiting(clients));
    link_store(&link->line->only_client, client_share_only(clients));
    link_store(&link->line->parts, client_share_parts(clients));
    for (int i = 0; i < CLIENT_MARKS_WORDS; i++)
        link_store(&link->line->marks[i], clients->marks.words[i]);
}

uint32_t link_count_elsewhere(const void *of_link, uint32_t mark)
{
    const struct link *link = of_link;
    const struct link_shared *shared = link->shared;
    uint32_t count = 0;

    if (shared->mode == LINK_AUTO && !link_tracks(link))
        return 0; /* a fast link has enough for all */
    for (size_t i = 0; i < shared->worker_count; i++) {
        const struct link_line *line = &shared->lines[i];

        if (line != link->line)
            count +=
                (uint32_t)(link_load(&line->marks[mark / 64]) >> mark % 64) & 1;
    }
    return count;
}

void link_hear_clients(const struct link *link, struct client_share *clients)
{
    const struct link_shared *shared = link->shared;
    uint64_t only = client_share_only(clients);
    struct client_others others = {0};
    bool is_alone = true;

    for (size_t i = 0; i < shared->worker_count; i++) {
        const struct link_line *line = &shared->lines[i];
        uint64_t count = link_load(&line->clients);

        if (line == link->line)
            continue;
        others.sent += link_load(&line->sent);
        others.count += (uint32_t)count;
        others.parts += link_load(&line->parts);
        if (count > 1 || (count == 1 &&
                          (only == 0 || link_load(&line->only_client) != only)))
            is_alone = false;
    }
    if (is_alone)
        others = (struct client_others){.sent = others.sent};
    client_share_hear(clients, &others);
}

uint64_t link_sent_elsewhere(const struct link *link)
{
    uint64_t sent = 0;

    for (size_t i = 0; i < link->shared->worker_count; i++)
        if (&link->shared->lines[i] != link->line)
            sent += link_load(&link->shared->lines[i].sent);
    return sent;
}

uint64_t link_room(uint64_t limit, uint64_t ahead, uint64_t want)
{
    uint64_t room;

    if (ahead >= limit)
        return 0;
    room = limit - ahead;
    if (room < LINK_SEGMENT_BYTES)
        room = LINK_SEGMENT_BYTES; /* less is not worth sending */
    return want < room ? want : room;
}

/* --- Flows of one worker -------------------------------------------------- */

void link_drop(struct link *link, struct link_flow *flow)
{
    if (link->probe == flow)
        link->probe = NULL;
    if (link->last == flow)
        link->last = NULL;
    if (link->most == flow)
        link->most = NULL;
    if (list_is_empty(&flow->link))
        return;
    link->queued -= flow->queued;
    link->flight -= flow->flight;
    flow->queued = flow->flight = 0;
    if (link->standing > link->flight)
        link->standing = link->flight;
    list_drop(&flow->link);
}

void link_drop_idle(struct link *link, struct link_flow *flow)
{
    if (flow->queued == 0 && flow->flight == 0)
        link_drop(link, flow);
}

/* All bytes that were in flight at the last look are acknowledged within a
 * round trip. */
uint64_t link_count_flight(const struct link *link, uint64_t now_ns)
{
    uint64_t trip_ns = (uint64_t)link->trip_us * NS_PER_US;
    uint64_t since_ns = now_ns - link->looked_ns;
    uint64_t gone = link->looked < link->flight ? link->looked : link->flight;

    if (trip_ns == 0)
        return link->flight;
    if (since_ns < trip_ns)
        gone = gone * since_ns / trip_ns;
    return link->flight - gone;
}

uint64_t link_count_passing(const struct link *link)
{
    if (link->least_us == 0 || link->flight <= link->standing)
        return 0;
    return (link->flight - link->standing) * US_PER_S / link->least_us;
}

void link_forget(struct link *link)
{
    while (!link_tracks(link) && !list_is_empty(&link->flows))
        link_drop(link, OWNER_OF(link->flows.next, struct link_flow, link));
}
