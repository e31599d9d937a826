/*
 * floor - what serving a file costs when nothing is done but to serve it.
 *
 *     floor PORT FILE [memory|sendfile [BODY]]
 *
 * One thread waits with epoll and answers every request on 127.0.0.1:PORT with
 * the same ready-made bytes: a head like a real server's, and FILE. Nothing is
 * parsed: a request ends at its empty line, and it is the last one when it
 * holds `Connection: close`. What remains is the kernel's share, so a server's
 * cost per reply divided by this one's says how much the server adds.
 *
 * Up to 16 KiB the head and the body leave in one send() from memory; a larger
 * body goes by sendfile behind a head marked MSG_MORE. The third argument
 * forces one way or the other, to find where they cross (crossover.py). With
 * the fourth every request has a body of so many bytes, and is answered when
 * they are there.
 *
 * Every request gets a send of its own, also when several arrive in one read:
 * gathering them is a thing a server may do better than this floor.
 *
 * A measuring stick, not a server: HTTP/1.1 only, no limits, no timeouts, and
 * FILE must not change while it runs. SIGTERM ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_BYTES_MAX (16 * 1024) /* the default crossover */
#define ACCEPT_MAX 64                /* connections per wake-up */
#define EVENTS_MAX 512
#define READ_BYTES (16 * 1024)
#define CONN_MAX (1 << 20) /* the limit may be far higher in a container */
#define BACKLOG 4096
#define DEFER_S 5 /* a connection without a request is shown after this */

static const char empty_line[] = "\r\n\r\n";
static const char close_field[] = "\r\nConnection: close";

#define EMPTY_LINE_BYTES (sizeof(empty_line) - 1)
#define CLOSE_FIELD_BYTES (sizeof(close_field) - 1)
#define TAIL_BYTES (EMPTY_LINE_BYTES - 1)

struct conn {
    size_t sent;     /* bytes of the reply under way that are gone */
    size_t body;     /* bytes of a request that are still to come */
    unsigned due;    /* replies owed, the one under way included */
    uint32_t events; /* what epoll watches for us; 0: not registered yet */
    uint8_t tail_bytes;
    char tail[TAIL_BYTES]; /* a read may end inside the empty line */
    bool closing;
};

struct reply {
    char *data; /* the head, and the body when it is sent from memory */
    size_t bytes;
};

