/*
 * HTTP/2: what is asked for on a stream is answered as over HTTP/1.1, whoever
 * answers it.
 */
#include "configured.h"
#include "h2_client.h"
#include "store.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

enum { LARGE = 5 << 20, SEED = 19 };

static int start(void **state)
{
    if (h2_begin(state) != 0)
        return -1;
    site_text("f", "file f\n");
    site_text("empty", "");
    site_text("folder/inside.txt", "inside\n");
    site_seeded("large", SEED, LARGE);
    return 0;
}

/* --- Files --------------------------------------------------------------- */

TEST(files_of_any_size_come_whole)
{
    static const size_t sizes[] = {0,     1,     1024,  16383, 16384,
                                   16385, 65535, 65536, 300000};
    struct h2 *h2;

    for (size_t i = 0; i < COUNT(sizes); i++)
        site_seeded(printed("s%zu", sizes[i]), SEED, sizes[i]);
    h2 = h2_open(H2_START("--workers=1"));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct h2_reply *reply = h2_get(h2, printed("/s%zu", sizes[i]));

        expect_h2(reply, 200);
        expect_h2_seeded(reply, SEED, 0, sizes[i]);
        expect_h2_field(reply, "content-length", printed("%zu", sizes[i]));
    }
    expect_h2_seeded(h2_get(h2, "/large"), SEED, 0, LARGE);
    h2_expect_usable(h2);
}

TEST(every_way_to_send_sends_the_same)
{
    static const char *const methods[] = {"--send-method=auto",
                                          "--send-method=mmap",
                                          "--send-method=sendfile",
                                          "--send-method=read"};

    for (size_t i = 0; i < COUNT(methods); i++) {
        struct h2 *h2 = h2_open(H2_START(methods[i]));
        uint32_t first = h2_ask(h2, "GET", "/large", NULL, false);
        uint32_t second = h2_ask(h2, "GET", "/large", NULL, false);

        going_on("%s", methods[i]);
        expect_h2_seeded(h2_wait(h2, first), SEED, 0, LARGE);
        expect_h2_seeded(h2_wait(h2, second), SEED, 0, LARGE);
    }
}

TEST(fields_are_those_of_any_answer)
{
    struct h2 *h2 = h2_open(H2_START(NULL));
    struct h2_reply *reply = h2_get(h2, "/canary");

    expect_h2(reply, 200);
    assert_non_null(h2_field(&reply->fields, "etag"));
    assert_non_null(h2_field(&reply->fields, "server"));
    assert_true(http_date(h2_field(&reply->fields, "date")) > 0);
    assert_true(http_date(h2_field(&reply->fields, "last-modified")) > 0);
    expect_h2_field(reply, "accept-ranges", "bytes");
    expect_h2(h2_get(h2, "/nothing"), 404);
    expect_h2(h2_get(h2, "/%zz"), 400);
    expect_h2(h2_get(h2, "/../f"), 400);
    h2_expect_usable(h2);
}

TEST(head_is_answered_without_a_body)
{
    struct h2 *h2 = h2_open(H2_START(NULL));
    struct h2_reply *reply = h2_wait(h2,
                                     h2_ask(h2, "HEAD", "/large", NULL, false));

    expect_h2(reply, 200);
    expect_h2_field(reply, "content-length", printed("%d", LARGE));
    expect_h2_body(reply, "");
    reply = h2_wait(h2, h2_ask(h2, "HEAD", "/nothing", NULL, false));
    expect_h2(reply, 404);
    expect_h2_body(reply, "");
    h2_expect_usable(h2);
}

TEST(options_and_unknown_methods_are_answered)
{
    struct h2 *h2 = h2_open(H2_START(NULL));

    expect_h2(h2_wait(h2, h2_ask(h2, "OPTIONS", "*", NULL, false)), 204);
    expect_h2(h2_wait(h2, h2_ask(h2, "BREW", "/f", NULL, false)), 501);
    expect_h2(h2_wait(h2, h2_ask(h2, "DELETE", "/f", NULL, false)), 405);
    h2_expect_usable(h2);
}

TEST(ranges_come_as_parts)
{
    struct h2 *h2 = h2_open(H2_START(NULL));
    struct h2_reply *reply;

    reply = h2_get_with(h2, "/large", H2_WITH("range", "bytes=70000-170000"));
    expect_h2(reply, 206);
    expect_h2_seeded(reply, SEED, 70000, 100001);
    reply = h2_get_with(h2, "/large", H2_WITH("range", "bytes=0-1,100-101"));
    expect_h2(reply, 206);
    assert_non_null(strstr(h2_field(&reply->fields, "content-type"),
                           "multipart/byteranges"));
    assert_true(reply->has_ended);
    reply = h2_get_with(h2, "/f", H2_WITH("range", "bytes=100-"));
    expect_h2(reply, 416);
    expect_h2_field(reply, "content-range", "bytes */7");
}

