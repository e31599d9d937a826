/*
 * The path, its clock, and what sockets tell are this program's; the link module
 * is as it is. Sockets know slow start, which ends as cubic's does when
 * acknowledgements come for half a round trip; nothing is lost.
 */
#include "far_link.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
    FLOWS_MAX = 8192, /* at a time */
    FD_BASE = 1000,
    SEGMENT = LINK_SEGMENT_BYTES,
    HEADER = LINK_HEADER_BYTES,
    SLOWLY = 16, /* segments that are acknowledged one by one */
    QUANTUM = 524288,
    MIDDLE_NS = 100000, /* that machines take, each way */
    LATE_NS = 30000     /* that a tick is */
};

struct far_path far_path;

/* --- A kernel of its own -------------------------------------------------- */

static uint64_t clock_ns;
static struct fetch *flow_owner[FLOWS_MAX];

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);

/* The local queue is always empty. */
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    const struct fetch *fetch = flow_owner[fd - FD_BASE];
    struct tcp_info info = {
        .tcpi_rtt = fetch->rtt_us,
        .tcpi_min_rtt = fetch->least_us,
        .tcpi_snd_mss = SEGMENT,
        .tcpi_unacked = fetch->unacked,
        .tcpi_last_ack_recv = (uint32_t)((clock_ns - fetch->acked_ns) /
                                         1000000),
        .tcpi_last_data_sent = (uint32_t)((clock_ns - fetch->sent_ns) /
                                          1000000)};

    (void)name;
    far_path.looks++;
    memset(value, 0, *len);
    if (level == IPPROTO_TCP)
        memcpy(value, &info, *len < sizeof(info) ? *len : sizeof(info));
    return 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len)
{
    (void)level;
    (void)name;
    memcpy(&flow_owner[fd - FD_BASE]->lowat, value, len);
    return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
    va_list list;

    va_start(list, request);
    *va_arg(list, int *) = (int)flow_owner[fd - FD_BASE]->unsent;
    va_end(list);
    return 0;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    (void)id;
    time->tv_sec = (time_t)(clock_ns / FAR_S_NS);
    time->tv_nsec = (long)(clock_ns % FAR_S_NS);
    return 0;
}

/* --- What happens when ---------------------------------------------------- */

enum kind { OPENED, ASKED, ARRIVED, ACKED, TICK };

struct event {
    uint64_t at_ns;
    uint64_t number; /* of equals the first goes first */
    enum kind kind;
    struct fetch *fetch;
    uint32_t segments, bytes;
    uint64_t sent_ns;
};

static struct event *events; /* a heap */
static size_t event_count, event_room;
static uint64_t event_number;

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->number < b->number;
}

static void put_event(struct event event)
{
    size_t at = event_count++;

    if (event_count > event_room) {
        event_room = event_room ? 2 * event_room : 4096;
        events = realloc(events, event_room * sizeof(*events));
        if (!events)
            abort();
    }
    event.number = event_number++;
    for (; at > 0 && is_before(&event, &events[(at - 1) / 2]);
         at = (at - 1) / 2)
        events[at] = events[(at - 1) / 2];
    events[at] = event;
}

static struct event take_event(void)
{
    struct event first = events[0];
    struct event last = events[--event_count];
    size_t at = 0;

    for (size_t child; (child = 2 * at + 1) < event_count; at = child) {
        if (child + 1 < event_count &&
            is_before(&events[child + 1], &events[child]))
            child++;
        if (!is_before(&events[child], &last))
            break;
        events[at] = events[child];
    }
    events[at] = last;
    return first;
}

/* --- The narrow place, and TCP --------------------------------------------- */

static uint64_t narrow_ns; /* until when it is busy */

/* When a packet has left it. */
static uint64_t pass_narrow(uint32_t bytes)
{
    uint64_t ns = (uint64_t)(bytes * 1e9 / far_path.rate);

    if (narrow_ns < clock_ns)
        narrow_ns = clock_ns;
    far_path.queue_ns += (double)(narrow_ns - clock_ns);
    far_path.packets++;
    far_path.busy_ns += (double)ns;
    narrow_ns += ns;
    return narrow_ns;
}

