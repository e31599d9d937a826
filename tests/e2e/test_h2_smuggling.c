/*
 * HTTP/2: lengths that are not those of the body, trailers, and requests inside
 * of others, in front of an upstream that speaks HTTP/1.1: it never gets more,
 * or other, requests than were asked.
 */
#include "h2_client.h"
#include "origin.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static struct server *server;
static struct origin *origin;

static int start(void **state)
{
    if (h2_begin(state) != 0)
        return -1;
    origin = origin_start("origin");
    server = H2_START("--workers=1", printed("--proxy=/=%s", origin->at),
                      "--proxy-fails=0");
    harness_keep();
    return 0;
}

static int end(void **state)
{
    origins_end();
    return harness_end(state);
}

/* What the upstream has answered, whole ones; nothing it got was malformed. */
static unsigned long answered(void)
{
    origin_check(origin);
    return atomic_load(&origin->counts->requests);
}

/* --- Lengths ------------------------------------------------------------- */

struct body_case {
    const char *name;
    const char *length; /* content-length; NULL: none */
    const char *body[3];
    bool is_refused;
    const char *trailers[5];
};

static const struct body_case bodies[] = {
    {"none of either", NULL, {""}, false, {NULL}},
    {"its length", "5", {"hello"}, false, {NULL}},
    {"in pieces", "5", {"he", "", "llo"}, false, {NULL}},
    {"of unknown length", NULL, {"hello"}, false, {NULL}},
    {"nothing of nothing", "0", {""}, false, {NULL}},
    {"shorter", "6", {"hello"}, true, {NULL}},
    {"longer", "4", {"hello"}, true, {NULL}},
    {"longer by a piece", "4", {"hell", "o"}, true, {NULL}},
    {"something of nothing", "0", {"GET / HTTP/1.1\r\n\r\n"}, true, {NULL}},
    {"nothing of something", "5", {""}, true, {NULL}},
    {"no number", "x", {"hello"}, true, {NULL}},
    {"a sign", "+5", {"hello"}, true, {NULL}},
    {"negative", "-5", {"hello"}, true, {NULL}},
    {"hexadecimal", "0x5", {"hello"}, true, {NULL}},
    {"a list", "5, 5", {"hello"}, true, {NULL}},
    {"empty", "", {"hello"}, true, {NULL}},
    {"too large", "18446744073709551621", {"hello"}, true, {NULL}},
    {"with trailers", NULL, {"hello"}, false, {"x-sum", "1"}},
    {"shorter, with trailers", "6", {"hello"}, true, {"x-sum", "1"}},
    {"a pseudo-field in trailers", NULL, {"hello"}, true, {":path", "/x"}},
    {"upper case in trailers", NULL, {"hello"}, true, {"X-Sum", "1"}},
    {"two lines in trailers", NULL, {"hello"}, true, {"x", "1\r\ny: 2"}},
    {"of a connection",
     NULL,
     {"hello"},
     true,
     {"transfer-encoding", "chunked"}},
};

static uint32_t say_body(struct h2 *h2, const struct body_case *tried)
{
    const char *fields[] = {"content-length", tried->length, NULL};
    uint32_t stream = h2_ask(h2, "POST", "/echo", tried->length ? fields : NULL,
                             true);
    size_t count = 0;

    while (count < 3 && tried->body[count])
        count++;
    for (size_t i = 0; i < count; i++)
        h2_frame(h2, NGHTTP2_DATA, i + 1 == count && !tried->trailers[0],
                 stream, tried->body[i], strlen(tried->body[i]));
    if (tried->trailers[0])
        h2_trailers(h2, stream, tried->trailers);
    return stream;
}

