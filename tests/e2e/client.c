#include "client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "secure.h"

enum { PATIENCE_MS = 10000, ROOM_BYTES = 4096 };

struct client {
    struct client *next;
    int fd;                /* -1: closed */
    struct secure *secure; /* NULL: it goes in clear text */
    bool has_ended;
    bool was_reset;
    char *data;
    size_t begin; /* of the message that is being read */
    size_t used;  /* by the last reply; skipped before the next */
    size_t len;
    size_t cap;
    struct reply reply;
};

static struct client *clients;

/* --- Opening and closing ------------------------------------------------- */

struct client *client_adopt(int fd)
{
    struct client *client = calloc(1, sizeof(*client));

    if (!client)
        flunk("no memory");
    client->next = clients;
    client->fd = fd;
    return clients = client;
}

struct client *client_adopt_secure(int fd, struct secure *secure)
{
    struct client *client = client_adopt(fd);

    client->secure = secure;
    return client;
}

/* from: an IPv4 address to come from; NULL: the kernel's choice. */
static struct client *open_with(const struct sockaddr *address, size_t len,
                                int receive_bytes, const char *from)
{
    struct sockaddr_in own = {.sin_family = AF_INET};
    struct client *client = client_adopt(-1);
    struct pollfd ready = {.events = POLLOUT};
    int yes = 1;
    int error = 0;
    socklen_t error_len = sizeof(error);

    client->fd = socket(address->sa_family,
                        SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client->fd == -1)
        flunk("socket: %s", strerror(errno));
    if (address->sa_family != AF_UNIX)
        setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (receive_bytes > 0)
        setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes,
                   sizeof(receive_bytes));
    if (from && (inet_pton(AF_INET, from, &own.sin_addr) != 1 ||
                 bind(client->fd, (struct sockaddr *)&own, sizeof(own)) == -1))
        flunk("bind '%s': %s", from, strerror(errno));
    ready.fd = client->fd;
    if (connect(client->fd, address, (socklen_t)len) == 0)
        return client;
    if (errno == EINPROGRESS &&
        poll(&ready, 1, (int)patience(PATIENCE_MS)) == 1 &&
        getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &error, &error_len) == 0 &&
        error == 0)
        return client;
    client_close(client);
    return NULL;
}

struct client *client_open_to(const struct sockaddr *address, size_t len)
{
    return open_with(address, len, 0, NULL);
}

static struct client *open_ipv4(const struct server *server, int bytes,
                                const char *from)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server->port)};
    struct client *client = NULL;

    if (inet_pton(AF_INET, server->address, &address.sin_addr) == 1)
        client = open_with((struct sockaddr *)&address, sizeof(address), bytes,
                           from);
    if (!client)
        flunk("no connection to port %u", server->port);
    return client;
}

bool client_secure(struct client *client)
{
    client->secure = secure_begin(client->fd);
    return client->secure;
}

struct secure *client_secured(const struct client *client)
{
    return client->secure;
}

/* As the server wants it. A handshake that does not come about is the end of
 * the connection, which the test will see. */
static struct client *open_as_served(const struct server *server, int bytes,
                                     const char *from)
{
    struct client *client = open_ipv4(server, bytes, from);

    if (server->is_tls && !client_secure(client))
        client->has_ended = true;
    return client;
}

struct client *client_open_clear(const struct server *server)
{
    return open_ipv4(server, 0, NULL);
}

struct client *client_open_narrow(const struct server *server, int bytes)
{
    return open_as_served(server, bytes, NULL);
}

struct client *client_open_from(const struct server *server, const char *from)
{
    return open_as_served(server, 0, from);
}

struct client *client_open(const struct server *server)
{
    return client_open_narrow(server, 0);
}

struct client *client_open_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    return open_with((struct sockaddr *)&address, sizeof(address), 0, NULL);
}

int client_socket(const struct client *client)
{
    return client->fd;
}

void client_close(struct client *client)
{
    secure_end(client->secure);
    client->secure = NULL;
    if (client->fd != -1)
        close(client->fd);
    client->fd = -1;
}

void client_reset(struct client *client)
{
    struct linger hard = {.l_onoff = 1, .l_linger = 0};

    setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    client_close(client);
}

void client_cut(struct client *client)
{
    shutdown(client->fd, SHUT_WR);
    client_close(client);
}

void client_half_close(struct client *client)
{
    if (client->secure)
        secure_shut_down(client->secure);
    shutdown(client->fd, SHUT_WR);
}

void clients_close(void)
{
    while (clients) {
        struct client *next = clients->next;

        client_close(clients);
        free(clients->data);
        free(clients);
        clients = next;
    }
}

/* --- Reading ------------------------------------------------------------- */

/* Makes room at the end, moving what is there to the front. */
static void make_room(struct client *client)
{
    if (client->begin > 0 && client->begin >= client->cap / 2) {
        memmove(client->data, client->data + client->begin,
                client->len - client->begin);
        client->len -= client->begin;
        client->begin = 0;
    }
    if (client->cap - client->len < ROOM_BYTES) {
        client->cap = 2 * client->cap + 2 * ROOM_BYTES;
        client->data = realloc(client->data, client->cap);
        if (!client->data)
            flunk("no memory");
    }
}

static ssize_t receive(const struct client *client, void *data, size_t len)
{
    return client->secure ? secure_receive(client->secure, data, len)
                          : recv(client->fd, data, len, 0);
}

