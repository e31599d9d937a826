/*
 * HTTP/2: whoever does too much of anything loses the connection, is counted,
 * and harms nobody beside (RFC 9113 10.5).
 */
#include "h2_client.h"
#include "store.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

enum { LARGE = 2 << 20, SEED = 3, MOST = 200000, LOOK_EVERY = 50 };

static struct server *server;

static int start(void **state)
{
    if (h2_begin(state) != 0)
        return -1;
    site_seeded("large", SEED, LARGE);
    server = START_STORE(store_folder(), "--http2=all", "--workers=1",
                         "--status=/_s");
    harness_keep();
    return 0;
}

/* --- Floods -------------------------------------------------------------- */

/* The next piece of it; false: the server takes no more. */
typedef bool flood_fn(struct h2 *h2, unsigned number);

struct flood {
    const char *name;
    const char *kind; /* as it is counted; NULL: not by itself */
    flood_fn *say;
    flood_fn *begin; /* NULL: nothing comes before */
};

/* Says more of it until the connection ends; another client goes on meanwhile.
 * How much was said. */
static unsigned pour(struct h2 *h2, const struct flood *flood)
{
    struct h2 *other = h2_open(server);
    struct h2_frame frame;
    unsigned said = 0;

    if (flood->begin)
        (void)flood->begin(h2, 0);
    for (; said < MOST && flood->say(h2, said); said++) {
        if (said % LOOK_EVERY != 0)
            continue;
        while (h2_hears(h2, 0))
            if (!h2_take(h2, &frame) || h2->goaways > 0)
                return said;
        if (said % (20 * LOOK_EVERY) == 0)
            h2_expect_usable(other);
    }
    h2_expect_usable(other);
    return said;
}

static void expect_stopped(const struct flood *flood)
{
    struct h2 *h2 = h2_open(server);
    unsigned long before = flood->kind ? h2_abuses(server, flood->kind) : 0;
    uint64_t bytes = server_memory(server);
    unsigned said;

    going_on("%s", flood->name);
    said = pour(h2, flood);
    if (said == MOST)
        flunk("%u of it were taken", said);
    h2_expect_goaway(h2, NGHTTP2_ENHANCE_YOUR_CALM);
    if (flood->kind && h2_abuses(server, flood->kind) == before)
        flunk("not counted as '%s'", flood->kind);
    if (!is_sanitized() && server_memory(server) > bytes + (1 << 20))
        flunk("%llu bytes are left of it",
              (unsigned long long)(server_memory(server) - bytes));
    h2_expect_usable(h2_open(server));
}

/* CVE-2023-44487 */
static bool say_rapid_reset(struct h2 *h2, unsigned number)
{
    uint32_t stream = h2_ask(h2, "GET", "/large", NULL, false);

    (void)number;
    return h2_reset(h2, stream, NGHTTP2_CANCEL);
}

/* CVE-2025-8671: the server itself is made to reset. */
static bool say_wrong_window(struct h2 *h2, unsigned number)
{
    uint32_t stream = h2_ask(h2, "PUT", "/kv/k", NULL, true);

    (void)number;
    h2_reply(h2, stream)->is_given_up = true;
    return h2_window(h2, stream, 0);
}

static bool say_wrong_length(struct h2 *h2, unsigned number)
{
    uint32_t stream = h2_ask(h2, "PUT", "/kv/k", H2_WITH("content-length", "1"),
                             true);

    (void)number;
    return h2_frame(h2, NGHTTP2_DATA, 0, stream, "123", 3);
}

static bool say_wrong_field(struct h2 *h2, unsigned number)
{
    (void)number;
    (void)h2_ask(h2, "GET", "/large", H2_WITH("", ""), false);
    return h2_hears(h2, 0) || h2_window(h2, 0, 1);
}

static bool say_either_reset(struct h2 *h2, unsigned number)
{
    return number % 2 ? say_rapid_reset(h2, number)
                      : say_wrong_window(h2, number);
}

/* CVE-2019-9515 */
static bool say_settings(struct h2 *h2, unsigned number)
{
    (void)number;
    h2_expect_settings(h2);
    return h2_frame(h2, NGHTTP2_SETTINGS, 0, 0, "", 0);
}

/* CVE-2019-9512 */
static bool say_ping(struct h2 *h2, unsigned number)
{
    (void)number;
    return h2_frame(h2, NGHTTP2_PING, 0, 0, "12345678", 8);
}

static bool say_ping_answer(struct h2 *h2, unsigned number)
{
    (void)number;
    return h2_frame(h2, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "12345678", 8);
}

/* CVE-2019-9513 */
static bool say_priority(struct h2 *h2, unsigned number)
{
    char payload[5] = {0, 0, 0, 0, (char)number};

    return h2_frame(h2, NGHTTP2_PRIORITY, 0, 2 * (number % 1000) + 1001,
                    payload, 5);
}

