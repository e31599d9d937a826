/*
 * Methods, the fields that every answer has, and how long a connection
 * persists (RFC 9110 8 and 9, RFC 9112 9).
 */
#include "client.h"

#include <strings.h>
#include <time.h>

enum { LONG_AGO = 1000000000 }; /* 2001-09-09 01:46:40 UTC */

static struct server *server;

E2E_BEGIN(start)
{
    site_text("index.html", "<p>index</p>\n");
    site_text("page.html", "<p>page</p>\n");
    site_text("style.css", "p {}\n");
    site_text("script.js", "1;\n");
    site_text("data.json", "{}\n");
    site_text("picture.png", "not really");
    site_text("vector.svg", "<svg/>\n");
    site_text("empty.txt", "");
    site_text("noextension", "?");
    site_text("unknown.qqqzzz", "?");
    site_text("future", "later\n");
    site_date("page.html", LONG_AGO, 123456789);
    site_date("future", (int64_t)time(NULL) + 100000, 0);
    server = START(NULL);
}

TEST(get_sends_the_file_and_says_what_it_is)
{
    struct reply *reply = get(server, "/page.html");
    const char *tag = reply_field(reply, "ETag");

    expect_status(reply, 200);
    expect_body(reply, "<p>page</p>\n");
    assert_int_equal(reply->framing, REPLY_BY_LENGTH);
    expect_field(reply, "Content-Type", "text/html; charset=utf-8");
    expect_field(reply, "Last-Modified", "Sun, 09 Sep 2001 01:46:40 GMT");
    expect_field(reply, "Accept-Ranges", "bytes");
    expect_field(reply, "Server", "sprintd");
    assert_non_null(tag);
    assert_int_equal(tag[0], '"'); /* strong */
    assert_int_equal(tag[strlen(tag) - 1], '"');
    assert_true(strlen(tag) > 2 &&
                strchr(tag + 1, '"') == tag + strlen(tag) - 1);
    expect_no_field(reply, "Content-Encoding");
}

TEST(the_root_has_an_index)
{
    expect_body(get(server, "/"), "<p>index</p>\n");
    expect_body(get(server, "/index.html"), "<p>index</p>\n");
    expect_body(get(server, "/?x=y"), "<p>index</p>\n");
}

TEST(the_date_is_now)
{
    int64_t before = (int64_t)time(NULL);
    int64_t date = http_date(reply_field(get(server, "/page.html"), "Date"));
    int64_t none = http_date(reply_field(get(server, "/none"), "Date"));

    assert_in_range(date, before - 1,
                    before + 1 + (int64_t)patience(1000) / 1000);
    assert_in_range(none, before - 1,
                    before + 1 + (int64_t)patience(1000) / 1000);
    /* It goes on also for what is cached. */
    assert_true(eventually(http_date(reply_field(get(server, "/page.html"),
                                                 "Date")) > date + 1,
                           5000));
}

TEST(what_is_of_tomorrow_is_not_said_to_be)
{
    struct reply *reply = get(server, "/future");
    const char *modified = reply_field(reply, "Last-Modified");

    expect_status(reply, 200);
    /* RFC 9110 8.8.2.1: not later than Date; left out or replaced. */
    if (modified)
        assert_true(http_date(modified) <=
                    http_date(reply_field(reply, "Date")));
}

TEST(types_follow_the_extension)
{
    static const struct {
        const char *target;
        const char *type;
        const char *other;
    } cases[] = {
        {"/style.css", "text/css; charset=utf-8", NULL},
        {"/script.js", "text/javascript; charset=utf-8",
         "application/javascript"},
        {"/data.json", "application/json", "application/json; charset=utf-8"},
        {"/picture.png", "image/png", NULL},
        {"/vector.svg", "image/svg+xml", "image/svg+xml; charset=utf-8"},
        {"/empty.txt", "text/plain; charset=utf-8", NULL},
        {"/noextension", "application/octet-stream", NULL},
        {"/unknown.qqqzzz", "application/octet-stream", NULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply = get(server, cases[i].target);
        const char *type = reply_field(reply, "Content-Type");

        expect_status(reply, 200);
        if (!type ||
            (strcasecmp(type, cases[i].type) != 0 &&
             (!cases[i].other || strcasecmp(type, cases[i].other) != 0)))
            flunk("%s is '%s'", cases[i].target, type ? type : "nothing");
    }
}

/* All fields but Date are the same. */
static void expect_same_fields(const struct reply *one, const struct reply *two)
{
    assert_int_equal(one->status, two->status);
    assert_int_equal(one->field_count, two->field_count);
    for (size_t i = 0; i < one->field_count; i++)
        if (strcmp(one->fields[i].name, "Date") != 0)
            expect_field(two, one->fields[i].name, one->fields[i].value);
}

TEST(head_says_the_same_without_the_body)
{
    static const char *const targets[] = {"/page.html", "/empty.txt", "/",
                                          "/none",      "/%00",       "/.git"};
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        struct reply *head = client_ask(client, "HEAD", targets[i], NULL);

        expect_same_fields(head, get(server, targets[i]));
        assert_int_equal(head->body_len, 0);
        client_expect_usable(client); /* no body came after all */
    }
}

TEST(errors_have_no_body_for_head_either)
{
    static const char *const requests[] = {
        "HEAD / HTTP/1.1\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "HEAD f HTTP/1.1\r\nHost: a\r\n\r\n",
        "HEAD /#x HTTP/1.1\r\nHost: a\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n",
    };

    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        struct client *client = client_open(server);

        going_on("%s", requests[i]);
        client_say(client, "%s", requests[i]);
        assert_in_range(client_reply_to_head(client)->status, 400, 599);
        client_expect_end(client);
    }
}

