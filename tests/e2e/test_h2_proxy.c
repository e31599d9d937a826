/*
 * HTTP/2 in front of an upstream that speaks HTTP/1.1: what it gets is one
 * sound message, byte for byte, and what it says comes through.
 */
#include "h2_client.h"
#include "upstream.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))
#define H2_PROXY(upstream, ...) PROXY(upstream, "--http2=all", __VA_ARGS__)

enum { LARGE = 3 << 20, SEED = 9 };

static const char *hear_request(const struct upstream *upstream,
                                struct client **peer)
{
    *peer = upstream_accept(upstream);
    return hear_head(*peer);
}

static void expect_part(const char *text, const char *part)
{
    if (!strstr(text, part))
        flunk("no '%s' in '%s'", part, text);
}

static void expect_no_part(const char *text, const char *part)
{
    if (strcasestr(text, part))
        flunk("'%s' in '%s'", part, text);
}

/* --- What is asked ------------------------------------------------------- */

TEST(a_request_becomes_one_of_http_1_1)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    uint32_t stream = h2_ask_fields(h2, H2_GET_OF(h2, "a", "/p?q=%20"), false);
    struct client *peer;
    const char *head = hear_request(upstream, &peer);

    expect_part(head, "GET /p?q=%20 HTTP/1.1\r\nHost: a\r\n");
    expect_part(head, "\r\nVia: 2.0 sprintd\r\n");
    expect_part(head, "\r\nX-Forwarded-For: 127.0.0.1\r\n");
    expect_part(head, printed("\r\nX-Forwarded-Proto: %s\r\n", h2->scheme));
    expect_part(head, "\r\nX-Forwarded-Host: a\r\n");
    expect_part(head,
                printed("\r\nForwarded: for=127.0.0.1;proto=%s;host=a\r\n",
                        h2->scheme));
    expect_no_part(head, "\r\n:");
    expect_no_part(head, "content-length");
    expect_no_part(head, "transfer-encoding");
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_h2_body(h2_wait(h2, stream), "hi");
}

TEST(host_is_not_passed_on_twice)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    uint32_t stream = h2_ask_fields(h2,
                                    H2_WITH(":method", "GET", ":scheme",
                                            h2->scheme, ":path", "/",
                                            ":authority", "a", "host", "a"),
                                    false);
    struct client *peer;
    const char *head = hear_request(upstream, &peer);

    expect_part(head, "\r\nHost: a\r\n");
    assert_null(strcasestr(strcasestr(head, "\r\nhost:") + 1, "\r\nhost:"));
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_h2_body(h2_wait(h2, stream), "hi");
}

/* RFC 9113 8.2.3: crumbs become one Cookie field. */
TEST(cookies_are_joined)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    uint32_t stream = h2_ask(h2, "GET", "/",
                             H2_WITH("cookie", "a=1", "x", "y", "cookie", "b=2",
                                     "cookie", "c=3"),
                             false);
    struct client *peer;
    const char *head = hear_request(upstream, &peer);
    const char *cookie = strcasestr(head, "\r\ncookie:");

    if (!cookie || strncmp(cookie + 9, " a=1; b=2; c=3\r\n", 16) != 0 ||
        strcasestr(cookie + 9, "\r\ncookie:"))
        flunk("'%s'", head);
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_h2_body(h2_wait(h2, stream), "hi");
}

/* "te: trailers" alone may come; it is for this connection. */
TEST(te_is_not_passed_on)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    uint32_t stream = h2_ask(h2, "GET", "/", H2_WITH("te", "trailers"), false);
    struct client *peer;
    const char *head = hear_request(upstream, &peer);

    if (strcasestr(head, "\r\nte:") && !strcasestr(head, "\r\nconnection: te"))
        flunk("'%s'", head);
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_h2_body(h2_wait(h2, stream), "hi");
}

TEST(a_body_of_known_length_has_it)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    uint32_t stream = h2_ask(h2, "POST", "/", H2_WITH("content-length", "10"),
                             true);
    struct client *peer;
    const char *head;

    h2_body(h2, stream, "hello", 5, true);
    h2_body(h2, stream, "world", 5, false);
    head = hear_request(upstream, &peer);
    if (!strcasestr(head, "\r\ncontent-length: 10\r\n"))
        flunk("'%s'", head);
    expect_no_part(head, "transfer-encoding");
    expect_hears(peer, "helloworld");
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_h2_body(h2_wait(h2, stream), "hi");
}