TEST(a_body_is_as_long_as_was_said)
{
    struct h2 *h2 = h2_open(server);

    for (size_t i = 0; i < COUNT(bodies); i++) {
        const struct body_case *tried = &bodies[i];
        unsigned long before = answered();
        uint32_t stream = say_body(h2, tried);
        struct h2_reply *reply;

        going_on("%s", tried->name);
        if (tried->is_refused) {
            reply = h2_wait(h2, stream);
            if (!reply->is_reset && reply->status != 400)
                flunk("answered %u", reply->status);
            if (reply->is_reset)
                assert_int_equal(reply->code, NGHTTP2_PROTOCOL_ERROR);
        } else {
            expect_h2(reply = h2_wait(h2, stream), 200);
            expect_h2_body(reply, printed("%s%s%s", tried->body[0],
                                          tried->body[1] ? tried->body[1] : "",
                                          tried->body[1] && tried->body[2]
                                              ? tried->body[2]
                                              : ""));
        }
        expect_h2_body(h2_get(h2, "/canary"), "canary\n");
        assert_true(answered() == before + 1 + !tried->is_refused);
    }
}

/* --- A request inside another -------------------------------------------- */

/* Fields and bodies that would be read as the begin of another request, had
 * they been passed on as they are. */
TEST(a_request_inside_another_is_never_asked)
{
    static const char *const fields[][5] = {
        {"x", "1\r\n\r\nGET /canary HTTP/1.1\r\nHost: a\r\n"},
        {"x\r\n\r\nget /canary http/1.1\r\nhost", "a"},
        {"content-length", "0", "content-length", "30"},
        {"content-length", "0", "transfer-encoding", "chunked"},
        {"transfer-encoding", "chunked"},
        {"transfer_encoding", "chunked"},
        {"transfer-encoding ", "chunked"},
        {"content-length ", "0"},
        {"expect", "100-continue", "content-length", "40"},
    };
    static const char inside[] =
        "0\r\n\r\nGET /canary HTTP/1.1\r\nHost: a\r\n\r\n";
    struct h2 *h2 = h2_open(server);

    for (size_t i = 0; i < COUNT(fields); i++) {
        unsigned long before = answered();
        uint32_t stream = h2_ask(h2, "POST", "/echo", fields[i], true);
        struct h2_reply *reply;

        going_on("%s", fields[i][0]);
        h2_frame(h2, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, stream, inside,
                 sizeof(inside) - 1);
        reply = h2_wait(h2, stream);
        if (!reply->is_reset && reply->status == 200)
            expect_h2_body(reply, inside);
        expect_h2_body(h2_get(h2, "/canary"), "canary\n");
        assert_true(answered() <= before + 2);
    }
}

/* Streams that end early leave nothing half said on a connection that the next
 * request uses. */
TEST(a_body_that_is_given_up_is_not_made_whole)
{
    struct h2 *h2 = h2_open(server);

    for (int i = 0; i < 50; i++) {
        uint32_t stream = h2_ask(h2, "POST", "/echo",
                                 H2_WITH("content-length", "100000"), true);

        h2_body(h2, stream, "GET /canary HTTP/1.1\r\n\r\n", 24, true);
        if (i % 2)
            h2_sync(h2);
        h2_reset(h2, stream, NGHTTP2_CANCEL);
        expect_h2_body(h2_get(h2, "/canary"), "canary\n");
    }
    origin_check(origin);
}

TEST(answers_of_many_streams_are_never_mixed_up)
{
    enum { STREAMS = 40, ROUNDS = 10, BYTES_MAX = 40000 };
    struct h2 *h2 = h2_open(server);
    uint32_t streams[STREAMS];

    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < STREAMS; i++)
            streams[i] = h2_ask(h2, "GET",
                                printed("/%s/%zu/%zu",
                                        (i + round) % 3 ? "bytes" : "chunks",
                                        i + round * STREAMS,
                                        (i * 7919 + round) % BYTES_MAX),
                                NULL, false);
        for (size_t i = 0; i < STREAMS; i++) {
            if ((i + round) % 11 == 0) {
                h2_reset(h2, streams[i], NGHTTP2_CANCEL);
                continue;
            }
            expect_h2_seeded(h2_wait(h2, streams[i]), i + round * STREAMS, 0,
                             (i * 7919 + round) % BYTES_MAX);
        }
    }
    origin_check(origin);
}

SUITE(.begin = start, .end = end, .each_end = harness_after_test);
