/*
 * error-page for what a proxy answers: its own failures, and with
 * --proxy-intercept-errors those of the servers behind it.
 */

#include "upstream.h"

#define GET "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
#define PAGES "--error-page=5xx /sorry.html", "--error-page=404 /none.html"
#define SORRY "<p>sorry\n"

E2E_BEGIN(start)
{
    site_text("sorry.html", SORRY);
    site_text("none.html", "<p>none\n");
}

/* Asks, and has the upstream say so. */
static struct reply *answered(const struct server *server,
                              const struct upstream *upstream, const char *says)
{
    struct client *client = client_open(server);
    struct client *peer;

    peer = upstream_asked(upstream, client, GET);
    client_send(peer, says, strlen(says));
    return client_reply(client);
}

static void expect_page(const struct reply *reply, unsigned status,
                        const char *page)
{
    expect_status(reply, status);
    expect_field(reply, "Content-Type", "text/html; charset=utf-8");
    expect_body(reply, page);
}

/* --- Its own failures ---------------------------------------------------- */

TEST(what_the_proxy_fails_at_gets_a_page)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-timeout=200ms");
    struct reply *reply;

    expect_page(answered(server, upstream, "nonsense\r\n\r\n"), 502, SORRY);
    expect_page(answered(server, upstream, ""), 504, SORRY);
    upstream_shut(upstream);
    reply = get(server, "/x");
    expect_page(reply, 502, SORRY);
    assert_non_null(strstr(reply_field(reply, "Proxy-Status"),
                           "connection_refused"));
    expect_field(reply, "Cache-Control", "no-store");
    reply = ask(server, "POST", "/x", "Content-Length: 0\r\n");
    expect_page(reply, 502, SORRY);
}

TEST(nobody_to_ask_gets_a_page_and_a_time)
{
    struct upstream *upstream = upstream_open();
    struct server *server =
        START("--workers=1", printed("--proxy=/=%s;max-conns=1", upstream->at),
              PAGES);
    struct client *first = client_open(server);
    struct reply *reply;

    client_say(first, GET);
    hear_head(upstream_accept(upstream));
    reply = get(server, "/x");
    expect_page(reply, 503, SORRY);
    assert_non_null(reply_field(reply, "Retry-After"));
}

/* By one connection: whatever follows a page would be taken for the next. */
TEST(a_page_in_the_place_of_what_a_cache_hands_over_is_all)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-cache=memory");
    struct client *client = client_open(server);

    upstream_shut(upstream);
    for (unsigned i = 0; i < 3; i++) {
        client_say(client, GET);
        expect_page(client_reply(client), 502, SORRY);
    }
    client_say(client, "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
    expect_status(client_reply_to_head(client), 502);
    client_say(client, GET);
    expect_page(client_reply(client), 502, SORRY);
}

TEST(a_head_request_gets_the_head_of_the_page)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES);
    struct client *client = client_open(server);
    struct reply *reply;

    upstream_shut(upstream);
    client_say(client, "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
    reply = client_reply_to_head(client);
    expect_status(reply, 502);
    assert_int_equal(reply->length, strlen(SORRY));
    client_say(client, GET);
    expect_page(client_reply(client), 502, SORRY);
}

TEST(without_the_file_the_reason_stays)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--error-page=502 /missing.html");
    struct reply *reply;

    upstream_shut(upstream);
    reply = get(server, "/x");
    expect_status(reply, 502);
    assert_non_null(strstr(reply->body, "cannot be connected to"));
}

/* What is refused before a body came is told no worse than the rest. */
TEST(who_is_denied_with_a_body_gets_a_page)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--error-page=403 /sorry.html",
                                  "--deny=127.0.0.1");
    struct client *client = client_open(server);

    client_say(client, "POST /x HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 1\r\n\r\nb");
    expect_page(client_reply(client), 403, SORRY);
}

/* --- Errors of the server behind ----------------------------------------- */

#define MISSING                                                        \
    "HTTP/1.1 404 Not Here\r\n" DATE                                   \
    "Content-Type: text/plain\r\nContent-Length: 5\r\nETag: \"e\"\r\n" \
    "Content-Language: de\r\nSet-Cookie: a=b\r\nServer: behind\r\n"    \
    "Cache-Control: no-cache\r\n\r\nnope\n"

TEST(errors_of_the_server_pass_unless_told)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES);
    struct reply *reply = answered(server, upstream, MISSING);

    expect_status(reply, 404);
    expect_body(reply, "nope\n");
    expect_field(reply, "ETag", "\"e\"");
}

TEST(intercepted_errors_keep_status_and_fields)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-intercept-errors");
    struct reply *reply = answered(server, upstream, MISSING);

    expect_page(reply, 404, "<p>none\n");
    expect_field(reply, "Set-Cookie", "a=b");
    expect_field(reply, "Cache-Control", "no-cache");
    expect_field(reply, "Server", "sprintd");
    expect_field(reply, "Via", "1.1 sprintd");
    expect_no_field(reply, "ETag");
    expect_no_field(reply, "Content-Language");
}

TEST(what_has_no_page_is_not_intercepted)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-intercept-errors");

    expect_body(answered(server, upstream,
                         "HTTP/1.1 401 No\r\n" DATE
                         "WWW-Authenticate: Basic realm=\"a\"\r\n"
                         "Connection: close\r\n"
                         "Content-Length: 5\r\n\r\nwho?\n"),
                "who?\n");
    expect_body(answered(server, upstream, OK "Content-Length: 2\r\n\r\nhi"),
                "hi");
}

/* Nobody waits for the rest of a body that nobody gets. */
TEST(a_long_error_is_not_read_to_its_end)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-intercept-errors");

    expect_page(answered(server, upstream,
                         "HTTP/1.1 500 Oh\r\n" DATE
                         "Content-Length: 1000000\r\n\r\nbegin"),
                500, SORRY);
}

TEST(an_error_before_the_body_is_intercepted_too)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-intercept-errors",
                                  "--proxy-request-buffer=0");
    struct client *client = client_open(server);
    struct client *peer;

    peer = upstream_asked(upstream, client,
                          "POST /x HTTP/1.1\r\nHost: a\r\n"
                          "Content-Length: 100000\r\n\r\nbegin");
    client_say(peer, "HTTP/1.1 500 Oh\r\n" DATE "Content-Length: 0\r\n\r\n");
    expect_page(client_reply(client), 500, SORRY);
}

TEST(the_connection_behind_an_error_is_kept)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-intercept-errors");
    struct client *client = client_open(server);
    struct client *peer;

    client_say(client, GET);
    peer = upstream_accept(upstream);
    for (unsigned i = 0; i < 3; i++) {
        hear_head(peer);
        client_say(peer, MISSING);
        expect_page(client_reply(client), 404, "<p>none\n");
        client_say(client, GET);
    }
}

E2E_SUITE(start);
