/*
 * probed_server - a server on loopback, on the test's own loop, that answers
 * each connection as it is told and keeps the last request.
 */
#ifndef UNIT_BACKEND_PROBED_SERVER_H
#define UNIT_BACKEND_PROBED_SERVER_H

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PROBED_CONNS_MAX = 4, PROBED_REQUEST_MAX = 4096 };

struct probed_server;

struct probed_conn {
    struct probed_server *server;
    ev_io watcher;
    ev_timer pause; /* between the parts of a reply */
    int fd;         /* -1: none */
    size_t received;
    char request[PROBED_REQUEST_MAX];
};

struct probed_server {
    struct ev_loop *loop;
    ev_io watcher;
    int fd;
    uint16_t port;
    const char *reply; /* NULL: none, however long one waits */
    size_t split_at;   /* 0: the reply comes whole */
    bool closes;       /* after the reply */
    unsigned accepted;
    unsigned asked; /* complete requests */
    char request[PROBED_REQUEST_MAX];
    struct probed_conn conns[PROBED_CONNS_MAX];
};

static inline void probed_close_conn(struct probed_conn *conn)
{
    if (conn->fd == -1)
        return;
    ev_io_stop(conn->server->loop, &conn->watcher);
    ev_timer_stop(conn->server->loop, &conn->pause);
    close(conn->fd);
    conn->fd = -1;
}

static inline void probed_send(struct probed_conn *conn, size_t from, size_t to)
{
    const struct probed_server *server = conn->server;

    /* Who has heard enough may be gone. */
    if (send(conn->fd, server->reply + from, to - from, MSG_NOSIGNAL) == -1 ||
        (server->closes && to == strlen(server->reply)))
        probed_close_conn(conn);
}

static inline void probed_on_pause(struct ev_loop *loop, ev_timer *timer,
                                   int events)
{
    struct probed_conn *conn = timer->data;

    (void)events;
    ev_timer_stop(loop, timer);
    probed_send(conn, conn->server->split_at, strlen(conn->server->reply));
}

static inline void probed_answer(struct probed_conn *conn)
{
    struct probed_server *server = conn->server;

    server->asked++;
    memcpy(server->request, conn->request, sizeof(server->request));
    if (!server->reply)
        return;
    if (server->split_at == 0) {
        probed_send(conn, 0, strlen(server->reply));
        return;
    }
    probed_send(conn, 0, server->split_at);
    if (conn->fd == -1)
        return;
    ev_timer_again(server->loop, &conn->pause);
}

static inline void probed_on_readable(struct ev_loop *loop, ev_io *watcher,
                                      int events)
{
    struct probed_conn *conn = watcher->data;
    ssize_t len = recv(conn->fd, conn->request + conn->received,
                       sizeof(conn->request) - 1 - conn->received, 0);

    (void)loop;
    (void)events;
    if (len == -1 && errno == EAGAIN)
        return;
    if (len <= 0) {
        probed_close_conn(conn);
        return;
    }
    conn->received += (size_t)len;
    conn->request[conn->received] = '\0';
    if (strstr(conn->request, "\r\n\r\n"))
        probed_answer(conn);
}

static inline void probed_on_acceptable(struct ev_loop *loop, ev_io *watcher,
                                        int events)
{
    struct probed_server *server = watcher->data;
    int fd = accept4(server->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    (void)events;
    if (fd == -1)
        return;
    server->accepted++;
    for (size_t i = 0; i < PROBED_CONNS_MAX; i++) {
        struct probed_conn *conn = &server->conns[i];

        if (conn->fd != -1)
            continue;
        conn->server = server;
        conn->fd = fd;
        conn->received = 0;
        ev_timer_init(&conn->pause, probed_on_pause, 0., 0.001);
        ev_io_init(&conn->watcher, probed_on_readable, fd, EV_READ);
        conn->pause.data = conn->watcher.data = conn;
        ev_io_start(loop, &conn->watcher);
        return;
    }
    close(fd);
}

/* A socket at *port, which becomes what 0 (any) turned out to be, or at
 * unix_path when that is not NULL; or -1. Until it listens, whoever connects
 * is refused. */
static inline int probed_bind(uint16_t *port, const char *unix_path)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_un un;
    } at = {.in = {.sin_family = AF_INET, .sin_port = htons(*port)}};
    socklen_t len = sizeof(at.in);
    const int on = 1;
    int fd;

    at.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (unix_path) {
        at.un.sun_family = AF_UNIX;
        snprintf(at.un.sun_path, sizeof(at.un.sun_path), "%s", unix_path);
        len = sizeof(at.un);
    }
    fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                0);
    if (fd == -1)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1 ||
        bind(fd, &at.any, len) == -1 || getsockname(fd, &at.any, &len) == -1) {
        close(fd);
        return -1;
    }
    if (!unix_path)
        *port = ntohs(at.in.sin_port);
    return fd;
}

/* 0 or -1; where: see probed_bind(). */
static inline int probed_open(struct probed_server *server,
                              struct ev_loop *loop, uint16_t port,
                              const char *unix_path)
{
    *server = (struct probed_server){.loop = loop, .port = port};
    for (size_t i = 0; i < PROBED_CONNS_MAX; i++)
        server->conns[i].fd = -1;
    server->fd = probed_bind(&server->port, unix_path);
    if (server->fd == -1 || listen(server->fd, 8) == -1)
        return -1;
    ev_io_init(&server->watcher, probed_on_acceptable, server->fd, EV_READ);
    server->watcher.data = server;
    ev_io_start(loop, &server->watcher);
    return 0;
}

static inline void probed_close(struct probed_server *server)
{
    for (size_t i = 0; i < PROBED_CONNS_MAX; i++)
        probed_close_conn(&server->conns[i]);
    if (server->fd == -1)
        return;
    ev_io_stop(server->loop, &server->watcher);
    close(server->fd);
    server->fd = -1;
}

#endif
