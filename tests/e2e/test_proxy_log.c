/*
 * What the logs tell of a proxied request, and the names by which it is found
 * in those of others: upstream fields, headers, X-Request-Id, traceparent.
 */

#include "operator.h"
#include "upstream.h"

#define GET "GET /x?y HTTP/1.1\r\nHost: a\r\n"
#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

enum { ID_LEN = 32, DELAY_MS = 60, LARGE = 300000 };

static char *log_path;

E2E_BEGIN(start)
{
    operator_adopt();
    site_seeded("large", 1, LARGE);
}

static struct server *start_logging(const struct upstream *upstream,
                                    const char *format, const char *option)
{
    log_path = printed("%s/log.%llu", folder(), (unsigned long long)now_ms());
    return START("--workers=1", printed("--proxy=/up=%s", upstream->at),
                 printed("--proxy=/x=%s", upstream->at),
                 printed("--access-log=%s", log_path),
                 printed("--log-format=%s", format), option);
}

/* All lines, when the server has ended. */
static const char *logged(struct server *server)
{
    server_stop(server);
    return read_text(log_path, NULL);
}

static void expect_logged(struct server *server, const char *wanted)
{
    const char *text = logged(server);

    if (strcmp(text, wanted) != 0)
        flunk("'%s' instead of '%s'", text, wanted);
}

/* The value in a head, freed after the test; NULL: it has no such field, or
 * more than one. */
static const char *value_of(const char *head, const char *name)
{
    const char *line = strstr(head, printed("\r\n%s: ", name));
    const char *value;

    if (!line || strstr(line + 2, printed("\r\n%s: ", name)))
        return NULL;
    value = line + 4 + strlen(name);
    return printed("%.*s", (int)strcspn(value, "\r"), value);
}

/* Asks with these fields besides, and has the upstream answer; the head that it
 * has heard. */
static const char *exchange(const struct server *server,
                            const struct upstream *upstream, const char *fields,
                            const char *says, struct reply **reply_out)
{
    struct client *client = client_open(server);
    struct client *peer;
    const char *head;

    client_say(client, GET "%s\r\n", fields);
    peer = upstream_accept(upstream);
    head = hear_head(peer);
    client_send(peer, says, strlen(says));
    *reply_out = client_reply(client);
    client_close(client);
    client_close(peer);
    return head;
}

static bool is_made(const char *id)
{
    return id && strlen(id) == ID_LEN &&
           strspn(id, "0123456789abcdef") == ID_LEN;
}

/* --- Who was asked ------------------------------------------------------- */

TEST(the_log_tells_who_answered_and_when)
{
    struct upstream *upstream = upstream_open();
    struct server *server =
        start_logging(upstream,
                      "%{upstream} %{upstream_status} %{status} "
                      "%{upstream_connect_us} %{upstream_first_us} "
                      "%{upstream_total_us}",
                      NULL);
    struct client *client = client_open(server);
    unsigned long long connect, first, total;
    unsigned status[2];
    struct client *peer;
    const char *text;
    char name[64];

    peer = upstream_asked(upstream, client, GET "\r\n");
    pause_ms(DELAY_MS);
    client_say(peer, OK "Content-Length: 2\r\n\r\n");
    pause_ms(DELAY_MS);
    client_say(peer, "hi");
    client_reply(client);
    client_say(client, GET "\r\n"); /* over the same connection */
    hear_head(peer);
    client_say(peer, "HTTP/1.1 404 No\r\n" DATE "Content-Length: 0\r\n\r\n");
    client_reply(client);
    text = logged(server);
    assert_int_equal(sscanf(text, "%63s %u %u %llu %llu %llu\n", name,
                            &status[0], &status[1], &connect, &first, &total),
                     6);
    assert_string_equal(name, upstream->name);
    assert_int_equal(status[0], 200);
    assert_int_equal(status[1], 200);
    assert_true(connect < first);
    assert_true(first >= (DELAY_MS - 5) * 1000);
    assert_true(total >= first + (DELAY_MS - 5) * 1000);
    text = strchr(text, '\n') + 1;
    assert_int_equal(sscanf(text, "%63s %u %u %llu %llu %llu\n", name,
                            &status[0], &status[1], &connect, &first, &total),
                     6);
    assert_int_equal(status[0], 404);
    assert_int_equal(connect, 0);
    assert_true(total >= first);
}

