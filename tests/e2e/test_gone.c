/*
 * Clients that are gone, and had sent something that nobody read before they
 * went: noticed within a second or so, as if they had not.
 */
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "upstream.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

enum {
    LARGE = 20 * 1048576,
    SOON_MS = 3000, /* it is looked each second */
    STILL_MS = 1500 /* and would have been by then */
};

E2E_BEGIN(start)
{
    site_seeded("large", 1, LARGE);
}

/* With FIN or RST, behind a byte that is not read. */
static void go(struct client *client, int how)
{
    client_say(client, "x");
    pause_ms(50); /* it has been seen, and left there */
    if (how == 0)
        client_close(client);
    else
        client_reset(client);
}

static void expect_end_soon(struct client *peer)
{
    uint64_t begin = now_ms();

    hear_end(peer);
    assert_in_range(now_ms() - begin, 0, patience(SOON_MS));
}

/* Also the one place that there is at the upstream. */
TEST(an_upstream_is_free_again)
{
    static const char *const answers[] = {
        "", "HTTP/1.1 20", OK "Content-Length: 100\r\n\r\nhi",
        OK "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"};
    enum { COUNT = sizeof(answers) / sizeof(*answers) };
    struct upstream *upstream = upstream_open();
    struct server *server =
        START("--workers=1", printed("--proxy=/=%s;max-conns=1", upstream->at));

    for (int i = 0; i < 2 * COUNT; i++) {
        struct client *client = client_open(server);
        struct client *peer;

        going_on("%d: %s", i, answers[i / 2]);
        peer = upstream_asked(upstream, client, GET);
        client_say(peer, "%s", answers[i / 2]);
        go(client, i % 2);
        expect_end_soon(peer);
        client_close(peer);
    }
}

/* Its next request is here, too, and has been read with the first. */
TEST(a_pipeline_makes_no_difference)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);

    for (int how = 0; how < 2; how++) {
        struct client *client = client_open(server);
        struct client *peer;

        peer = upstream_asked(upstream, client, GET GET GET);
        go(client, how);
        expect_end_soon(peer);
        client_close(peer);
    }
}

/* Of a client that is there nothing is lost. */
TEST(who_sends_ahead_and_stays_is_answered)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;
    uint64_t cpu_ms;

    peer = upstream_asked(upstream, client, GET);
    client_say(client, GET);
    cpu_ms = server_cpu_ms(server);
    pause_ms(STILL_MS);
    assert_in_range(server_cpu_ms(server) - cpu_ms, 0, 100);
    for (int i = 0; i < 2; i++) {
        expect_hi(peer, client);
        if (i == 0)
            hear_head(peer);
    }
}

/* Sends until nobody takes more: what is unread lies everywhere then. */
static void fill(struct client *client)
{
    static char block[65536];

    memset(block, 'x', sizeof(block));
    for (unsigned tries = 0; tries < 20;) {
        if (send(client_socket(client), block, sizeof(block), MSG_NOSIGNAL) > 0)
            continue;
        pause_ms(10);
        tries++;
    }
}

/* Lets the upstream take so much that all of it has arrived at the server,
 * where still much is unread: its end can arrive, too. */
static void make_way(struct client *client, struct client *peer)
{
    int unsent = 1;

    while (unsent > 0) {
        client_take(peer, 65536);
        client_skip(peer, 65536);
        pause_ms(1);
        if (ioctl(client_socket(client), SIOCOUTQ, &unsent) == -1)
            flunk("SIOCOUTQ");
    }
    pause_ms(100);
}

/* Neither the client, whose body waits, nor the upstream goes on. */
TEST(an_upload_that_waits_ends_with_its_client)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    size_t descriptors = server_descriptors(server);

    for (int how = 0; how < 2; how++) {
        struct client *client = client_open(server);
        struct client *peer;

        client_say(client, "POST / HTTP/1.1\r\nHost: a\r\n"
                           "Content-Length: 1000000000\r\n\r\n");
        fill(client);
        peer = upstream_accept(upstream);
        make_way(client, peer);
        if (how == 0)
            client_close(client);
        else
            client_reset(client);
        assert_true(eventually(server_descriptors(server) <= descriptors,
                               SOON_MS));
        client_close(peer);
    }
}

/* A reset only: who has closed one half may wait for a file. */
TEST(a_file_in_the_queue_is_given_up)
{
    enum { GONE = 20 };
    struct server *server = START("--workers=1", "--link-rate=100K");
    struct client *first = client_open(server);
    struct client *clients[GONE];
    size_t descriptors;

    client_say(first, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(first, 1000);
    descriptors = server_descriptors(server);
    for (size_t i = 0; i < GONE; i++) {
        clients[i] = client_open(server);
        client_say(clients[i], "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    client_expect_usable(client_open(server));
    for (size_t i = 0; i < GONE; i++)
        client_say(clients[i], "x");
    pause_ms(200);
    for (size_t i = 0; i < GONE; i++)
        client_reset(clients[i]);
    assert_true(eventually(server_descriptors(server) <= descriptors + 1,
                           SOON_MS));
}

/* --- Tunnels ------------------------------------------------------------- */

struct tunnel {
    struct client *client;
    struct client *peer;
};

/* Full of what the upstream does not read. */
static struct tunnel tunnel_open_full(const struct server *server,
                                      const struct upstream *upstream)
{
    struct tunnel tunnel = {.client = client_open(server)};

    client_say(tunnel.client, "GET / HTTP/1.1\r\nHost: a\r\n"
                              "Connection: upgrade\r\n"
                              "Upgrade: websocket\r\n\r\n");
    tunnel.peer = upstream_accept(upstream);
    hear_head(tunnel.peer);
    client_say(tunnel.peer, "HTTP/1.1 101 Switching Protocols\r\n"
                            "Connection: upgrade\r\n"
                            "Upgrade: websocket\r\n\r\n");
    hear_head(tunnel.client);
    fill(tunnel.client);
    return tunnel;
}

TEST(a_full_tunnel_ends_with_a_reset)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct tunnel tunnel = tunnel_open_full(server, upstream);
    size_t descriptors = server_descriptors(server);

    client_reset(tunnel.client);
    assert_true(eventually(server_descriptors(server) <= descriptors - 2,
                           SOON_MS));
}

/* As one that is not full. */
TEST(a_full_tunnel_that_is_half_closed_is_idle)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-idle-timeout=500ms");
    struct tunnel there = tunnel_open_full(server, upstream);
    struct tunnel tunnel = tunnel_open_full(server, upstream);
    size_t descriptors = server_descriptors(server);

    make_way(tunnel.client, tunnel.peer);
    client_half_close(tunnel.client);
    assert_true(eventually(server_descriptors(server) <= descriptors - 2,
                           SOON_MS));
    client_say(there.peer, "still here");
    expect_hears(there.client, "still here");
}

E2E_SUITE(start);
