#include "http/relay/relay.h"

#include "http/http1/http1_frame.h"
#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct now now = {.wall_s = 784111777};

#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define HEAD "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
#define TRAILERS "GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n"
#define UPGRADE                                            \
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n" \
    "Upgrade: websocket\r\n\r\n"

static struct relay relay;
static struct field few[REQUEST_FIELDS_FEW];
static struct request request = {.fields = few};
static struct reply reply;
static struct buf out;
static char storage[RELAY_HEAD_BYTES_MAX];

static int set_up(void **state)
{
    (void)state;
    relay = (struct relay){.pseudonym = BYTES("sprintd"),
                           .upgrade = BYTES("websocket")};
    return 0;
}

static void parse(const char *asked, const char *answered)
{
    struct http1_progress progress = {0};
    const char *fault = "is not all there";
    size_t used;
    enum reason reason;

    assert_int_equal(http1_parse(&progress, asked, strlen(asked), &request,
                                 &used, &reason),
                     HTTP1_DONE);
    if (http1_parse_reply(&progress, answered, strlen(answered), &reply, &used,
                          &fault) != HTTP1_DONE)
        fail_msg("it %s: %s", fault, answered);
    buf_init(&out, storage, sizeof(storage) - 1, sizeof(storage) - 1);
}

static enum relay_verdict relay_text(const char *asked, const char *answered)
{
    parse(asked, answered);
    return relay_reply(&relay, &request, &reply, &out);
}

static void assert_goes_on(const char *asked, const char *answered,
                           const char *expected)
{
    assert_int_equal(relay_text(asked, answered), RELAY_DONE);
    storage[out.len] = '\0';
    assert_string_equal(storage, expected);
}

/* --- Replies ------------------------------------------------------------- */

#define OK "HTTP/1.1 200 OK\r\n"
#define VIA "Via: 1.1 sprintd\r\n"

TEST(a_reply_is_made_anew)
{
    assert_goes_on(
        GET,
        "HTTP/1.1 299 Very  good\r\nserver:  x\r\nDate: then\r\n"
        "Set-Cookie: a\r\nSet-Cookie: b\r\nVia: 1.0 y\r\nA:\r\n\r\n",
        "server: x\r\nDate: then\r\n"
        "Set-Cookie: a\r\nSet-Cookie: b\r\nVia: 1.0 y\r\nA: \r\n" VIA);
    assert_goes_on(GET, "HTTP/1.0 200\r\n\r\n", "Via: 1.0 sprintd\r\n");
}

/* Lines that lie as they are written here go on together, whatever stands
 * between, before and behind them. */
TEST(lines_go_on_alike_however_they_lay)
{
    static const char *const cases[][2] = {
        {"A: b\r\nC: d\r\nE: f\r\n", "A: b\r\nC: d\r\nE: f\r\n"},
        {"A: b\r\nC:d\r\nE: f\r\n", "A: b\r\nC: d\r\nE: f\r\n"},
        {"A: b\r\nC:\td\r\nE: f\r\n", "A: b\r\nC: d\r\nE: f\r\n"},
        {"A: b\r\nC:  d\r\nE: f\r\n", "A: b\r\nC: d\r\nE: f\r\n"},
        {"A: b \r\nC: d\t\r\nE: f\r\n", "A: b\r\nC: d\r\nE: f\r\n"},
        {"A:\r\nC: d\r\nE: \r\n", "A: \r\nC: d\r\nE: \r\n"},
        {"A: b\r\nTE: x\r\nE: f\r\n", "A: b\r\nE: f\r\n"},
        {"TE: x\r\nA: b\r\nKeep-Alive: x\r\n", "A: b\r\n"},
        {"A: b: c\r\nC: d\te\r\n", "A: b: c\r\nC: d\te\r\n"},
        {"A: b\r\nLocation: /x\r\nE: f\r\n",
         "A: b\r\nLocation: /x\r\nE: f\r\n"},
    };
    char answered[200], expected[200];

    for (unsigned renames = 0; renames < 2; renames++)
        for (size_t i = 0; i < COUNT(cases); i++) {
            relay.renames = renames;
            snprintf(answered, sizeof(answered), OK "%s\r\n", cases[i][0]);
            snprintf(expected, sizeof(expected), "%s" VIA, cases[i][1]);
            assert_goes_on(GET, answered, expected);
        }
}

