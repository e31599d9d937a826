#include "volley.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

enum {
    IN_FLIGHT = 128,
    GAP_MS = 2, /* between parts */
    PATIENCE_MS = 10000,
    ROOM_BYTES = 4096
};

struct flight {
    const struct shot *shot; /* NULL: none is under way here */
    size_t sent;
    uint64_t next_ms; /* when to send the next part */
    uint64_t until_ms;
    char *data;
    size_t len;
    size_t cap;
};

struct volley {
    const struct server *server;
    volley_judge_fn *judge;
    struct flight flights[IN_FLIGHT];
    struct pollfd polled[IN_FLIGHT];
    size_t under_way;
};

static size_t part_len(const struct flight *flight)
{
    size_t left = flight->shot->len - flight->sent;

    if (flight->shot->split == SHOT_DRIPS)
        return left > 0;
    if (flight->shot->split > 0 && flight->sent == 0)
        return (size_t)flight->shot->split;
    return left;
}

static void send_part(struct flight *flight, struct pollfd *polled)
{
    size_t len = part_len(flight);
    ssize_t n = send(polled->fd, flight->shot->data + flight->sent, len,
                     MSG_NOSIGNAL);

    if (n > 0)
        flight->sent += (size_t)n;
    else if (n == -1 && errno != EAGAIN)
        flight->sent = flight->shot->len; /* it wants no more: read why */
    if (flight->shot->ends && flight->sent == flight->shot->len)
        shutdown(polled->fd, SHUT_WR);
    flight->next_ms = now_ms() + GAP_MS;
    polled->events = POLLIN;
    if (n == -1 && errno == EAGAIN)
        polled->events = POLLIN | POLLOUT;
}

static void start(struct volley *volley, size_t i, const struct shot *shot)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)volley->server->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct flight *flight = &volley->flights[i];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;

    if (fd == -1 ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)) == -1)
        flunk("connect: %s", strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){1, 0},
                   sizeof(struct timeval)) == -1)
        flunk("setsockopt: %s", strerror(errno));
    volley->polled[i] = (struct pollfd){.fd = fd, .events = POLLIN};
    flight->shot = shot;
    flight->sent = 0;
    flight->len = 0;
    flight->until_ms = now_ms() + patience(PATIENCE_MS);
    volley->under_way++;
    send_part(flight, &volley->polled[i]);
}

/* The judge may not come back, so the place is free before. */
static void finish(struct volley *volley, size_t i, bool was_reset)
{
    struct flight *flight = &volley->flights[i];
    const struct shot *shot = flight->shot;

    close(volley->polled[i].fd);
    volley->polled[i].fd = -1;
    flight->shot = NULL;
    volley->under_way--;
    flight->data[flight->len] = '\0';
    volley->judge(shot, flight->data, flight->len, was_reset);
}

static void take_in(struct volley *volley, size_t i)
{
    struct flight *flight = &volley->flights[i];
    ssize_t n;

    if (flight->cap - flight->len < ROOM_BYTES) {
        char *larger = scratch(2 * flight->cap + 2 * ROOM_BYTES);

        if (flight->len > 0)
            memcpy(larger, flight->data, flight->len);
        flight->data = larger;
        flight->cap = 2 * flight->cap + 2 * ROOM_BYTES;
    }
    n = recv(volley->polled[i].fd, flight->data + flight->len,
             flight->cap - flight->len - 1, MSG_DONTWAIT);
    if (n > 0)
        flight->len += (size_t)n;
    else if (n == 0 || errno != EAGAIN)
        finish(volley, i, n == -1);
}

static void look_at(struct volley *volley, size_t i, uint64_t now)
{
    struct flight *flight = &volley->flights[i];
    const struct pollfd *polled = &volley->polled[i];

    if (flight->sent < flight->shot->len &&
        (polled->revents & POLLOUT || now >= flight->next_ms))
        send_part(flight, &volley->polled[i]);
    if (polled->revents & (POLLIN | POLLERR | POLLHUP)) {
        take_in(volley, i);
    } else if (now > flight->until_ms) {
        flight->data[flight->len] = '\0';
        flunk("no end of it; sent %zu of %zu (split at %d) '%.300s', got "
              "'%.300s'",
              flight->sent, flight->shot->len, flight->shot->split,
              flight->shot->data, flight->data);
    }
}

static struct volley *current; /* so that a failed test leaves none open */

static void abandon(void)
{
    for (size_t i = 0; current && i < IN_FLIGHT; i++)
        if (current->polled[i].fd != -1)
            close(current->polled[i].fd);
    free(current);
    current = NULL;
}

void volley_fire(const struct server *server, const struct shot *shots,
                 size_t count, volley_judge_fn *judge)
{
    size_t next = 0;

    abandon();
    current = calloc(1, sizeof(*current));
    if (!current)
        flunk("no memory");
    current->server = server;
    current->judge = judge;
    for (size_t i = 0; i < IN_FLIGHT; i++)
        current->polled[i].fd = -1;
    while (next < count || current->under_way > 0) {
        uint64_t now;

        for (size_t i = 0; i < IN_FLIGHT && next < count; i++)
            if (!current->flights[i].shot)
                start(current, i, &shots[next++]);
        poll(current->polled, IN_FLIGHT, 1);
        now = now_ms();
        for (size_t i = 0; i < IN_FLIGHT; i++)
            if (current->flights[i].shot)
                look_at(current, i, now);
    }
    abandon();
}

void volley_fire_split(const struct server *server, const struct shot *shots,
                       size_t count, volley_judge_fn *judge)
{
    struct shot *all;
    size_t total = 0;
    size_t at = 0;

    for (size_t i = 0; i < count; i++)
        total += (size_t)shots[i].split + 2;
    all = scratch(total * sizeof(*all));
    for (size_t i = 0; i < count; i++)
        for (int split = SHOT_DRIPS; split < shots[i].split; split++) {
            all[at] = shots[i];
            all[at++].split = split;
        }
    volley_fire(server, all, at, judge);
}
