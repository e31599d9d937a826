/*
 * HTTP/2: how the windows of uploads follow the path. The client answers a PING
 * when the test says so, as one that is far away would.
 */
#include "h2_client.h"
#include "store.h"

enum {
    TRIPS = 16,
    MOST = 1 << 20,
    CONN_MOST = MOST + 131072, /* more is for what is kept meanwhile */
    PIECES = 1 << 20
};

static struct server *server;
static char data[PIECES];

static int start(void **state)
{
    if (h2_begin(state) != 0)
        return -1;
    server = START_STORE(store_folder(), "--http2=all", "--workers=1",
                         "--kv-max-value=64M", "--status=/_s");
    harness_keep();
    return 0;
}

static uint32_t begin_upload(struct h2 *h2)
{
    h2->keeps_pings = true;
    return h2_ask(h2, "PUT", "/kv/k", NULL, true);
}

/* Sends what the windows of the stream let go at once, and hears what that
 * opens. Returns how much went. */
static size_t fill_window(struct h2 *h2, uint32_t stream)
{
    int64_t window = h2_reply(h2, stream)->send_window;

    if (window > h2->send_window)
        window = h2->send_window;
    assert_in_range(window, 1, sizeof(data));
    assert_true(h2_body(h2, stream, data, (size_t)window, true));
    h2_settle(h2, 20 * slowness());
    return (size_t)window;
}

TEST(a_window_that_is_in_the_way_grows)
{
    struct h2 *h2 = h2_open(server);
    uint32_t stream = begin_upload(h2);
    size_t first = fill_window(h2, stream);
    size_t last = 0;

    assert_int_equal(first, H2_WINDOW);
    for (int trip = 0; trip < TRIPS; trip++) {
        h2_answer_pings(h2);
        last = fill_window(h2, stream);
    }
    if (last < MOST / 2 || h2_reply(h2, stream)->send_window > MOST ||
        h2->send_window > CONN_MOST)
        flunk("%zu bytes a round trip, then %lld of %lld", last,
              (long long)h2_reply(h2, stream)->send_window,
              (long long)h2->send_window);
    h2_body(h2, stream, NULL, 0, false);
    assert_int_equal(h2_wait(h2, stream)->status / 100, 2);
    h2_answer_pings(h2);
    h2_expect_usable(h2);
}

/* What comes later finds it so. */
TEST(the_next_upload_begins_where_the_last_one_was)
{
    struct h2 *h2 = h2_open(server);
    uint32_t stream = begin_upload(h2);

    for (int trip = 0; trip < TRIPS; trip++) {
        (void)fill_window(h2, stream);
        h2_answer_pings(h2);
    }
    h2_body(h2, stream, NULL, 0, false);
    assert_int_equal(h2_wait(h2, stream)->status / 100, 2);
    stream = begin_upload(h2);
    assert_int_equal(fill_window(h2, stream), H2_WINDOW);
    if (fill_window(h2, stream) < MOST / 2)
        flunk("it begins anew");
    h2_body(h2, stream, NULL, 0, false);
    assert_int_equal(h2_wait(h2, stream)->status / 100, 2);
}

/* Little comes in a round trip: nothing is to be gained. */
TEST(a_window_that_is_wide_enough_stays)
{
    enum { PIECE = 8192, TIMES = 100 };
    struct h2 *h2 = h2_open(server);
    uint32_t stream = begin_upload(h2);

    for (int i = 0; i < TIMES; i++) {
        assert_true(h2_body(h2, stream, data, PIECE, true));
        h2_settle(h2, 2);
        h2_answer_pings(h2);
        if (h2_reply(h2, stream)->send_window > H2_WINDOW)
            flunk("piece %d: %lld bytes", i,
                  (long long)h2_reply(h2, stream)->send_window);
    }
    if (h2->their_pings > 12)
        flunk("%zu times it was measured", h2->their_pings);
    h2_body(h2, stream, NULL, 0, false);
    assert_int_equal(h2_wait(h2, stream)->status / 100, 2);
}

/* An answer that nobody has asked for is one PING of many. */
TEST(answers_to_no_ping_open_nothing)
{
    struct h2 *h2 = h2_open(server);
    uint32_t stream = begin_upload(h2);
    unsigned long before = h2_abuses(server, "pings");

    (void)fill_window(h2, stream);
    for (int i = 0; i < 200; i++)
        (void)h2_frame(h2, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "windowed", 8);
    h2_expect_goaway(h2, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_int_equal(h2_abuses(server, "pings"), before + 1);
}

E2E_SUITE(start);
