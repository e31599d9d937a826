/*
 * naive_proxy - a proxy as a first attempt is: what the proxy of one of the
 *               originals did to the server behind it.
 *
 *     naive_proxy PORT UPSTREAM_PORT LOG
 *
 * A thread for each connection to 127.0.0.1:PORT reads one request, connects to
 * 127.0.0.1:UPSTREAM_PORT, hands the request on and the reply back until the
 * upstream closes. It asks the upstream for as many connections at once as it
 * has itself, and makes a 502 of every error. SIGTERM ends it.
 *
 * LOG gets a line for each request: microseconds until it was connected and
 * until the reply began, how often the kernel had to send again until then the
 * first packet and later ones, and what went wrong ("-": nothing).
 *
 * A measuring stick, not a proxy: HTTP/1.0 and requests without a body only.
 */
#include "link/program.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 4096
#define BYTES (16 * 1024)
#define STACK_BYTES (256 * 1024)

static const char empty_line[] = "\r\n\r\n";
static const char bad_gateway[] =
    "HTTP/1.0 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n";

static struct sockaddr_in upstream;
static FILE *told;

/* What is told of one request. */
struct attempt {
    int64_t connect_us;
    int64_t reply_us;
    unsigned first_again; /* how often the SYN was sent once more */
    unsigned more_again;
    const char *failure;
};

static struct sockaddr_in address_of(const char *port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
    };
}

static unsigned sent_again(int fd)
{
    struct tcp_info info = {0};
    socklen_t bytes = sizeof(info);

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0)
        return 0;
    return info.tcpi_total_retrans;
}

static bool send_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t n = send(fd, bytes, count, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        bytes += n;
        count -= (size_t)n;
    }
    return true;
}

/* Returns how long the request is; 0: it did not come, or does not end. */
static size_t read_request(int client, char *bytes)
{
    size_t count = 0;
    ssize_t n;

    while (count < BYTES - 1 &&
           (n = recv(client, bytes + count, BYTES - 1 - count, 0)) > 0) {
        count += (size_t)n;
        bytes[count] = '\0';
        if (strstr(bytes, empty_line))
            return count;
    }
    return 0;
}

/* Hands the reply on; true: a whole one, as far as can be told. */
static bool relay(int from, int to, int64_t begin, struct attempt *attempt)
{
    char bytes[BYTES];
    ssize_t n;

    while ((n = recv(from, bytes, sizeof(bytes), 0)) > 0) {
        if (attempt->reply_us == 0)
            attempt->reply_us = (now_ns() - begin) / NS_PER_US;
        if (!send_all(to, bytes, (size_t)n))
            return true; /* the client is gone: not the upstream's fault */
    }
    if (n < 0)
        attempt->failure = errno == ECONNRESET ? "reset" : "read";
    else if (attempt->reply_us == 0)
        attempt->failure = "closed";
    return attempt->failure == NULL;
}

static void ask_upstream(int client, const char *request, size_t bytes,
                         struct attempt *attempt)
{
    int64_t begin = now_ns();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 ||
        connect(fd, (struct sockaddr *)&upstream, sizeof(upstream)) != 0) {
        attempt->failure = errno == ETIMEDOUT ? "connect timed out" : "connect";
    } else {
        attempt->connect_us = (now_ns() - begin) / NS_PER_US;
        attempt->first_again = sent_again(fd);
        if (!send_all(fd, request, bytes))
            attempt->failure = "write";
        else
            relay(fd, client, begin, attempt);
        attempt->more_again = sent_again(fd) - attempt->first_again;
    }
    if (attempt->reply_us == 0) {
        attempt->reply_us = (now_ns() - begin) / NS_PER_US;
        send_all(client, bad_gateway, sizeof(bad_gateway) - 1);
    }
    if (fd >= 0)
        close(fd);
}

static void *serve(void *arg)
{
    int client = (int)(intptr_t)arg;
    char request[BYTES];
    size_t bytes = read_request(client, request);

    if (bytes > 0) {
        struct attempt attempt = {0};

        ask_upstream(client, request, bytes, &attempt);
        /* One call, which the library does not let others break into. */
        fprintf(told, "%lld %lld %u %u %s\n", (long long)attempt.connect_us,
                (long long)attempt.reply_us, attempt.first_again,
                attempt.more_again, attempt.failure ? attempt.failure : "-");
    }
    close(client);
    return NULL;
}

static int listen_on(const char *port)
{
    struct sockaddr_in address = address_of(port);
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fd, BACKLOG) != 0)
        die("listening");
    return fd;
}

static void accept_all(int listener)
{
    pthread_attr_t small;
    pthread_t thread;
    int client;

    pthread_attr_init(&small);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    while ((client = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0 ||
           errno == ECONNABORTED || errno == EINTR) {
        if (client >= 0 && pthread_create(&thread, &small, serve,
                                          (void *)(intptr_t)client) != 0)
            close(client);
    }
    die("accepting");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: naive_proxy PORT UPSTREAM_PORT LOG\n", stderr);
        return EXIT_FAILURE;
    }
    told = fopen(argv[3], "we");
    if (!told)
        die(argv[3]);
    setvbuf(told, NULL, _IOLBF, BUFSIZ);
    upstream = address_of(argv[2]);
    accept_all(listen_on(argv[1]));
}