/* As many as are acknowledged together. */
static void send_some(struct fetch *fetch)
{
    uint32_t most = fetch->acked < SLOWLY * SEGMENT ? 1 : 2;
    struct event event = {.kind = ARRIVED, .fetch = fetch, .sent_ns = clock_ns};

    while (event.segments < most && fetch->unsent > 0 &&
           fetch->unacked < fetch->window) {
        uint32_t bytes = fetch->unsent < SEGMENT ? (uint32_t)fetch->unsent
                                                 : SEGMENT;

        event.at_ns = pass_narrow(bytes + HEADER);
        event.segments++;
        event.bytes += bytes;
        fetch->unsent -= bytes;
        fetch->unacked++;
    }
    event.at_ns += fetch->trip_ns / 2 + MIDDLE_NS;
    put_event(event);
    fetch->sent_ns = clock_ns;
    if (fetch->round_left == 0) {
        fetch->round_left = fetch->unacked;
        fetch->round_ns = clock_ns;
    }
}

static void send_unsent(struct fetch *fetch)
{
    while (fetch->unsent > 0 && fetch->unacked < fetch->window)
        send_some(fetch);
}

static uint64_t count_room(const struct fetch *fetch)
{
    uint64_t room = fetch->lowat > 0 ? (uint64_t)fetch->lowat : 1 << 18;

    if (fetch->unacked < fetch->window)
        room += (uint64_t)(fetch->window - fetch->unacked) * SEGMENT;
    return room > fetch->unsent ? room - fetch->unsent : 0;
}

static void note_trip(struct fetch *fetch, uint64_t ns)
{
    uint32_t us = (uint32_t)(ns / 1000);

    if (fetch->rtt_us == 0)
        fetch->rtt_us = us;
    fetch->rtt_us = (uint32_t)((int64_t)fetch->rtt_us +
                               ((int64_t)us - fetch->rtt_us) / 8);
    if (fetch->least_us == 0 || us < fetch->least_us)
        fetch->least_us = us;
}

/* Slow start, and then cubic's growth, or Reno's where that is quicker. */
static void grow_window(struct fetch *fetch, uint32_t segments)
{
    double seconds = (double)(clock_ns - fetch->slow_end_ns) / 1e9;
    double aim = fetch->slow_end + 0.4 * seconds * seconds * seconds;

    if (fetch->window < fetch->slow_end) {
        fetch->window += segments;
        if (fetch->window >= 16 &&
            clock_ns - fetch->round_ns > UINT64_C(1500) * fetch->least_us) {
            fetch->slow_end = fetch->window;
            fetch->slow_end_ns = clock_ns;
        }
        return;
    }
    fetch->grown += 0.53 * segments / fetch->window;
    if (aim > fetch->window)
        fetch->grown += (aim - fetch->window) / fetch->window * segments;
    fetch->window += (uint32_t)fetch->grown;
    fetch->grown -= (uint32_t)fetch->grown;
}

/* --- The server ----------------------------------------------------------- */

static struct link_shared shared;
static struct link worker;
static struct link_flow flows[FLOWS_MAX];
static int free_flows[FLOWS_MAX];
static size_t free_count;
static struct fetch *waiting[FLOWS_MAX];
static size_t waiting_count;
static bool has_timer;

static size_t find_shortest(void)
{
    size_t found = 0;

    for (size_t i = 1; i < waiting_count; i++)
        if (waiting[i]->wanted < waiting[found]->wanted)
            found = i;
    return found;
}

static void queue_fetch(struct fetch *fetch)
{
    fetch->state = FETCH_WAITS;
    waiting[waiting_count++] = fetch;
}

/* Hands over what the link lets through; false: nothing. */
static bool send_shortest(void)
{
    size_t at = find_shortest();
    struct fetch *fetch = waiting[at];
    struct link_flow *flow = &flows[fetch->flow];
    uint64_t want = fetch->wanted < QUANTUM ? fetch->wanted : QUANTUM;
    uint64_t room = count_room(fetch);
    uint64_t bytes = link_lets_all(&worker, flow)
                         ? want
                         : link_allow(&worker, flow, fetch->wanted, want);

    if (bytes == 0)
        return false;
    waiting[at] = waiting[--waiting_count];
    fetch->state = bytes > room ? FETCH_BLOCKED : FETCH_SENT;
    if (bytes > room)
        bytes = room;
    fetch->wanted -= bytes;
    fetch->unsent += bytes;
    send_unsent(fetch);
    link_handed(&worker, flow, bytes, link_tracks(&worker) ? fetch->wanted : 0,
                clock_ns / 1000000);
    if (fetch->wanted > 0 && fetch->state == FETCH_SENT)
        queue_fetch(fetch);
    return true;
}

