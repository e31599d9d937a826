#include "process/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"

enum { DEAF_MS = 100, COMPLAIN_MS = 10000 };

enum client_state {
    CLIENT_NONE,    /* no client */
    CLIENT_READING, /* the request is being read */
    CLIENT_WAITING, /* the client waits for control_finish() */
    CLIENT_WRITING  /* the answer is being sent */
};

struct client {
    enum client_state state;
    int fd; /* -1 without a client */
    enum control_command command;
    uint64_t end_ms; /* end of the time limit; unused while WAITING */
    size_t got;
    size_t sent;
    struct buf answer;
    char request[CONTROL_REQUEST_MAX];
};

struct control {
    struct listener listener;
    const struct control_commands *commands;
    struct client clients[CONTROL_CLIENTS_MAX];
    int spare_fd;         /* closed when a client needs its descriptor */
    bool is_deaf;         /* no new clients are accepted now */
    uint64_t hears_at_ms; /* when to accept clients again */
    struct log_limit complaint;
};

static const char *const names[CONTROL_COUNT] = {"reload",  "status", "stop",
                                                 "upgrade", "reopen", "report"};

const char *control_name(enum control_command command)
{
    return names[command];
}

/* --- Answering ----------------------------------------------------------- */

static void drop(struct client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    buf_fini(&client->answer);
    *client = (struct client){.state = CLIENT_NONE, .fd = -1};
}

/* Sends as much of the answer as the socket takes. Drops the client when it has
 * the whole answer, or has gone. */
static void send_some(struct client *client)
{
    while (client->sent < client->answer.len) {
        ssize_t sent = send(client->fd, client->answer.data + client->sent,
                            client->answer.len - client->sent,
                            MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent == -1 && errno == EAGAIN)
            return;
        if (sent == -1 && errno != EINTR)
            break;
        if (sent > 0)
            client->sent += (size_t)sent;
    }
    drop(client);
}

/* Makes an answer from `result` and `text`, and begins to send the answer to
 * the client. */
static void answer(struct client *client, enum control_result result,
                   struct bytes text, uint64_t now_ms)
{
    struct buf *to = &client->answer;

    buf_fini(to);
    buf_init(to, NULL, 0, CONTROL_ANSWER_MAX);
    if (result == CONTROL_OK)
        buf_put_literal(to, "ok\n");
    else
        buf_put_literal(to, "error: ");
    buf_put(to, text);
    if (text.len > 0 ? text.data[text.len - 1] != '\n' : result != CONTROL_OK)
        buf_put_literal(to, "\n");
    if (to->failed) {
        buf_fini(to);
        buf_init(to, NULL, 0, CONTROL_ANSWER_MAX);
        buf_put_literal(to, "error: the answer is too long\n");
    }
    client->state = CLIENT_WRITING;
    client->end_ms = now_ms + CONTROL_WAIT_MS;
    client->sent = 0;
    send_some(client);
}

/* --- Asking -------------------------------------------------------------- */

static enum control_command find_command(struct bytes name)
{
    unsigned i = 0;

    while (i < CONTROL_COUNT && !bytes_eq(name, bytes_of(names[i])))
        i++;
    return (enum control_command)i;
}

static void obey_cache(struct control *control, struct client *client,
                       struct bytes words, uint64_t now_ms)
{
    const struct control_commands *commands = control->commands;
    enum control_result result;
    struct buf text;

    if (!commands->on_cache) {
        answer(client, CONTROL_ERROR, BYTES("this server cannot do that"),
               now_ms);
        return;
    }
    buf_init(&text, NULL, 0, CONTROL_ANSWER_MAX);
    result = commands->on_cache(commands->context, words, &text);
    if (text.failed)
        answer(client, CONTROL_ERROR, BYTES("the answer is too long"), now_ms);
    else
        answer(client, result, buf_bytes(&text), now_ms);
    buf_fini(&text);
}

static void obey(struct control *control, struct client *client,
                 struct bytes line, uint64_t now_ms)
{
    const struct control_commands *commands = control->commands;
    enum control_command command = find_command(line);
    enum control_result result;
    struct buf text;