TEST(what_did_not_come_is_a_dash)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_logging(upstream,
                                          "%{upstream} %{upstream_status} "
                                          "%{upstream_connect_us} "
                                          "%{upstream_first_us}",
                                          NULL);

    upstream_shut(upstream);
    expect_status(get(server, "/canary"), 200);
    expect_status(get(server, "/up"), 502);
    expect_logged(server, printed("- - - -\n%s - - -\n", upstream->name));
}

/* Its client has gone, and so nothing came of it. */
TEST(one_that_is_broken_off_is_told_of)
{
    struct upstream *upstream = upstream_open();
    struct server *server =
        start_logging(upstream, "%{upstream} %{upstream_status}", NULL);
    struct client *client = client_open(server);
    struct client *peer;

    peer = upstream_asked(upstream, client, GET "\r\n");
    client_reset(client);
    hear_end(peer);
    expect_logged(server, printed("%s -\n", upstream->name));
}

TEST(a_unix_socket_is_named_by_its_path)
{
    struct upstream *upstream = upstream_open_unix();
    struct server *server = start_logging(upstream, "%{upstream}", NULL);
    struct reply *reply;

    exchange(server, upstream, "", HI, &reply);
    expect_logged(server, printed("%s\n", upstream->name));
}

/* --- Headers ------------------------------------------------------------- */

TEST(headers_are_told_and_escaped)
{
    struct upstream *upstream = upstream_open();
    struct server *server =
        start_logging(upstream,
                      "\"%{header:x-one}\" \"%{header:Nothing}\" "
                      "\"%{response_header:X-Two}\" "
                      "%{response_header:content-length}",
                      NULL);
    struct reply *reply;

    exchange(server, upstream, "X-One: a\"\\\tb\xC3\xA9\r\nX-One: second\r\n",
             OK "X-Two: \"q\r\nContent-Length: 2\r\n\r\nhi", &reply);
    expect_logged(server, "\"a\\x22\\x5c\\x09b\\xc3\\xa9\" \"-\" \"\\x22q\" "
                          "2\n");
}

TEST(response_headers_of_all_kinds_of_answers_are_told)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_logging(upstream,
                                          "%{response_header:Content-Type} "
                                          "%{response_header:Connection} "
                                          "%{response_header:Allow}",
                                          NULL);
    struct client *client = client_open(server);

    site_text("page.html", "<p>page\n");
    client_ask(client, "GET", "/page.html", NULL);
    client_ask(client, "GET", "/large", NULL);
    client_ask(client, "GET", "/none", NULL);
    client_ask(client, "DELETE", "/page.html", NULL);
    client_ask(client, "GET", "/page.html", "Range: bytes=0-1\r\n");
    client_ask(client, "GET", "/page.html", "Connection: close\r\n");
    client_say(client = client_open(server), "nonsense\r\n\r\n");
    client_reply(client);
    expect_logged(server, "text/html; charset=utf-8 - -\n"
                          "application/octet-stream - -\n"
                          "text/html; charset=utf-8 - -\n"
                          "text/html; charset=utf-8 - GET, HEAD, OPTIONS\n"
                          "text/html; charset=utf-8 - -\n"
                          "text/html; charset=utf-8 close -\n"
                          "text/plain; charset=utf-8 close -\n");
}

/* --- X-Request-Id -------------------------------------------------------- */