static void take_turn(void)
{
    while (waiting_count > 0 && send_shortest())
        continue;
    if (waiting_count == 0 || has_timer)
        return;
    has_timer = true;
    link_await(&worker);
    put_event((struct event){.at_ns = clock_ns + LINK_TICK_NS + LATE_NS,
                             .kind = TICK});
}

static void open_flow(struct fetch *fetch)
{
    struct address peer = {.family = ADDRESS_IPV4,
                           .octets = {192, 0, 2,
                                      (uint8_t)(fetch->trip_ns / 1000000)}};
    uint64_t left_ns = pass_narrow(FAR_OPENING);

    fetch->flow = free_flows[--free_count];
    flow_owner[fetch->flow] = fetch;
    link_open(&worker, &flows[fetch->flow], FD_BASE + fetch->flow, &peer);
    note_trip(fetch,
              left_ns - clock_ns + fetch->trip_ns + 2 * (uint64_t)MIDDLE_NS);
    put_event((struct event){.at_ns = left_ns + fetch->trip_ns +
                                      2 * (uint64_t)MIDDLE_NS,
                             .kind = ASKED,
                             .fetch = fetch});
}

static void take_ack(struct fetch *fetch, const struct event *event)
{
    bool was_full = fetch->unsent > 0 ||
                    fetch->unacked + 2 * event->segments >= fetch->window;

    note_trip(fetch, clock_ns - event->sent_ns);
    fetch->unacked -= event->segments;
    fetch->acked += event->bytes;
    fetch->acked_ns = clock_ns;
    if (was_full)
        grow_window(fetch, event->segments);
    fetch->round_left -= fetch->round_left < event->segments ? fetch->round_left
                                                             : event->segments;
    send_unsent(fetch);
    if (fetch->acked == fetch->size) {
        link_drop(&worker, &flows[fetch->flow]);
        free_flows[free_count++] = fetch->flow;
        fetch->state = FETCH_DONE;
    } else if (fetch->state == FETCH_BLOCKED && count_room(fetch) > 0 &&
               fetch->wanted > 0) {
        queue_fetch(fetch);
        take_turn();
    }
}

static void take_arrival(struct fetch *fetch, struct event event)
{
    fetch->came += event.bytes;
    if (fetch->came == fetch->size)
        fetch->done = clock_ns;
    event.kind = ACKED;
    event.at_ns = clock_ns + fetch->trip_ns / 2 + MIDDLE_NS;
    put_event(event);
}

static void happen(const struct event *event)
{
    struct fetch *fetch = event->fetch;

    switch (event->kind) {
    case OPENED:
        open_flow(fetch);
        break;
    case ASKED:
        (void)pass_narrow(HEADER);
        fetch->acked_ns = clock_ns;
        fetch->wanted = fetch->size;
        queue_fetch(fetch);
        take_turn();
        break;
    case ARRIVED:
        take_arrival(fetch, *event);
        break;
    case ACKED:
        take_ack(fetch, event);
        break;
    case TICK:
        has_timer = false;
        link_tick(&worker);
        take_turn();
        break;
    }
}

void far_serve(struct fetch *fetches, size_t count, enum link_mode mode)
{
    clock_ns = FAR_S_NS;
    narrow_ns = 0;
    far_path.queue_ns = far_path.packets = far_path.busy_ns = 0;
    far_path.looks = 0;
    free_count = waiting_count = event_count = 0;
    has_timer = false;
    if (link_shared_init(&shared, mode, (uint64_t)far_path.rate, 1) != 0 ||
        link_init(&worker, &shared, 0) != 0)
        abort();
    for (int i = FLOWS_MAX - 1; i >= 0; i--)
        free_flows[free_count++] = i;
    for (size_t i = 0; i < count; i++)
        put_event((struct event){.at_ns = fetches[i].begin +
                                          fetches[i].trip_ns / 2 + MIDDLE_NS,
                                 .kind = OPENED,
                                 .fetch = &fetches[i]});
    while (event_count > 0) {
        struct event event = take_event();

        clock_ns = event.at_ns;
        happen(&event);
    }
    link_fini(&worker);
    link_shared_fini(&shared);
}
