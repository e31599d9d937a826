/*
 * HTTP/2: deadlines of connections and of their streams. Each is short here;
 * what must not happen earlier is as much a part of it as what must happen.
 */
#include "h2_client.h"
#include "store.h"
#include "upstream.h"

enum { LARGE = 8 << 20, SEED = 8, SHORT_MS = 400 };

static int start(void **state)
{
    if (h2_begin(state) != 0)
        return -1;
    site_seeded("large", SEED, LARGE);
    return 0;
}

static char *limit(const char *option)
{
    return printed("%s=%llums", option, (unsigned long long)patience(SHORT_MS));
}

static void expect_in_time(uint64_t begin_ms)
{
    assert_in_range(now_ms() - begin_ms, patience(SHORT_MS) * 8 / 10,
                    patience(SHORT_MS) * 3 + patience(2000));
}

/* Until the connection ends; there may have been a word of it. */
static void expect_expired(struct h2 *h2, uint64_t begin_ms)
{
    struct h2_frame frame;

    while (h2_take(h2, &frame))
        ;
    expect_in_time(begin_ms);
}

TEST(an_idle_connection_ends_with_goaway)
{
    struct server *one = H2_START("--workers=1", limit("--keepalive-timeout"));
    struct h2 *h2 = h2_open(one);
    struct h2 *busy = h2_open(one);
    uint64_t begin;

    h2_expect_usable(h2);
    begin = now_ms();
    while (!h2_hears(h2, patience(SHORT_MS) / 4))
        h2_expect_usable(busy);
    expect_expired(h2, begin);
    assert_int_equal(h2->goaways > 0, 1);
    assert_int_equal(h2->goaway_code, NGHTTP2_NO_ERROR);
    h2_expect_usable(busy);
}

/* A ping is no request: it may not keep a connection for ever. */
TEST(pings_do_not_keep_a_connection)
{
    struct h2 *h2 = h2_open(H2_START("--workers=1",
                                     limit("--keepalive-timeout")));
    struct h2_frame frame;
    uint64_t begin = now_ms();

    h2_expect_usable(h2);
    while (h2->goaways == 0) {
        h2_ping(h2);
        if (!h2_take(h2, &frame))
            break;
        pause_ms(20 * slowness());
        if (now_ms() > begin + patience(10000))
            flunk("it is kept");
    }
    expect_in_time(begin);
}

TEST(who_only_begins_is_let_go)
{
    static const char *const begun[] = {"", "PRI * HT", H2_PREFACE};
    struct server *one = H2_START("--workers=1", limit("--header-timeout"),
                                  limit("--keepalive-timeout"));

    for (size_t i = 0; i < 3; i++) {
        struct h2 *h2 = h2_open_silent(one);
        uint64_t begin = now_ms();

        going_on("'%s'", begun[i]);
        client_say(h2->client, "%s", begun[i]);
        (void)client_take(h2->client, 100000);
        client_skip(h2->client, client_take(h2->client, 0));
        client_expect_end(h2->client);
        expect_in_time(begin);
    }
}

TEST(a_head_must_come_in_time)
{
    struct server *one = H2_START("--workers=1", limit("--header-timeout"));
    struct h2 *h2 = h2_open(one);
    uint64_t begin = now_ms();

    h2_expect_stream(h2, 1);
    h2_frame(h2, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 1, "\x82", 1);
    expect_expired(h2, begin);
    h2_expect_usable(h2_open(one));
}

/* Bytes that trickle in do not buy time. */
TEST(half_a_frame_must_become_a_whole_one)
{
    struct server *one = H2_START("--workers=1", limit("--header-timeout"));
    struct h2 *h2 = h2_open(one);
    uint64_t begin = now_ms();

    h2_say(h2, RAW("\0\x10\0\1\5\0\0\0\1"));
    for (int i = 0; i < 500 && !h2_hears(h2, 20 * slowness()); i++)
        if (!h2_say(h2, "\x40", 1))
            break;
    expect_expired(h2, begin);
}

/* With the rest of each comes the beginning of the next: so there is half a
 * frame whenever the server looks, but never the same for long. */
TEST(each_frame_has_a_time_of_its_own)
{
    enum { ROUNDS = 16, BEGINNING = 12, FRAME = 200 };
    struct h2 *h2 = h2_open(H2_START("--workers=1", limit("--header-timeout")));
    uint8_t *text = scratch((ROUNDS + 1) * FRAME);
    uint8_t block[FRAME];
    size_t ends[ROUNDS];
    size_t said = BEGINNING;
    size_t len = 0;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        h2_expect_stream(h2, 2 * i + 1);
        len += h2_write_frame(text + len, NGHTTP2_HEADERS,
                              NGHTTP2_FLAG_END_STREAM |
                                  NGHTTP2_FLAG_END_HEADERS,
                              2 * i + 1, block,
                              h2_encode(h2, H2_GET_OF(h2, "a", "/canary"),
                                        block, sizeof(block)));
        ends[i] = len;
    }
    assert_true(h2_say(h2, text, BEGINNING));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        size_t until = i < ROUNDS - 1 ? ends[i] + BEGINNING : ends[i];

        pause_ms((unsigned)patience(SHORT_MS) / 8);
        assert_true(h2_say(h2, text + said, until - said));
        said = until;
        expect_h2_body(h2_wait(h2, 2 * i + 1), "canary\n");
    }
}