    if (bytes_take(&line, BYTES("cache "))) {
        obey_cache(control, client, line, now_ms);
        return;
    }
    if (command == CONTROL_COUNT) {
        answer(client, CONTROL_ERROR, BYTES("there is no such command"),
               now_ms);
        return;
    }
    if (!commands->on[command]) {
        answer(client, CONTROL_ERROR, BYTES("this server cannot do that"),
               now_ms);
        return;
    }
    /* The state is set before the command's function is called, since the
     * function may call control_finish() at once. */
    client->state = CLIENT_WAITING;
    client->command = command;
    buf_init(&text, NULL, 0, CONTROL_ANSWER_MAX);
    result = commands->on[command](commands->context, &text);
    if (result != CONTROL_LATER && text.failed)
        answer(client, CONTROL_ERROR, BYTES("the answer is too long"), now_ms);
    else if (result != CONTROL_LATER)
        answer(client, result, buf_bytes(&text), now_ms);
    buf_fini(&text);
}

static void read_some(struct control *control, struct client *client,
                      uint64_t now_ms)
{
    ssize_t got = recv(client->fd, client->request + client->got,
                       sizeof(client->request) - client->got, MSG_DONTWAIT);
    const char *end;

    if (got == -1 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        drop(client);
        return;
    }
    client->got += (size_t)got;
    end = memchr(client->request, '\n', client->got);
    if (end)
        obey(control, client, bytes_between(client->request, end), now_ms);
    else if (client->got == sizeof(client->request))
        answer(client, CONTROL_ERROR, BYTES("the request is too long"), now_ms);
}

/* --- Clients ------------------------------------------------------------- */

static struct client *find_place(struct control *control)
{
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
        if (control->clients[i].state == CLIENT_NONE)
            return &control->clients[i];
    return NULL;
}

static bool may_command(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == -1 ||
        len != sizeof(peer))
        return false;
    if (peer.uid == 0 || peer.uid == geteuid())
        return true;
    log_warning("control: user %lu is not allowed here",
                (unsigned long)peer.uid);
    return false;
}

static void keep_spare(struct control *control)
{
    if (control->spare_fd == -1)
        control->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Accepts no client for a while, after an accept has failed. Otherwise the
 * clients that wait would wake the server again and again. */
static void turn_deaf(struct control *control, int err, uint64_t now_ms)
{
    char more[LOG_HELD_BACK_BYTES];
    uint64_t held_back;

    if (log_limit_allows(&control->complaint, now_ms, COMPLAIN_MS, &held_back))
        log_warning("control: accept: %s%s", strerror(-err),
                    log_held_back(held_back, more));
    control->is_deaf = true;
    control->hears_at_ms = now_ms + DEAF_MS;
}

/* Accepts a client. If no descriptor is left, the spare descriptor is closed to
 * make one free, since an operator must be able to reach a server without
 * descriptors. Returns a descriptor or -errno; -EAGAIN if no client waits. */
static int accept_one(struct control *control)
{
    struct address peer;
    int fd = listener_accept(&control->listener, &peer);

    if (fd != -EMFILE || control->spare_fd == -1)
        return fd;
    close(control->spare_fd);
    control->spare_fd = -1;
    return listener_accept(&control->listener, &peer);
}

static void accept_all(struct control *control, uint64_t now_ms)
{
    struct client *client;

    while ((client = find_place(control)) != NULL) {
        int fd = accept_one(control);

        if (fd == -EINTR || fd == -ECONNABORTED)
            continue;
        if (fd < 0 && fd != -EAGAIN)
            turn_deaf(control, fd, now_ms);
        if (fd < 0)
            return;
        *client = (struct client){.state = CLIENT_READING,
                                  .fd = fd,
                                  .end_ms = now_ms + CONTROL_WAIT_MS};
        buf_init(&client->answer, NULL, 0, CONTROL_ANSWER_MAX);
        if (!may_command(fd))
            answer(client, CONTROL_ERROR,
                   BYTES("only root and the server's user may do that"),
                   now_ms);
        if (control->spare_fd == -1)
            return; /* other clients must wait until a descriptor is free */
    }
}

static uint64_t min_left(uint64_t pause_ms, uint64_t end_ms, uint64_t now_ms)
{
    uint64_t left_ms = end_ms > now_ms ? end_ms - now_ms : 0;

    return left_ms < pause_ms ? left_ms : pause_ms;
}

static bool has_deadline(const struct client *client)
{
    return client->state == CLIENT_READING || client->state == CLIENT_WRITING;
}

static void handle(struct control *control, struct client *client,
                   const struct pollfd *ready, uint64_t now_ms)
{
    switch (client->state) {
    case CLIENT_NONE:
        return;
    case CLIENT_READING:
        if (ready->revents)
            read_some(control, client, now_ms);
        break;
    case CLIENT_WAITING:
        if (ready->revents & (POLLHUP | POLLERR))
            drop(client);
        break;
    case CLIENT_WRITING:
        if (ready->revents)
            send_some(client);
        break;
    }
    if ((client->state == CLIENT_READING || client->state == CLIENT_WRITING) &&
        now_ms >= client->end_ms)
        drop(client);
}

/* --- The whole ----------------------------------------------------------- */

struct control *control_create(struct listener *listener,
                               const struct control_commands *commands)
{
    struct control *control = calloc(1, sizeof(*control));

    if (!control)
        return NULL;
    control->listener = *listener;
    control->commands = commands;
    control->spare_fd = -1;
    keep_spare(control);
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
        control->clients[i].fd = -1;
    *listener = (struct listener){.fd = -1};
    return control;
}

void control_destroy(struct control *control)
{
    if (!control)
        return;
    /* The listener is closed before clients get their answers, since an
     * answered client may start a new server at once. */
    listener_close(&control->listener);
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        struct client *client = &control->clients[i];

        if (client->state == CLIENT_WAITING && client->command == CONTROL_STOP)
            answer(client, CONTROL_OK, BYTES(""), 0);
        else if (client->state == CLIENT_WAITING)
            answer(client, CONTROL_ERROR, BYTES("the server ends"), 0);
        drop(client);
    }
    if (control->spare_fd >= 0)
        close(control->spare_fd);
    free(control);
}