static bool say_priority_update(struct h2 *h2, unsigned number)
{
    h2_priority_update(h2, 2 * (number % 100) + 1, "u=1");
    return h2_window(h2, 0, 0x1000);
}

static bool say_window(struct h2 *h2, unsigned number)
{
    (void)number;
    return h2_window(h2, 0, 1);
}

/* CVE-2019-9518 */
static bool begin_body(struct h2 *h2, unsigned number)
{
    (void)number;
    return h2_ask(h2, "PUT", "/kv/k", NULL, true);
}

static bool say_empty_data(struct h2 *h2, unsigned number)
{
    (void)number;
    return h2_frame(h2, NGHTTP2_DATA, 0, 1, "", 0);
}

static bool say_unknown(struct h2 *h2, unsigned number)
{
    return h2_frame(h2, 0xf0, 0xff, number % 7, "what?", number % 6);
}

static bool say_long_unknown(struct h2 *h2, unsigned number)
{
    static char payload[H2_FRAME_MAX];

    (void)number;
    return h2_frame(h2, 0xf0, 0, 0, payload, sizeof(payload));
}

static bool say_goaway(struct h2 *h2, unsigned number)
{
    (void)number;
    return h2_frame(h2, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8);
}

/* CVE-2024-27316 */
static bool begin_block(struct h2 *h2, unsigned number)
{
    static const char begin[] = "\x82\x86\x84\x41\x01"
                                "a";

    (void)number;
    h2_expect_stream(h2, 1);
    return h2_frame(h2, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 1, begin, 6);
}

static bool say_empty_continuation(struct h2 *h2, unsigned number)
{
    (void)number;
    return h2_frame(h2, NGHTTP2_CONTINUATION, 0, 1, "", 0);
}

static bool say_small_continuation(struct h2 *h2, unsigned number)
{
    return h2_frame(h2, NGHTTP2_CONTINUATION, 0, 1, "\x40\1x\1y" + number % 5,
                    1);
}

static bool say_large_continuation(struct h2 *h2, unsigned number)
{
    static char payload[H2_FRAME_MAX]; /* names and values of no byte */

    (void)number;
    return h2_frame(h2, NGHTTP2_CONTINUATION, 0, 1, payload, 16383);
}

static bool say_stream(struct h2 *h2, unsigned number)
{
    (void)number;
    return h2_ask(h2, "PUT", "/kv/k", NULL, true) && !h2->has_ended &&
           h2_window(h2, 0, 1);
}

/* Bytes of padding for nothing. */
static bool say_padding(struct h2 *h2, unsigned number)
{
    static char payload[256] = {(char)255};
    struct h2_frame frame;

    (void)number;
    while (h2->send_window < 256)
        if (!h2_take(h2, &frame) || h2->goaways > 0)
            return false;
    h2->send_window -= 256;
    return h2_frame(h2, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, payload, 256);
}

TEST(resets_of_either_side_have_one_budget)
{
    static const struct flood floods[] = {
        {"rapid reset", "resets", say_rapid_reset, NULL},
        {"made to reset by a window", "resets", say_wrong_window, NULL},
        {"by a length", "resets", say_wrong_length, NULL},
        {"by a field", "resets", say_wrong_field, NULL},
        {"now this, now that", "resets", say_either_reset, NULL},
    };

    for (size_t i = 0; i < COUNT(floods); i++)
        expect_stopped(&floods[i]);
}

TEST(frames_that_do_nothing_have_their_limits)
{
    static const struct flood floods[] = {
        {"SETTINGS", "settings", say_settings, NULL},
        {"PING", "pings", say_ping, NULL},
        {"ACK of PING", "pings", say_ping_answer, NULL},
        {"PRIORITY", "priorities", say_priority, NULL},
        {"PRIORITY_UPDATE", "priorities", say_priority_update, NULL},
        {"WINDOW_UPDATE", "windows", say_window, NULL},
        {"empty DATA", "empty_frames", say_empty_data, begin_body},
        {"padding", "empty_frames", say_padding, begin_body},
        {"unknown types", "unknown_frames", say_unknown, NULL},
        {"long ones", NULL, say_long_unknown, NULL},
        {"GOAWAY", NULL, say_goaway, NULL},
    };

    for (size_t i = 0; i < COUNT(floods); i++)
        expect_stopped(&floods[i]);
}

TEST(a_block_of_fields_ends_somewhere)
{
    static const struct flood floods[] = {
        {"empty CONTINUATION", "continuation", say_empty_continuation,
         begin_block},
        {"of one byte each", "continuation", say_small_continuation,
         begin_block},
        {"large ones", NULL, say_large_continuation, begin_block},
    };

    for (size_t i = 0; i < COUNT(floods); i++)
        expect_stopped(&floods[i]);
}

TEST(streams_beyond_the_limit_are_refused_and_then_all)
{
    static const struct flood flood = {"streams", "streams", say_stream, NULL};
    struct h2 *h2 = h2_open(server);

    for (int i = 0; i < 101; i++)
        (void)h2_ask(h2, "PUT", "/kv/k", NULL, true);
    h2_expect_reset(h2, 201, NGHTTP2_REFUSED_STREAM);
    h2_close(h2);
    expect_stopped(&flood);
}