/* Trailers of requests stay behind, as those of HTTP/1.1 do. */
TEST(a_body_of_unknown_length_comes_in_chunks)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    uint32_t stream = h2_ask(h2, "POST", "/", NULL, true);
    struct client *peer;
    const char *head;

    h2_body(h2, stream, "0\r\n\r\nGET /", 10, true);
    h2_trailers(h2, stream, H2_WITH("x-sum", "42"));
    head = hear_request(upstream, &peer);
    if (!strcasestr(head, "\r\ntransfer-encoding: chunked\r\n"))
        flunk("'%s'", head);
    expect_no_part(head, "content-length");
    assert_string_equal(hear_chunks(peer), "0\r\n\r\nGET /");
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_h2_body(h2_wait(h2, stream), "hi");
}

TEST(a_large_body_comes_through_while_it_is_sent)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    char *data = scratch(LARGE);
    uint32_t stream = h2_ask(h2, "POST", "/",
                             H2_WITH("content-length", printed("%d", LARGE)),
                             true);
    struct client *peer;
    size_t sent = 0;

    seeded_fill(SEED, 0, data, LARGE);
    h2_body(h2, stream, data, 81920, true); /* so much is held */
    sent = 81920;
    hear_request(upstream, &peer);
    for (size_t heard = 0; heard < LARGE;) {
        size_t step = LARGE - sent < 16384 ? LARGE - sent : 16384;
        size_t got;

        while (step > 0 && h2_reply(h2, stream)->send_window >= (int64_t)step &&
               h2->send_window >= (int64_t)step) {
            h2_body(h2, stream, data + sent, step, sent + step < LARGE);
            sent += step;
            step = LARGE - sent < 16384 ? LARGE - sent : 16384;
        }
        got = client_take(peer, 1);
        if (!seeded_is(SEED, heard, client_raw(peer), got))
            flunk("wrong behind byte %zu", heard);
        client_skip(peer, got);
        heard += got;
        h2_settle(h2, 0);
    }
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_h2_body(h2_wait(h2, stream), "hi");
}

/* What nobody takes opens no window: the client may send no more than
 * buffers. */
TEST(an_upstream_that_takes_nothing_shuts_the_window)
{
    enum { MOST = 8 << 20 };
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, "--proxy-buffer=64K"));
    uint32_t stream = h2_ask(h2, "POST", "/", NULL, true);
    struct h2_reply *reply = h2_reply(h2, stream);
    static char data[H2_FRAME_MAX];
    struct client *peer = NULL;
    size_t sent = 0;

    while (sent < MOST) {
        size_t step = sizeof(data);

        h2_settle(h2, 50);
        if (reply->send_window < (int64_t)step)
            step = reply->send_window > 0 ? (size_t)reply->send_window : 0;
        if (h2->send_window < (int64_t)step)
            step = h2->send_window > 0 ? (size_t)h2->send_window : 0;
        if (step == 0 && !h2_hears(h2, 300 * slowness()))
            break;
        if (step > 0)
            h2_body(h2, stream, data, step, true);
        sent += step;
        if (!peer && sent > 65536)
            peer = upstream_accept(upstream);
    }
    if (sent >= MOST)
        flunk("all of it was taken");
    /* More than was granted. */
    h2_frame(h2, NGHTTP2_DATA, 0, stream, data, sizeof(data));
    h2_expect_refused(h2, stream, NGHTTP2_FLOW_CONTROL_ERROR);
}

/* --- What is answered ---------------------------------------------------- */

TEST(fields_of_the_upstreams_connection_stay_there)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    uint32_t stream = h2_ask(h2, "GET", "/", H2_WITH("te", "trailers"), false);
    struct h2_reply *reply;
    struct client *peer;

    hear_request(upstream, &peer);
    client_say(peer,
               OK "Connection: X-Own, keep-alive\r\nX-Own: 1\r\n"
                  "Keep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\n"
                  "X-Kept: Yes\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n"
                  "2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n");
    reply = h2_wait(h2, stream);
    expect_h2(reply, 200);
    expect_h2_body(reply, "hi");
    expect_h2_field(reply, "x-kept", "Yes");
    assert_null(h2_field(&reply->fields, "x-own"));
    expect_h2_field(reply, "via", "1.1 sprintd");
    assert_non_null(h2_field(&reply->trailers, "x-sum"));
}

