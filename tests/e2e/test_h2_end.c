/*
 * HTTP/2: how a connection ends. GOAWAY comes twice, what was begun is
 * answered, and what was not can safely be asked for again.
 */
#include <signal.h>

#include "h2_client.h"
#include "operator.h"

enum { LARGE = 3 << 20, SEED = 4, QUICK_MS = 5000, STREAM_MAX = 0x7fffffff };

static int start(void **state)
{
    if (operator_begin(state) != 0)
        return -1;
    site_seeded("large", SEED, LARGE);
    return 0;
}

/* Fails unless the next word is a GOAWAY without a fault. */
static void expect_goaway(struct h2 *h2, size_t number, uint32_t stream)
{
    struct h2_frame frame;

    while (h2->goaways < number)
        if (!h2_take(h2, &frame))
            flunk("it ends after %zu GOAWAY", h2->goaways);
    assert_int_equal(h2->goaway_code, NGHTTP2_NO_ERROR);
    assert_int_equal(h2->goaway_stream, stream);
}

static void expect_end(struct h2 *h2)
{
    struct h2_frame frame;

    while (h2_take(h2, &frame))
        if (frame.type == NGHTTP2_DATA || frame.type == NGHTTP2_HEADERS)
            flunk("an answer behind the end");
    client_expect_orderly_end(h2->client);
}

/* A stream whose answer has begun, and cannot end: its window is shut. */
static uint32_t begin_large(struct h2 *h2)
{
    uint32_t stream = h2_ask(h2, "GET", "/large", NULL, false);

    h2->is_stingy = true;
    while (h2->window > 0) {
        struct h2_frame frame;

        h2_take(h2, &frame);
    }
    return stream;
}

static void let_large_come(struct h2 *h2, uint32_t stream)
{
    h2->is_stingy = false;
    h2_window(h2, 0, LARGE);
    h2_window(h2, stream, LARGE);
    expect_h2_seeded(h2_wait(h2, stream), SEED, 0, LARGE);
}

TEST(an_idle_connection_is_told_and_ended)
{
    struct server *one = H2_START("--workers=1");
    struct h2 *h2 = h2_open(one);
    struct h2 *silent = h2_open(one);

    h2_expect_usable(h2);
    server_signal(one, SIGTERM);
    expect_end(h2);
    assert_true(h2->goaways >= 1);
    assert_int_equal(h2->goaway_code, NGHTTP2_NO_ERROR);
    assert_int_equal(h2->goaway_stream, 1);
    expect_end(silent);
    assert_int_equal(silent->goaway_stream, 0);
    h2_close(h2);
    h2_close(silent);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
}

TEST(what_was_begun_is_answered)
{
    struct server *one = H2_START("--workers=1");
    struct h2 *h2 = h2_open(one);
    uint32_t large = begin_large(h2);

    server_signal(one, SIGTERM);
    expect_goaway(h2, 1, STREAM_MAX);
    expect_goaway(h2, 2, large);
    assert_int_equal(server_wait(one, 50), -1);
    let_large_come(h2, large);
    expect_end(h2);
    h2_close(h2);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
}

/* The client has not heard of the end when it asks: between the two GOAWAY. */
TEST(what_was_asked_before_the_client_knew_is_answered)
{
    struct server *one = H2_START("--workers=1");
    struct h2 *h2 = h2_open(one);
    uint32_t large = begin_large(h2);
    uint32_t late;

    server_signal(one, SIGTERM);
    expect_goaway(h2, 1, STREAM_MAX);
    late = h2_ask(h2, "HEAD", "/canary", NULL, false);
    expect_goaway(h2, 2, h2->goaway_stream < late ? large : late);
    if (h2->goaway_stream == late)
        expect_h2(h2_wait(h2, late), 200);
    let_large_come(h2, large);
    expect_end(h2);
}

/* Nothing that came behind the second one is answered, or taken for an
 * error. */