TEST(conditions_hold)
{
    struct h2 *h2 = h2_open(H2_START(NULL));
    const char *etag = h2_field(&h2_get(h2, "/f")->fields, "etag");
    struct h2_reply *reply;

    reply = h2_get_with(h2, "/f", H2_WITH("if-none-match", etag));
    expect_h2(reply, 304);
    expect_h2_body(reply, "");
    expect_h2_field(reply, "etag", etag);
    expect_h2(h2_get_with(h2, "/f", H2_WITH("if-match", "\"x\"")), 412);
    h2_expect_usable(h2);
}

TEST(folders_are_listed)
{
    struct h2 *h2 = h2_open(H2_START("--autoindex"));
    struct h2_reply *reply = h2_get(h2, "/folder/");

    expect_h2(reply, 200);
    assert_true(reply->has_ended);
    assert_non_null(strstr(reply->body, "inside.txt"));
    expect_h2(h2_get(h2, "/folder"), 301);
}

/* What is coded on the way has no length beforehand, or another one. */
TEST(a_file_has_its_coded_variant)
{
    struct h2 *h2;
    struct h2_reply *reply;

    site_text("x.css", "plain\n");
    site_text("x.css.gz", "not really zipped\n");
    h2 = h2_open(H2_START(NULL));
    reply = h2_get_with(h2, "/x.css", H2_WITH("accept-encoding", "gzip"));
    expect_h2(reply, 200);
    expect_h2_field(reply, "content-encoding", "gzip");
    expect_h2_body(reply, "not really zipped\n");
}

/* --- Many streams -------------------------------------------------------- */

TEST(a_hundred_streams_are_answered_each_with_its_own)
{
    enum { STREAMS = 100 };
    struct h2 *h2;
    uint32_t streams[STREAMS];

    for (size_t i = 0; i < STREAMS; i++)
        site_seeded(printed("n%zu", i), i, i * 997);
    h2 = h2_open(H2_START("--workers=1"));
    assert_true(h2->their[NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS] == 100);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < STREAMS; i++)
            streams[i] = h2_ask(h2, "GET", printed("/n%zu", i), NULL, false);
        for (size_t i = 0; i < STREAMS; i++)
            expect_h2_seeded(h2_wait(h2, streams[i]), i, 0, i * 997);
    }
}

TEST(a_reset_stream_leaves_the_others_alone)
{
    struct h2 *h2 = h2_open(H2_START("--workers=1"));

    for (int i = 0; i < 20; i++) {
        uint32_t gone = h2_ask(h2, "GET", "/large", NULL, false);
        uint32_t kept = h2_ask(h2, "GET", "/canary", NULL, false);

        h2_wait_head(h2, gone);
        h2_reset(h2, gone, NGHTTP2_CANCEL);
        expect_h2_body(h2_wait(h2, kept), "canary\n");
    }
    h2_expect_usable(h2);
}

/* --- Names --------------------------------------------------------------- */

TEST(a_site_is_chosen_by_authority)
{
    struct server *server;
    struct h2 *h2;

    site_text("../www/a/name", "a\n");
    site_text("../www/b/name", "b\n");
    server = start_configured("http2 = all\n"
                              "site a { hosts = a.example root = www/a }\n"
                              "site b { hosts = b.example root = www/b }\n");
    h2 = h2_open(server);
    for (int i = 0; i < 3; i++) {
        uint32_t a = h2_ask_fields(h2, H2_GET_OF(h2, "a.example", "/name"),
                                   false);
        uint32_t b = h2_ask_fields(h2, H2_GET_OF(h2, "b.example:80", "/name"),
                                   false);

        expect_h2_body(h2_wait(h2, a), "a\n");
        expect_h2_body(h2_wait(h2, b), "b\n");
    }
    expect_h2_body(h2_wait(h2,
                           h2_ask_fields(h2,
                                         H2_WITH(":method", "GET", ":scheme",
                                                 h2->scheme, ":path", "/name",
                                                 "host", "b.example"),
                                         false)),
                   "b\n");
}

static unsigned ask_scheme(const struct server *server, const char *scheme)
{
    struct h2 *h2 = h2_open(server);
    uint32_t stream = h2_ask_fields(h2,
                                    H2_WITH(":method", "GET", ":scheme", scheme,
                                            ":path", "/f", ":authority", "a"),
                                    false);
    struct h2_reply *reply = h2_wait(h2, stream);

    h2_expect_usable(h2);
    return reply->status;
}

/* RFC 9110 7.4: what is asked for by https comes by a connection that is
 * secure, or of somebody who is trusted with that. */
TEST(https_in_clear_text_is_misdirected)
{
    struct server *server = H2_START(NULL);

    assert_int_equal(ask_scheme(server, "http"), 200);
    assert_int_equal(ask_scheme(server, "https"), server->is_tls ? 200 : 421);
    server = H2_START("--trusted-proxies=127.0.0.1");
    assert_int_equal(ask_scheme(server, "http"), 200);
    assert_int_equal(ask_scheme(server, "https"), 200);
}

/* --- Keys ---------------------------------------------------------------- */

