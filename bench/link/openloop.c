/*
 * openloop - asks for files at given moments, whatever became of the others.
 *
 *     openloop [-k] [-w SECONDS] [-a CODINGS] ADDRESS PORT ARRIVALS RESULTS
 *
 * A line of ARRIVALS is one request: when in µs from the start, how many
 * bytes the file has, its path, and the address to come from or `-`. Lines
 * stand in the order of their times. Each request gets a connection of its
 * own, closed by the server; with -k one that has become idle, if there is
 * one. A closed loop, where a slow reply keeps the next request from being
 * made, would hide just the waiting that is to be measured.
 *
 * With -a requests say `Accept-Encoding: CODINGS`, and replies may be of any
 * length: what they say it is, or up to the end of the connection (not with
 * -k).
 *
 * A line of RESULTS (CSV, in the order of ARRIVALS) tells how late the
 * request was started, and when its first byte and its last came, all in µs
 * from the *intended* start, -1 for never; the body's bytes; and the outcome:
 * "ok", or what went wrong. A request without an end SECONDS (30) after the
 * last arrival is a timeout.
 *
 *      CONNECTING --connected--> HEAD --empty line--> BODY
 *                                 ^                    | all there
 *                   next request  |                    v
 *                                IDLE <---- -k ---- (done) ----> ENDING
 *
 * ENDING waits for the server's end of the connection, so that the memory of
 * it (TIME_WAIT) stays with the server and our ports are free at once.
 *
 * Epoll is edge-triggered: one registration a connection, and every read goes
 * on until there is no more.
 */
#include "program.h"
#include "requests.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define START_NS (50 * NS_PER_MS) /* before the first arrival can be late */
#define END_WAIT_S 30
#define END_WAIT_S_MAX 3600
#define EVENTS_MAX 512
#define HEAD_MAX 4096
#define REQUEST_MAX 512
#define DESCRIPTORS_MAX 65536
#define READ_BYTES (1 << 20)

enum conn_state { CONN_CONNECTING, CONN_HEAD, CONN_BODY, CONN_IDLE, CONN_END };

struct conn {
    struct request *request; /* NULL when none is under way */
    enum conn_state state;
    in_addr_t source;
    int next_idle;   /* a list through the descriptors; -1 ends it */
    uint64_t length; /* of the body; UINT64_MAX: to the connection's end */
    size_t head_bytes;
    char head[HEAD_MAX];
};

struct client {
    int epoll_fd;
    bool keep_alive;
    const char *codings; /* NULL: none, and every length is known */
    int64_t wait_ns;     /* for the last ones */
    struct sockaddr_in server;
    char host[64];
    struct requests requests;
    size_t started;
    size_t ended;
    int64_t zero_ns;
    struct conn *conns; /* by descriptor; untouched pages cost nothing */
    int idle;           /* the connection that became idle last, or -1 */
};

static void end_request(struct client *client, struct conn *conn,
                        enum outcome outcome)
{
    struct request *request = conn->request;

    if (!request)
        return;
    request->outcome = outcome;
    if (outcome == OUTCOME_OK)
        request->done_ns = now_ns();
    conn->request = NULL;
    client->ended++;
}

static void drop_idle(struct client *client, int fd)
{
    int *link = &client->idle;

    while (*link != -1 && *link != fd)
        link = &client->conns[*link].next_idle;
    if (*link == fd)
        *link = client->conns[fd].next_idle;
}

/* Closes a connection; its request, if one is under way, has failed. */
static void close_conn(struct client *client, int fd, enum outcome outcome)
{
    struct conn *conn = &client->conns[fd];

    if (conn->state == CONN_IDLE)
        drop_idle(client, fd);
    end_request(client, conn, outcome);
    close(fd);
}

/* False: the connection is no good. The request always fits: the socket is
 * empty. */
static bool send_request(struct client *client, int fd)
{
    struct conn *conn = &client->conns[fd];
    char text[REQUEST_MAX];
    int bytes = snprintf(text, sizeof(text),
                         "GET /%s HTTP/1.1\r\nHost: %s\r\n%s%s%s%s\r\n",
                         conn->request->path, client->host,
                         client->keep_alive ? "" : "Connection: close\r\n",
                         client->codings ? "Accept-Encoding: " : "",
                         client->codings ? client->codings : "",
                         client->codings ? "\r\n" : "");

    conn->state = CONN_HEAD;
    conn->head_bytes = 0;
    return send(fd, text, (size_t)bytes, MSG_NOSIGNAL) == bytes;
}

