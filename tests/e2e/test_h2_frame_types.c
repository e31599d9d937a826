/*
 * HTTP/2, type by type: what RFC 9113 6 and RFC 9218 7 say of each, and the
 * windows.
 */
#include "h2_case.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

enum { LARGE = 300000, SEED = 6 };

static struct server *server;

static int start(void **state)
{
    if (h2_begin(state) != 0)
        return -1;
    site_text("index.html", "index\n");
    site_text("empty", "");
    site_seeded("large", SEED, LARGE);
    server = H2_CASE_SERVER();
    harness_keep();
    return 0;
}

/* --- 6: each type -------------------------------------------------------- */

TEST(padding_is_part_of_a_frame)
{
    static const struct h2_case cases[] = {
        BORNE("DATA, all padding", SAY(HEADERS, END_HEADERS, 1, H2_PUT),
              SAY(DATA, PADDED | END_STREAM, 1, "\3\0\0\0")),
        ENDS("DATA, more of it", PROTOCOL_ERROR,
             SAY(HEADERS, END_HEADERS, 1, H2_PUT),
             SAY(DATA, PADDED | END_STREAM, 1, "\4\0\0\0")),
        ENDS("DATA without its length", FRAME_SIZE_ERROR,
             SAY(HEADERS, END_HEADERS, 1, H2_PUT),
             SAY(DATA, PADDED | END_STREAM, 1, "")),
        BORNE("HEADERS", SAY(HEADERS, BOTH | PADDED, 1, "\2" H2_GET "\0\0")),
        ENDS("HEADERS, more of it", PROTOCOL_ERROR,
             SAY(HEADERS, BOTH | PADDED, 1, "\7" H2_GET)),
        BORNE("with a priority", SAY(HEADERS, BOTH | PADDED | PRIORITY, 1,
                                     "\1\0\0\0\0\x10" H2_GET "\0")),
        ENDS("and no room for it", PROTOCOL_ERROR,
             SAY(HEADERS, BOTH | PADDED | PRIORITY, 1, "\2\0\0\0\0\x10\0")),
    };

    PLAY(cases);
}

TEST(a_block_of_fields_comes_in_one_piece)
{
    static const struct h2_case cases[] = {
        BORNE("in CONTINUATION alone", SAY(HEADERS, END_STREAM, 1, ""),
              SAY(CONTINUATION, 0, 1, "\x82\x86"), SAY(CONTINUATION, 0, 1, ""),
              SAY(CONTINUATION, END_HEADERS, 1,
                  "\x84\x41\1"
                  "a")),
        ENDS("PING inside", PROTOCOL_ERROR, SAY(HEADERS, END_STREAM, 1, ""),
             SAY(PING, 0, 0, "12345678")),
        ENDS("an unknown type inside", PROTOCOL_ERROR,
             SAY(HEADERS, END_STREAM, 1, ""), SAY_OTHER(0x16, 0, 1, "")),
        ENDS("HEADERS of another stream", PROTOCOL_ERROR,
             SAY(HEADERS, END_STREAM, 1, H2_GET),
             SAY(HEADERS, BOTH, 3, H2_GET)),
        ENDS("CONTINUATION of another", PROTOCOL_ERROR,
             SAY(HEADERS, END_STREAM, 1, ""),
             SAY(CONTINUATION, END_HEADERS, 3, H2_GET)),
        ENDS("PRIORITY inside", PROTOCOL_ERROR,
             SAY(HEADERS, END_STREAM, 1, H2_GET),
             SAY(PRIORITY, 0, 1, "\0\0\0\0\0")),
        ENDS("DATA inside", PROTOCOL_ERROR, SAY(HEADERS, 0, 1, H2_PUT),
             SAY(DATA, END_STREAM, 1, "x")),
        ENDS("CONTINUATION of DATA", PROTOCOL_ERROR,
             SAY(HEADERS, END_HEADERS, 1, H2_PUT), SAY(DATA, 0, 1, "x"),
             SAY(CONTINUATION, END_HEADERS, 1, "")),
    };

    PLAY(cases);
}

TEST(settings_have_values_that_they_may_have)
{
    static const struct h2_case cases[] = {
        ENDS("ENABLE_PUSH 2", PROTOCOL_ERROR,
             SAY(SETTINGS, 0, 0, "\0\2\0\0\0\2")),
        ENDS("INITIAL_WINDOW_SIZE 2^31", FLOW_CONTROL_ERROR,
             SAY(SETTINGS, 0, 0, "\0\4\x80\0\0\0")),
        ENDS("MAX_FRAME_SIZE 2^14 - 1", PROTOCOL_ERROR,
             SAY(SETTINGS, 0, 0, "\0\5\0\0\x3f\xff")),
        ENDS("MAX_FRAME_SIZE 2^24", PROTOCOL_ERROR,
             SAY(SETTINGS, 0, 0, "\0\5\1\0\0\0")),
        ENDS("NO_RFC7540_PRIORITIES 2", PROTOCOL_ERROR,
             SAY(SETTINGS, 0, 0, "\0\x9\0\0\0\2")),
        ENDS("NO_RFC7540_PRIORITIES 1, but not at first", PROTOCOL_ERROR,
             SAY(SETTINGS, 0, 0, "\0\x9\0\0\0\1")),
        BORNE("NO_RFC7540_PRIORITIES 0 again",
              SAY(SETTINGS, 0, 0, "\0\x9\0\0\0\0")),
        BORNE("the largest",
              SAY(SETTINGS, 0, 0,
                  "\0\5\0\xff\xff\xff\0\4\x7f\xff\xff\xff\0\2\0\0\0\1")),
        BORNE("HEADER_TABLE_SIZE 0 and 2^32 - 1",
              SAY(SETTINGS, 0, 0, "\0\1\0\0\0\0\0\1\xff\xff\xff\xff")),
    };

    PLAY(cases);
}

