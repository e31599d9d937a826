/*
 * Why a request is refused: told to its client, in the access log, and to the
 * operator, by one word.
 */
#include "configured.h"
#include "origin.h"

struct refusal {
    const char *word;
    unsigned status;
    const char *text;
};

#define HEAD(line, fields) line "\r\n" fields "\r\n"
#define GET(target, fields) HEAD("GET " target " HTTP/1.1", fields)
#define HOST "Host: a\r\n"
/* The byte in a text that stands for many. */
#define LONG "\xFF"
enum { LONG_BYTES = 9000 };

static const struct refusal refusals[] = {
    {"empty-lines", 400, "\r\n\r\n\r\n\r\n\r\n"},
    {"request-line", 400, HEAD("GET /", HOST)},
    {"method", 501, HEAD("BREW / HTTP/1.1", HOST)},
    {"target-bytes", 400, GET("/%zz", HOST)},
    {"target-form", 400, GET("canary", HOST)},
    {"target-too-long", 414, GET("/" LONG, HOST)},
    {"version", 505, HEAD("GET / HTTP/2.0", HOST)},
    {"line-end", 400, "GET / HTTP/1.1\nHost: a\n\n"},
    {"control-byte", 400, GET("/", HOST "X: \x01\r\n")},
    {"field-line", 400, GET("/", HOST "X : a\r\n")},
    {"head-too-large", 431, GET("/", HOST "X: " LONG "\r\nY: " LONG "\r\n")},
    {"host-missing", 400, GET("/", "")},
    {"host-twice", 400, GET("/", HOST HOST)},
    {"host-invalid", 400, GET("/", "Host: a b\r\n")},
    {"content-length", 400, GET("/", HOST "Content-Length: 1x\r\n")},
    {"transfer-encoding", 400, GET("/", HOST "Transfer-Encoding: gzip\r\n")},
    {"length-and-coding", 400,
     GET("/", HOST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n")},
    {"coding-unknown", 501,
     GET("/", HOST "Transfer-Encoding: gzip, chunked\r\n")},
    {"expectation", 417, GET("/canary", HOST "Expect: wonders\r\n")},
    {"chunk", 400,
     GET("/canary", HOST "Transfer-Encoding: chunked\r\n") "x\r\n"},
    {"body-unwanted", 413, GET("/canary", HOST "Content-Length: 99999\r\n")},
    {"body-too-large", 413,
     HEAD("POST /small/f HTTP/1.1", HOST "Content-Length: 5\r\n") "12345"},
    {"encoded-slash", 400, GET("/a%2fb", HOST)},
    {"encoded-nul", 400, GET("/a%00b", HOST)},
    {"above-root", 400, GET("/a/../../b", HOST)},
};

enum { REFUSALS = sizeof(refusals) / sizeof(refusals[0]) };

static const char conf[] =
    "root = www\n"
    "log-level = info\n"
    "log-format = \"%{reason} %{status}\"\n"
    "header-timeout = 200ms\n"
    "site all {\n"
    "    location /small { max-body = 4 }\n"
    "    location /page { max-body = 4 error-page = \"413 /too-much\" }\n"
    "}\n";

E2E_BEGIN(start)
{
    site_text("../www/canary", "canary\n");
    site_text("../www/too-much", "too much\n");
}

static struct server *start_logging(void)
{
    return start_configured(printed("access-log = %s/log\n%s", folder(), conf));
}

static struct reply *ask_raw(const struct server *server, const char *text)
{
    struct client *client = client_open(server);
    char *more = scratch(LONG_BYTES);

    memset(more, 'x', LONG_BYTES);
    while (strchr(text, *LONG)) {
        size_t len = (size_t)(strchr(text, *LONG) - text);

        client_send(client, text, len);
        client_send(client, more, LONG_BYTES);
        text += len + 1;
    }
    client_send(client, text, strlen(text));
    return client_reply(client);
}

static void expect_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        flunk("'%s' is not in '%s'", part, text);
}

/* --- Tests ---------------------------------------------------------------- */

TEST(the_answer_says_why)
{
    struct server *one = start_logging();

    for (size_t i = 0; i < REFUSALS; i++) {
        struct reply *reply = ask_raw(one, refusals[i].text);

        going_on("%s", refusals[i].word);
        expect_status(reply, refusals[i].status);
        expect_field(reply, "Content-Type", "text/plain; charset=utf-8");
        expect_has(reply->body, printed(". (%s)\n", refusals[i].word));
    }
}

TEST(logs_have_the_same_word)
{
    struct server *one = start_logging();
    char *log, *errors;
    size_t len;

    expect_body(get(one, "/canary"), "canary\n");
    for (size_t i = 0; i < REFUSALS; i++) {
        ask_raw(one, refusals[i].text);
        pause_ms(60); /* no more than so many are told at once */
    }
    expect_status(get(one, "/lost"), 404);
    server_stop(one);
    log = read_text(printed("%s/log", folder()), &len);
    errors = read_text(one->errors, &len);
    expect_has(log, "- 200\n");
    expect_has(log, "- 404\n");
    for (size_t i = 0; i < REFUSALS; i++) {
        expect_has(log,
                   printed("\n%s %u\n", refusals[i].word, refusals[i].status));
        expect_has(errors, printed("info: refused 127.0.0.1: %u %s: ",
                                   refusals[i].status, refusals[i].word));
    }
}

TEST(programs_get_a_problem_when_they_ask_for_one)
{
    static const struct {
        const char *accept;
        bool is_asked;
    } cases[] = {{"application/problem+json", true},
                 {"application/json, text/plain, */*", true},
                 {"text/html, application/json;q=0.9", false},
                 {"application/json;q=0", false},
                 {"*/*", false}};
    static const char *const lines[] = {"GET / HTTP/1.1", "GET / HTTP/2.0",
                                        "GET /%2f HTTP/1.1",
                                        "GET /%zz HTTP/1.1"};
    struct server *one = start_logging();

    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 4; j++) {
            struct reply *reply =
                ask_raw(one,
                        printed("%s\r\nX: y\r\naccept: %s\r\n%s\r\n", lines[j],
                                cases[i].accept, j == 0 ? "" : HOST));

            going_on("%s, %s", lines[j], cases[i].accept);
            expect_field(reply, "Content-Type",
                         cases[i].is_asked ? "application/problem+json"
                                           : "text/plain; charset=utf-8");
            if (cases[i].is_asked && j == 0)
                expect_body(reply, "{\"type\":\"about:blank\",\"title\":\"Bad "
                                   "Request\",\"status\":400,\"detail\":"
                                   "\"There is no Host field.\",\"reason\":"
                                   "\"host-missing\"}\n");
        }
}

