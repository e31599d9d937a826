/*
 * WebSocket over HTTP/2 (RFC 8441): a stream becomes a tunnel to an upstream
 * that speaks RFC 6455 over HTTP/1.1.
 */
#include <openssl/evp.h>
#include <openssl/sha.h>

#include "h2_client.h"
#include "upstream.h"

#define H2_PROXY(upstream, ...) PROXY(upstream, "--http2=all", __VA_ARGS__)

enum { SEED = 12, LARGE = 1 << 20, CONNECT_PROTOCOL = 8 };

struct tunnel {
    struct h2 *h2;
    uint32_t stream;
    struct client *peer;
};

static uint32_t ask_for_socket(struct h2 *h2)
{
    return h2_ask_fields(h2,
                         H2_WITH(":method", "CONNECT", ":protocol", "websocket",
                                 ":scheme", h2->scheme, ":path", "/chat",
                                 ":authority", "a", "origin", "http://a",
                                 "sec-websocket-version", "13"),
                         true);
}

/* RFC 6455 4.2.2: what answers the key in that head. */
static const char *accept_of(const char *head)
{
    static const char name[] = "\r\nSec-WebSocket-Key: ";
    const char *at = strcasestr(head, name);
    unsigned char digest[SHA_DIGEST_LENGTH];
    char text[128];
    char *accept = scratch(64);
    int len;

    if (!at)
        flunk("no key: '%s'", head);
    at += sizeof(name) - 1;
    len = snprintf(text, sizeof(text),
                   "%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11",
                   (int)strcspn(at, "\r"), at);
    assert_int_equal(strcspn(at, "\r"), 24);
    SHA1((unsigned char *)text, (size_t)len, digest);
    EVP_EncodeBlock((unsigned char *)accept, digest, sizeof(digest));
    return accept;
}

static void switch_protocols(struct client *peer, const char *head)
{
    client_say(peer,
               "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
               "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
               accept_of(head));
}

static struct tunnel tunnel_open(const struct server *server,
                                 const struct upstream *upstream)
{
    struct tunnel tunnel = {.h2 = h2_open(server)};
    struct h2_reply *reply;

    assert_int_equal(tunnel.h2->their[CONNECT_PROTOCOL], 1);
    tunnel.stream = ask_for_socket(tunnel.h2);
    tunnel.peer = upstream_accept(upstream);
    switch_protocols(tunnel.peer, hear_head(tunnel.peer));
    reply = h2_wait_head(tunnel.h2, tunnel.stream);
    expect_h2(reply, 200);
    assert_false(reply->has_ended);
    assert_null(h2_field(&reply->fields, "sec-websocket-accept"));
    return tunnel;
}

static void expect_comes(const struct tunnel *tunnel, const char *text)
{
    struct h2_reply *reply = h2_reply(tunnel->h2, tunnel->stream);
    struct h2_frame frame;
    size_t len = strlen(text);

    while (reply->body_len < len && h2_take(tunnel->h2, &frame))
        ;
    assert_int_equal(reply->body_len, len);
    assert_memory_equal(reply->body, text, len);
}

TEST(the_handshake_is_that_of_http_1_1)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    struct client *peer;
    const char *head;

    (void)ask_for_socket(h2);
    peer = upstream_accept(upstream);
    head = hear_head(peer);
    if (strncmp(head, "GET /chat HTTP/1.1\r\nHost: a\r\n", 29) != 0 ||
        !strcasestr(head, "\r\nUpgrade: websocket\r\n") ||
        !strcasestr(head, "\r\nConnection: upgrade\r\n") ||
        !strcasestr(head, "\r\nSec-WebSocket-Version: 13\r\n") ||
        !strcasestr(head, "\r\nOrigin: http://a\r\n") ||
        strcasestr(head, "content-length") ||
        strcasestr(head, "transfer-encoding") || strcasestr(head, "protocol:"))
        flunk("'%s'", head);
    (void)accept_of(head);
}