TEST(a_request_has_one_id_everywhere)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_logging(upstream, "%{request_id}", NULL);
    const char *ids[2];

    for (size_t i = 0; i < 2; i++) {
        struct reply *reply;
        const char *head = exchange(server, upstream,
                                    "X-Request-Id: forged\r\n"
                                    "X_Request_Id: forged\r\n",
                                    OK "X-Request-Id: its own\r\n"
                                       "Content-Length: 2\r\n\r\nhi",
                                    &reply);

        ids[i] = value_of(head, "X-Request-Id");
        assert_true(is_made(ids[i]));
        assert_null(strstr(head, "forged"));
        expect_field(reply, "X-Request-Id", ids[i]);
    }
    assert_string_not_equal(ids[0], ids[1]);
    expect_logged(server, printed("%s\n%s\n", ids[0], ids[1]));
}

TEST(the_id_of_a_trusted_proxy_is_kept_if_it_is_one)
{
    static const char *const bad[] = {"X-Request-Id: a b\r\n",
                                      "X-Request-Id: \"a\"\r\n",
                                      "X-Request-Id:\r\n",
                                      "X-Request-Id: a\r\nX-Request-Id: b\r\n"};
    struct upstream *upstream = upstream_open();
    struct server *server = start_logging(upstream, "%{request_id}",
                                          "--trusted-proxies=127.0.0.1");
    struct reply *reply;
    char longest[129], longer[130];

    memset(longest, 'a', sizeof(longest));
    memset(longer, 'a', sizeof(longer));
    longest[128] = longer[129] = '\0';
    exchange(server, upstream, "X-Request-Id: Root=1-67891233-abcdef\r\n", HI,
             &reply);
    expect_field(reply, "X-Request-Id", "Root=1-67891233-abcdef");
    exchange(server, upstream, printed("X-Request-Id: %s\r\n", longest), HI,
             &reply);
    expect_field(reply, "X-Request-Id", longest);
    exchange(server, upstream, printed("X-Request-Id: %s\r\n", longer), HI,
             &reply);
    assert_true(is_made(reply_field(reply, "X-Request-Id")));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        going_on("%s", bad[i]);
        exchange(server, upstream, bad[i], HI, &reply);
        assert_true(is_made(reply_field(reply, "X-Request-Id")));
    }
}

TEST(files_have_an_id_where_the_log_tells_it)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_logging(upstream, "%{request_id}", NULL);
    struct server *silent = START("--proxy", printed("/x=%s", upstream->at));
    struct client *client = client_open(server);
    const char *first = reply_field(client_ask(client, "GET", "/canary", NULL),
                                    "X-Request-Id");
    const char *second = reply_field(client_ask(client, "GET", "/none", NULL),
                                     "X-Request-Id");

    assert_true(is_made(first));
    assert_true(is_made(second));
    expect_no_field(get(silent, "/canary"), "X-Request-Id");
    expect_logged(server, printed("%s\n%s\n", first, second));
}

TEST(off_passes_ids_as_they_come)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_logging(upstream, "%{request_id}",
                                          "--request-id=off");
    struct reply *reply;
    const char *head = exchange(server, upstream, "X-Request-Id: theirs\r\n",
                                HI, &reply);

    assert_string_equal(value_of(head, "X-Request-Id"), "theirs");
    expect_no_field(reply, "X-Request-Id");
    expect_logged(server, "-\n");
}

TEST(an_upload_and_a_fault_have_an_id_too)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_logging(upstream, "%{request_id}", NULL);
    struct client *client = client_open(server);
    struct client *peer;
    struct reply *reply;
    const char *id;

    client_say(client, "POST /x HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 2\r\n\r\nhi");
    peer = upstream_accept(upstream);
    id = value_of(hear_head(peer), "X-Request-Id");
    client_close(peer);
    assert_true(is_made(id));
    reply = client_reply(client);
    expect_status(reply, 502);
    expect_field(reply, "X-Request-Id", id);
    expect_logged(server, printed("%s\n", id));
}

