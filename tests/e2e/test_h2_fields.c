/*
 * HTTP/2: what the fields of a request may say (RFC 9113 8). What is malformed
 * resets its stream and does nothing else; an upstream hears nothing of it.
 */
#include "h2_client.h"
#include "upstream.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

enum { FIELDS = 24 };

/* What becomes of it, as it must be one and the same in front of files and in
 * front of an upstream. */
struct fields_case {
    const char *name;
    unsigned status; /* 0: the stream is reset with PROTOCOL_ERROR; 400: this or
                        that */
    const char *fields[FIELDS];
};

#define M ":method", "GET"
#define S ":scheme", "http"
#define P ":path", "/f"
#define A ":authority", "a"
#define USUAL M, S, P, A

static struct server *server;
static int start(void **state)
{
    if (h2_begin(state) != 0)
        return -1;
    site_text("f", "file f\n");
    server = H2_START("--workers=1");
    harness_keep();
    return 0;
}

static void check_answer(struct h2 *h2, uint32_t stream, unsigned status)
{
    struct h2_reply *reply;

    if (status == 0) {
        h2_expect_reset(h2, stream, NGHTTP2_PROTOCOL_ERROR);
        return;
    }
    reply = h2_wait(h2, stream);
    if (h2->has_ended)
        flunk("the connection has ended");
    if (status != 400 || !reply->is_reset)
        expect_h2(reply, status);
    else
        assert_int_equal(reply->code, NGHTTP2_PROTOCOL_ERROR);
}

/* To files: all cases over one connection, which each leaves as it was. */
static void ask_for_files(const struct fields_case *cases, size_t count)
{
    struct h2 *h2 = h2_open(server);

    for (size_t i = 0; i < count; i++) {
        going_on("%s", cases[i].name);
        check_answer(h2, h2_ask_fields(h2, cases[i].fields, false),
                     cases[i].status);
        h2_expect_usable(h2);
    }
}

/* What is refused never becomes anything that an upstream hears. */
static void ask_upstream(const struct fields_case *cases, size_t count)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(PROXY(upstream, "--http2=all"));

    for (size_t i = 0; i < count; i++) {
        if (cases[i].status == 200 || cases[i].status == 404)
            continue;
        going_on("%s, to an upstream", cases[i].name);
        check_answer(h2, h2_ask_fields(h2, cases[i].fields, false),
                     cases[i].status);
        if (upstream_hears(upstream, 0))
            flunk("the upstream is asked: '%s'",
                  hear_head(upstream_accept(upstream)));
    }
    h2_sync(h2);
}

static void play(const struct fields_case *cases, size_t count)
{
    ask_for_files(cases, count);
    ask_upstream(cases, count);
}
#define PLAY(cases) play(cases, COUNT(cases))

TEST(pseudo_fields_are_complete_single_and_first)
{
    static const struct fields_case cases[] = {
        {"as they should be", 200, {USUAL}},
        {"in any order", 200, {A, P, S, M}},
        {"no method", 0, {S, P, A}},
        {"no scheme", 0, {M, P, A}},
        {"no path", 0, {M, S, A}},
        {"an empty path", 0, {M, S, ":path", "", A}},
        {"an empty method", 0, {":method", "", S, P, A}},
        {"two methods", 0, {USUAL, M}},
        {"two schemes", 0, {USUAL, S}},
        {"two paths", 0, {USUAL, P}},
        {"two authorities", 0, {USUAL, A}},
        {"one behind a field", 0, {M, S, A, "x", "y", P}},
        {"an unknown one", 0, {USUAL, ":x", "y"}},
        {"one of answers", 0, {USUAL, ":status", "200"}},
        {"without a name", 0, {USUAL, ":", "y"}},
        {"protocol without CONNECT", 0, {USUAL, ":protocol", "websocket"}},
    };

    PLAY(cases);
}

TEST(names_are_tokens_in_lower_case)
{
    static const struct fields_case cases[] = {
        {"upper case", 0, {USUAL, "X-Upper", "1"}},
        {"one letter of it", 0, {USUAL, "x-uppeR", "1"}},
        {"empty", 0, {USUAL, "", "1"}},
        {"a space", 0, {USUAL, "x y", "1"}},
        {"at its end", 0, {USUAL, "x ", "1"}},
        {"a colon", 0, {USUAL, "x:y", "1"}},
        {"CR and LF", 0, {USUAL, "x\r\ny", "1"}},
        {"a control byte", 0, {USUAL, "x\1", "1"}},
        {"DEL", 0, {USUAL, "x\x7f", "1"}},
        {"beyond ASCII", 0, {USUAL, "x\xc3\xa4", "1"}},
        {"a slash", 0, {USUAL, "x/y", "1"}},
        {"all that a token may be", 200, {USUAL, "!#$%&'*+-.^_`|~09az", "1"}},
    };

    PLAY(cases);
}

TEST(values_are_of_one_line)
{
    static const struct fields_case cases[] = {
        {"CR and LF", 0, {USUAL, "x", "1\r\nevil: 1"}},
        {"LF", 0, {USUAL, "x", "1\nevil: 1"}},
        {"CR", 0, {USUAL, "x", "1\revil: 1"}},
        {"at its end", 0, {USUAL, "x", "1\n"}},
        {"a space before it", 0, {USUAL, "x", " 1"}},
        {"behind it", 0, {USUAL, "x", "1 "}},
        {"a tab behind it", 0, {USUAL, "x", "1\t"}},
        {"inside it", 200, {USUAL, "x", "1 \t1"}},
        {"beyond ASCII", 200, {USUAL, "x", "\xc3\xa4"}},
        {"empty", 200, {USUAL, "x", ""}},
    };

    PLAY(cases);
}