TEST(what_belongs_to_one_connection_stays_there)
{
    assert_goes_on(GET,
                   OK "Connection: close, X-A\r\nX-A: 1\r\nX-B: 2\r\n"
                      "Keep-Alive: timeout=5\r\nProxy-Authenticate: x\r\n"
                      "Proxy-Connection: close\r\nTE: x\r\nTrailer: X-D\r\n"
                      "Proxy-Authentication-Info: x\r\nUpgrade: h2c\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n",
                   "X-B: 2\r\n" VIA);
}

TEST(connection_may_not_take_away_what_is_for_all)
{
    static const char *const names[] = {"Content-Length", "Set-Cookie", "Date",
                                        "Cache-Control", "Content-Type"};

    for (size_t i = 0; i < COUNT(names); i++) {
        char text[100];

        snprintf(text, sizeof(text), OK "Connection: %s\r\n\r\n", names[i]);
        assert_int_equal(relay_text(GET, text), RELAY_BAD_CONNECTION);
        snprintf(text, sizeof(text), "HTTP/1.1 103 A\r\nConnection: %s\r\n\r\n",
                 names[i]);
        parse(GET, text);
        assert_int_equal(relay_interim(&relay, &request, &reply, &out),
                         RELAY_BAD_CONNECTION);
    }
}

