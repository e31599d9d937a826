/*
 * WebSocket through the proxy: a handshake, then frames both ways over what is
 * a tunnel from then on.
 */
#include <sys/socket.h>

#include "upstream.h"
#include "websocket.h"

#define HANDSHAKE                                     \
    "GET /chat HTTP/1.1\r\nHost: a\r\n" WEBSOCKET_KEY \
    "Sec-WebSocket-Version: 13\r\n"                   \
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n"
#define HANDSHAKE_HEARD                               \
    "GET /chat HTTP/1.1\r\nHost: a\r\n" WEBSOCKET_KEY \
    "Sec-WebSocket-Version: 13\r\n" ASKER             \
    "Upgrade: websocket\r\nConnection: upgrade\r\n\r\n"
#define SWITCHES                                                 \
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" \
    "Connection: Upgrade\r\n" WEBSOCKET_ACCEPT "\r\n"
#define SWITCHED                                                \
    "HTTP/1.1 101 Switching Protocols\r\n" WEBSOCKET_ACCEPT VIA \
    "Upgrade: websocket\r\nConnection: upgrade\r\n\r\n"

enum {
    TEXT = WEBSOCKET_FINAL | WEBSOCKET_TEXT,
    BINARY = WEBSOCKET_FINAL | WEBSOCKET_BINARY,
    PING = WEBSOCKET_FINAL | WEBSOCKET_PING,
    PONG = WEBSOCKET_FINAL | WEBSOCKET_PONG,
    CLOSE = WEBSOCKET_FINAL | WEBSOCKET_CLOSE
};

/* The two ends of a tunnel. */
struct tunnel {
    struct client *client;
    struct client *peer;
};

static struct tunnel tunnel_open(const struct server *server,
                                 const struct upstream *upstream)
{
    struct tunnel tunnel = {.client = client_open(server)};

    client_say(tunnel.client, HANDSHAKE);
    tunnel.peer = upstream_accept(upstream);
    expect_hears(tunnel.peer, HANDSHAKE_HEARD);
    client_say(tunnel.peer, SWITCHES);
    expect_hears(tunnel.client, SWITCHED);
    return tunnel;
}

static void up(const struct tunnel *tunnel, unsigned kind, const char *data,
               size_t len)
{
    websocket_say(tunnel->client, WEBSOCKET_CLIENT, kind, data, len);
    websocket_expect(tunnel->peer, WEBSOCKET_CLIENT, kind, data, len);
}

static void down(const struct tunnel *tunnel, unsigned kind, const char *data,
                 size_t len)
{
    websocket_say(tunnel->peer, WEBSOCKET_SERVER, kind, data, len);
    websocket_expect(tunnel->client, WEBSOCKET_SERVER, kind, data, len);
}

/* --- Frames -------------------------------------------------------------- */

TEST(a_conversation_goes_both_ways)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct tunnel tunnel = tunnel_open(server, upstream);

    up(&tunnel, TEXT, RAW("hello"));
    down(&tunnel, TEXT, RAW("hello yourself"));
    down(&tunnel, PING, RAW("there?"));
    up(&tunnel, PONG, RAW("there?"));
    up(&tunnel, WEBSOCKET_TEXT, RAW("in "));
    up(&tunnel, PING, "", 0);
    down(&tunnel, PONG, "", 0);
    up(&tunnel, WEBSOCKET_FINAL | WEBSOCKET_MORE, RAW("pieces"));
    up(&tunnel, CLOSE,
       RAW("\x03\xe8"
           "bye"));
    down(&tunnel, CLOSE, RAW("\x03\xe8"));
    client_close(tunnel.peer); /* the server does that first */
    client_expect_orderly_end(tunnel.client);
}

/* RFC 9110 7.8. There is no content, so the upstream hears of no Expect. */
TEST(who_expects_a_100_gets_it_before_the_switch)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct tunnel tunnel = {.client = client_open(server)};

    client_say(tunnel.client,
               "GET /chat HTTP/1.1\r\nHost: a\r\n" WEBSOCKET_KEY
               "Sec-WebSocket-Version: 13\r\nExpect: 100-continue\r\n"
               "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    expect_hears(tunnel.client, "HTTP/1.1 100 Continue\r\n\r\n");
    tunnel.peer = upstream_accept(upstream);
    expect_hears(tunnel.peer, HANDSHAKE_HEARD);
    client_say(tunnel.peer, SWITCHES);
    expect_hears(tunnel.client, SWITCHED);
    up(&tunnel, TEXT, RAW("hello"));
    down(&tunnel, TEXT, RAW("hello yourself"));
}