struct floor {
    int epoll_fd;
    int listen_fd;
    int file_fd;
    size_t file_bytes;  /* left to sendfile; 0: the body is in the replies */
    size_t body_bytes;  /* behind each request's empty line */
    struct reply keep;  /* for a connection that stays */
    struct reply last;  /* for one that is closed behind it */
    struct conn *conns; /* by descriptor; untouched pages cost nothing */
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

/* Watches fd for events. A call that changes nothing costs nothing. */
static bool watch(struct floor *floor, int fd, uint32_t events)
{
    struct conn *conn = &floor->conns[fd];
    struct epoll_event event = {.events = events, .data.fd = fd};
    int op = conn->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    if (conn->events == events)
        return true;
    conn->events = events;
    return epoll_ctl(floor->epoll_fd, op, fd, &event) == 0;
}

/* Sends what is owed, as far as the socket takes it. False: close it. */
static bool send_due(struct floor *floor, int fd)
{
    struct conn *conn = &floor->conns[fd];
    int flags = floor->file_bytes ? MSG_MORE : 0;

    while (conn->due > 0) {
        const struct reply *reply = conn->closing && conn->due == 1
                                        ? &floor->last
                                        : &floor->keep;
        ssize_t n;

        if (conn->sent < reply->bytes) {
            n = send(fd, reply->data + conn->sent, reply->bytes - conn->sent,
                     flags);
        } else {
            off_t at = (off_t)(conn->sent - reply->bytes);

            n = sendfile(fd, floor->file_fd, &at,
                         floor->file_bytes - (size_t)at);
        }
        if (n == -1 && errno == EAGAIN)
            return watch(floor, fd, EPOLLOUT);
        if (n <= 0)
            return false;
        conn->sent += (size_t)n;
        if (conn->sent == reply->bytes + floor->file_bytes) {
            conn->sent = 0;
            conn->due--;
        }
    }
    return !conn->closing && watch(floor, fd, EPOLLIN);
}

/* Passes over a request's body, and counts the request where that ends. */
static const char *skip_body(struct conn *conn, const char *at, const char *end)
{
    size_t there = (size_t)(end - at);

    if (there > conn->body)
        there = conn->body;
    conn->body -= there;
    if (conn->body == 0)
        conn->due++;
    return at + there;
}

/* Counts the requests that end in data and keeps what may begin the next
 * empty line. */
static void count_requests(struct floor *floor, struct conn *conn,
                           const char *data, size_t bytes)
{
    const char *end = data + bytes;
    const char *at = conn->body ? skip_body(conn, data, end) : data;
    const char *hit;

    while ((hit = memmem(at, (size_t)(end - at), empty_line,
                         EMPTY_LINE_BYTES))) {
        conn->body = floor->body_bytes;
        at = skip_body(conn, hit + EMPTY_LINE_BYTES, end);
    }
    if (memmem(data, bytes, close_field, CLOSE_FIELD_BYTES))
        conn->closing = true;
    conn->tail_bytes = (uint8_t)((size_t)(end - at) < TAIL_BYTES
                                     ? (size_t)(end - at)
                                     : TAIL_BYTES);
    memcpy(conn->tail, end - conn->tail_bytes, conn->tail_bytes);
}

/* Reads once and answers. False: close it. */
static bool answer(struct floor *floor, int fd)
{
    static char buf[TAIL_BYTES + READ_BYTES];
    struct conn *conn = &floor->conns[fd];
    size_t kept = conn->tail_bytes;
    ssize_t n;

    memcpy(buf, conn->tail, kept);
    n = recv(fd, buf + kept, READ_BYTES, 0);
    if (n == -1 && errno == EAGAIN)
        return watch(floor, fd, EPOLLIN);
    if (n <= 0)
        return false;
    count_requests(floor, conn, buf, kept + (size_t)n);
    return send_due(floor, fd);
}

/* Thanks to TCP_DEFER_ACCEPT the request is there: a connection for a single
 * request is answered and closed without epoll ever hearing of it. */
static void accept_batch(struct floor *floor)
{
    for (int i = 0; i < ACCEPT_MAX; i++) {
        int fd = accept4(floor->listen_fd, NULL, NULL,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd == -1 && errno == EAGAIN)
            return;
        if (fd == -1 && errno == ECONNABORTED)
            continue;
        if (fd == -1)
            die("accept4");
        floor->conns[fd] = (struct conn){0};
        if (!answer(floor, fd))
            close(fd);
    }
}

static _Noreturn void run(struct floor *floor)
{
    struct epoll_event events[EVENTS_MAX];

    for (;;) {
        int count = epoll_wait(floor->epoll_fd, events, EVENTS_MAX, -1);

        if (count == -1 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;

            if (fd == floor->listen_fd)
                accept_batch(floor);
            else if (floor->conns[fd].due > 0 ? !send_due(floor, fd)
                                              : !answer(floor, fd))
                close(fd);
        }
    }
}

/* Fields and sizes as real servers send them, so that the client parses as
 * much as it does with them. */
static void fill_reply(struct reply *reply, const char *extra, size_t size,
                       const char *body, size_t body_bytes)
{
    int head_bytes = asprintf(&reply->data,
                              "HTTP/1.1 200 OK\r\n"
                              "Server: floor\r\n"
                              "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
                              "Content-Type: application/octet-stream\r\n"
                              "Content-Length: %zu\r\n"
                              "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
                              "ETag: \"0123456789abcdef-400\"\r\n"
                              "Accept-Ranges: bytes\r\n%s\r\n",
                              size, extra);
    char *data;

    if (head_bytes == -1)
        die("asprintf");
    reply->bytes = (size_t)head_bytes + body_bytes;
    data = realloc(reply->data, reply->bytes);
    if (!data)
        die("realloc");
    memcpy(data + head_bytes, body, body_bytes);
    reply->data = data;
}

static void load_file(struct floor *floor, const char *path, const char *way)
{
    struct stat st;
    size_t size;
    size_t in_memory;
    char *body;

    floor->file_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (floor->file_fd == -1 || fstat(floor->file_fd, &st) == -1)
        die(path);
    size = (size_t)st.st_size;
    in_memory = size <= MEMORY_BYTES_MAX ? size : 0;
    if (way)
        in_memory = strcmp(way, "memory") == 0 ? size : 0;
    body = malloc(in_memory + 1);
    if (!body || read(floor->file_fd, body, in_memory) != (ssize_t)in_memory)
        die(path);
    floor->file_bytes = size - in_memory;
    fill_reply(&floor->keep, "", size, body, in_memory);
    fill_reply(&floor->last, "Connection: close\r\n", size, body, in_memory);
    free(body);
}

static int open_listener(uint16_t port)
{
    const int on = 1;
    const int defer_s = DEFER_S;
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd == -1 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == -1 ||
        setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer_s,
                   sizeof(defer_s)) == -1 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) == -1 ||
        listen(fd, BACKLOG) == -1)
        die("listen");
    return fd;
}

static void set_up(struct floor *floor, uint16_t port)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct rlimit limit;

    /* sendfile has no MSG_NOSIGNAL. */
    if (sigaction(SIGPIPE, &ignore, NULL) == -1)
        die("sigaction");
    if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
        die("getrlimit");
    limit.rlim_cur = limit.rlim_max < CONN_MAX ? limit.rlim_max : CONN_MAX;
    if (setrlimit(RLIMIT_NOFILE, &limit) == -1)
        die("setrlimit");
    floor->conns = calloc(limit.rlim_cur, sizeof(*floor->conns));
    floor->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!floor->conns || floor->epoll_fd == -1)
        die("start");
    floor->listen_fd = open_listener(port);
    if (!watch(floor, floor->listen_fd, EPOLLIN))
        die("epoll_ctl");
}

int main(int argc, char **argv)
{
    struct floor floor = {0};
    const char *way = argc >= 4 ? argv[3] : NULL;
    long port = argc >= 3 ? strtol(argv[1], NULL, 10) : 0;

    if (argc < 3 || argc > 5 || port < 1 || port > UINT16_MAX ||
        (way && strcmp(way, "memory") != 0 && strcmp(way, "sendfile") != 0)) {
        fprintf(stderr, "usage: floor PORT FILE [memory|sendfile [BODY]]\n");
        return EXIT_FAILURE;
    }
    if (argc == 5)
        floor.body_bytes = strtoul(argv[4], NULL, 10);
    load_file(&floor, argv[2], way);
    set_up(&floor, (uint16_t)port);
    run(&floor);
}
