/*
 * handshakes - clients that come by TLS, ask for one page, and go.
 *
 *     handshakes PORT PATH CLIENTS full|resumed
 *
 * Each client opens a connection, shakes hands, asks with `Connection: close`,
 * reads to the end, and begins anew: without a session, or with the ticket that
 * the connection before has brought. The first ones of clients that resume have
 * none. What comes back otherwise than it should is an error: a client of wrk
 * (4.1) resumes wherever it is given a ticket, so that it tells servers that give
 * them from those that do not, and not what a handshake costs.
 *
 * SIGINT ends it; the line that it prints then is like that of load.lua. One
 * thread has all clients.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS_MAX = 1024, EVENTS_MAX = 256, WAIT_MS = 100 };

struct client {
    int fd;
    SSL *ssl;
    SSL_SESSION *session; /* of the next connection, or NULL */
    bool has_asked;
    bool had_session;
    size_t bytes;
};

static struct {
    uint64_t requests;
    uint64_t bytes;
    uint64_t connect_errors;
    uint64_t read_errors;
    uint64_t session_errors; /* resumed, or not, as it should not have been */
} told;

static volatile sig_atomic_t is_over;
static bool resumes;
static SSL_CTX *ctx;
static int poll_fd;
static struct sockaddr_in server = {.sin_family = AF_INET};
static char request[512];

static void on_signal(int number)
{
    (void)number;
    is_over = 1;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct client *client = SSL_get_app_data(ssl);

    SSL_SESSION_free(client->session);
    client->session = session;
    return 1; /* it is kept */
}

/* What OpenSSL uses for a connection it does not take for another one. */
static bool show_session(const struct client *client)
{
    SSL_SESSION *session = SSL_SESSION_dup(client->session);
    bool is_shown = session && SSL_set_session(client->ssl, session) == 1;

    SSL_SESSION_free(session);
    return is_shown;
}

static void begin(struct client *client)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP |
                                          EPOLLET,
                                .data.ptr = client};
    int one = 1;

    client->fd = socket(AF_INET, SOCK_STREAM, 0);
    client->ssl = SSL_new(ctx);
    if (client->fd == -1 || !client->ssl)
        die("socket");
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(client->fd, (struct sockaddr *)&server, sizeof(server)) == -1)
        die("connect");
    (void)BIO_socket_nbio(client->fd, 1);
    SSL_set_fd(client->ssl, client->fd);
    SSL_set_app_data(client->ssl, client);
    (void)SSL_set_tlsext_host_name(client->ssl, "localhost");
    SSL_set_connect_state(client->ssl);
    client->had_session = resumes && client->session && show_session(client);
    client->has_asked = false;
    client->bytes = 0;
    if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, client->fd, &event) == -1)
        die("epoll_ctl");
}

static void end(struct client *client)
{
    SSL_set_quiet_shutdown(client->ssl, 1);
    (void)SSL_shutdown(client->ssl); /* or its session would be no good */
    SSL_free(client->ssl);
    close(client->fd);
    ERR_clear_error();
}

/* False: more has to come first. */
static bool ask(struct client *client, bool *has_failed)
{
    int result = SSL_do_handshake(client->ssl);

    if (result != 1) {
        int error = SSL_get_error(client->ssl, result);

        *has_failed = error != SSL_ERROR_WANT_READ &&
                      error != SSL_ERROR_WANT_WRITE;
        return false;
    }
    told.session_errors += SSL_session_reused(client->ssl) !=
                           client->had_session;
    if (SSL_write(client->ssl, request, (int)strlen(request)) <= 0)
        *has_failed = true;
    client->has_asked = true;
    return !*has_failed;
}

/* Goes on as far as it can. */
static void step(struct client *client)
{
    static char data[65536];
    bool has_failed = false;

    if (client->has_asked || ask(client, &has_failed)) {
        int n;

        while ((n = SSL_read(client->ssl, data, sizeof(data))) > 0)
            client->bytes += (size_t)n;
        switch (SSL_get_error(client->ssl, n)) {
        case SSL_ERROR_WANT_READ:
            return;
        case SSL_ERROR_ZERO_RETURN:
            told.requests++;
            told.bytes += client->bytes;
            break;
        default:
            told.read_errors++;
            break;
        }
    } else if (has_failed) {
        told.connect_errors++;
    } else {
        return;
    }
    end(client);
    begin(client);
}

static uint64_t read_clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void make_context(void)
{
    ctx = SSL_CTX_new(TLS_client_method());
    if (!ctx)
        die("SSL_CTX_new");
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT |
                                            SSL_SESS_CACHE_NO_INTERNAL);
    if (resumes)
        SSL_CTX_sess_set_new_cb(ctx, on_session);
}

int main(int argc, char **argv)
{
    static struct client clients[CLIENTS_MAX];
    struct epoll_event events[EVENTS_MAX];
    struct sigaction action = {.sa_handler = on_signal};
    long count = argc == 5 ? strtol(argv[3], NULL, 10) : 0;
    uint64_t since_us;

    if (count < 1 || count > CLIENTS_MAX) {
        fputs("usage: handshakes PORT PATH CLIENTS full|resumed\n", stderr);
        return 2;
    }
    resumes = strcmp(argv[4], "resumed") == 0;
    server.sin_port = htons((uint16_t)strtol(argv[1], NULL, 10));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    snprintf(request, sizeof(request),
             "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
             argv[2]);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    make_context();
    poll_fd = epoll_create1(0);
    sigaction(SIGINT, &action, NULL);
    since_us = read_clock_us();
    for (long i = 0; i < count; i++)
        begin(&clients[i]);
    while (!is_over) {
        int ready = epoll_wait(poll_fd, events, EVENTS_MAX, WAIT_MS);

        for (int i = 0; i < ready; i++)
            step(events[i].data.ptr);
    }
    printf("{\"requests\": %llu, \"bytes\": %llu, \"duration_us\": %llu, "
           "\"connect_errors\": %llu, \"read_errors\": %llu, "
           "\"write_errors\": 0, \"timeouts\": 0, \"status_errors\": %llu, "
           "\"p50_us\": 0, \"p99_us\": 0}\n",
           (unsigned long long)told.requests, (unsigned long long)told.bytes,
           (unsigned long long)(read_clock_us() - since_us),
           (unsigned long long)told.connect_errors,
           (unsigned long long)told.read_errors,
           (unsigned long long)told.session_errors);
    return 0;
}