TEST(a_body_must_come_in_time_and_others_do_not_suffer)
{
    struct h2 *h2 = h2_open(H2_START("--workers=1", limit("--body-timeout")));
    uint64_t begin = now_ms();
    uint32_t stream = h2_ask(h2, "POST", "/canary",
                             H2_WITH("content-length", "100"), true);
    struct h2_reply *reply = h2_reply(h2, stream);
    struct h2_frame frame;

    while (reply->status == 0 && !reply->is_reset) {
        h2_expect_usable(h2);
        if (now_ms() > begin + patience(10000))
            flunk("it waits for ever");
        pause_ms(5);
    }
    /* It may have been answered before its body: then that is all. */
    while (!reply->is_reset && !reply->has_ended && h2_take(h2, &frame))
        ;
    h2_expect_usable(h2);
}

/* As over HTTP/1.1: where no least rate is asked for, a body may take as long as
 * it goes on. */
TEST(a_body_that_goes_on_is_in_time_without_a_least_rate)
{
    enum { PIECES = 36 };
    struct h2 *h2 = h2_open(START_STORE(store_folder(), "--http2=all",
                                        "--workers=1", limit("--body-timeout"),
                                        "--send-rate-min=0"));
    uint32_t stream = h2_ask(h2, "PUT", "/kv/slow", NULL, true);

    for (int i = 1; i <= PIECES; i++) {
        pause_ms((unsigned)patience(SHORT_MS) / 8);
        assert_true(h2_body(h2, stream, "x", 1, i < PIECES));
    }
    expect_h2(h2_wait(h2, stream), 201);
}

/* One stream's window stays shut: it is given up, and the others go on. */
TEST(a_stream_whose_window_stays_shut_is_given_up)
{
    struct h2 *h2 = H2_OPEN_WITH(H2_START("--workers=1",
                                          limit("--send-timeout")),
                                 {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0});
    uint64_t begin = now_ms();
    uint32_t shut = h2_ask(h2, "GET", "/large", NULL, false);
    struct h2_reply *reply = h2_wait_head(h2, shut);

    h2->is_stingy = true;
    expect_h2(reply, 200);
    while (!reply->is_reset && !h2->has_ended) {
        uint32_t other = h2_ask(h2, "GET", "/canary", NULL, false);

        h2_window(h2, other, 100);
        expect_h2_body(h2_wait(h2, other), "canary\n");
        if (now_ms() > begin + patience(10000))
            flunk("it is held for ever");
        pause_ms(10 * slowness());
    }
    assert_false(h2->has_ended);
    expect_in_time(begin);
}

TEST(a_connection_whose_window_stays_shut_is_given_up)
{
    struct h2 *h2 = h2_open(H2_START("--workers=1", limit("--send-timeout")));
    uint64_t begin;
    uint32_t stream;
    struct h2_frame frame;

    h2->is_stingy = true;
    stream = h2_ask(h2, "GET", "/large", NULL, false);
    while (h2->window > 0 && h2_take(h2, &frame))
        ;
    begin = now_ms();
    while (!h2_reply(h2, stream)->is_reset && h2_take(h2, &frame))
        ;
    expect_in_time(begin);
}

/* A byte now and then is less than the least rate. */
TEST(windows_that_open_by_a_byte_do_not_buy_time)
{
    struct h2 *h2 = H2_OPEN_WITH(H2_START("--workers=1",
                                          limit("--send-timeout"),
                                          "--send-rate-min=10K"),
                                 {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1000});
    uint32_t stream = h2_ask(h2, "GET", "/large", NULL, false);
    struct h2_reply *reply = h2_wait_head(h2, stream);
    uint64_t begin = now_ms();

    h2->is_stingy = true;
    while (!reply->is_reset && !h2->has_ended && h2->goaways == 0) {
        h2_window(h2, stream, 10);
        h2_settle(h2, 30 * slowness());
        if (now_ms() > begin + patience(10000))
            flunk("it has had %zu bytes", reply->body_len);
    }
}

TEST(who_takes_steadily_is_not_given_up)
{
    struct h2 *h2 = h2_open(H2_START("--workers=1", limit("--send-timeout"),
                                     "--send-rate-min=1000"));
    uint32_t stream = h2_ask(h2, "GET", "/large", NULL, false);
    uint64_t until = now_ms() + 3 * patience(SHORT_MS);
    struct h2_frame frame;

    while (now_ms() < until && !h2_reply(h2, stream)->has_ended) {
        assert_true(h2_take(h2, &frame));
        pause_ms(5);
    }
    expect_h2_seeded(h2_wait(h2, stream), SEED, 0, LARGE);
}

/* Its answer takes longer than anything here, and nobody is idle meanwhile. */
TEST(a_stream_that_waits_for_an_upstream_keeps_the_connection)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 =
        h2_open(PROXY(upstream, "--http2=all", limit("--keepalive-timeout"),
                      limit("--header-timeout"), limit("--send-timeout")));
    uint32_t stream = h2_ask(h2, "GET", "/", NULL, false);
    struct client *peer = upstream_accept(upstream);

    hear_head(peer);
    pause_ms(3 * (unsigned)patience(SHORT_MS));
    client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
    expect_h2_body(h2_wait(h2, stream), "hi");
}

E2E_SUITE(start);