TEST(frames_of_all_sizes_go_both_ways)
{
    static const size_t sizes[] = {0,     1,     125,   126,    127,   65535,
                                   65536, 65537, 98304, 200000, 300000};
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct tunnel tunnel = tunnel_open(server, upstream);

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        char *data = scratch(sizes[i] + 1);

        going_on("%zu bytes", sizes[i]);
        seeded_fill(i, 0, data, sizes[i]);
        up(&tunnel, BINARY, data, sizes[i]);
        down(&tunnel, BINARY, data, sizes[i]);
    }
}

/* Neither waits for the other. */
TEST(both_talk_at_once)
{
    enum { FRAMES = 40, LEN = 20000 };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct tunnel tunnel = tunnel_open(server, upstream);
    char *data = scratch(LEN);

    seeded_fill(1, 0, data, LEN);
    for (int i = 0; i < FRAMES; i++) {
        websocket_say(tunnel.client, WEBSOCKET_CLIENT, BINARY, data, LEN);
        websocket_say(tunnel.peer, WEBSOCKET_SERVER, BINARY, data, LEN);
    }
    for (int i = 0; i < FRAMES; i++) {
        websocket_expect(tunnel.client, WEBSOCKET_SERVER, BINARY, data, LEN);
        websocket_expect(tunnel.peer, WEBSOCKET_CLIENT, BINARY, data, LEN);
    }
}

TEST(what_comes_with_the_handshake_is_not_lost)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;

    client_say(client, HANDSHAKE "early");
    peer = upstream_accept(upstream);
    expect_hears(peer, HANDSHAKE_HEARD);
    assert_false(client_hears(peer, 50)); /* it has not agreed yet */
    client_say(peer, SWITCHES "at once");
    expect_hears(client, SWITCHED "at once");
    expect_hears(peer, "early");
}

TEST(a_limit_of_bodies_is_none_of_tunnels)
{
    enum { LEN = 100 };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--max-body=10");
    struct tunnel tunnel = tunnel_open(server, upstream);
    char data[LEN];

    seeded_fill(1, 0, data, LEN);
    for (int i = 0; i < 3; i++) {
        up(&tunnel, BINARY, data, LEN);
        down(&tunnel, BINARY, data, LEN);
    }
}

TEST(many_tunnels_are_in_nobodys_way)
{
    enum { TUNNELS = 40 };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct tunnel tunnels[TUNNELS];

    for (int i = 0; i < TUNNELS; i++)
        tunnels[i] = tunnel_open(server, upstream);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < TUNNELS; i++) {
            const char *text = printed("%d in %d", i, round);

            up(&tunnels[i], TEXT, text, strlen(text));
            down(&tunnels[i], TEXT, text, strlen(text));
        }
}

/* --- Ends ---------------------------------------------------------------- */

/* One says no more, and hears the other to the end. */
static void half_close(struct client *first, struct client *second)
{
    client_say(first, "last words");
    client_half_close(first);
    expect_hears(second, "last words");
    client_expect_orderly_end(second);
    client_say(second, "an answer");
    expect_hears(first, "an answer");
    client_close(second);
    client_expect_orderly_end(first);
}

TEST(a_client_that_says_no_more_hears_the_rest)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct tunnel tunnel = tunnel_open(server, upstream);

    half_close(tunnel.client, tunnel.peer);
}

TEST(an_upstream_that_says_no_more_hears_the_rest)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct tunnel tunnel = tunnel_open(server, upstream);

    half_close(tunnel.peer, tunnel.client);
}

TEST(a_tunnel_ends_when_either_end_breaks)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    size_t descriptors = server_descriptors(server);

    for (int i = 0; i < 2; i++) {
        struct tunnel tunnel = tunnel_open(server, upstream);

        up(&tunnel, TEXT, RAW("hello"));
        client_reset(i == 0 ? tunnel.client : tunnel.peer);
        client_expect_end(i == 0 ? tunnel.peer : tunnel.client);
        client_close(i == 0 ? tunnel.peer : tunnel.client);
    }
    assert_true(eventually(server_descriptors(server) <= descriptors, 5000));
}

/* Though it had said before that it says no more, so that nothing is read of
 * it: the upstream need not be waited for. */