TEST(what_is_asked_afterwards_is_not_answered)
{
    struct server *one = H2_START("--workers=1");
    struct h2 *h2 = h2_open(one);
    uint32_t large = begin_large(h2);
    uint32_t late;
    uint32_t later;

    server_signal(one, SIGTERM);
    expect_goaway(h2, 1, STREAM_MAX);
    expect_goaway(h2, 2, large);
    late = h2_ask(h2, "POST", "/canary", NULL, true);
    h2_trailers(h2, late, H2_WITH("x-trailer", "1"));
    later = h2_ask(h2, "POST", "/canary", NULL, true);
    for (int i = 0; i < 600; i++)
        h2_frame(h2, NGHTTP2_DATA, 0, later, "x", 1);
    h2_trailers(h2, later, H2_WITH("x-trailer", "1"));
    h2_window(h2, later, 1);
    let_large_come(h2, large);
    assert_int_equal(h2_reply(h2, late)->status, 0);
    assert_int_equal(h2_reply(h2, later)->status, 0);
    assert_false(h2_reply(h2, later)->is_reset);
    expect_end(h2);
}

/* What was ignored may have been asked for elsewhere by then: a fault does not
 * say that it was read. */
TEST(the_last_stream_stays_the_last_when_a_fault_follows)
{
    struct server *one = H2_START("--workers=1");
    struct h2 *h2 = h2_open(one);
    uint32_t large = begin_large(h2);

    server_signal(one, SIGTERM);
    expect_goaway(h2, 1, STREAM_MAX);
    expect_goaway(h2, 2, large);
    (void)h2_ask(h2, "GET", "/canary", NULL, false);
    h2_window(h2, 0, 0);
    h2_expect_goaway(h2, NGHTTP2_PROTOCOL_ERROR);
    assert_int_equal(h2->goaways, 3);
    assert_int_equal(h2->goaway_stream, large);
}

TEST(what_takes_too_long_is_cut)
{
    struct server *one = H2_START("--workers=1", "--drain-timeout=500ms");
    struct h2 *h2 = h2_open(one);

    (void)begin_large(h2);
    server_signal(one, SIGTERM);
    assert_int_equal(server_wait(one, 500 + patience(QUICK_MS)), 0);
}

TEST(so_many_requests_and_no_more)
{
    enum { REQUESTS = 5 };
    struct server *one = H2_START("--workers=1",
                                  "--max-requests-per-connection=5");

    for (int round = 0; round < 3; round++) {
        struct h2 *h2 = h2_open(one);
        uint32_t streams[2 * REQUESTS];
        size_t answered = 0;

        for (size_t i = 0; i < 2 * REQUESTS; i++)
            streams[i] = h2_ask(h2, "GET", "/canary", NULL, false);
        for (struct h2_frame frame; h2_take(h2, &frame);)
            ;
        assert_true(h2->goaways > 0);
        assert_int_equal(h2->goaway_code, NGHTTP2_NO_ERROR);
        for (size_t i = 0; i < 2 * REQUESTS; i++) {
            struct h2_reply *reply = h2_reply(h2, streams[i]);

            answered += reply->status == 200 && reply->has_ended;
            /* Either it is answered, or the client knows that it is not. */
            if (reply->status == 0 && streams[i] <= h2->goaway_stream &&
                !(reply->is_reset && reply->code == NGHTTP2_REFUSED_STREAM))
                flunk("stream %u is lost", streams[i]);
        }
        assert_true(answered >= REQUESTS);
        h2_close(h2);
    }
}

/* --- The client goes ----------------------------------------------------- */

