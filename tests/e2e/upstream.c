#include "upstream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "secure.h"

enum { PATIENCE_MS = 10000, BACKLOG = 512, HEAD_BYTES_MAX = 131072 };

/* --- Listening ----------------------------------------------------------- */

int hold_port(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)*port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int yes = 1;

    if (fd == -1 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == -1 ||
        bind(fd, (struct sockaddr *)&address, len) == -1 ||
        getsockname(fd, (struct sockaddr *)&address, &len) == -1)
        flunk("bind to port %u: %s", *port, strerror(errno));
    *port = ntohs(address.sin_port);
    return fd;
}

void upstream_listen(struct upstream *upstream)
{
    int fd = hold_port(&upstream->port);

    if (listen(fd, BACKLOG) == -1)
        flunk("listen: %s", strerror(errno));
    upstream->listener = client_adopt(fd);
}

struct upstream *upstream_secure(struct upstream *upstream,
                                 struct secure_server *server)
{
    const char *at = upstream->at;

    if (!upstream->secure)
        upstream->at = strncmp(at, "http://", 7) == 0
                           ? printed("https://%s", at + 7)
                           : printed("https://%s", at);
    upstream->secure = server;
    return upstream;
}

static struct upstream *secure_if_wanted(struct upstream *upstream)
{
    static struct secure_server *usual;

    if (!secure_is_wanted_upstream())
        return upstream;
    if (!usual)
        usual = secure_serve(&(struct secure_identity){0});
    return upstream_secure(upstream, usual);
}

struct upstream *upstream_open(void)
{
    struct upstream *upstream = scratch(sizeof(*upstream));

    *upstream = (struct upstream){0};
    client_adopt(hold_port(&upstream->port)); /* for when it is shut */
    upstream_listen(upstream);
    upstream->name = printed("127.0.0.1:%u", upstream->port);
    upstream->at = printed("http://%s", upstream->name);
    return secure_if_wanted(upstream);
}

struct upstream *upstream_open_unix(void)
{
    struct upstream *upstream = scratch(sizeof(*upstream));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s/upstream",
             folder());
    unlink(address.sun_path);
    if (fd == -1 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) == -1 ||
        listen(fd, BACKLOG) == -1)
        flunk("listen at '%s': %s", address.sun_path, strerror(errno));
    *upstream = (struct upstream){.listener = client_adopt(fd),
                                  .name = printed("%s", address.sun_path),
                                  .at = printed("unix:%s", address.sun_path)};
    return secure_if_wanted(upstream);
}

void upstream_shut(struct upstream *upstream)
{
    client_close(upstream->listener);
}

/* One more than the backlog is let in; what comes after that, and this is
 * quickly found out, has to wait. */
void upstream_clog(struct upstream *upstream)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)upstream->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    if (listen(client_socket(upstream->listener), 0) == -1)
        flunk("listen: %s", strerror(errno));
    for (int i = 0; i < 8; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        if (fd == -1)
            flunk("socket: %s", strerror(errno));
        client_adopt(fd);
        if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == -1 &&
            errno != EINPROGRESS)
            flunk("connect: %s", strerror(errno));
    }
    pause_ms(20);
}

bool upstream_hears(const struct upstream *upstream, uint64_t ms)
{
    struct pollfd ready = {.fd = client_socket(upstream->listener),
                           .events = POLLIN};

    return poll(&ready, 1, (int)ms) == 1;
}

struct client *upstream_accept(const struct upstream *upstream)
{
    struct secure *secure;
    int yes = 1;
    int fd = -1;

    if (upstream_hears(upstream, patience(PATIENCE_MS)))
        fd = accept4(client_socket(upstream->listener), NULL, NULL,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd == -1)
        flunk("nobody asks the upstream %s", upstream->at);
    if (upstream->port != 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (!upstream->secure)
        return client_adopt(fd);
    secure = secure_take(upstream->secure, fd);
    if (!secure)
        flunk("no TLS with the upstream %s: %s", upstream->at, secure_fault());
    return client_adopt_secure(fd, secure);
}

/* --- Hearing ------------------------------------------------------------- */

void check_hears(struct client *client, const char *text, size_t len,
                 const char *file, int line)
{
    size_t got = client_take(client, len);
    const char *raw = got > 0 ? client_raw(client) : "";
    size_t same = 0;

    if (got > len)
        got = len;
    while (same < got && raw[same] == text[same])
        same++;
    if (same < len)
        flunk("%s:%d: heard\n%.*s\nnot\n%.*s\n(alike up to byte %zu)", file,
              line, (int)(got < 900 ? got : 900), raw,
              (int)(len < 900 ? len : 900), text, same);
    client_skip(client, len);
}

/* Up to and with what ends it. */
static char *hear_until(struct client *peer, const char *mark)
{
    for (size_t want = 1;;) {
        size_t got = client_take(peer, want);
        const char *raw = got > 0 ? client_raw(peer) : "";
        const char *end = memmem(raw, got, mark, strlen(mark));

        if (end) {
            size_t len = (size_t)(end - raw) + strlen(mark);
            char *text = printed("%.*s", (int)len, raw);

            client_skip(peer, len);
            return text;
        }
        if (got < want || got > HEAD_BYTES_MAX)
            flunk("no end of it: '%.300s'", raw);
        want = got + 1;
    }
}

const char *hear_head(struct client *peer)
{
    return hear_until(peer, "\r\n\r\n");
}

const char *hear_chunks(struct client *peer)
{
    const char *text = "";

    for (;;) {
        const char *line = hear_until(peer, "\r\n");
        size_t digits = strspn(line, "0123456789abcdefABCDEF");
        size_t size = strtoul(line, NULL, 16);

        if (digits == 0 || strcmp(line + digits, "\r\n") != 0)
            flunk("not a chunk's size: '%s'", line);
        if (size == 0)
            break;
        if (client_take(peer, size + 2) < size + 2 ||
            memcmp(client_raw(peer) + size, "\r\n", 2) != 0)
            flunk("a chunk is not whole");
        text = printed("%s%.*s", text, (int)size, client_raw(peer));
        client_skip(peer, size + 2);
    }
    for (;;) {
        const char *line = hear_until(peer, "\r\n");

        if (strcmp(line, "\r\n") == 0)
            return text;
        text = printed("%s%s", text, line);
    }
}

size_t hear_end(struct client *peer)
{
    size_t bytes = 0;

    for (;;) {
        size_t got = client_take(peer, 1);

        if (got == 0)
            break;
        bytes += got;
        client_skip(peer, got);
    }
    client_expect_end(peer);
    return bytes;
}

struct client *upstream_asked(const struct upstream *upstream,
                              struct client *client, const char *request)
{
    struct client *peer;

    client_say(client, "%s", request);
    peer = upstream_accept(upstream);
    hear_head(peer);
    return peer;
}

void check_hi(struct client *peer, struct client *client, const char *file,
              int line)
{
    client_say(peer, HI);
    check_body(client_reply(client), "hi", file, line);
}