TEST(bytes_go_both_ways)
{
    struct upstream *upstream = upstream_open();
    struct tunnel tunnel = tunnel_open(H2_PROXY(upstream, NULL), upstream);

    h2_body(tunnel.h2, tunnel.stream, "up", 2, true);
    expect_hears(tunnel.peer, "up");
    client_say(tunnel.peer, "down");
    expect_comes(&tunnel, "down");
    h2_body(tunnel.h2, tunnel.stream, "again", 5, true);
    expect_hears(tunnel.peer, "again");
    client_say(tunnel.peer, " and down");
    expect_comes(&tunnel, "down and down");
    h2_expect_usable(h2_open(H2_START(NULL)));
}

TEST(much_goes_both_ways_at_once)
{
    struct upstream *upstream = upstream_open();
    struct tunnel tunnel = tunnel_open(H2_PROXY(upstream, NULL), upstream);
    struct h2_reply *reply = h2_reply(tunnel.h2, tunnel.stream);
    char *data = scratch(LARGE);
    size_t heard = 0;

    seeded_fill(SEED, 0, data, LARGE);
    for (size_t at = 0; at < LARGE; at += 8192) {
        size_t got;

        h2_body(tunnel.h2, tunnel.stream, data + at, 8192, true);
        client_send(tunnel.peer, data + at, 8192);
        got = client_take(tunnel.peer, 1);
        assert_true(seeded_is(SEED, heard, client_raw(tunnel.peer), got));
        client_skip(tunnel.peer, got);
        heard += got;
        h2_settle(tunnel.h2, 0);
    }
    while (heard < LARGE) {
        size_t got = client_take(tunnel.peer, 1);

        assert_true(got > 0);
        client_skip(tunnel.peer, got);
        heard += got;
    }
    while (reply->body_len < LARGE) {
        struct h2_frame frame;

        assert_true(h2_take(tunnel.h2, &frame));
    }
    assert_true(seeded_is(SEED, 0, reply->body, LARGE));
}

TEST(either_end_ends_both)
{
    struct upstream *upstream = upstream_open();
    struct server *server = H2_PROXY(upstream, NULL);
    struct tunnel tunnel = tunnel_open(server, upstream);

    client_close(tunnel.peer);
    assert_true(h2_wait(tunnel.h2, tunnel.stream)->has_ended);
    tunnel = tunnel_open(server, upstream);
    h2_body(tunnel.h2, tunnel.stream, "last", 4, false);
    expect_hears(tunnel.peer, "last");
    client_expect_end(tunnel.peer);
    tunnel = tunnel_open(server, upstream);
    h2_reset(tunnel.h2, tunnel.stream, NGHTTP2_CANCEL);
    client_expect_end(tunnel.peer);
    tunnel = tunnel_open(server, upstream);
    h2_close(tunnel.h2);
    client_expect_end(tunnel.peer);
}

/* RFC 9113 8.5: there are DATA frames, and those that are about the stream. */
TEST(a_second_head_has_no_place_in_a_tunnel)
{
    struct upstream *upstream = upstream_open();
    struct tunnel tunnel = tunnel_open(H2_PROXY(upstream, NULL), upstream);

    h2_trailers(tunnel.h2, tunnel.stream, H2_WITH("x-trailer", "1"));
    h2_expect_reset(tunnel.h2, tunnel.stream, NGHTTP2_PROTOCOL_ERROR);
    client_expect_end(tunnel.peer);
    h2_sync(tunnel.h2);
}

TEST(tunnels_and_requests_share_a_connection)
{
    struct upstream *upstream = upstream_open();
    struct tunnel tunnel = tunnel_open(H2_PROXY(upstream, NULL), upstream);
    struct client *peer;
    uint32_t stream;

    stream = h2_ask(tunnel.h2, "GET", "/", NULL, false);
    peer = upstream_accept(upstream);
    hear_head(peer);
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_h2_body(h2_wait(tunnel.h2, stream), "hi");
    client_say(tunnel.peer, "down");
    expect_comes(&tunnel, "down");
}

