/*
 * link_path - clients behind one narrow place far away: what is sent to them
 * stands in a queue there, and each has a round trip of its own beyond it.
 * Their sockets send as fast as acknowledgements come, as no packet is lost.
 *
 * Who includes it includes link_kernel.h before.
 */
#ifndef UNIT_LINK_PATH_H
#define UNIT_LINK_PATH_H

#include "unit/engine/link/link_kernel.h"

enum { SEGMENTS_MAX = 8192, STEP_NS = 250000 };

/* Sent together, and acknowledged so. */
struct sent {
    uint64_t sent_ns;
    uint64_t acked_ns;
    uint32_t segments;
};

struct far_client {
    uint64_t base_ns; /* round trip without a queue */
    uint64_t wanted;  /* not handed over yet */
    uint64_t unsent;  /* in the socket */
    uint32_t window;  /* of congestion, in segments */
    struct sent sent[SEGMENTS_MAX];
    size_t first, end; /* of sent, not acknowledged */
};

static struct far_client clients[FLOWS];
static size_t path_workers;
static size_t path_clients;
static uint64_t path_rate;
static uint64_t path_late_ns; /* that one tick of eight comes after the last */
static uint64_t path_bytes;   /* of a response, twice that at most */
static uint64_t narrow_ns;    /* until when the narrow place is busy */
static uint64_t arrived;      /* bytes acknowledged since ever */
static uint64_t queue_sum_ns; /* of how long it was, at each step */
static uint64_t queue_steps;

static inline void begin_path(size_t workers, size_t count, uint64_t rate,
                              uint64_t near_ms, uint64_t far_ms, uint64_t bytes)
{
    path_workers = workers;
    path_clients = count;
    path_rate = rate;
    path_late_ns = 0;
    path_bytes = bytes;
    begin(LINK_AUTO, 0, workers);
    for (size_t i = 0; i < workers; i++)
        become_fast(&links[i], (int)i);
    memset(in_kernel, 0, sizeof(in_kernel));
    for (size_t i = 0; i < count; i++) {
        struct far_client *client = &clients[i];
        uint64_t base_ms = (i / workers) % 2 == 0 ? near_ms : far_ms;

        *client = (struct far_client){.base_ns = base_ms * MS_NS, .window = 10};
        info[i] = (struct tcp_info){.tcpi_snd_mss = LINK_SEGMENT_BYTES};
    }
    arrived = narrow_ns = queue_sum_ns = queue_steps = 0;
}

/* As the kernel does: an eighth of what is new. */
static inline void note_trip(struct tcp_info *told, uint32_t trip_us)
{
    if (told->tcpi_rtt == 0)
        told->tcpi_rtt = trip_us;
    else
        told->tcpi_rtt = (uint32_t)((int64_t)told->tcpi_rtt +
                                    ((int64_t)trip_us - told->tcpi_rtt) / 8);
    if (told->tcpi_min_rtt == 0 || trip_us < told->tcpi_min_rtt)
        told->tcpi_min_rtt = trip_us;
}

static inline void take_acks(size_t at)
{
    struct far_client *client = &clients[at];

    while (client->first < client->end) {
        struct sent *sent = &client->sent[client->first % SEGMENTS_MAX];

        if (sent->acked_ns > clock_ns)
            break;
        note_trip(&info[at],
                  (uint32_t)((sent->acked_ns - sent->sent_ns) / 1000));
        info[at].tcpi_unacked -= sent->segments;
        arrived += sent->segments * LINK_SEGMENT_BYTES;
        if (client->window < 500) /* slow start, and a buffer's end */
            client->window += sent->segments;
        client->first++;
    }
}

/* Two segments at a time, while the socket has any and may. */
static inline void send_unsent(size_t at)
{
    struct far_client *client = &clients[at];

    while (client->unsent > 0 && info[at].tcpi_unacked < client->window) {
        uint64_t bytes = client->unsent < 2 * LINK_SEGMENT_BYTES
                             ? client->unsent
                             : 2 * LINK_SEGMENT_BYTES;
        uint32_t segments = (uint32_t)(bytes + LINK_SEGMENT_BYTES - 1) /
                            LINK_SEGMENT_BYTES;

        assert_true(client->end - client->first < SEGMENTS_MAX);
        if (narrow_ns < clock_ns)
            narrow_ns = clock_ns;
        narrow_ns += segments * LINK_SEGMENT_BYTES * S_NS / path_rate;
        client->sent[client->end++ % SEGMENTS_MAX] = (struct sent){
            clock_ns, narrow_ns + client->base_ns, segments};
        info[at].tcpi_unacked += segments;
        client->unsent -= bytes;
    }
}

/* What the socket takes beyond what it sends at once. */
static inline uint64_t room_of(size_t at)
{
    const struct far_client *client = &clients[at];
    uint64_t ahead = unsent_max[at] > 0 ? (uint64_t)unsent_max[at] : 1 << 18;
    uint64_t may = info[at].tcpi_unacked < client->window
                       ? client->window - info[at].tcpi_unacked
                       : 0;

    may = may * LINK_SEGMENT_BYTES + ahead;
    return may > client->unsent ? may - client->unsent : 0;
}

/* Each of worker's clients, shortest first, as far as its socket and the link
 * let it; who has received all asks for something else. */
static inline void run_worker(size_t worker)
{
    struct link *link = &links[worker];
    bool is_done[FLOWS] = {false};
    uint64_t waiting_key = UINT64_MAX;

    for (;;) {
        size_t next = FLOWS;
        uint64_t room;

        for (size_t i = worker; i < path_clients; i += path_workers)
            if (!is_done[i] && clients[i].wanted > 0 && room_of(i) > 0 &&
                (next == FLOWS || clients[i].wanted < clients[next].wanted))
                next = i;
        if (next == FLOWS)
            break;
        room = clients[next].wanted < 524288 ? clients[next].wanted : 524288;
        room = link_allow(link, &flows[next], clients[next].wanted, room);
        if (room == 0) {
            waiting_key = clients[next].wanted;
            break;
        }
        if (room > room_of(next)) {
            room = room_of(next);
            is_done[next] = true; /* its socket is full */
        }
        clients[next].wanted -= room;
        clients[next].unsent += room;
        send_unsent(next);
        link_handed(link, &flows[next], room, clients[next].wanted,
                    clock_ns / MS_NS);
    }
    if (waiting_key != UINT64_MAX)
        link_await(link);
    link_publish(link, waiting_key);
}

/* Time passes; everybody wants bytes all the time. */
static inline void pass_path(uint64_t ns)
{
    uint64_t end_ns = clock_ns + ns;

    while (clock_ns < end_ns) {
        pass_ns(path_late_ns > 0 && draw(8) == 0 ? path_late_ns : STEP_NS);
        for (size_t i = 0; i < path_clients; i++) {
            take_acks(i);
            send_unsent(i);
            if (clients[i].wanted > 0 || info[i].tcpi_unacked > 0)
                continue;
            link_drop(&links[i % path_workers], &flows[i]);
            clients[i].wanted = i < path_workers
                                    ? UINT64_C(1) << 40
                                    : 1 + path_bytes / 64 +
                                          draw((unsigned)path_bytes * 2);
        }
        for (size_t i = 0; i < path_workers; i++) {
            link_tick(&links[i]);
            run_worker(i);
        }
        queue_sum_ns += narrow_ns > clock_ns ? narrow_ns - clock_ns : 0;
        queue_steps++;
    }
}

#endif
