/*
 * receiver - takes a file from a server as fast as it comes, and tells what
 *            taking it cost.
 *
 *     receiver PORT PATH BYTES CONNECTIONS MILLISECONDS copy|discard
 *
 * CONNECTIONS ask 127.0.0.1:PORT for PATH, which has BYTES, over and over for
 * that long. "copy" reads as any client does; with "discard" the kernel drops
 * the body without copying it (MSG_TRUNC): what is left is what the sender
 * costs, as a network card would have it, which takes the pages by itself.
 * Prints JSON: bytes, the time, the CPU time of this process, reads, and the
 * packets that TCP has counted.
 */
#include "link/program.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024
#define HEAD_BYTES 4096
#define PIECE_BYTES (256 * 1024)
#define US_PER_S 1000000
#define TURN_MS 100

static const char empty_line[] = "\r\n\r\n";

struct load {
    char request[512];
    uint64_t file_bytes;
    int flags; /* of recv() */
    uint64_t bytes;
    uint64_t reads;
};

struct conn {
    int fd;
    bool in_body;
    uint64_t left; /* of the body */
};

static char piece[PIECE_BYTES];

static int64_t cpu_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * US_PER_S +
           used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

static void ask(struct conn *conn, const struct load *load)
{
    size_t bytes = strlen(load->request);

    if (send(conn->fd, load->request, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        die("asking");
    conn->in_body = false;
    conn->left = load->file_bytes;
}

/* Takes the head away, which is copied in any case; false: not all is there. */
static bool take_head(struct conn *conn)
{
    char head[HEAD_BYTES];
    ssize_t n = recv(conn->fd, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
    char *end = n > 0 ? memmem(head, (size_t)n, empty_line, 4) : NULL;

    if (n == 0)
        die("the server has closed");
    if (!end)
        return false;
    n = end + sizeof(empty_line) - 1 - head;
    if (recv(conn->fd, head, (size_t)n, 0) != n)
        die("a head");
    conn->in_body = true;
    return true;
}

static void take(struct conn *conn, struct load *load)
{
    size_t most = conn->left < PIECE_BYTES ? conn->left : PIECE_BYTES;
    ssize_t n;

    if (!conn->in_body && !take_head(conn))
        return;
    n = recv(conn->fd, piece, most, load->flags | MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0)
        die("a body");
    load->bytes += (uint64_t)n;
    load->reads++;
    conn->left -= (uint64_t)n;
    if (conn->left == 0)
        ask(conn, load);
}

static uint64_t packets_of(int fd)
{
    struct tcp_info info = {0};
    socklen_t bytes = sizeof(info);

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0)
        die("TCP_INFO");
    return info.tcpi_data_segs_in;
}

static int connect_to(const char *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        die("connecting");
    return fd;
}

static void run(struct load *load, struct conn *conns, size_t count,
                int64_t end_ns)
{
    struct pollfd polled[CONNECTIONS_MAX];

    for (size_t i = 0; i < count; i++) {
        polled[i] = (struct pollfd){conns[i].fd, POLLIN, 0};
        ask(&conns[i], load);
    }
    while (now_ns() < end_ns) {
        if (poll(polled, count, TURN_MS) < 0)
            die("poll");
        for (size_t i = 0; i < count; i++)
            if (polled[i].revents)
                take(&conns[i], load);
    }
}

int main(int argc, char **argv)
{
    struct load load = {0};
    struct conn conns[CONNECTIONS_MAX] = {0};
    size_t count = argc == 7 ? strtoul(argv[4], NULL, 10) : 0;
    int64_t begin_ns;
    int64_t cpu_begin_us;
    uint64_t packets = 0;

    if (count == 0 || count > CONNECTIONS_MAX) {
        fputs("usage: receiver PORT PATH BYTES CONNECTIONS MILLISECONDS "
              "copy|discard\n",
              stderr);
        return EXIT_FAILURE;
    }
    snprintf(load.request, sizeof(load.request),
             "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", argv[2]);
    load.file_bytes = strtoull(argv[3], NULL, 10);
    load.flags = strcmp(argv[6], "discard") == 0 ? MSG_TRUNC : 0;
    for (size_t i = 0; i < count; i++)
        conns[i].fd = connect_to(argv[1]);
    begin_ns = now_ns();
    cpu_begin_us = cpu_us();
    run(&load, conns, count, begin_ns + strtoll(argv[5], NULL, 10) * NS_PER_MS);
    for (size_t i = 0; i < count; i++)
        packets += packets_of(conns[i].fd);
    printf("{\"bytes\": %llu, \"duration_us\": %lld, \"cpu_us\": %lld, "
           "\"reads\": %llu, \"packets\": %llu}\n",
           (unsigned long long)load.bytes,
           (long long)((now_ns() - begin_ns) / NS_PER_US),
           (long long)(cpu_us() - cpu_begin_us), (unsigned long long)load.reads,
           (unsigned long long)packets);
    return EXIT_SUCCESS;
}
