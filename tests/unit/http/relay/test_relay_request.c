#include "unit/http/relay/relay_fixture.h"

TEST(a_request_is_made_anew)
{
    assert_int_equal(relay_text(BYTES("GET /a%20b?c HTTP/1.1\r\nhost: a\r\n"
                                      "User-Agent:  x \r\nX:\r\nX: y\r\n"
                                      "Cookie: c\r\n\r\n")),
                     RELAY_DONE);
    storage[out.len] = '\0';
    assert_string_equal(
        storage, "GET /a%20b?c HTTP/1.1\r\nHost: a\r\nUser-Agent: x\r\n"
                 "X: \r\nX: y\r\nCookie: c\r\nVia: 1.1 sprintd\r\n"
                 "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: http\r\n"
                 "X-Forwarded-Host: a\r\n"
                 "Forwarded: for=192.0.2.1;proto=http;host=a\r\n\r\n");
}

TEST(names_and_values_that_lie_apart_are_no_line)
{
    static const char text[] = "A: 1;;B; 2\r\nC: 3";
    const struct field fields[] = {
        {{text, 1}, {text + 3, 1}, FIELD_OTHER},
        {{text + 6, 1}, {text + 9, 1}, FIELD_OTHER},
        {{text + 12, 1}, {text + 15, 1}, FIELD_OTHER}};

    assert_int_equal(relay_text(BYTES("GET / HTTP/1.1\r\nHost: a\r\n\r\n")),
                     RELAY_DONE);
    memcpy(request.fields, fields, sizeof(fields));
    request.field_count = 3;
    request.seen = 0;
    out.len = 0;
    assert_int_equal(relay_request(&relay, &request, &from, &out), RELAY_DONE);
    storage[out.len] = '\0';
    assert_non_null(strstr(storage, "\r\nA: 1\r\nB: 2\r\nC: 3\r\nVia"));
}

/* --- Targets ------------------------------------------------------------- */

static const struct {
    const char *strip, *replace, *target;
    const char *expected; /* NULL: refused */
} targets[] = {
    {"", "", "/", "/"},
    {"", "", "/a//b/?c?d", "/a//b/?c?d"},
    {"", "", "/%2e%2e%2e/.a/..b/a..", "/%2e%2e%2e/.a/..b/a.."},
    {"", "", "/a?b/../c", "/a?b/../c"},
    {"", "", "/?", "/?"},
    {"", "", "http://b", "/"},
    {"", "", "http://b?c", "/?c"},
    {"", "", "http://b/c?d", "/c?d"},
    {"", "/x", "/a", "/x/a"},
    {"", "/x/", "/a", "/x/a"},
    {"", "/", "/a", "/a"},
    {"/app", "", "/app", "/"},
    {"/app", "", "/app?b", "/?b"},
    {"/app", "", "/app/b", "/b"},
    {"/app", "/", "/app/b", "/b"},
    {"/app", "/x", "/app/b", "/x/b"},
    {"/app/", "/", "/app/", "/"},
    {"/app/", "/", "/app/b?c", "/b?c"},
    {"/app/", "/x/y/", "/app/b", "/x/y/b"},
    {"/app/", "", "/app/b", "/b"},
    {"/app/", "x", "/app/b", "/xb"},
    {"/app", "", "/apple", NULL},
    {"/app", "", "/ap", NULL},
    {"/app/", "", "/app", NULL},
    {"/app", "", "/%61pp/b", NULL},
    {"/app", "", "//app/b", NULL},
    {"/app", "", "/App/b", NULL},
    {"", "", "/.", NULL},
    {"", "", "/..", NULL},
    {"", "", "/a/../b", NULL},
    {"", "", "/a/./b", NULL},
    {"", "", "/a/%2e%2E/b", NULL},
    {"", "", "/a/.%2e", NULL},
    {"", "", "/a/%2e", NULL},
    {"", "", "/a/..;x=y/b", NULL},
    {"", "", "/a/..%3b/b", NULL},
    {"", "", "/%2e%2E%3Bx", NULL},
    {"", "", "/..%3a/b", "/..%3a/b"},
    {"", "", "/a\\..\\b", NULL},
    {"", "", "/a%5c..%5Cb", NULL},
    {"", "/v1", "/..%5cb", NULL},
    {"", "/v1", "/a%5c.", NULL},
    {"", "", "/a%5c..b", "/a%5c..b"},
    {"/app", "", "/app/../b", NULL},
    {"", "", "http://b/a/../c", NULL},
};