/* --- What is no abuse ---------------------------------------------------- */

/* Files take no bodies: all are answered, and the rest of the bodies is told to
 * be of no use. Until a client hears of that it goes on with them. */
TEST(bodies_that_go_on_behind_early_answers_are_no_abuse)
{
    enum { ROUNDS = 10, STREAMS = 100 };
    struct h2 *h2 = h2_open(server);
    uint32_t streams[STREAMS];
    struct h2_frame frame;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < STREAMS; i++)
            streams[i] = h2_ask(h2, "POST", "/canary", NULL, true);
        for (int i = 0; i < STREAMS; i++)
            expect_h2(h2_wait(h2, streams[i]), 405);
        while (h2->send_window < STREAMS)
            h2_take(h2, &frame);
        h2_sync(h2); /* the resets have come */
        for (int i = 0; i < STREAMS; i++) {
            size_t before = h2->seen[NGHTTP2_RST_STREAM];

            h2_frame(h2, NGHTTP2_DATA, 0, streams[i], "x", 1);
            h2->send_window--;
            if (i == STREAMS - 1) {
                h2_sync(h2);
                assert_int_equal(h2->seen[NGHTTP2_RST_STREAM], before);
            }
        }
    }
    assert_int_equal(h2->goaways, 0);
    h2_expect_usable(h2);
}

/* A stream that was answered before its body ended is reset by its client, too,
 * as it may be after the answer's end. */
TEST(resets_of_what_was_answered_are_no_abuse)
{
    enum { TIMES = 1000 };
    struct h2 *h2 = h2_open(server);

    for (int i = 0; i < TIMES; i++) {
        uint32_t stream = h2_ask(h2, i % 2 ? "POST" : "GET", "/canary", NULL,
                                 i % 2);

        expect_h2(h2_wait(h2, stream), i % 2 ? 405 : 200);
        h2_sync(h2);
        h2_reset(h2, stream, NGHTTP2_CANCEL);
    }
    assert_int_equal(h2->goaways, 0);
    h2_expect_usable(h2);
}

/* --- Clients that say something for each piece that they get ------------- */

typedef void heard_fn(struct h2 *h2, const struct h2_frame *frame);

static void get_slowly(struct h2 *h2, unsigned times, heard_fn *heard)
{
    for (unsigned i = 0; i < times; i++) {
        uint32_t stream = h2_ask(h2, "GET", "/large", NULL, false);
        struct h2_reply *reply = h2_reply(h2, stream);
        struct h2_frame frame;

        while (!reply->has_ended && h2_take(h2, &frame))
            if (frame.type == NGHTTP2_DATA)
                heard(h2, &frame);
        expect_h2_seeded(reply, SEED, 0, LARGE);
    }
    assert_int_equal(h2->goaways, 0);
    h2_expect_usable(h2);
}

static void ping(struct h2 *h2, const struct h2_frame *frame)
{
    (void)frame;
    h2_ping(h2);
}

/* What a path holds is measured so, a PING at a time. */
TEST(pings_beside_what_comes_are_no_abuse)
{
    get_slowly(h2_open(server), 10, ping);
}

static void open_again(struct h2 *h2, const struct h2_frame *frame)
{
    if (frame->len == 0)
        return;
    h2_window(h2, 0, (uint32_t)frame->len);
    if (!h2_reply(h2, frame->stream)->has_ended)
        h2_window(h2, frame->stream, (uint32_t)frame->len);
}

/* The window is a frame and some bytes, which are a frame of their own each
 * time that it is opened by what has come. */
TEST(odd_bytes_of_a_window_are_no_abuse)
{
    struct h2 *h2 = H2_OPEN_WITH(server, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                          H2_FRAME_MAX + 100});

    h2->is_stingy = true;
    get_slowly(h2, 8, open_again);
}

/* Cancelled, pinged, updated and reordered as a busy browser does it. */
TEST(a_lively_client_trips_nothing)
{
    struct h2 *h2 = h2_open(server);

    for (unsigned i = 0; i < 2000; i++) {
        uint32_t stream = h2_ask(h2, "GET", i % 10 ? "/canary" : "/large", NULL,
                                 false);

        if (i % 5 == 0)
            h2_priority_update(h2, stream, "u=5");
        if (i % 10 == 0 && i % 20)
            h2_wait_head(h2, stream);
        if (i % 10 == 0)
            h2_reset(h2, stream, NGHTTP2_CANCEL);
        else
            expect_h2_body(h2_wait(h2, stream), "canary\n");
        if (i % 50 == 0)
            h2_sync(h2);
        if (i % 100 == 0)
            h2_settings(h2, NULL, 0);
    }
    assert_int_equal(h2->goaways, 0);
}

E2E_SUITE(start);