/* A connection under way to the server, or -1 with errno. */
static int open_conn(struct client *client, in_addr_t source)
{
    const int on = 1;
    struct sockaddr_in local = {.sin_family = AF_INET,
                                .sin_addr.s_addr = source};
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd == -1)
        return -1;
    event.data.fd = fd;
    /* A port must be free only towards this server, which connect() sees. */
    if (source != INADDR_ANY &&
        (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on)) ==
             -1 ||
         bind(fd, (struct sockaddr *)&local, sizeof(local)) == -1))
        goto close_fd;
    if (connect(fd, (struct sockaddr *)&client->server,
                sizeof(client->server)) == -1 &&
        errno != EINPROGRESS)
        goto close_fd;
    if (epoll_ctl(client->epoll_fd, EPOLL_CTL_ADD, fd, &event) == -1)
        goto close_fd;
    return fd;

close_fd:
    close(fd);
    return -1;
}

/* The connection of this source that became idle last, or -1. */
static int take_idle(struct client *client, in_addr_t source)
{
    int fd = client->idle;

    while (fd != -1 && client->conns[fd].source != source)
        fd = client->conns[fd].next_idle;
    if (fd != -1)
        drop_idle(client, fd);
    return fd;
}

static void start_request(struct client *client, struct request *request)
{
    int fd = take_idle(client, request->source);
    struct conn *conn;

    request->begun_ns = now_ns();
    if (fd != -1) {
        client->conns[fd].request = request;
        if (!send_request(client, fd))
            close_conn(client, fd, OUTCOME_RESET);
        return;
    }
    fd = open_conn(client, request->source);
    if (fd == -1) {
        request->outcome = OUTCOME_DESCRIPTORS;
        client->ended++;
        return;
    }
    conn = &client->conns[fd];
    conn->request = request;
    conn->state = CONN_CONNECTING;
    conn->source = request->source;
}

/* The reply is complete: what now becomes of the connection. */
static void finish_reply(struct client *client, int fd)
{
    struct conn *conn = &client->conns[fd];

    end_request(client, conn, OUTCOME_OK);
    if (!client->keep_alive ||
        strcasestr(conn->head, "\r\nConnection: close")) {
        conn->state = CONN_END;
        return;
    }
    conn->state = CONN_IDLE;
    conn->next_idle = client->idle;
    client->idle = fd;
}

/* Reads the head's meaning once it is whole; what stands behind it belongs to
 * the body. False: it is not what we asked for. */
static bool read_head(const struct client *client, struct conn *conn)
{
    char *end = strstr(conn->head, "\r\n\r\n");
    const char *length;

    if (!end)
        return conn->head_bytes < HEAD_MAX - 1;
    end[2] = '\0';
    length = strcasestr(conn->head, "\r\nContent-Length:");
    conn->length = length ? strtoull(length + 17, NULL, 10) : UINT64_MAX;
    if (strncmp(conn->head, "HTTP/1.1 200 ", 13) != 0 ||
        (!client->codings && conn->length != conn->request->size))
        return false;
    conn->request->bytes = conn->head_bytes - (size_t)(end + 4 - conn->head);
    conn->state = CONN_BODY;
    return true;
}

/* Reads once, into the head or into nowhere. */
static ssize_t read_some(struct conn *conn, int fd)
{
    /* The kernel drops what MSG_TRUNC asks for, instead of copying it. */
    if (conn->state != CONN_HEAD)
        return recv(fd, NULL, READ_BYTES, MSG_TRUNC);
    return recv(fd, conn->head + conn->head_bytes,
                HEAD_MAX - 1 - conn->head_bytes, 0);
}

/* Reads until nothing is left. */
static void on_readable(struct client *client, int fd)
{
    struct conn *conn = &client->conns[fd];

    for (;;) {
        ssize_t n = read_some(conn, fd);

        if (n == -1 && errno == EAGAIN)
            return;
        if (n == 0 && conn->state == CONN_BODY && conn->length == UINT64_MAX) {
            close_conn(client, fd, OUTCOME_OK);
            return;
        }
        if (n <= 0) {
            close_conn(client, fd, n == 0 ? OUTCOME_SHORT : OUTCOME_RESET);
            return;
        }
        if (!conn->request) { /* a reply longer than it said, or to nothing */
            close_conn(client, fd, OUTCOME_RESET);
            return;
        }
        if (!conn->request->first_ns)
            conn->request->first_ns = now_ns();
        if (conn->state == CONN_BODY) {
            conn->request->bytes += (size_t)n;
        } else {
            conn->head_bytes += (size_t)n;
            conn->head[conn->head_bytes] = '\0';
            if (!read_head(client, conn)) {
                close_conn(client, fd, OUTCOME_HEAD);
                return;
            }
        }
        if (conn->state == CONN_BODY && conn->request->bytes >= conn->length)
            finish_reply(client, fd);
    }
}