#define POST_PAGE(accept)                                    \
    HEAD("POST /page HTTP/1.1",                              \
         HOST "Content-Length: 5\r\nAccept: " accept "\r\n") \
    "12345"

TEST(an_error_page_goes_before_the_text)
{
    struct server *one = start_logging();
    size_t len;

    expect_body(ask_raw(one, POST_PAGE("*/*")), "too much\n");
    expect_has(ask_raw(one, POST_PAGE("application/json"))->body,
               "\"reason\":\"body-too-large\"");
    server_stop(one);
    expect_has(read_text(printed("%s/log", folder()), &len),
               "body-too-large 413\nbody-too-large 413\n");
}

TEST(who_takes_too_long_is_told)
{
    struct server *one = start_logging();
    struct reply *reply = ask_raw(one, "GET / HTTP/1.1\r\n");

    expect_status(reply, 408);
    expect_has(reply->body, "(head-timeout)\n");
}

TEST(what_is_not_passed_on_is_told)
{
    struct server *one = START("--proxy", "/=http://127.0.0.1:1", "--log-level",
                               "info");

    expect_has(ask_raw(one, GET("/", HOST "Connection: Content-Type\r\n"))
                   ->body,
               "(connection-field)\n");
    expect_has(ask_raw(one, GET("/a/./b", HOST))->body, "(path-unclear)\n");
    expect_has(ask_raw(one,
                       HEAD("OPTIONS / HTTP/1.1", HOST "Max-Forwards: x\r\n"))
                   ->body,
               "(max-forwards)\n");
}

E2E_SUITE(start);