TEST(keys_are_put_and_got)
{
    struct h2 *h2 = h2_open(START_STORE(store_folder(), "--http2=all"));
    char *value = scratch(300000);
    struct h2_reply *reply;
    uint32_t stream;

    seeded_fill(SEED, 0, value, 300000);
    stream = h2_ask(h2, "PUT", "/kv/k", H2_WITH("content-length", "300000"),
                    true);
    assert_true(h2_body(h2, stream, value, 300000, false));
    expect_h2(h2_wait(h2, stream), 201);
    reply = h2_get(h2, "/kv/k");
    expect_h2(reply, 200);
    expect_h2_seeded(reply, SEED, 0, 300000);
    stream = h2_ask(h2, "PUT", "/kv/k", NULL, true); /* of unknown length */
    assert_true(h2_body(h2, stream, "short", 5, true));
    assert_true(h2_body(h2, stream, "er", 2, false));
    expect_h2(h2_wait(h2, stream), 204);
    expect_h2_body(h2_get(h2, "/kv/k"), "shorter");
    expect_h2(h2_wait(h2, h2_ask(h2, "DELETE", "/kv/k", NULL, false)), 204);
    expect_h2(h2_get(h2, "/kv/k"), 404);
}

TEST(puts_of_many_streams_at_once_are_not_mixed_up)
{
    enum { STREAMS = 30, BYTES = 5000, STEP = 500 };
    struct h2 *h2 = h2_open(START_STORE(store_folder(), "--http2=all"));
    uint32_t streams[STREAMS];
    char value[BYTES];

    for (size_t i = 0; i < STREAMS; i++)
        streams[i] = h2_ask(h2, "PUT", printed("/kv/k%zu", i), NULL, true);
    for (size_t at = 0; at < BYTES; at += STEP)
        for (size_t i = 0; i < STREAMS; i++) {
            seeded_fill(i, at, value, STEP);
            assert_true(h2_body(h2, streams[i], value, STEP,
                                at + STEP < BYTES));
        }
    for (size_t i = 0; i < STREAMS; i++)
        expect_h2(h2_wait(h2, streams[i]), 201);
    for (size_t i = 0; i < STREAMS; i++)
        expect_h2_seeded(h2_get(h2, printed("/kv/k%zu", i)), i, 0, BYTES);
}

/* Nobody here wants it: the answer comes before the body's end, and behind it
 * word that no more of it is wanted (RFC 9113 8.1). */
TEST(an_early_answer_ends_with_no_error)
{
    struct h2 *h2 = h2_open(H2_START("--max-body=1K"));
    uint32_t stream = h2_ask(h2, "POST", "/f",
                             H2_WITH("content-length", "1000000"), true);
    struct h2_reply *reply = h2_wait(h2, stream);
    struct h2_frame frame;

    expect_h2(reply, 413);
    assert_true(reply->has_ended);
    while (!reply->is_reset && h2_take(h2, &frame))
        ;
    assert_int_equal(reply->code, NGHTTP2_NO_ERROR);
    h2_expect_usable(h2);
}

TEST(a_client_that_expects_it_is_told_to_continue)
{
    struct h2 *h2 = h2_open(START_STORE(store_folder(), "--http2=all"));
    uint32_t stream =
        h2_ask(h2, "PUT", "/kv/c",
               H2_WITH("expect", "100-continue", "content-length", "3"), true);
    struct h2_reply *reply = h2_reply(h2, stream);
    struct h2_frame frame;

    while (reply->early_count == 0 && h2_take(h2, &frame))
        ;
    assert_int_equal(reply->early[0], 100);
    assert_true(h2_body(h2, stream, "abc", 3, false));
    expect_h2(h2_wait(h2, stream), 201);
    assert_int_equal(reply->early_count, 1);
}

/* --- Logs and numbers ---------------------------------------------------- */

TEST(the_access_log_names_the_version)
{
    const char *path = printed("%s/access.log", folder());
    struct server *server = H2_START("--access-log", path);
    struct h2 *h2 = h2_open(server);

    h2_expect_usable(h2);
    server_stop(server);
    assert_non_null(strstr(read_text(path, NULL),
                           "\"GET /canary HTTP/2.0\" 200 7 "));
}

TEST(http_1_1_is_spoken_beside_it)
{
    struct server *server = H2_START(NULL);
    struct h2 *h2 = h2_open(server);
    struct client *client = client_open(server);

    h2_expect_usable(h2);
    client_expect_usable(client);
    h2_expect_usable(h2);
}

/* RFC 9113 3.1: that way to HTTP/2 is no more. */
TEST(upgrade_to_h2c_is_ignored)
{
    struct client *client = client_open(H2_START(NULL));
    struct reply *reply =
        client_ask(client, "GET", "/canary",
                   "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                   "HTTP2-Settings: AAMAAABkAAQAAP__\r\n");

    expect_status(reply, 200);
    client_expect_usable(client);
}

SUITE(.begin = start, .end = harness_end, .each_end = harness_after_test);