TEST(a_target_goes_on_as_sent_but_for_its_prefix)
{
    for (size_t i = 0; i < COUNT(targets); i++) {
        char text[200];
        enum relay_verdict verdict;
        const char *line;

        relay.strip = bytes_of(targets[i].strip);
        relay.replace = bytes_of(targets[i].replace);
        snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n",
                 targets[i].target);
        verdict = relay_text(bytes_of(text));
        if (!targets[i].expected) {
            if (verdict != RELAY_BAD_TARGET)
                fail_msg("%d: %s", verdict, text);
            continue;
        }
        assert_int_equal(verdict, RELAY_DONE);
        line = targets[i].expected;
        assert_memory_equal(storage, "GET ", 4);
        assert_memory_equal(storage + 4, line, strlen(line));
        assert_memory_equal(storage + 4 + strlen(line), " HTTP/1.1\r\n", 11);
    }
}

TEST(the_whole_server_is_asked_wherever_it_is)
{
    relay.strip = BYTES("/app");
    relay.replace = BYTES("/x");
    assert_goes_on("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
                   "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
}

/* --- Host ---------------------------------------------------------------- */

TEST(host_is_the_clients_or_the_upstreams)
{
    static const struct {
        const char *text;
        bool keeps_host;
        const char *expected;
    } hosts[] = {
        {GET_WITH(""), true, "Host: a\r\n"},
        {GET_WITH(""), false, "Host: up:9000\r\n"},
        {"GET http://b:1/ HTTP/1.1\r\nHost: a\r\n\r\n", true, "Host: b:1\r\n"},
        {"GET / HTTP/1.0\r\n\r\n", true, "Host: up:9000\r\n"},
        {"GET / HTTP/1.0\r\nHost: a\r\n\r\n", true, "Host: a\r\n"},
    };

    for (size_t i = 0; i < COUNT(hosts); i++) {
        const char *line = "GET / HTTP/1.1\r\n";

        relay.keeps_host = hosts[i].keeps_host;
        assert_int_equal(relay_text(bytes_of(hosts[i].text)), RELAY_DONE);
        assert_memory_equal(storage + strlen(line), hosts[i].expected,
                            strlen(hosts[i].expected));
        assert_non_null(memmem(storage, out.len, "Host: ", 6));
        assert_null(memmem(storage + strlen(line) + 6,
                           out.len - strlen(line) - 6, "\r\nHost:", 7));
    }
}

/* --- One connection, and the next ---------------------------------------- */

TEST(what_belongs_to_one_connection_stays_there)
{
    assert_goes_on(
        GET_WITH(
            "Connection: close, X-A ,,x-b\r\nX-A: 1\r\nX-B: 2\r\nX-C: 3\r\n"
            "Keep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n"
            "Proxy-Authorization: Basic eDp5\r\nProxy-Authenticate: x\r\n"
            "Proxy: http://evil/\r\nProxy_Connection: x\r\nTE: gzip\r\n"
            "Trailer: X-D\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n"
            "Expect: 100-continue\r\n"),
        GET_WITH("X-C: 3\r\n"));
    assert_goes_on(GET_WITH("Connection: x-a\r\nConnection: keep-alive, te\r\n"
                            "x-A: 1\r\n"),
                   GET_WITH(""));
}

TEST(connection_may_not_take_away_what_is_for_all)
{
    static const char *const names[] = {
        "Host",
        "content-length",
        "Transfer-Encoding",
        "Authorization",
        "Cookie",
        "X-Forwarded-For",
        "Via",
        "X-Forwarded-Foo",
        "X-Real-IP",
        "Forwarded",
        "Content-Type",
        "Cache-Control",
        "Set-Cookie",
        "Range",
        "Max-Forwards",
        "Expect",
        "a b",
        "\"a\"",
        "a;b",
        "Date",
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        char text[200];

        snprintf(text, sizeof(text), GET_WITH("Connection: close, %s\r\n"),
                 names[i]);
        if (relay_text(bytes_of(text)) != RELAY_BAD_CONNECTION)
            fail_msg("%s", text);
    }
    assert_int_equal(relay_reason(RELAY_BAD_CONNECTION),
                     REASON_CONNECTION_FIELD);
}

TEST(connection_names_16_fields_at_most)
{
    char text[300];

    for (int count = RELAY_NOMINATED_MAX; count <= RELAY_NOMINATED_MAX + 1;
         count++) {
        size_t len = (size_t)snprintf(text, sizeof(text),
                                      "GET / HTTP/1.1\r\nHost: a\r\n"
                                      "Connection: close, close, keep-alive");

        for (int i = 0; i < count; i++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, ",X%d", i);
        snprintf(text + len, sizeof(text) - len, "\r\n\r\n");
        assert_int_equal(relay_text(bytes_of(text)),
                         count == RELAY_NOMINATED_MAX ? RELAY_DONE
                                                      : RELAY_BAD_CONNECTION);
    }
}

TEST(trailers_are_asked_for_when_the_client_reads_them)
{
    assert_goes_on(GET_WITH("TE: gzip;q=1, trailers\r\n"),
                   GET_WITH("TE: trailers\r\nConnection: TE\r\n"));
    assert_true(relay_takes_trailers(&request));
    assert_goes_on(GET_WITH("TE: trailersx\r\n"), GET_WITH(""));
    assert_false(relay_takes_trailers(&request));
    parse(BYTES("GET / HTTP/1.0\r\nTE: trailers\r\n\r\n"));
    assert_false(relay_takes_trailers(&request));
}

TEST(credentials_are_the_requests_or_the_connections)
{
    static const struct {
        const char *text;
        bool binds;
    } cases[] = {
        {GET_WITH(""), false},
        {GET_WITH("Authorization: Basic YTpi\r\n"), false},
        {GET_WITH("Authorization: Bearer NTLM\r\n"), false},
        {GET_WITH("Authorization: NT\r\n"), false},
        {GET_WITH("Authorization: \r\n"), false},
        {GET_WITH("X-Authorization: NTLM TlRM\r\n"), false},
        {GET_WITH("Authorization: NTLM TlRM\r\n"), true},
        {GET_WITH("authorization: nTlM TlRM\r\n"), true},
        {GET_WITH("Authorization: Negotiate YIIB\r\n"), true},
        {GET_WITH("Authorization: Nego2 YIIB\r\n"), true},
        {GET_WITH("Authorization: Basic YTpi\r\n"
                  "Authorization: NTLM TlRM\r\n"),
         true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        parse(bytes_of(cases[i].text));
        if (relay_binds_connection(&request) != cases[i].binds)
            fail_msg("%s", cases[i].text);
    }
}

/* --- Upgrades ------------------------------------------------------------ */

TEST(an_upgrade_goes_on_where_it_is_allowed)
{
    const char *text = GET_WITH("Connection: keep-alive, Upgrade\r\n"
                                "Upgrade: h2c, WebSocket\r\n"
                                "Sec-WebSocket-Key: k\r\n");

    assert_goes_on(text, GET_WITH("Sec-WebSocket-Key: k\r\n"));
    relay.upgrade = BYTES("websocket");
    assert_goes_on(text, GET_WITH("Sec-WebSocket-Key: k\r\n"
                                  "Upgrade: websocket\r\n"
                                  "Connection: upgrade\r\n"));
    assert_goes_on(GET_WITH("Connection: upgrade, te\r\nTE: trailers\r\n"
                            "Upgrade: websocket\r\n"),
                   GET_WITH("TE: trailers\r\nUpgrade: websocket\r\n"
                            "Connection: upgrade, TE\r\n"));
}

TEST(an_upgrade_that_is_none_goes_on_without)
{
    static const char *const texts[] = {
        GET_WITH("Upgrade: websocket\r\n"),
        GET_WITH("Connection: upgrade\r\n"),
        GET_WITH("Connection: upgrade\r\nUpgrade: h2c\r\n"),
        GET_WITH("Connection: upgrade\r\nUpgrade: websocket/13\r\n"),
        GET_WITH("Connection: upgrade\r\nUpgrade: websocket\r\n"
                 "Content-Length: 1\r\n"),
        GET_WITH("Connection: upgrade\r\nUpgrade: websocket\r\n"
                 "Transfer-Encoding: chunked\r\n"),
        POST_WITH("Connection: upgrade\r\nUpgrade: websocket\r\n"),
        "GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    };

    relay.upgrade = BYTES("websocket");
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_int_equal(relay_text(bytes_of(texts[i])), RELAY_DONE);
        assert_false(relay_upgrades(&relay, &request));
        assert_null(memmem(storage, out.len, "pgrade", 6));
    }
}

/* --- Framing ------------------------------------------------------------- */

TEST(a_body_is_framed_anew)
{
    assert_goes_on(POST_WITH("content-length:\t007\r\nA: b\r\n"),
                   POST_WITH("A: b\r\nContent-Length: 7\r\n"));
    assert_int_equal(relay_framing(&request, &from), BODY_LENGTH);
    assert_goes_on(POST_WITH("Content-Length: 0\r\n"),
                   POST_WITH("Content-Length: 0\r\n"));
    assert_goes_on(POST_WITH("transfer-encoding: CHUNKED\r\nA: b\r\n"),
                   POST_WITH("A: b\r\nTransfer-Encoding: chunked\r\n"));
    assert_int_equal(relay_framing(&request, &from), BODY_CHUNKED);
    assert_goes_on(POST_WITH(""), POST_WITH(""));
    assert_int_equal(relay_framing(&request, &from), BODY_NONE);
}

TEST(a_body_that_lies_here_is_sent_with_its_length)
{
    from.has_length = true;
    from.length = 12;
    assert_goes_on(POST_WITH("Transfer-Encoding: chunked\r\n"),
                   POST_WITH("Content-Length: 12\r\n"));
    assert_int_equal(relay_framing(&request, &from), BODY_LENGTH);
    from.length = 0;
    assert_goes_on(POST_WITH("Transfer-Encoding: chunked\r\n"),
                   POST_WITH("Content-Length: 0\r\n"));
    assert_goes_on(GET_WITH(""), GET_WITH(""));
}

TEST(an_expectation_goes_on_when_it_shall)
{
    const char *text = POST_WITH("Expect: 100-Continue\r\n"
                                 "Content-Length: 1\r\n");

    assert_goes_on(text, POST_WITH("Content-Length: 1\r\n"));
    from.expects_continue = true;
    assert_goes_on(text, POST_WITH("Expect: 100-continue\r\n"
                                   "Content-Length: 1\r\n"));
    assert_goes_on(POST_WITH(""), POST_WITH(""));
    assert_goes_on(POST_WITH("Expect: 100-continue\r\n"), POST_WITH(""));
    assert_goes_on(POST_WITH("Expect: 100-continue\r\n"
                             "Content-Length: 0\r\n"),
                   POST_WITH("Content-Length: 0\r\n"));
}

/* --- Room ---------------------------------------------------------------- */

TEST(what_does_not_fit_is_said_to_be_too_large)
{
    size_t len;

    assert_int_equal(relay_text(BYTES(GET_WITH("A: b\r\n"))), RELAY_DONE);
    len = out.len;
    for (size_t room = 0; room < len; room++) {
        struct buf small;

        buf_init(&small, storage, room, room);
        assert_int_equal(relay_request(&relay, &request, &from, &small),
                         RELAY_TOO_LARGE);
    }
    assert_int_equal(relay_reason(RELAY_TOO_LARGE), REASON_HEAD_TOO_LARGE);
}

TEST(the_largest_head_there_may_be_has_room)
{
    static char text[HTTP1_HEAD_BYTES_MAX];
    static char value[8000];
    size_t len;

    memset(value, 'v', sizeof(value));
    len = (size_t)snprintf(text, sizeof(text), "GET /%.*s HTTP/1.1\r\nHost: a",
                           7000, value);
    for (int i = 0; i < 90; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "\r\nA:");
    snprintf(text + len, sizeof(text) - len, "\r\nB: %.*s\r\n\r\n",
             (int)sizeof(value), value);
    assert_int_equal(relay_text(bytes_of(text)), RELAY_DONE);
}

TEST(every_verdict_has_its_reason)
{
    assert_int_equal(relay_reason(RELAY_BAD_TARGET), REASON_PATH_UNCLEAR);
    assert_int_equal(relay_reason(RELAY_BAD_COUNT), REASON_MAX_FORWARDS);
    assert_int_equal(relay_reason(RELAY_BAD_SWITCH), REASON_NONE);
    assert_int_equal(relay_reason(RELAY_LAST), REASON_NONE);
    assert_int_equal(relay_reason(RELAY_DONE), REASON_NONE);
}

SUITE(.each_begin = set_up);