TEST(an_upstream_may_refuse)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    uint32_t stream = ask_for_socket(h2);
    struct client *peer = upstream_accept(upstream);
    struct h2_reply *reply;

    hear_head(peer);
    client_say(peer,
               "HTTP/1.1 403 Forbidden\r\n" DATE "Content-Length: 2\r\n\r\nno");
    reply = h2_wait(h2, stream);
    expect_h2(reply, 403);
    expect_h2_body(reply, "no");
    h2_sync(h2);
}

static void expect_refused(const struct server *server,
                           const struct upstream *upstream, const char *fields)
{
    struct h2 *h2 = h2_open(server);
    uint32_t stream = ask_for_socket(h2);
    struct client *peer = upstream_accept(upstream);
    struct h2_reply *reply;

    hear_head(peer);
    client_say(peer,
               "HTTP/1.1 101 Switching Protocols\r\n"
               "Upgrade: websocket\r\nConnection: Upgrade\r\n%s\r\n",
               fields);
    reply = h2_wait(h2, stream);
    expect_h2(reply, 502);
    client_expect_end(peer);
    h2_sync(h2);
}

/* Without the right answer to the key there may be no WebSocket behind it. */
TEST(a_wrong_answer_to_the_key_is_502)
{
    struct upstream *upstream = upstream_open();
    struct server *server = H2_PROXY(upstream, NULL);

    expect_refused(server, upstream,
                   "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
    expect_refused(server, upstream, "Sec-WebSocket-Accept:\r\n");
    expect_refused(server, upstream, "");
}

/* The client's has no meaning over HTTP/2, and would stand beside ours. */
TEST(a_key_of_the_client_is_dropped)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    struct client *peer;
    const char *head;
    uint32_t stream = h2_ask_fields(h2,
                                    H2_WITH(":method", "CONNECT", ":protocol",
                                            "websocket", ":scheme", h2->scheme,
                                            ":path", "/chat", ":authority", "a",
                                            "sec-websocket-key",
                                            "dGhlIHNhbXBsZSBub25jZQ==",
                                            "sec-websocket-version", "13"),
                                    true);

    peer = upstream_accept(upstream);
    head = hear_head(peer);
    assert_null(strcasestr(head, "dGhlIHNhbXBsZSBub25jZQ=="));
    switch_protocols(peer, head);
    expect_h2(h2_wait_head(h2, stream), 200);
}

/* A tunnel is no body. Passed on, the length would be that of one which never
 * comes: the upstream would take the next request for it. */
TEST(one_with_a_length_is_refused)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    uint32_t stream = h2_ask_fields(h2,
                                    H2_WITH(":method", "CONNECT", ":protocol",
                                            "websocket", ":scheme", h2->scheme,
                                            ":path", "/chat", ":authority", "a",
                                            "sec-websocket-version", "13",
                                            "content-length", "40"),
                                    true);

    h2_expect_reset(h2, stream, NGHTTP2_PROTOCOL_ERROR);
    assert_false(upstream_hears(upstream, 100));
}

/* Nobody here speaks it: files, a CONNECT without a protocol, another one. */
TEST(what_is_no_websocket_is_refused)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_START(NULL));
    struct h2_reply *reply = h2_wait(h2, ask_for_socket(h2));

    assert_true(reply->status >= 400);
    h2 = h2_open(H2_PROXY(upstream, NULL));
    reply = h2_wait(h2, h2_ask_fields(h2,
                                      H2_WITH(":method", "CONNECT",
                                              ":authority", "a:80"),
                                      true));
    expect_h2(reply, 405);
    reply = h2_wait(h2, h2_ask_fields(h2,
                                      H2_WITH(":method", "CONNECT", ":protocol",
                                              "irc", ":scheme", h2->scheme,
                                              ":path", "/", ":authority", "a"),
                                      true));
    expect_h2(reply, 501);
    assert_false(upstream_hears(upstream, 0));
}

E2E_SUITE(h2_begin);
