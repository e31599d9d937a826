/*
 * fake_redis - engines in the test's own loop, which say what a test tells
 * them to.
 */
#ifndef UNIT_FAKE_REDIS_H
#define UNIT_FAKE_REDIS_H

#include <ev.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FAKE_BYTES_MAX = 1 << 16, FAKE_CLIENTS_MAX = 8 };

#define FAKE_HANGS_UP ((const char *)-1)

struct fake;

struct fake_client {
    struct fake *fake;
    ev_io watcher; /* fd is -1 when nobody is here */
    char in[FAKE_BYTES_MAX];
    size_t len;
};

/* What it says to a command, whose words are there in order, each ended by
 * NUL, but for greetings, which it likes; NULL: nothing. */
typedef const char *(*fake_fn)(struct fake *fake, const char *command,
                               const char *last);

struct fake {
    struct ev_loop *loop;
    ev_io listener;
    unsigned port;
    fake_fn answer;
    bool is_cluster;
    char slots[256];
    unsigned accepted;
    unsigned commands; /* but for greetings */
    struct fake_client clients[FAKE_CLIENTS_MAX];
};

static inline void fake_hang_up(struct fake_client *client)
{
    if (client->watcher.fd == -1)
        return;
    ev_io_stop(client->fake->loop, &client->watcher);
    close(client->watcher.fd);
    client->watcher.fd = -1;
    client->len = 0;
}

static inline const char *fake_greet(struct fake *fake, const char *command,
                                     const char *second)
{
    if (strcmp(command, "SCRIPT") == 0)
        return "$3\r\nsha\r\n";
    if (strcmp(command, "AUTH") == 0)
        return strcmp(second, "secret") == 0 ? "+OK\r\n" : "-WRONGPASS no\r\n";
    if (strcmp(command, "SELECT") == 0 || strcmp(command, "ASKING") == 0)
        return "+OK\r\n";
    if (strcmp(command, "CLUSTER") == 0)
        return fake->is_cluster
                   ? fake->slots
                   : "-ERR This instance has cluster support disabled\r\n";
    if (strcmp(command, "ROLE") == 0)
        return "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
    return NULL;
}

/* The length of a whole command at the head of in, whose words then end in NUL;
 * 0: there is none yet. */
static inline size_t fake_read(char *in, size_t len, const char **words,
                               size_t words_max, size_t *count_out)
{
    char *at = in;
    char *end = in + len;
    char *line = memchr(at, '\n', (size_t)(end - at));
    size_t count;

    if (!line)
        return 0;
    count = strtoul(at + 1, NULL, 10);
    at = line + 1;
    for (size_t i = 0; i < count; i++) {
        size_t bytes;

        line = memchr(at, '\n', (size_t)(end - at));
        if (!line)
            return 0;
        bytes = strtoul(at + 1, NULL, 10);
        if ((size_t)(end - line) < bytes + 3)
            return 0;
        at = line + 1 + bytes + 2;
        if (i < words_max)
            words[i] = line + 1;
        if (i < words_max)
            line[1 + bytes] = '\0';
        else
            words[words_max - 1] = line + 1;
        *count_out = i < words_max ? i + 1 : words_max;
    }
    return (size_t)(at - in);
}

static inline void on_fake_readable(struct ev_loop *loop, ev_io *watcher,
                                    int events)
{
    struct fake_client *client = watcher->data;
    struct fake *fake = client->fake;
    ssize_t n = read(watcher->fd, client->in + client->len,
                     sizeof(client->in) - client->len);

    (void)loop;
    (void)events;
    if (n <= 0) {
        fake_hang_up(client);
        return;
    }
    client->len += (size_t)n;
    for (;;) {
        static char copy[FAKE_BYTES_MAX];
        const char *words[64];
        size_t count = 0;
        size_t used;
        const char *reply;

        memcpy(copy, client->in, client->len);
        used = fake_read(copy, client->len, words, 64, &count);
        if (used == 0)
            return;
        client->len -= used;
        memmove(client->in, client->in + used, client->len);
        reply = fake_greet(fake, words[0], count > 1 ? words[1] : "");
        if (!reply) {
            fake->commands++;
            reply = fake->answer(fake, words[0], words[count - 1]);
        }
        if (reply == FAKE_HANGS_UP) {
            fake_hang_up(client);
            return;
        }
        if (reply && write(watcher->fd, reply, strlen(reply)) == -1)
            abort();
    }
}

static inline void on_fake_connect(struct ev_loop *loop, ev_io *watcher,
                                   int events)
{
    struct fake *fake = watcher->data;
    int fd = accept4(watcher->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    (void)events;
    for (size_t i = 0; i < FAKE_CLIENTS_MAX && fd != -1; i++) {
        struct fake_client *client = &fake->clients[i];

        if (client->watcher.fd != -1)
            continue;
        fake->accepted++;
        client->len = 0;
        ev_io_init(&client->watcher, on_fake_readable, fd, EV_READ);
        client->watcher.data = client;
        ev_io_start(loop, &client->watcher);
        return;
    }
    close(fd);
}

/* 0 or -1. */
static inline int fake_open(struct fake *fake, struct ev_loop *loop,
                            fake_fn answer)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    memset(fake, 0, sizeof(*fake));
    fake->loop = loop;
    fake->answer = answer;
    for (size_t i = 0; i < FAKE_CLIENTS_MAX; i++) {
        fake->clients[i].fake = fake;
        fake->clients[i].watcher.fd = -1;
    }
    if (fd == -1 || bind(fd, (struct sockaddr *)&at, sizeof(at)) == -1 ||
        listen(fd, 16) == -1 ||
        getsockname(fd, (struct sockaddr *)&at, &len) == -1)
        return -1;
    fake->port = ntohs(at.sin_port);
    ev_io_init(&fake->listener, on_fake_connect, fd, EV_READ);
    fake->listener.data = fake;
    ev_io_start(loop, &fake->listener);
    return 0;
}

/* Those connected are hung up on, and nobody is let in. */
static inline void fake_close(struct fake *fake)
{
    if (fake->port == 0)
        return;
    for (size_t i = 0; i < FAKE_CLIENTS_MAX; i++)
        fake_hang_up(&fake->clients[i]);
    ev_io_stop(fake->loop, &fake->listener);
    close(fake->listener.fd);
    fake->port = 0;
}

#endif