TEST(a_client_that_is_gone_after_its_last_words_takes_the_tunnel_along)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    size_t descriptors = server_descriptors(server);
    struct tunnel tunnel = tunnel_open(server, upstream);

    client_say(tunnel.client, "last words");
    client_half_close(tunnel.client);
    expect_hears(tunnel.peer, "last words");
    client_expect_orderly_end(tunnel.peer);
    client_say(tunnel.peer, "an answer");
    expect_hears(tunnel.client, "an answer");
    client_reset(tunnel.client);
    assert_true(eventually(server_descriptors(server) <= descriptors, 5000));
}

/* The upstream takes nothing, and the tunnel is full. */
TEST(a_client_that_breaks_a_full_tunnel_off_ends_it)
{
    enum { LEN = 65536, PIECES_MAX = 4096 };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    size_t descriptors = server_descriptors(server);
    struct tunnel tunnel = tunnel_open(server, upstream);
    char *data = scratch(LEN);
    int quiet = 0;

    memset(data, 'x', LEN);
    for (int i = 0; i < PIECES_MAX && quiet < 10; i++) {
        ssize_t n = send(client_socket(tunnel.client), data, LEN,
                         MSG_DONTWAIT | MSG_NOSIGNAL);

        quiet = n == -1 ? quiet + 1 : 0;
        if (n == -1)
            pause_ms(20);
    }
    assert_int_equal(quiet, 10);
    client_reset(tunnel.client);
    assert_true(eventually(server_descriptors(server) <= descriptors, 5000));
}

/* Whoever has closed looks the same as one that only says no more: the upstream
 * has the time of a reply to say something, and then to go. */
TEST(a_half_closed_tunnel_is_silent_no_longer_than_a_reply)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-idle-timeout=300ms");
    struct tunnel tunnel = tunnel_open(server, upstream);

    pause_ms(600);
    up(&tunnel, TEXT, RAW("still here"));
    client_half_close(tunnel.client);
    client_expect_orderly_end(tunnel.peer);
    client_expect_end(tunnel.client);
}

TEST(a_silent_tunnel_is_closed)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-tunnel-timeout=300ms");
    struct tunnel tunnel = tunnel_open(server, upstream);

    client_expect_end(tunnel.client);
    client_expect_end(tunnel.peer);
}

/* One way is enough; and no limit of requests or replies holds. */
TEST(a_tunnel_that_is_used_stays_open)
{
    struct upstream *upstream = upstream_open();
    struct server *server =
        PROXY(upstream, "--proxy-tunnel-timeout=2s", "--proxy-timeout=500ms",
              "--proxy-idle-timeout=500ms", "--body-timeout=500ms",
              "--header-timeout=500ms", "--keepalive-timeout=500ms");
    struct tunnel tunnel = tunnel_open(server, upstream);

    for (int i = 0; i < 4; i++) {
        pause_ms(700);
        down(&tunnel, TEXT, RAW("still here"));
    }
    up(&tunnel, TEXT, RAW("me too"));
}

TEST(tunnels_do_not_keep_a_server_from_stopping)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--drain-timeout=500ms");
    struct tunnel tunnel = tunnel_open(server, upstream);

    up(&tunnel, TEXT, RAW("hello"));
    server_stop(server);
    client_expect_end(tunnel.client);
    client_expect_end(tunnel.peer);
}

/* --- No tunnel ----------------------------------------------------------- */

TEST(a_refused_handshake_is_an_ordinary_reply)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;

    client_say(client, HANDSHAKE);
    peer = upstream_accept(upstream);
    expect_hears(peer, HANDSHAKE_HEARD);
    client_say(peer, "HTTP/1.1 403 No\r\n" DATE "Content-Length: 2\r\n\r\nno");
    expect_status(client_reply(client), 403);
    /* Both connections are as good as before. */
    client_say(client, HANDSHAKE);
    expect_hears(peer, HANDSHAKE_HEARD);
    client_say(peer, SWITCHES);
    expect_hears(client, SWITCHED);
}

TEST(a_switch_to_something_else_is_a_fault)
{
    static const char *const switches[] = {
        "HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\n\r\n",
        ("HTTP/1.1 101 Switching\r\nUpgrade: websocket, h2c\r\n"
         "Connection: upgrade\r\n\r\n"),
    };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-fails=0");

    for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
        struct client *client = client_open(server);
        struct client *peer;

        going_on("%s", switches[i]);
        peer = upstream_asked(upstream, client, HANDSHAKE);
        client_say(peer, "%s", switches[i]);
        expect_status(client_reply(client), 502);
        hear_end(peer);
    }
}

E2E_SUITE(harness_begin);
