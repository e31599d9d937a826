/*
 * What is asked of another server when the first one gives no answer.
 */
#include "origin.h"
#include "upstream.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

static const char *rule(const char *first, const char *second)
{
    return printed("--proxy=/=%s,%s", first, second);
}

/* Whichever of the two is asked; the other one is *other_out. */
static struct client *accept_either(struct upstream *both[2],
                                    struct upstream **other_out)
{
    if (!eventually(upstream_hears(both[0], 0) || upstream_hears(both[1], 0),
                    5000))
        flunk("neither is asked");
    *other_out = upstream_hears(both[0], 0) ? both[1] : both[0];
    return upstream_accept(*other_out == both[1] ? both[0] : both[1]);
}

/* What is asked ends with END, and the first server goes without an answer;
 * whether the other one is asked the same. */
static bool is_tried_again(const char *asked, const char *end,
                           const char *option)
{
    struct upstream *both[2] = {upstream_open(), upstream_open()};
    struct server *server = START("--workers=1", rule(both[0]->at, both[1]->at),
                                  option);
    struct client *client = client_open(server);
    struct upstream *other;
    struct client *peer;
    const char *head;
    bool is_again;

    going_on("%s", asked);
    client_say(client, "%s", asked);
    peer = accept_either(both, &other);
    head = hear_head(peer);
    expect_hears(peer, end);
    client_close(peer);
    is_again = eventually(upstream_hears(other, 0) || client_hears(client, 0),
                          5000) &&
               upstream_hears(other, 0);
    if (is_again) {
        peer = upstream_accept(other);
        assert_string_equal(hear_head(peer), head);
        expect_hears(peer, end);
        client_say(peer, HI);
    }
    expect_status(client_reply(client), is_again ? 200 : 502);
    server_stop(server);
    return is_again;
}

#define WITH(method, body) method " / HTTP/1.1\r\nHost: a\r\n" body
#define FIVE "Content-Length: 5\r\n\r\nhello"
#define CHUNKS "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"

TEST(what_may_be_repeated_is_tried_once_more)
{
    assert_true(is_tried_again(GET, "", NULL));
    assert_true(is_tried_again(WITH("OPTIONS", "\r\n"), "", NULL));
    assert_true(is_tried_again(WITH("DELETE", "\r\n"), "", NULL));
    assert_true(is_tried_again(WITH("PUT", FIVE), "hello", NULL));
    assert_true(is_tried_again(WITH("PUT", CHUNKS), "5\r\nhello\r\n0\r\n\r\n",
                               NULL));
}

TEST(what_may_not_be_repeated_is_not)
{
    assert_false(is_tried_again(WITH("POST", FIVE), "hello", NULL));
    assert_false(is_tried_again(WITH("POST", "\r\n"), "", NULL));
    assert_false(is_tried_again(WITH("PATCH", FIVE), "hello", NULL));
    assert_false(is_tried_again(WITH("REPORT", "\r\n"), "", NULL));
    assert_false(is_tried_again(GET, "", "--proxy-retries=0"));
}

TEST_WITH(what_nobody_has_got_is_tried_again_whatever_it_is, NULL,
          origins_after_test)
{
    struct origin *origin = origin_start("well");
    struct upstream *gone = upstream_open();
    struct server *server = START("--workers=1", rule(gone->at, origin->at),
                                  "--proxy-fails=0");
    struct client *client = client_open(server);

    upstream_shut(gone);
    for (int i = 0; i < 4; i++) {
        client_say(client, "POST /echo HTTP/1.1\r\nHost: a\r\n" FIVE);
        expect_body(client_reply(client), "hello");
    }
}

TEST(half_a_head_is_an_answer_not_to_be_repeated)
{
    struct upstream *both[2] = {upstream_open(), upstream_open()};
    struct server *server = START("--workers=1",
                                  rule(both[0]->at, both[1]->at));
    struct client *client = client_open(server);
    struct upstream *other;
    struct client *peer;

    client_say(client, GET);
    peer = accept_either(both, &other);
    hear_head(peer);
    client_say(peer, "HTTP/1.1 200 OK\r\n");
    pause_ms(20); /* so that it is read alone */
    client_close(peer);
    expect_status(client_reply(client), 502);
    assert_false(upstream_hears(other, 0));
}

/* It closes what it has kept just when it is asked again. */
TEST(a_stale_connection_is_replaced)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;

    peer = upstream_asked(upstream, client, GET);
    expect_hi(peer, client);
    client_say(client, GET);
    hear_head(peer);
    client_close(peer);
    peer = upstream_accept(upstream);
    hear_head(peer);
    expect_hi(peer, client);
}

E2E_SUITE(harness_begin);