TEST(a_client_that_says_goaway_gets_what_it_asked_for)
{
    struct h2 *h2 = h2_open(H2_START("--workers=1"));
    uint32_t large = begin_large(h2);

    h2_frame(h2, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0bye", 11);
    h2_sync(h2);
    let_large_come(h2, large);
    h2_settle(h2, 100);
}

TEST(a_client_that_only_listens_gets_what_it_asked_for)
{
    struct server *one = H2_START("--workers=1");
    struct h2 *h2 = H2_OPEN_WITH(one,
                                 {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, LARGE});
    uint32_t large;

    h2->is_stingy = true;
    h2_window(h2, 0, LARGE);
    large = h2_ask(h2, "GET", "/large", NULL, false);
    client_half_close(h2->client);
    expect_h2_seeded(h2_wait(h2, large), SEED, 0, LARGE);
    expect_end(h2);
}

TEST(a_client_that_listens_to_nothing_is_not_kept)
{
    struct server *one = H2_START("--workers=1");
    struct h2 *other = h2_open(one);
    size_t descriptors;

    h2_expect_usable(other);
    descriptors = server_descriptors(one);
    for (int i = 0; i < 4; i++) {
        struct h2 *h2 = h2_open(one);

        (void)begin_large(h2);
        h2_sync(h2); /* nothing is left to be read: no reset, just a FIN */
        if (i % 2)
            client_half_close(h2->client);
        else
            h2_close(h2);
    }
    /* The cache keeps the file. */
    assert_true(eventually(server_descriptors(one) <= descriptors + 1,
                           QUICK_MS));
    h2_expect_usable(other);
}

/* Those that wait for a place, as the windows of others are shut, too: nobody
 * looks whether the client is there before all of them are gone. */
TEST(a_hundred_that_nobody_opens_windows_for_are_gone_at_once)
{
    enum { STREAMS = 100, AT_ONCE_MS = 600 };
    struct server *one = H2_START("--workers=1");
    struct h2 *h2 = H2_OPEN_WITH(one,
                                 {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0});
    struct h2_frame frame;
    uint64_t begin_ms;

    for (int i = 0; i < STREAMS; i++)
        (void)h2_ask(h2, "GET", "/large", NULL, false);
    h2_sync(h2);
    client_half_close(h2->client);
    begin_ms = now_ms();
    while (h2_take(h2, &frame))
        ;
    if (now_ms() - begin_ms > patience(AT_ONCE_MS))
        flunk("after %llu ms", (unsigned long long)(now_ms() - begin_ms));
}

TEST(clients_that_are_gone_leave_nothing)
{
    struct server *one = H2_START("--workers=1");
    struct h2 *other = h2_open(one);
    size_t descriptors;

    h2_expect_usable(other);
    descriptors = server_descriptors(one);
    for (int i = 0; i < 30; i++) {
        struct h2 *h2 = h2_open(one);

        for (int stream = 0; stream < 20; stream++)
            (void)h2_ask(h2, i % 3 ? "GET" : "POST", "/large", NULL,
                         i % 3 == 0);
        if (i % 2)
            h2_settle(h2, 1);
        if (i % 5)
            client_reset(h2->client);
        else
            h2_close(h2);
    }
    h2_expect_usable(other);
    site_text("new", "1"); /* files are let go of, too */
    assert_true(eventually(server_descriptors(one) <= descriptors + 1,
                           QUICK_MS));
}

/* --- Another generation, another process --------------------------------- */

static void configure(const char *root)
{
    site_text("../test.conf",
              printed("root = \"%s\"\nhttp2 = all\nworkers = 1\n", root));
}

TEST(a_reload_loses_nothing_and_is_followed)
{
    struct server *one;
    struct h2 *h2;
    uint32_t large;
    struct h2_reply *reply;

    site_text("other/canary", "other\n");
    configure(site());
    one = server_start(&(struct launch){.root = ""},
                       (const char *const[]){
                           "-c", printed("%s/test.conf", folder()), "--control",
                           control_path(), NULL});
    h2 = h2_open(one);
    large = begin_large(h2);
    configure(printed("%s/other", site()));
    ctl_ok("reload");
    h2_sync(h2);
    let_large_come(h2, large);
    h2_settle(h2, 200);
    if (h2->goaways > 0)
        h2 = h2_open(one);
    reply = h2_get(h2, "/canary");
    expect_h2_body(reply, "other\n");
}

TEST(an_upgrade_loses_nothing)
{
    struct server *one = H2_START("--workers=1", "--control", control_path(),
                                  "--pid-file", pid_path());
    struct server place = *one;
    struct h2 *h2 = h2_open(one);
    uint32_t large = begin_large(h2);

    ctl_ok("upgrade");
    expect_goaway(h2, 1, STREAM_MAX);
    expect_goaway(h2, 2, large);
    h2_expect_usable(h2_open(&place)); /* the new one serves */
    let_large_come(h2, large);
    expect_end(h2);
    h2_close(h2);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    ctl_ok("stop");
}

SUITE(.begin = start, .end = harness_end, .each_end = operator_after_test);