TEST(early_hints_come_before_the_answer)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    uint32_t stream = h2_ask(h2, "GET", "/", NULL, false);
    struct h2_reply *reply = h2_reply(h2, stream);
    struct h2_frame frame;
    struct client *peer;

    hear_request(upstream, &peer);
    client_say(peer, "HTTP/1.1 103 Early Hints\r\n"
                     "Link: </s.css>; rel=preload\r\n\r\n");
    while (reply->early_count == 0 && h2_take(h2, &frame))
        ;
    assert_int_equal(reply->early[0], 103);
    assert_string_equal(h2_field(&reply->early_fields, "link"),
                        "</s.css>; rel=preload");
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_h2_body(h2_wait(h2, stream), "hi");
}

TEST(a_long_reply_comes_through_in_every_framing)
{
    static const char *const framings[] = {OK "Content-Length: 3145728\r\n\r\n",
                                           OK "Connection: close\r\n\r\n"};
    char *data = scratch(LARGE);

    seeded_fill(SEED, 0, data, LARGE);
    for (size_t i = 0; i < COUNT(framings); i++) {
        struct upstream *upstream = upstream_open();
        struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
        uint32_t stream = h2_ask(h2, "GET", "/", NULL, false);
        struct client *peer;

        hear_request(upstream, &peer);
        client_say(peer, "%s", framings[i]);
        for (size_t at = 0; at < LARGE; at += 32768) {
            client_send(peer, data + at, 32768);
            h2_settle(h2, 0);
        }
        client_close(peer);
        expect_h2_seeded(h2_wait(h2, stream), SEED, 0, LARGE);
    }
}

/* Half a reply is no whole one: the stream is reset, not ended. */
TEST(a_reply_that_is_cut_resets_its_stream)
{
    static const char *const cut[] = {
        OK "Content-Length: 10\r\n\r\nhello",
        OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\nzz\r\n"};

    for (size_t i = 0; i < COUNT(cut); i++) {
        struct upstream *upstream = upstream_open();
        struct server *server = H2_PROXY(upstream, NULL);
        struct h2 *h2 = h2_open(server);
        uint32_t stream = h2_ask(h2, "GET", "/", NULL, false);
        struct h2_reply *reply;
        struct client *peer;

        going_on("%s", cut[i]);
        hear_request(upstream, &peer);
        client_say(peer, "%s", cut[i]);
        h2_wait_head(h2, stream);
        client_close(peer);
        reply = h2_wait(h2, stream);
        if (!reply->is_reset && reply->status != 502)
            flunk("answered %u, and ended", reply->status);
        stream = h2_ask(h2, "GET", "/", NULL, false);
        hear_request(upstream, &peer);
        client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
        expect_h2_body(h2_wait(h2, stream), "hi");
    }
}

TEST(a_refused_upstream_is_502)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));

    upstream_shut(upstream);
    expect_h2(h2_get(h2, "/"), 502);
    expect_h2(h2_get(h2, "/"), 502);
}

/* The upstream learns of it, as it would by a connection's end. */
TEST(a_stream_that_is_reset_ends_its_upstream_connection)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(H2_PROXY(upstream, NULL));
    uint32_t stream = h2_ask(h2, "GET", "/", NULL, false);
    struct client *peer;

    hear_request(upstream, &peer);
    h2_reset(h2, stream, NGHTTP2_CANCEL);
    hear_end(peer);
    stream = h2_ask(h2, "GET", "/", NULL, false);
    hear_request(upstream, &peer);
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_h2_body(h2_wait(h2, stream), "hi");
}

/* All of them reach the upstream, which answers none, and the client is
 * answered what it asks for besides. */
TEST(a_hundred_that_wait_for_the_upstream_have_nobody_else_wait)
{
    enum { WAITING = 99 };
    struct upstream *upstream = upstream_open();
    struct server *server = H2_START("--workers=1",
                                     printed("--proxy=/up/=%s", upstream->at));
    struct h2 *h2 = h2_open(server);

    for (int i = 0; i < WAITING; i++)
        (void)h2_ask(h2, "GET", "/up/x", NULL, false);
    for (int i = 0; i < WAITING; i++)
        (void)upstream_accept(upstream);
    expect_h2_body(h2_get(h2, "/canary"), "canary\n");
    assert_int_equal(h2->goaways, 0);
}

SUITE(.begin = h2_begin, .end = harness_end, .each_end = harness_after_test);