static void on_event(struct client *client, const struct epoll_event *event)
{
    int fd = event->data.fd;
    struct conn *conn = &client->conns[fd];

    if (conn->state == CONN_CONNECTING) {
        if (event->events & (EPOLLERR | EPOLLHUP)) {
            close_conn(client, fd, OUTCOME_CONNECT);
            return;
        }
        if (!(event->events & EPOLLOUT))
            return;
        if (!send_request(client, fd)) {
            close_conn(client, fd, OUTCOME_RESET);
            return;
        }
    }
    if (event->events & (EPOLLIN | EPOLLERR | EPOLLHUP))
        on_readable(client, fd);
}

static void run(struct client *client)
{
    struct epoll_event events[EVENTS_MAX];
    const struct request *last =
        &client->requests.list[client->requests.count - 1];
    int64_t end_ns;

    client->zero_ns = now_ns() + START_NS;
    end_ns = client->zero_ns + last->start_ns + client->wait_ns;
    while (client->ended < client->requests.count) {
        int64_t now = now_ns();
        int64_t next_ns = end_ns;
        struct timespec wait;
        int count;

        while (client->started < client->requests.count) {
            struct request *request = &client->requests.list[client->started];

            next_ns = client->zero_ns + request->start_ns;
            if (next_ns > now)
                break;
            start_request(client, request);
            client->started++;
            next_ns = end_ns;
        }
        if (now >= end_ns)
            return;
        now = now_ns();
        wait = timespec_of_ns(next_ns > now ? next_ns - now : 0);
        count = epoll_pwait2(client->epoll_fd, events, EVENTS_MAX, &wait, NULL);
        if (count == -1 && errno != EINTR)
            die("epoll_pwait2");
        for (int i = 0; i < count; i++)
            on_event(client, &events[i]);
    }
}

static void set_up(struct client *client, const char *address, const char *port)
{
    struct rlimit limit;

    client->server.sin_family = AF_INET;
    client->server.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    if (inet_pton(AF_INET, address, &client->server.sin_addr) != 1)
        die(address);
    snprintf(client->host, sizeof(client->host), "%s:%s", address, port);
    if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
        die("getrlimit");
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MAX ? limit.rlim_max
                                                      : DESCRIPTORS_MAX;
    if (setrlimit(RLIMIT_NOFILE, &limit) == -1)
        die("setrlimit");
    client->idle = -1;
    client->conns = calloc(limit.rlim_cur, sizeof(*client->conns));
    client->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!client->conns || client->epoll_fd == -1)
        die("start");
    /* A timer may be this much late: 50 µs by default. */
    if (prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == -1)
        die("prctl");
}

int main(int argc, char **argv)
{
    static struct client client = {.wait_ns = (int64_t)END_WAIT_S * NS_PER_S};
    int option;

    while ((option = getopt(argc, argv, "kw:a:")) != -1) {
        long seconds = option == 'w' ? strtol(optarg, NULL, 10) : END_WAIT_S;

        if (option == 'k')
            client.keep_alive = true;
        if (option == 'a')
            client.codings = optarg;
        if (option == '?' || seconds < 1 || seconds > END_WAIT_S_MAX)
            goto usage;
        if (option == 'w')
            client.wait_ns = (int64_t)seconds * NS_PER_S;
    }
    if (argc - optind != 4 || (client.codings && client.keep_alive))
        goto usage;
    argv += optind;
    requests_load(&client.requests, argv[2]);
    set_up(&client, argv[0], argv[1]);
    run(&client);
    requests_save(&client.requests, client.zero_ns, argv[3]);
    return EXIT_SUCCESS;

usage:
    fprintf(stderr, "usage: openloop [-k] [-w SECONDS] [-a CODINGS] ADDRESS "
                    "PORT ARRIVALS RESULTS\n");
    return EXIT_FAILURE;
}