TEST(options_tells_what_is_allowed)
{
    static const char *const targets[] = {"/page.html", "*", "/", "http://test",
                                          "http://test/page.html"};
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        struct reply *reply = client_ask(client, "OPTIONS", targets[i], NULL);

        assert_true(reply->status == 200 || reply->status == 204);
        assert_true(reply_lists(reply, "Allow", "GET"));
        assert_true(reply_lists(reply, "Allow", "HEAD"));
        assert_true(reply_lists(reply, "Allow", "OPTIONS"));
        assert_int_equal(reply->body_len, 0);
    }
    client_expect_usable(client);
}

TEST(other_methods_are_405_and_unknown_ones_501)
{
    static const struct {
        const char *method;
        unsigned status;
        unsigned other;
    } cases[] = {{"POST", 405, 405},   {"PUT", 405, 405},
                 {"DELETE", 405, 405}, {"PATCH", 405, 405},
                 {"TRACE", 405, 501},  {"PROPFIND", 405, 501},
                 {"MKCOL", 405, 501},  {"BREW", 501, 501},
                 {"X", 501, 501},      {"get", 501, 400},
                 {"Get", 501, 400},    {"GETT", 501, 501},
                 {"GE", 501, 501},     {"QUERY", 405, 405},
                 {"UPDATE", 405, 405}, {"QUERYX", 501, 501}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply = ask(server, cases[i].method, "/page.html",
                                  "Secret: 4711\r\n");

        going_on("%s", cases[i].method);
        if (reply->status != cases[i].status && reply->status != cases[i].other)
            flunk("answered %u", reply->status);
        if (reply->status == 405) {
            assert_true(reply_lists(reply, "Allow", "GET"));
            assert_true(reply_lists(reply, "Allow", "HEAD"));
            assert_false(reply_lists(reply, "Allow", cases[i].method));
        }
        /* Above all TRACE must not send back what it was sent. */
        assert_null(memmem(reply->body, reply->body_len, "4711", 4));
    }
}

TEST(connect_makes_no_tunnel)
{
    struct client *client = client_open(server);
    unsigned status;

    client_say(client, "CONNECT test:80 HTTP/1.1\r\nHost: test:80\r\n\r\n");
    status = client_reply(client)->status;
    assert_true(status == 400 || status == 405 || status == 501);
}

TEST(http_1_1_persists_until_told_otherwise)
{
    struct client *client = client_open(server);
    struct reply *reply;

    for (size_t i = 0; i < 10; i++) {
        reply = client_ask(client, "GET", i % 2 ? "/none" : "/canary", NULL);
        assert_false(reply_lists(reply, "Connection", "close"));
    }
    reply = client_ask(client, "GET", "/canary", "Connection: close\r\n");
    expect_status(reply, 200);
    expect_field(reply, "Connection", "close");
    client_expect_end(client);
}

TEST(http_1_0_ends_unless_told_otherwise)
{
    struct client *client = client_open(server);
    struct reply *reply;

    for (size_t i = 0; i < 10; i++) {
        client_say(client, "GET /canary HTTP/1.0\r\n"
                           "Connection: keep-alive\r\n\r\n");
        reply = client_reply(client);
        expect_body(reply, "canary\n");
        assert_true(reply_lists(reply, "Connection", "keep-alive"));
    }
    client_say(client, "HEAD /canary HTTP/1.0\r\n"
                       "Connection: Keep-Alive\r\n\r\n");
    reply = client_reply_to_head(client);
    assert_true(reply_lists(reply, "Connection", "keep-alive"));
    client_say(client, "GET /canary HTTP/1.0\r\n\r\n");
    reply = client_reply(client);
    expect_body(reply, "canary\n");
    assert_false(reply_lists(reply, "Connection", "keep-alive"));
    client_expect_end(client);
}

TEST(a_connection_has_as_many_requests_as_told)
{
    struct server *three = START("--max-requests-per-connection=3");
    struct client *client = client_open(three);
    struct reply *reply;

    for (size_t i = 1; i <= 3; i++) {
        reply = client_ask(client, "GET", "/canary", NULL);
        expect_body(reply, "canary\n");
        assert_int_equal(reply_lists(reply, "Connection", "close"), i == 3);
    }
    client_expect_end(client);
}

TEST(options_of_the_command_change_the_fields)
{
    struct server *other = START("--no-server-header", "--cache-control",
                                 "public, max-age=60");
    struct reply *reply = get(other, "/page.html");
    char fields[256];

    expect_no_field(reply, "Server");
    expect_field(reply, "Cache-Control", "public, max-age=60");
    snprintf(fields, sizeof(fields), "If-None-Match: %s\r\n",
             reply_field(reply, "ETag"));
    reply = ask(other, "GET", "/page.html", fields);
    expect_status(reply, 304);
    expect_field(reply, "Cache-Control", "public, max-age=60");
    reply = ask(other, "GET", "/page.html", "Range: bytes=0-1\r\n");
    expect_status(reply, 206);
    expect_field(reply, "Cache-Control", "public, max-age=60");
    reply = get(other, "/none");
    expect_status(reply, 404);
    expect_no_field(reply, "Server");
    expect_no_field(get(server, "/page.html"), "Cache-Control");
}

E2E_SUITE(start);
