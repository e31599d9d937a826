/*
 * floor_tls - what serving a file over TLS costs when nothing is done but to
 * serve it: OpenSSL and epoll.
 *
 *     floor_tls PORT FILE CERTIFICATE KEY
 *
 * As floor.c, but nothing leaves in clear text: one thread, the same ready-made
 * head, the file in memory, and 16 KiB of both for each record. Nothing is
 * parsed: a request ends at its empty line, and is the last one when it holds
 * `Connection: close`.
 *
 * A measuring stick, not a server. SIGTERM ends it.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORD_BYTES 16384
#define READ_BYTES 16384
#define EVENTS_MAX 256
#define BACKLOG 4096

struct conn {
    SSL *ssl;
    size_t sent; /* of the reply under way */
    bool is_replying;
    bool closes;
};

/* The head says whether it is the last one. */
static struct reply {
    char *data;
    size_t len;
} replies[2];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void load(struct reply *reply, const char *path, const char *fields)
{
    char head[256];
    struct stat st;
    int file = open(path, O_RDONLY);
    int len;

    if (file == -1 || fstat(file, &st) == -1)
        die(path);
    len = snprintf(head, sizeof(head),
                   "HTTP/1.1 200 OK\r\nServer: floor\r\n"
                   "Content-Type: application/octet-stream\r\n"
                   "Content-Length: %lld\r\nAccept-Ranges: bytes\r\n%s\r\n",
                   (long long)st.st_size, fields);
    reply->len = (size_t)len + (size_t)st.st_size;
    reply->data = malloc(reply->len);
    if (!reply->data)
        die("malloc");
    memcpy(reply->data, head, (size_t)len);
    for (size_t at = (size_t)len; at < reply->len;) {
        ssize_t n = read(file, reply->data + at, reply->len - at);

        if (n <= 0)
            die(path);
        at += (size_t)n;
    }
    close(file);
}

static SSL_CTX *make_context(const char *certificate, const char *key)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

    if (!ctx || SSL_CTX_use_certificate_chain_file(ctx, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1) {
        fputs("floor_tls: no context\n", stderr);
        exit(1);
    }
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN |
                              SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(ctx, 1);
    return ctx;
}

static int listen_at(long port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int one = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == -1 ||
        listen(fd, BACKLOG) == -1)
        die("bind");
    return fd;
}

/* False: the connection is over, or waits. */
static bool send_reply(struct conn *conn, bool *is_over)
{
    const struct reply *reply = &replies[conn->closes];

    while (conn->sent < reply->len) {
        size_t left = reply->len - conn->sent;
        size_t n;

        if (SSL_write_ex(conn->ssl, reply->data + conn->sent,
                         left < RECORD_BYTES ? left : RECORD_BYTES, &n) != 1) {
            *is_over = SSL_get_error(conn->ssl, 0) != SSL_ERROR_WANT_WRITE;
            return false;
        }
        conn->sent += n;
    }
    conn->is_replying = false;
    conn->sent = 0;
    *is_over = conn->closes;
    return !conn->closes;
}

/* One request is in one read here, since that is how clients send it. */
static bool take_request(struct conn *conn, bool *is_over)
{
    static char text[READ_BYTES + 1];
    size_t n;

    if (SSL_read_ex(conn->ssl, text, READ_BYTES, &n) != 1) {
        *is_over = SSL_get_error(conn->ssl, 0) != SSL_ERROR_WANT_READ;
        return false;
    }
    text[n] = '\0';
    if (strstr(text, "\r\n\r\n")) {
        conn->is_replying = true;
        conn->closes = strstr(text, "\r\nConnection: close");
    }
    return true;
}

static void serve(struct conn *conn)
{
    bool is_over = false;

    while (conn->is_replying ? send_reply(conn, &is_over)
                             : take_request(conn, &is_over))
        ;
    if (!is_over)
        return;
    if (conn->closes)
        SSL_shutdown(conn->ssl);
    close(SSL_get_fd(conn->ssl));
    SSL_free(conn->ssl);
    free(conn);
    ERR_clear_error();
}

static void take_connections(int listening, int poll, SSL_CTX *ctx)
{
    int fd;

    while ((fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK)) != -1) {
        struct conn *conn = calloc(1, sizeof(*conn));
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP |
                                              EPOLLET,
                                    .data.ptr = conn};

        if (!conn || !(conn->ssl = SSL_new(ctx)))
            die("memory");
        SSL_set_fd(conn->ssl, fd);
        SSL_set_accept_state(conn->ssl);
        if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == -1)
            die("epoll_ctl");
    }
}

int main(int argc, char **argv)
{
    struct epoll_event events[EVENTS_MAX];
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct epoll_event event = {.events = EPOLLIN};
    int poll = epoll_create1(0);
    SSL_CTX *ctx;
    int listening;

    if (argc != 5) {
        fputs("usage: floor_tls PORT FILE CERTIFICATE KEY\n", stderr);
        return 2;
    }
    sigaction(SIGPIPE, &ignore, NULL);
    load(&replies[false], argv[2], "");
    load(&replies[true], argv[2], "Connection: close\r\n");
    ctx = make_context(argv[3], argv[4]);
    listening = listen_at(strtol(argv[1], NULL, 10));
    if (epoll_ctl(poll, EPOLL_CTL_ADD, listening, &event) == -1)
        die("epoll_ctl");
    for (;;) {
        int count = epoll_wait(poll, events, EVENTS_MAX, -1);

        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr)
                serve(events[i].data.ptr);
            else
                take_connections(listening, poll, ctx);
        }
    }
}
