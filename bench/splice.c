/*
 * splice - what passing a body on costs: through a buffer, or by a pipe.
 *
 *     cc -O2 -D_GNU_SOURCE -pthread -o splice bench/splice.c
 *     ./splice copy|pipe BYTES BODY CONNECTIONS MILLISECONDS
 *
 * CONNECTIONS clients ask over loopback TCP, through a proxy, for bodies of
 * BODY bytes, one after the other. The proxy is one thread that waits with
 * epoll, edge-triggered, and passes on what there is: `copy` by recv and send
 * with a buffer of BYTES, `pipe` by splice with a pipe of BYTES, both kept from
 * one body to the next. It has the first CPU to itself; clients and servers
 * are threads on the last one.
 *
 * The last line printed is JSON: the bodies, and the CPU time of the proxy's
 * thread for a body and for a MiB. Requests are a byte each way, so the time
 * of small bodies is mostly that of waking up.
 *
 * A measuring stick: what fails ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX 256
#define BYTES_MAX (64 << 20)
#define READ_BYTES (256 * 1024)
#define WARM_UP_MS 100

struct pair {
    int server; /* the proxy's sockets, not blocking */
    int client;
    int far_server; /* the other ends of them */
    int far_client;
    int pipe[2];
    char *buf;
    size_t at, held; /* of buf or pipe */
};

struct bench {
    struct pair pairs[PAIRS_MAX];
    size_t count;
    bool copies;
    size_t bytes;
    size_t body_bytes;
    size_t cpu;
    char *body;
    uint64_t passed; /* bytes to clients */
};

static struct bench bench;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "splice: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static void pin(size_t cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) == -1)
        die("sched_setaffinity");
}

/* --- the far ends: a thread each, blocking ------------------------------- */

static void *run_server(void *argument)
{
    struct pair *pair = argument;
    char request;

    pin(bench.cpu);
    while (recv(pair->far_server, &request, 1, 0) == 1) {
        for (size_t sent = 0; sent < bench.body_bytes;) {
            ssize_t n = send(pair->far_server, bench.body + sent,
                             bench.body_bytes - sent, MSG_NOSIGNAL);

            if (n <= 0)
                die("send");
            sent += (size_t)n;
        }
    }
    return NULL;
}

static void *run_client(void *argument)
{
    struct pair *pair = argument;
    char *buf = malloc(READ_BYTES);

    if (!buf)
        die("malloc");
    pin(bench.cpu);
    while (send(pair->far_client, "?", 1, MSG_NOSIGNAL) == 1) {
        for (size_t got = 0; got < bench.body_bytes;) {
            ssize_t n = recv(pair->far_client, buf, READ_BYTES, 0);

            if (n <= 0)
                die("recv");
            got += (size_t)n;
        }
    }
    return NULL;
}

/* --- the proxy ----------------------------------------------------------- */

/* What a call took; 0: nothing now. */
static size_t taken(ssize_t n, const char *what)
{
    if (n == -1 && errno == EAGAIN)
        return 0;
    if (n <= 0)
        die(what);
    return (size_t)n;
}

static size_t fill(struct pair *pair)
{
    if (bench.copies)
        return taken(recv(pair->server, pair->buf, bench.bytes, 0), "recv");
    return taken(splice(pair->server, NULL, pair->pipe[1], NULL, bench.bytes,
                        SPLICE_F_MOVE | SPLICE_F_NONBLOCK),
                 "splice in");
}

static size_t empty(struct pair *pair)
{
    if (bench.copies)
        return taken(send(pair->client, pair->buf + pair->at, pair->held,
                          MSG_NOSIGNAL),
                     "send");
    return taken(splice(pair->pipe[0], NULL, pair->client, NULL, pair->held,
                        SPLICE_F_MOVE | SPLICE_F_NONBLOCK),
                 "splice out");
}

/* Passes on what there is, both ways. */
static void pass(struct pair *pair)
{
    char request;
    size_t n;

    if (taken(recv(pair->client, &request, 1, 0), "recv") == 1 &&
        taken(send(pair->server, &request, 1, MSG_NOSIGNAL), "send") == 0)
        die("send"); /* there is always room for a byte */
    do {
        while (pair->held > 0) {
            n = empty(pair);
            if (n == 0)
                return;
            pair->at += n;
            pair->held -= n;
            bench.passed += n;
        }
        pair->at = 0;
        pair->held = fill(pair);
    } while (pair->held > 0);
}