TEST(pings_come_back_as_they_were)
{
    struct h2 *h2 = h2_open(server);
    struct h2_frame frame;

    h2_frame(h2, NGHTTP2_PING, ACK, 0, "an echo?", 8); /* has no answer */
    h2_frame(h2, NGHTTP2_PING, 0, 0, "\0\1\xff\x80life", 8);
    do
        assert_true(h2_take(h2, &frame));
    while (frame.type != NGHTTP2_PING);
    assert_int_equal(frame.flags, ACK);
    assert_memory_equal(frame.payload, "\0\1\xff\x80life", 8);
    assert_false(h2_hears(h2, 50));
}

TEST(every_settings_frame_is_acknowledged)
{
    struct h2 *h2 = h2_open(server);
    size_t before = h2->seen[NGHTTP2_SETTINGS];

    for (int i = 0; i < 5; i++)
        h2_settings(h2, NULL, 0);
    h2_sync(h2);
    h2_settle(h2, 20);
    assert_int_equal(h2->seen[NGHTTP2_SETTINGS], before + 5);
    assert_true(h2->is_acknowledged);
}

/* --- Windows ------------------------------------------------------------- */

TEST(windows_grow_by_something_and_not_too_far)
{
    static const struct h2_case cases[] = {
        ENDS("by nothing", PROTOCOL_ERROR,
             SAY(WINDOW_UPDATE, 0, 0, "\0\0\0\0")),
        RESETS("a stream's by nothing", PROTOCOL_ERROR,
               SAY(HEADERS, END_HEADERS, 1, H2_PUT),
               SAY(WINDOW_UPDATE, 0, 1, "\0\0\0\0")),
        ENDS("beyond 2^31 - 1", FLOW_CONTROL_ERROR,
             SAY(WINDOW_UPDATE, 0, 0, "\x7f\xff\xff\xff")),
        RESETS("a stream's beyond", FLOW_CONTROL_ERROR,
               SAY(HEADERS, END_HEADERS, 1, H2_PUT),
               SAY(WINDOW_UPDATE, 0, 1, "\x7f\xff\xff\xff")),
    };

    PLAY(cases);
}

/* RFC 9113 6.9.2 wants the connection's end; of a stream's it can be done
 * without (5.4.2 the other way round). */
TEST(settings_may_not_make_windows_too_large)
{
    struct h2 *h2 = h2_open(server);
    struct h2_setting largest = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                 INT32_MAX};
    uint32_t stream = h2_ask(h2, "PUT", "/kv/k", NULL, true);

    h2_window(h2, stream, 2);
    h2_settings(h2, &largest, 1);
    h2_expect_refused(h2, stream, NGHTTP2_FLOW_CONTROL_ERROR);
}

/* RFC 9113 6.5.3: one by one; the last counts, and none may be too much. */
TEST(settings_may_say_windows_again_and_again)
{
    static const struct h2_setting said[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 100000},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 5}};
    static const struct h2_setting too_much[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, INT32_MAX},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}};
    struct h2 *h2 = H2_OPEN_WITH(server,
                                 {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0});
    uint32_t stream = h2_ask(h2, "GET", "/large", NULL, false);
    struct h2_reply *reply = h2_wait_head(h2, stream);

    h2->is_stingy = true;
    h2_settings(h2, said, 3);
    h2_settle(h2, 50);
    assert_int_equal(reply->body_len, 5);
    h2_window(h2, stream, 20);
    h2_settle(h2, 50);
    assert_int_equal(reply->body_len, 25);
    stream = h2_ask(h2, "PUT", "/kv/k", NULL, true);
    h2_window(h2, stream, 6); /* one more than the larger one leaves room for */
    h2_settings(h2, too_much, 2);
    h2_expect_refused(h2, stream, NGHTTP2_FLOW_CONTROL_ERROR);
}