/* Takes in what is there. False: nothing was, for now. */
static bool take_in(struct client *client)
{
    ssize_t n;

    if (client->has_ended)
        return false;
    make_room(client);
    n = receive(client, client->data + client->len,
                client->cap - client->len - 1);
    if (n == -1 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0)
        client->has_ended = true;
    if (n == -1)
        client->was_reset = true;
    client->len += n > 0 ? (size_t)n : 0;
    client->data[client->len] = '\0';
    return true;
}

/* Of what TLS has read already the socket knows nothing. */
static bool has_more(const struct client *client)
{
    return client->secure && secure_has_more(client->secure);
}

bool client_hears(struct client *client, uint64_t ms)
{
    struct pollfd ready = {.fd = client->fd, .events = POLLIN};
    uint64_t until_ms = now_ms() + ms;

    while (client->begin + client->used == client->len && !client->has_ended) {
        uint64_t now = now_ms();

        if (!has_more(client) &&
            poll(&ready, 1, now < until_ms ? (int)(until_ms - now) : 0) != 1)
            return false;
        if (!client->secure)
            return true;
        (void)take_in(client); /* it may be a ticket */
    }
    return true;
}

static bool wait_for_more(struct client *client)
{
    struct pollfd ready = {.fd = client->fd, .events = POLLIN};
    uint64_t until_ms = now_ms() + patience(PATIENCE_MS);

    /* A part of a record makes the socket ready, and nothing to be taken in. */
    while (now_ms() < until_ms &&
           (has_more(client) ||
            poll(&ready, 1, (int)patience(PATIENCE_MS)) == 1))
        if (take_in(client))
            return true;
        else if (!client->secure)
            break;
    return false;
}

static void skip_last(struct client *client)
{
    client->begin += client->used;
    client->used = 0;
}

enum client_event client_try(struct client *client, bool to_head,
                             struct reply **reply_out)
{
    skip_last(client);
    reply_begin(&client->reply);
    for (;;) {
        size_t len = client->len - client->begin;

        if (len > 0)
            client->used = reply_parse(&client->reply,
                                       client->data + client->begin, len,
                                       client->has_ended, to_head);
        if (client->used > 0) {
            *reply_out = &client->reply;
            return CLIENT_REPLY;
        }
        if (client->has_ended)
            return len > 0             ? CLIENT_BROKEN
                   : client->was_reset ? CLIENT_RESET
                                       : CLIENT_CLOSED;
        if (!wait_for_more(client))
            return CLIENT_TIMEOUT;
    }
}

static struct reply *reply_or_flunk(struct client *client, bool to_head)
{
    static const char *const names[] = {
        [CLIENT_CLOSED] = "closed",
        [CLIENT_BROKEN] = "closed in the middle",
        [CLIENT_RESET] = "reset",
        [CLIENT_TIMEOUT] = "nothing came"};
    struct reply *reply = NULL;
    enum client_event event = client_try(client, to_head, &reply);

    if (event != CLIENT_REPLY)
        flunk("no reply, but: %s", names[event]);
    return reply;
}

struct reply *client_reply(struct client *client)
{
    return reply_or_flunk(client, false);
}

struct reply *client_reply_to_head(struct client *client)
{
    return reply_or_flunk(client, true);
}

size_t client_take(struct client *client, size_t len)
{
    skip_last(client);
    while (client->len - client->begin < len && !client->has_ended)
        if (!wait_for_more(client))
            break;
    return client->len - client->begin;
}

const char *client_raw(const struct client *client)
{
    return client->data + client->begin;
}

void client_skip(struct client *client, size_t len)
{
    client->used += len;
}

/* --- Sending ------------------------------------------------------------- */

bool client_send(struct client *client, const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        struct pollfd ready = {.fd = client->fd, .events = POLLIN | POLLOUT};
        ssize_t n = client->secure ? secure_send(client->secure, at, len)
                                   : send(client->fd, at, len, MSG_NOSIGNAL);

        if (n >= 0) {
            at += n;
            len -= (size_t)n;
            continue;
        }
        if (errno != EAGAIN && errno != EINTR)
            return false;
        if (client->has_ended)
            ready.events = POLLOUT;
        if (poll(&ready, 1, (int)patience(PATIENCE_MS)) != 1)
            flunk("the server takes no more, %zu bytes left", len);
        if (ready.revents & POLLIN)
            take_in(client);
    }
    return true;
}

bool client_drip(struct client *client, const void *data, size_t len)
{
    const char *at = data;

    for (size_t i = 0; i < len; i++)
        if (!client_send(client, at + i, 1))
            return false;
    return true;
}

bool client_say(struct client *client, const char *format, ...)
{
    char text[16384];
    va_list list;
    int len;

    va_start(list, format);
    len = vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (len < 0 || (size_t)len >= sizeof(text))
        flunk("too much to say");
    return client_send(client, text, (size_t)len);
}

/* --- The end ------------------------------------------------------------- */

void client_expect_end(struct client *client)
{
    skip_last(client);
    while (!client->has_ended && client->begin == client->len)
        if (!wait_for_more(client))
            flunk("the connection stays open");
    if (client->begin < client->len)
        flunk("it should have ended, but: '%.200s'", client_raw(client));
}

void client_expect_orderly_end(struct client *client)
{
    client_expect_end(client);
    if (client->was_reset)
        flunk("it ended by a reset");
}