static uint64_t now_us(clockid_t clock)
{
    struct timespec time;

    if (clock_gettime(clock, &time) == -1)
        die("clock_gettime");
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

/* Goes on for that long. Returns the CPU time it took. */
static uint64_t run_proxy(int epoll_fd, uint64_t for_us)
{
    struct epoll_event events[PAIRS_MAX];
    uint64_t began_us = now_us(CLOCK_THREAD_CPUTIME_ID);
    uint64_t end_us = now_us(CLOCK_MONOTONIC) + for_us;

    while (now_us(CLOCK_MONOTONIC) < end_us) {
        int count = epoll_wait(epoll_fd, events, PAIRS_MAX, 100);

        if (count == -1 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < count; i++)
            pass(events[i].data.ptr);
    }
    return now_us(CLOCK_THREAD_CPUTIME_ID) - began_us;
}

/* --- setting up ---------------------------------------------------------- */

/* A connection over loopback: ours does not block, far does. */
static void connect_pair(int *ours, int *far)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    *far = socket(AF_INET, SOCK_STREAM, 0);
    if (listener == -1 || *far == -1 ||
        bind(listener, (struct sockaddr *)&address, length) == -1 ||
        getsockname(listener, (struct sockaddr *)&address, &length) == -1 ||
        listen(listener, 1) == -1 ||
        connect(*far, (struct sockaddr *)&address, length) == -1)
        die("connect");
    *ours = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (*ours == -1)
        die("accept4");
    close(listener);
}

static void add_pair(int epoll_fd, struct pair *pair)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET,
                                .data.ptr = pair};

    connect_pair(&pair->server, &pair->far_server);
    connect_pair(&pair->client, &pair->far_client);
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pair->server, &event) == -1 ||
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pair->client, &event) == -1)
        die("epoll_ctl");
    pair->buf = malloc(bench.bytes);
    if (!pair->buf)
        die("malloc");
    if (!bench.copies &&
        (pipe2(pair->pipe, O_NONBLOCK) == -1 ||
         fcntl(pair->pipe[1], F_SETPIPE_SZ, bench.bytes) == -1))
        die("pipe");
}

static size_t number(const char *text, size_t max)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*end || value == 0 || value > max) {
        fprintf(stderr, "splice: '%s' is not of 1 to %zu\n", text, max);
        exit(EXIT_FAILURE);
    }
    return value;
}

static void start_threads(void)
{
    pthread_t thread; /* they end with the process */

    for (size_t i = 0; i < bench.count; i++) {
        if (pthread_create(&thread, NULL, run_server, &bench.pairs[i]) != 0 ||
            pthread_create(&thread, NULL, run_client, &bench.pairs[i]) != 0)
            die("pthread_create");
    }
}

int main(int argc, char **argv)
{
    int epoll_fd = epoll_create1(0);
    uint64_t cpu_us;
    double bodies;

    if (argc != 6 ||
        (strcmp(argv[1], "copy") != 0 && strcmp(argv[1], "pipe") != 0)) {
        fprintf(stderr, "usage: splice copy|pipe BYTES BODY CONNECTIONS MS\n");
        return EXIT_FAILURE;
    }
    bench.copies = strcmp(argv[1], "copy") == 0;
    bench.bytes = number(argv[2], BYTES_MAX);
    bench.body_bytes = number(argv[3], BYTES_MAX);
    bench.count = number(argv[4], PAIRS_MAX);
    bench.cpu = (size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    bench.body = calloc(1, bench.body_bytes);
    if (!bench.body || epoll_fd == -1)
        die("start");
    for (size_t i = 0; i < bench.count; i++)
        add_pair(epoll_fd, &bench.pairs[i]);
    pin(0);
    start_threads();
    run_proxy(epoll_fd, WARM_UP_MS * 1000);
    bench.passed = 0;
    cpu_us = run_proxy(epoll_fd, number(argv[5], 600000) * 1000);
    bodies = (double)bench.passed / (double)bench.body_bytes;
    printf("{\"bodies\": %.0f, \"cpu_us\": %.2f, \"cpu_us_per_mib\": %.2f}\n",
           bodies, (double)cpu_us / bodies,
           (double)cpu_us * 1048576 / (double)bench.passed);
    return EXIT_SUCCESS;
}