/* --- traceparent --------------------------------------------------------- */

TEST(a_traceparent_is_passed_on_and_made_where_wished)
{
    struct upstream *upstream = upstream_open();
    struct server *passing = start_logging(upstream, "common", NULL);
    struct server *making = start_logging(upstream, "common",
                                          "--proxy-traceparent=make");
    const char *fields = "traceparent: " PARENT "\r\ntracestate: a=b\r\n";
    struct reply *reply;
    const char *head, *made;

    head = exchange(passing, upstream, "", HI, &reply);
    assert_null(strstr(head, "trace"));
    head = exchange(passing, upstream, fields, HI, &reply);
    assert_string_equal(value_of(head, "traceparent"), PARENT);
    assert_string_equal(value_of(head, "tracestate"), "a=b");
    head = exchange(making, upstream, fields, HI, &reply);
    assert_string_equal(value_of(head, "traceparent"), PARENT);
    assert_string_equal(value_of(head, "tracestate"), "a=b");
    head = exchange(making, upstream,
                    "traceparent: 00-x\r\ntracestate: a=b\r\n", HI, &reply);
    made = value_of(head, "traceparent");
    assert_non_null(made);
    assert_int_equal(strlen(made), strlen(PARENT));
    assert_memory_equal(made + 3, value_of(head, "X-Request-Id"), ID_LEN);
    assert_string_equal(made + 52, "-01");
    assert_null(value_of(head, "tracestate"));
}

/* --- Warnings ------------------------------------------------------------ */

TEST(warnings_name_the_uri_and_the_request)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START("--workers=1",
                                  printed("--proxy=/=%s", upstream->at),
                                  "--proxy-timeout=100ms");
    struct client *client = client_open(server);
    const char *id;

    client_say(client, GET "\r\n");
    id = value_of(hear_head(upstream_accept(upstream)), "X-Request-Id");
    expect_status(client_reply(client), 504);
    assert_true(eventually(
        server_has_said(server,
                        printed("took too long to answer; URI '/x?y', request "
                                "%s\n",
                                id)),
        1000));
    upstream_shut(upstream);
    id = reply_field(client_ask(client, "GET", "/gone", NULL), "X-Request-Id");
    assert_true(eventually(
        server_has_said(server, printed("Connection refused; URI '/gone', "
                                        "request %s\n",
                                        id)),
        1000));
}

TEST(the_only_server_is_not_said_to_be_left_out)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-fails=2");

    upstream_shut(upstream);
    for (unsigned i = 0; i < 3; i++)
        expect_status(get(server, "/"), 502);
    assert_true(server_has_said(server, "has failed too often; it is asked all "
                                        "the same, for no other is up\n"));
    assert_false(server_has_said(server, "left out"));
    assert_false(server_has_said(server, "0 more"));
}

/* --- Templates ----------------------------------------------------------- */

TEST(templates_that_cannot_be_are_refused)
{
    static const char *const bad[][2] = {
        {"%{header:}", "unknown field"},
        {"%{headers:a}", "header:NAME"},
        {"%{header:"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}",
         "at most 64 bytes"},
    };
    struct outcome outcome;
    char many[1024] = "";

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        RUN(&outcome, "--test", printed("--log-format=%s", bad[i][0]));
        assert_int_not_equal(outcome.status, 0);
        if (!strstr(outcome.err, bad[i][1]))
            flunk("'%s' is not in '%s'", bad[i][1], outcome.err);
    }
    for (unsigned i = 0; i < 17; i++)
        strncat(many, "%{header:a}", sizeof(many) - strlen(many) - 1);
    RUN(&outcome, "--test", printed("--log-format=%s", many));
    assert_non_null(strstr(outcome.err, "at most 16 headers"));
}

SUITE(.begin = start, .end = harness_end, .each_end = operator_after_test);