/* A window of nothing lets heads through, and bodies of nothing. */
TEST(a_shut_window_holds_bodies_back)
{
    struct h2 *h2 = H2_OPEN_WITH(server,
                                 {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0});
    uint32_t held = h2_ask(h2, "GET", "/large", NULL, false);
    uint32_t empty = h2_ask(h2, "GET", "/empty", NULL, false);
    struct h2_reply *reply = h2_wait_head(h2, held);

    h2->is_stingy = true;
    expect_h2(reply, 200);
    expect_h2_body(h2_wait(h2, empty), "");
    h2_settle(h2, 50);
    assert_int_equal(reply->body_len, 0);
    h2_window(h2, held, 1);
    h2_settle(h2, 50);
    assert_int_equal(reply->body_len, 1);
    h2->is_stingy = false;
    h2_window(h2, held, LARGE);
    expect_h2_seeded(h2_wait(h2, held), SEED, 0, LARGE);
}

TEST(the_connections_window_holds_all_bodies_back)
{
    struct h2 *h2 = h2_open(server);
    struct h2_reply *reply;
    uint32_t first;
    uint32_t second;

    h2->is_stingy = true;
    first = h2_ask(h2, "GET", "/large", NULL, false);
    h2_settle(h2, 50);
    assert_int_equal(h2->window, 0);
    second = h2_ask(h2, "GET", "/canary", NULL, false);
    reply = h2_wait_head(h2, second);
    expect_h2(reply, 200);
    h2_settle(h2, 50);
    assert_int_equal(reply->body_len, 0);
    h2_window(h2, 0, 7); /* the short one's, that is */
    h2_settle(h2, 50);
    expect_h2_body(reply, "canary\n");
    h2->is_stingy = false;
    h2_window(h2, 0, LARGE);
    h2_window(h2, first, LARGE);
    expect_h2_seeded(h2_wait(h2, first), SEED, 0, LARGE);
}

/* RFC 9113 6.9.2: then nothing comes until it is above 0 again. */
TEST(settings_make_windows_negative)
{
    struct h2 *h2 = h2_open(server);
    struct h2_setting none = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
    struct h2_reply *reply;
    size_t got;

    h2->is_stingy = true;
    reply = h2_reply(h2, h2_ask(h2, "GET", "/large", NULL, false));
    h2_settle(h2, 50);
    h2_settings(h2, &none, 1);
    h2_window(h2, 0, LARGE);
    h2_sync(h2);
    h2_settle(h2, 30);
    assert_true(reply->window < 0);
    got = reply->body_len;
    h2_window(h2, reply->stream, (uint32_t)-reply->window);
    h2_sync(h2);
    h2_settle(h2, 50);
    assert_int_equal(reply->body_len, got);
    h2_window(h2, reply->stream, LARGE);
    expect_h2_seeded(h2_wait(h2, reply->stream), SEED, 0, LARGE);
}

TEST(small_windows_are_filled_to_the_byte)
{
    static const uint32_t steps[] = {1, 2, 3, 9, 100, 1023, 16385, 65535};
    struct h2 *h2 = H2_OPEN_WITH(server,
                                 {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0});
    uint32_t stream = h2_ask(h2, "GET", "/large", NULL, false);
    struct h2_reply *reply = h2_reply(h2, stream);
    struct h2_frame frame;
    size_t wanted = 0;

    h2->is_stingy = true;
    h2_window(h2, 0, LARGE);
    for (size_t i = 0; i < 3 * COUNT(steps); i++) {
        wanted += steps[i % COUNT(steps)];
        h2_window(h2, stream, steps[i % COUNT(steps)]);
        while (reply->body_len < wanted && h2_take(h2, &frame))
            ;
    }
    h2_window(h2, stream, LARGE);
    expect_h2_seeded(h2_wait(h2, stream), SEED, 0, LARGE);
}

/* As large as the client takes them, and no larger. */
TEST(frames_are_no_larger_than_the_client_lets_them_be)
{
    static const uint32_t sizes[] = {16384, 20000, 1048576, 16777215};

    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct h2 *h2 =
            H2_OPEN_WITH(server, {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, sizes[i]},
                         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, LARGE});

        h2_window(h2, 0, LARGE);
        expect_h2_seeded(h2_get(h2, "/large"), SEED, 0, LARGE);
    }
}

/* What is thrown away counts, too, or windows would be lost for good. */
TEST(what_nobody_reads_gives_its_window_back)
{
    enum { BYTES = 4096 };
    static char data[BYTES];
    struct h2 *h2 = h2_open(server);

    data[0] = (char)200; /* of padding */
    for (int i = 0; i < 300; i++) {
        uint32_t stream = h2_ask(h2, "POST", "/canary", NULL, true);
        struct h2_frame frame;

        while (h2->send_window < BYTES && h2_take(h2, &frame))
            ;
        h2_frame(h2, NGHTTP2_DATA, i % 2 ? PADDED : 0, stream, data,
                 sizeof(data));
        h2->send_window -= BYTES;
        if (i % 3 == 0)
            h2_reset(h2, stream, NGHTTP2_CANCEL);
        else
            h2_frame(h2, NGHTTP2_DATA, END_STREAM, stream, "", 0);
        if (i % 3 != 0)
            h2_wait(h2, stream);
    }
    h2_expect_usable(h2);
}

E2E_SUITE(start);