void control_leave(struct control *control)
{
    listener_leave(&control->listener);
}

int control_listener_fd(const struct control *control)
{
    return control->listener.fd;
}

void control_fds(const struct control *control,
                 struct pollfd fds[CONTROL_FDS_MAX])
{
    bool has_place = false;

    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        const struct client *client = &control->clients[i];

        /* When the client is waiting, only its hangup matters. poll() reports a
         * hangup even if no events are asked for. */
        fds[i] = (struct pollfd){.fd = client->fd,
                                 .events = client->state == CLIENT_READING
                                               ? POLLIN
                                           : client->state == CLIENT_WRITING
                                               ? POLLOUT
                                               : 0};
        if (client->state == CLIENT_NONE)
            has_place = true;
    }
    fds[CONTROL_CLIENTS_MAX] = (struct pollfd){
        .fd = has_place && !control->is_deaf ? control->listener.fd : -1,
        .events = POLLIN};
}

int control_pause_ms(const struct control *control, uint64_t now_ms)
{
    uint64_t pause_ms = INT_MAX;

    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
        if (has_deadline(&control->clients[i]))
            pause_ms = min_left(pause_ms, control->clients[i].end_ms, now_ms);
    if (control->is_deaf)
        pause_ms = min_left(pause_ms, control->hears_at_ms, now_ms);
    return (int)pause_ms;
}

void control_handle(struct control *control,
                    const struct pollfd fds[CONTROL_FDS_MAX], uint64_t now_ms)
{
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
        if (fds[i].fd == control->clients[i].fd)
            handle(control, &control->clients[i], &fds[i], now_ms);
    keep_spare(control);
    if (now_ms >= control->hears_at_ms)
        control->is_deaf = false;
    if (control->listener.fd >= 0 && fds[CONTROL_CLIENTS_MAX].revents)
        accept_all(control, now_ms);
}

void control_finish(struct control *control, enum control_command command,
                    enum control_result result, struct bytes text,
                    uint64_t now_ms)
{
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        struct client *client = &control->clients[i];

        if (client->state == CLIENT_WAITING && client->command == command)
            answer(client, result, text, now_ms);
    }
}
