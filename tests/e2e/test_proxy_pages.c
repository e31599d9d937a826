/*
 * error-page for what a proxy answers: its own failures, and with
 * --proxy-intercept-errors those of the servers behind it.
 */
#include <string.h>

#include "upstream.h"

#define GET "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
#define PAGES "--error-page=5xx /sorry.html", "--error-page=404 /none.html"
#define SORRY "<p>sorry\n"

static int start(void **state)
{
    if (harness_begin(state) != 0)
        return -1;
    site_text("canary", "canary\n");
    site_text("sorry.html", SORRY);
    site_text("none.html", "<p>none\n");
    return 0;
}

/* Asks, and has the upstream say so. */
static struct reply *answered(const struct server *server,
                              const struct upstream *upstream, const char *says)
{
    struct client *client = client_open(server);
    struct client *peer;

    client_say(client, GET);
    peer = upstream_accept(upstream);
    hear_head(peer);
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

/* --- Its own failures ------------------------------------------------------ */

static void what_the_proxy_fails_at_gets_a_page(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-timeout=200ms");
    struct reply *reply;

    (void)state;
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

static void nobody_to_ask_gets_a_page_and_a_time(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server =
        START("--workers=1", printed("--proxy=/=%s;max-conns=1", upstream->at),
              PAGES);
    struct client *first = client_open(server);
    struct reply *reply;

    (void)state;
    client_say(first, GET);
    hear_head(upstream_accept(upstream));
    reply = get(server, "/x");
    expect_page(reply, 503, SORRY);
    assert_non_null(reply_field(reply, "Retry-After"));
}

static void a_head_request_gets_the_head_of_the_page(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES);
    struct client *client = client_open(server);
    struct reply *reply;

    (void)state;
    upstream_shut(upstream);
    client_say(client, "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
    reply = client_reply_to_head(client);
    expect_status(reply, 502);
    assert_int_equal(reply->length, strlen(SORRY));
    client_say(client, GET);
    expect_page(client_reply(client), 502, SORRY);
}

static void without_the_file_the_reason_stays(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--error-page=502 /missing.html");
    struct reply *reply;

    (void)state;
    upstream_shut(upstream);
    reply = get(server, "/x");
    expect_status(reply, 502);
    assert_non_null(strstr(reply->body, "cannot be connected to"));
}

/* What is refused before a body came is told no worse than the rest. */
static void who_is_denied_with_a_body_gets_a_page(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--error-page=403 /sorry.html",
                                  "--deny=127.0.0.1");
    struct client *client = client_open(server);

    (void)state;
    client_say(client, "POST /x HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 1\r\n\r\nb");
    expect_page(client_reply(client), 403, SORRY);
}

/* --- Errors of the server behind ------------------------------------------------- */

#define MISSING                                                        \
    "HTTP/1.1 404 Not Here\r\n" DATE                                   \
    "Content-Type: text/plain\r\nContent-Length: 5\r\nETag: \"e\"\r\n" \
    "Content-Language: de\r\nSet-Cookie: a=b\r\nServer: behind\r\n"    \
    "Cache-Control: no-cache\r\n\r\nnope\n"

static void errors_of_the_server_pass_unless_told(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES);
    struct reply *reply = answered(server, upstream, MISSING);

    (void)state;
    expect_status(reply, 404);
    expect_body(reply, "nope\n");
    expect_field(reply, "ETag", "\"e\"");
}

static void intercepted_errors_keep_status_and_fields(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-intercept-errors");
    struct reply *reply = answered(server, upstream, MISSING);

    (void)state;
    expect_page(reply, 404, "<p>none\n");
    expect_field(reply, "Set-Cookie", "a=b");
    expect_field(reply, "Cache-Control", "no-cache");
    expect_field(reply, "Server", "sprintd");
    expect_field(reply, "Via", "1.1 sprintd");
    expect_no_field(reply, "ETag");
    expect_no_field(reply, "Content-Language");
}

static void what_has_no_page_is_not_intercepted(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-intercept-errors");

    (void)state;
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
static void a_long_error_is_not_read_to_its_end(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-intercept-errors");

    (void)state;
    expect_page(answered(server, upstream,
                         "HTTP/1.1 500 Oh\r\n" DATE
                         "Content-Length: 1000000\r\n\r\nbegin"),
                500, SORRY);
}

static void an_error_before_the_body_is_intercepted_too(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-intercept-errors",
                                  "--proxy-request-buffer=0");
    struct client *client = client_open(server);
    struct client *peer;

    (void)state;
    client_say(client, "POST /x HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 100000\r\n\r\nbegin");
    peer = upstream_accept(upstream);
    hear_head(peer);
    client_say(peer, "HTTP/1.1 500 Oh\r\n" DATE "Content-Length: 0\r\n\r\n");
    expect_page(client_reply(client), 500, SORRY);
}

static void the_connection_behind_an_error_is_kept(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, PAGES, "--proxy-intercept-errors");
    struct client *client = client_open(server);
    struct client *peer;

    (void)state;
    client_say(client, GET);
    peer = upstream_accept(upstream);
    for (unsigned i = 0; i < 3; i++) {
        hear_head(peer);
        client_say(peer, MISSING);
        expect_page(client_reply(client), 404, "<p>none\n");
        client_say(client, GET);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        e2e_test(what_the_proxy_fails_at_gets_a_page),
        e2e_test(nobody_to_ask_gets_a_page_and_a_time),
        e2e_test(a_head_request_gets_the_head_of_the_page),
        e2e_test(without_the_file_the_reason_stays),
        e2e_test(who_is_denied_with_a_body_gets_a_page),
        e2e_test(errors_of_the_server_pass_unless_told),
        e2e_test(intercepted_errors_keep_status_and_fields),
        e2e_test(what_has_no_page_is_not_intercepted),
        e2e_test(a_long_error_is_not_read_to_its_end),
        e2e_test(an_error_before_the_body_is_intercepted_too),
        e2e_test(the_connection_behind_an_error_is_kept),
    };

    return cmocka_run_group_tests(tests, start, harness_end);
}