TEST(a_length_is_left_where_no_body_follows)
{
    static const struct {
        const char *asked, *answered;
        bool has_length;
    } cases[] = {
        {GET, OK "Content-Length: 5\r\n\r\n", false},
        {HEAD, OK "Content-Length: 5\r\n\r\n", true},
        {HEAD, OK "\r\n", false},
        {HEAD, OK "Transfer-Encoding: chunked\r\n\r\n", false},
        {GET, "HTTP/1.1 304 A\r\nContent-Length: 5\r\n\r\n", true},
        {GET, "HTTP/1.1 304 A\r\n\r\n", false},
        {GET, "HTTP/1.1 204 A\r\nContent-Length: 0\r\n\r\n", false},
        {HEAD, "HTTP/1.1 204 A\r\nContent-Length: 0\r\n\r\n", false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(relay_text(cases[i].asked, cases[i].answered),
                         RELAY_DONE);
        storage[out.len] = '\0';
        assert_int_equal(strstr(storage, "Content-Length: 5\r\n") != NULL,
                         cases[i].has_length);
        assert_null(strstr(storage, "Content-Length: 0"));
        assert_null(strstr(storage, "Transfer"));
    }
}

TEST(trailers_are_announced_to_who_reads_them)
{
    const char *chunks = OK
        "Trailer: X-A\r\nTransfer-Encoding: chunked\r\n\r\n";

    assert_goes_on(TRAILERS, chunks, "Trailer: X-A\r\n" VIA);
    assert_goes_on(GET, chunks, VIA);
    assert_goes_on(TRAILERS, OK "Trailer: X-A\r\nContent-Length: 1\r\n\r\n",
                   VIA);
}

/* --- As an answer -------------------------------------------------------- */

static struct response response;
static struct response_room own_room;

/* As an answer with nothing behind its head, which is framed. */
static void assert_leaves_as(const char *expected, bool is_http10)
{
    assert_int_equal(relay_reply(&relay, &request, &reply, &response.head),
                     RELAY_DONE);
    response_add_source_of(&response, NULL, 0);
    http1_frame(&response, is_http10, &now);
    assert_int_equal(response.part_count, 1);
    assert_true(response.bytes_left == response.head_bytes);
    assert_true(bytes_eq((struct bytes){response.parts[0].at.memory,
                                        response.bytes_left},
                         bytes_of(expected)));
    response_fini(&response);
}

TEST(an_answer_of_it_has_what_all_answers_get)
{
    struct head_edits edits = {0};

    assert_null(head_edits_add(&edits, HEAD_SET, BYTES("Server: mine")));
    assert_null(head_edits_add(&edits, HEAD_REMOVE, BYTES("X-Powered-By")));
    parse(GET, OK "Server: theirs\r\nDate: then\r\nX-Powered-By: x\r\n"
                  "Content-Length: 0\r\n\r\n");
    response_init(&response, &own_room);
    response.edits = &edits;
    response.persists = true;
    response_begin_relayed(&response, reply.status, reply.reason);
    response.has_date = true;
    assert_leaves_as(OK "Date: then\r\n" VIA
                        "Content-Length: 0\r\nServer: mine\r\n"
                        "Connection: keep-alive\r\n\r\n",
                     true);
}

TEST(an_answer_of_it_keeps_its_phrase_and_gets_a_date)
{
    parse(GET, "HTTP/1.1 299 Very  good\r\nContent-Length: 0\r\n\r\n");
    response_init(&response, &own_room);
    response.persists = true;
    response_begin_relayed(&response, reply.status, reply.reason);
    assert_leaves_as("HTTP/1.1 299 Very  good\r\n" DATE VIA
                     "Content-Length: 0\r\n\r\n",
                     false);
    parse(GET, "HTTP/1.0 200\r\nContent-Length: 0\r\n\r\n");
    response_init(&response, &own_room);
    response.persists = true;
    response_begin_relayed(&response, reply.status, reply.reason);
    assert_leaves_as("HTTP/1.1 200 \r\n" DATE "Via: 1.0 sprintd\r\n"
                     "Content-Length: 0\r\n\r\n",
                     false);
}

/* --- Interim replies ----------------------------------------------------- */

static void assert_interim(const char *asked, const char *answered,
                           const char *expected)
{
    parse(asked, answered);
    assert_int_equal(relay_interim(&relay, &request, &reply, &out), RELAY_DONE);
    storage[out.len] = '\0';
    assert_string_equal(storage, expected);
}

TEST(interim_replies_go_on_whole)
{
    assert_interim(GET, "HTTP/1.1 100 Continue\r\n\r\n", VIA);
    assert_interim(GET,
                   "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"
                   "Connection: close\r\nContent-Length: 0\r\n\r\n",
                   "Link: </a>\r\n" VIA);
}

#define SWITCH(protocol)                                          \
    "HTTP/1.1 101 A\r\nConnection: Upgrade\r\nUpgrade: " protocol \
    "\r\nSec-WebSocket-Accept: x\r\n\r\n"

TEST(a_switch_goes_on_when_it_was_asked_for)
{
    assert_interim(UPGRADE, SWITCH("WebSocket"),
                   "Sec-WebSocket-Accept: x\r\n" VIA "Upgrade: websocket\r\n");
    relay.request_id = BYTES("id"); /* no other head follows */
    assert_interim(UPGRADE, SWITCH("websocket"),
                   "Sec-WebSocket-Accept: x\r\n" VIA
                   "X-Request-Id: id\r\nUpgrade: websocket\r\n");
}

TEST(a_switch_that_nobody_asked_for_is_refused)
{
    static const char *const cases[][2] = {
        {GET, SWITCH("websocket")},
        {UPGRADE, SWITCH("h2c")},
        {UPGRADE, SWITCH("websocket, h2c")},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        parse(cases[i][0], cases[i][1]);
        assert_int_equal(relay_interim(&relay, &request, &reply, &out),
                         RELAY_BAD_SWITCH);
    }
    relay.upgrade = BYTES("");
    parse(UPGRADE, SWITCH("websocket"));
    assert_int_equal(relay_interim(&relay, &request, &reply, &out),
                     RELAY_BAD_SWITCH);
}

TEST(what_does_not_fit_is_said_to_be_too_large)
{
    size_t len;

    assert_int_equal(relay_text(GET, OK "A: b\r\n\r\n"), RELAY_DONE);
    len = out.len;
    for (size_t room = 0; room < len; room++) {
        struct buf small;

        buf_init(&small, storage, room, room);
        assert_int_equal(relay_reply(&relay, &request, &reply, &small),
                         RELAY_TOO_LARGE);
        buf_init(&small, storage, room / 2, room / 2);
        assert_int_equal(relay_interim(&relay, &request, &reply, &small),
                         RELAY_TOO_LARGE);
    }
}

/* --- Trailers ------------------------------------------------------------ */

TEST(trailers_that_mean_something_are_dropped)
{
    static const struct bytes lines = {
#define TEXT                                                                  \
    "grpc-status: 0\r\nContent-Length: 5\r\ntransfer-encoding: chunked\r\n"   \
    "Host: x\r\nAuthorization: x\r\nSet-Cookie: x\r\nCookie: x\r\n"           \
    "Content-Type: x\r\nContent-Encoding: x\r\nTrailer: x\r\nVia: x\r\n"      \
    "Connection: x\r\nKeep-Alive: x\r\nProxy-X: x\r\nSec-X: x\r\nDate: x\r\n" \
    "X-Forwarded-For: x\r\nX-Forwarded-X: x\r\nCache-Control: x\r\n"          \
    "Expires: x\r\nAge: x\r\nVary: x\r\nLocation: x\r\nRetry-After: x\r\n"    \
    "Pragma: x\r\nWarning: x\r\nWWW-Authenticate: x\r\nRange: x\r\n"          \
    "Authentication-Info: x\r\nExpect: x\r\nTE: x\r\nMax-Forwards: 1\r\n"     \
    "If-Match: x\r\nRepr-Digest:sha-256=:x:\r\n"
        TEXT, sizeof(TEXT) - 1};

    buf_init(&out, storage, sizeof(storage), sizeof(storage));
    relay_trailer(lines, &out);
    assert_true(bytes_eq(buf_bytes(&out),
                         BYTES("grpc-status: 0\r\n"
                               "Repr-Digest:sha-256=:x:\r\n")));
}

TEST(no_trailers_are_none)
{
    buf_init(&out, storage, sizeof(storage), sizeof(storage));
    relay_trailer((struct bytes){NULL, 0}, &out);
    relay_trailer(BYTES(""), &out);
    assert_int_equal(out.len, 0);
}

/* --- Names ---------------------------------------------------------------- */

TEST(names_are_the_clients_where_wished)
{
    static const struct {
        const char *strip, *replace, *before, *after;
    } cases[] = {
        {"/app", "/", "Location: /x", "Location: /app/x"},
        {"/app", "/", "LOCATION: http://UP:80/x", "LOCATION: /app/x"},
        {"/app", "/", "Location: //up/x", "Location: /app/x"},
        {"/app", "/", "Location: https://up/x", "Location: https://up/x"},
        {"/app", "/", "Location: http://up:81/x", "Location: http://up:81/x"},
        {"/app", "/", "Location: http://a:80", "Location: http://a:80/app"},
        {"/app", "/", "Location: http:/x", "Location: http:/x"},
        {"/app", "/", "Location: http://", "Location: http://"},
        {"/app", "/", "Location: ", "Location: "},
        {"/app", "/v1/", "Location: /v1?a", "Location: /app?a"},
        {"/app", "/v1", "Location: http://up#a", "Location: /#a"},
        {"", "/v1", "Location: http://up/v1", "Location: /"},
        {"", "", "Location: http://up", "Location: /"},
        {"", "", "Location: http://up//evil", "Location: http://up//evil"},
        {"", "", "Location: http://up/\\evil", "Location: http://up/\\evil"},
        {"/app", "/", "Refresh: ", "Refresh: "},
        {"/app", "/", "Refresh: 1;", "Refresh: 1;"},
        {"/app", "/", "Refresh: 1 ; URL = \"/x\" y",
         "Refresh: 1 ; URL = \"/app/x\" y"},
        {"/app", "/", "Refresh: 1; /x", "Refresh: 1; /app/x"},
        {"/app", "/", "Set-Cookie: ", "Set-Cookie: "},
        {"/app", "/", "Set-Cookie: a=b;", "Set-Cookie: a=b;"},
        {"/app", "/", "Set-Cookie: path=/;path", "Set-Cookie: path=/;path"},
        {"/app", "/", "Set-Cookie: a;Path = /x ;B",
         "Set-Cookie: a;Path = /app/x;B"},
        {"/app", "/", "Set-Cookie: a;domain=UP", "Set-Cookie: a"},
        {"/app", "/", "X-Location: /x", "X-Location: /x"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char answered[200], expected[200];

        relay.renames = true;
        relay.host = BYTES("up");
        relay.strip = bytes_of(cases[i].strip);
        relay.replace = bytes_of(cases[i].replace);
        snprintf(answered, sizeof(answered), OK "%s\r\n\r\n", cases[i].before);
        snprintf(expected, sizeof(expected), "%s\r\n" VIA, cases[i].after);
        assert_goes_on(GET, answered, expected);
    }
}

TEST(an_id_of_ours_stands_instead_of_theirs)
{
    assert_goes_on(GET, OK "X-Request-Id: b\r\n\r\n",
                   "X-Request-Id: b\r\n" VIA);
    relay.request_id = BYTES("a");
    assert_goes_on(GET, OK "X-Request-Id: b\r\n\r\n", VIA);
}

TEST(an_error_keeps_what_does_not_describe_its_body)
{
    parse(GET, "HTTP/1.1 404 No\r\nContent-Type: a\r\nETag: \"b\"\r\n"
               "Connection: X-A\r\nX-A: 1\r\nDate: then\r\nServer: x\r\n"
               "WWW-Authenticate: c\r\nRetry-After: 2\r\n\r\n");
    assert_int_equal(relay_error(&relay, &request, &reply, &out), RELAY_DONE);
    storage[out.len] = '\0';
    assert_string_equal(storage,
                        "WWW-Authenticate: c\r\nRetry-After: 2\r\n" VIA);
}

SUITE(.each_begin = set_up);