TEST(a_nul_in_a_value_is_refused)
{
    static const nghttp2_nv fields[] = {
        {(uint8_t *)":method", (uint8_t *)"GET", 7, 3, 0},
        {(uint8_t *)":scheme", (uint8_t *)"http", 7, 4, 0},
        {(uint8_t *)":path", (uint8_t *)"/f", 5, 2, 0},
        {(uint8_t *)":authority", (uint8_t *)"a", 10, 1, 0},
        {(uint8_t *)"x", (uint8_t *)"1\0002", 1, 3, 0}};
    struct h2 *h2 = h2_open(server);
    uint8_t block[256];
    size_t len = h2_encode_nv(h2, fields, COUNT(fields), block, sizeof(block));

    h2_expect_stream(h2, 1);
    h2_frame(h2, NGHTTP2_HEADERS, 5, 1, block, len);
    h2_expect_reset(h2, 1, NGHTTP2_PROTOCOL_ERROR);
    h2_expect_usable(h2);
}

TEST(fields_of_a_connection_are_refused)
{
    static const struct fields_case cases[] = {
        {"connection", 0, {USUAL, "connection", "close"}},
        {"keep-alive", 0, {USUAL, "keep-alive", "timeout=5"}},
        {"proxy-connection", 0, {USUAL, "proxy-connection", "close"}},
        {"transfer-encoding", 0, {USUAL, "transfer-encoding", "chunked"}},
        {"its other word", 0, {USUAL, "transfer-encoding", "identity"}},
        {"upgrade", 0, {USUAL, "upgrade", "websocket"}},
        {"te", 0, {USUAL, "te", "gzip"}},
        {"te with something else", 0, {USUAL, "te", "trailers, gzip"}},
        {"te: trailers", 200, {USUAL, "te", "trailers"}},
    };

    PLAY(cases);
}

/* RFC 9113 8.3.1: they are one and the same, or the request is malformed. */
TEST(authority_and_host_agree)
{
    static const struct fields_case cases[] = {
        {"host alone", 200, {M, S, P, "host", "a"}},
        {"both", 200, {USUAL, "host", "a"}},
        {"another host", 400, {USUAL, "host", "b"}},
        {"with the port of http", 200, {USUAL, "host", "A:80"}},
        {"with another port", 400, {USUAL, "host", "a:81"}},
        {"two hosts", 400, {USUAL, "host", "a", "host", "a"}},
        {"neither", 400, {M, S, P}},
        {"an empty authority", 400, {M, S, P, ":authority", ""}},
        {"with a user", 400, {M, S, P, ":authority", "me@a"}},
        {"with a path", 400, {M, S, P, ":authority", "a/b"}},
        {"with a space", 400, {M, S, P, ":authority", "a b"}},
        {"what a name may have", 200, {M, S, P, ":authority", "a,b"}},
        {"a bad port", 400, {M, S, P, ":authority", "a:b"}},
        {"with a port", 200, {M, S, P, ":authority", "a:80"}},
        {"an address", 200, {M, S, P, ":authority", "[::1]:80"}},
    };

    PLAY(cases);
}

TEST(targets_are_paths)
{
    static const struct fields_case cases[] = {
        {"no slash", 400, {M, S, ":path", "f", A}},
        {"absolute", 400, {M, S, ":path", "http://b/f", A}},
        {"a space", 400, {M, S, ":path", "/a b", A}},
        {"half a request", 400, {M, S, ":path", "/ HTTP/1.1", A}},
        {"a space in the query", 400, {M, S, ":path", "/f?a b", A}},
        {"the same behind '?'", 400, {M, S, ":path", "/f?a HTTP/1.1", A}},
        {"a tab there", 400, {M, S, ":path", "/f?a\tb", A}},
        {"a fragment", 400, {M, S, ":path", "/f#x", A}},
        {"a control byte", 400, {M, S, ":path", "/\1", A}},
        {"beyond ASCII", 400, {M, S, ":path", "/\xc3\xa4", A}},
        {"NUL, encoded", 400, {M, S, ":path", "/%00", A}},
        {"no hexadecimal number", 400, {M, S, ":path", "/%zz", A}},
        {"above the root", 400, {M, S, ":path", "/../f", A}},
        {"a star", 400, {M, S, ":path", "*", A}},
        {"a backslash", 404, {M, S, ":path", "/%5c", A}},
        {"an unknown scheme", 400, {M, ":scheme", "ftp", P, A}},
        {"a scheme with a space", 0, {M, ":scheme", "ht tp", P, A}},
        {"a method with a space", 0, {":method", "GET /x", S, P, A}},
        {"a method with CR and LF", 0, {":method", "GET\r\n", S, P, A}},
        {"CONNECT", 405, {":method", "CONNECT", ":authority", "a:80"}},
        {"CONNECT with a path", 0, {":method", "CONNECT", S, P, A}},
    };

    PLAY(cases);
}

E2E_SUITE(start);
