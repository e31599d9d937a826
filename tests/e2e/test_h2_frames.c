/*
 * HTTP/2, frame by frame: each rule of RFC 9113 3 to 5 that a client can break,
 * and what of it must be borne.
 */
#include "h2_case.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static struct server *server;

static int start(void **state)
{
    if (h2_begin(state) != 0)
        return -1;
    site_text("index.html", "index\n");
    server = H2_CASE_SERVER();
    harness_keep();
    return 0;
}

/* --- 3.4: the preface ---------------------------------------------------- */

TEST(a_preface_may_be_split_anywhere)
{
    static const char begin[] = H2_PREFACE "\0\0\0\4\0\0\0\0\0"
                                           "\0\0\6\1\5\0\0\0\1" H2_GET;

    for (size_t at = 1; at < sizeof(begin) - 1; at++) {
        struct h2 *h2 = h2_open_silent(server);

        going_on("split at %zu", at);
        h2_expect_settings(h2);
        h2_expect_stream(h2, 1);
        client_send(h2->client, begin, at);
        pause_ms(2);
        client_send(h2->client, begin + at, sizeof(begin) - 1 - at);
        expect_h2_body(h2_wait(h2, 1), "index\n");
        h2_close(h2);
    }
}

TEST(a_preface_is_followed_by_settings)
{
    static const struct h2_said instead[] = {
        SAY(PING, 0, 0, "12345678"), SAY(HEADERS, BOTH, 1, H2_GET),
        SAY(SETTINGS, ACK, 0, ""), SAY(WINDOW_UPDATE, 0, 0, "\0\0\0\1")};

    for (size_t i = 0; i < COUNT(instead); i++) {
        struct h2 *h2 = h2_open_silent(server);

        going_on("type %u", instead[i].type);
        h2_say(h2, RAW(H2_PREFACE));
        h2_frame(h2, instead[i].type, instead[i].flags, instead[i].stream,
                 instead[i].payload, instead[i].len);
        h2_expect_goaway(h2, NGHTTP2_PROTOCOL_ERROR);
    }
}

/* It begins as one: what follows is nothing that anybody could answer. */
TEST(a_wrong_preface_ends_the_connection)
{
    static const char *const wrong[] = {"PRI * HTTP/2.0\r\n\r\nSM\r\n\rX",
                                        "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
                                        "PRI * HTTP/2.0\r\nHost: a\r\n\r\n",
                                        "PRI / HTTP/2.0\r\n\r\n",
                                        "PRI * HTTP/1.1\r\nHost: a\r\n\r\n"};

    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct h2 *h2 = h2_open_silent(server);

        going_on("%s", wrong[i]);
        client_say(h2->client, "%s", wrong[i]);
        (void)client_take(h2->client, 100000);
        client_skip(h2->client, client_take(h2->client, 0));
        client_expect_end(h2->client);
    }
}

/* --- 4: frames ----------------------------------------------------------- */

TEST(what_is_not_known_is_ignored)
{
    static const struct h2_case cases[] = {
        BORNE("an unknown type", SAY_OTHER(0x16, 0, 0, "whatever")),
        BORNE("of a stream", SAY_OTHER(0xff, 0xff, 77, "whatever")),
        BORNE("unknown flags", SAY(PING, 0xfe, 0, "12345678"),
              SAY(HEADERS, BOTH | 0xd0, 1, H2_GET)),
        BORNE("an unknown setting", SAY(SETTINGS, 0, 0, "\xff\x01\0\0\0\1")),
        BORNE("the reserved bit", SAY(PING, 0, 0x80000000, "12345678")),
        BORNE("of a window", SAY(WINDOW_UPDATE, 0, 0, "\x80\0\0\1")),
        BORNE("an unknown error code", SAY(HEADERS, END_HEADERS, 1, H2_PUT),
              SAY(RST_STREAM, 0, 1, "\xff\xff\xff\xff")),
    };

    PLAY(cases);
}

TEST(frames_have_their_sizes)
{
    static const struct h2_case cases[] = {
        ENDS("PING of 7", FRAME_SIZE_ERROR, SAY(PING, 0, 0, "1234567")),
        ENDS("PING of 9", FRAME_SIZE_ERROR, SAY(PING, 0, 0, "123456789")),
        ENDS("SETTINGS of 5", FRAME_SIZE_ERROR, SAY(SETTINGS, 0, 0, "12345")),
        ENDS("an ACK with something", FRAME_SIZE_ERROR,
             SAY(SETTINGS, ACK, 0, "\0\1\0\0\0\0")),
        ENDS("WINDOW_UPDATE of 3", FRAME_SIZE_ERROR,
             SAY(WINDOW_UPDATE, 0, 0, "\0\0\1")),
        ENDS("WINDOW_UPDATE of 5", FRAME_SIZE_ERROR,
             SAY(WINDOW_UPDATE, 0, 0, "\0\0\0\1\0")),
        ENDS("RST_STREAM of 3", FRAME_SIZE_ERROR,
             SAY(HEADERS, END_HEADERS, 1, H2_PUT),
             SAY(RST_STREAM, 0, 1, "\0\0\0")),
        RESETS("PRIORITY of 4", FRAME_SIZE_ERROR,
               SAY(HEADERS, END_HEADERS, 1, H2_PUT),
               SAY(PRIORITY, 0, 1, "\0\0\0\0")),
        ENDS("GOAWAY of 7", FRAME_SIZE_ERROR,
             SAY(GOAWAY, 0, 0, "\0\0\0\0\0\0\0")),
        ENDS("PRIORITY_UPDATE of 3", FRAME_SIZE_ERROR,
             SAY_OTHER(H2_PRIORITY_UPDATE, 0, 0, "\0\0\0")),
        ENDS("HEADERS shorter than its priority", FRAME_SIZE_ERROR,
             SAY(HEADERS, BOTH | PRIORITY, 1, "\0\0\0\0")),
    };

    PLAY(cases);
}

TEST(no_frame_is_larger_than_16_kib)
{
    static char large[H2_FRAME_MAX + 1];
    struct h2 *h2 = h2_open(server);
    uint32_t stream = h2_ask(h2, "PUT", "/kv/k", NULL, true);

    h2_frame(h2, NGHTTP2_DATA, 0, stream, large, H2_FRAME_MAX + 1);
    h2_expect_refused(h2, stream, NGHTTP2_FRAME_SIZE_ERROR);
    for (unsigned type = NGHTTP2_HEADERS; type <= 0x16; type++) {
        h2 = h2_open(server);
        going_on("type %u", type);
        h2_frame(h2, type, 0, type == NGHTTP2_HEADERS, large, H2_FRAME_MAX + 1);
        h2_expect_goaway(h2, NGHTTP2_FRAME_SIZE_ERROR);
    }
    h2 = h2_open(server);
    h2_frame(h2, 0x16, 0, 0, large, H2_FRAME_MAX);
    h2_expect_usable(h2);
}

TEST(hpack_must_be_right)
{
    static const struct h2_case cases[] = {
        ENDS("index 0", COMPRESSION_ERROR,
             SAY(HEADERS, BOTH, 1, H2_GET "\x80")),
        ENDS("an index beyond the table", COMPRESSION_ERROR,
             SAY(HEADERS, BOTH, 1, H2_GET "\xff\x7f")),
        ENDS("a field that is not whole", COMPRESSION_ERROR,
             SAY(HEADERS, BOTH, 1,
                 H2_GET "\x40\x05"
                        "ab")),
        ENDS("a number without end", COMPRESSION_ERROR,
             SAY(HEADERS, BOTH, 1,
                 H2_GET "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")),
        ENDS("a table larger than it may be", COMPRESSION_ERROR,
             SAY(HEADERS, BOTH, 1, "\x3f\xff\xff\x03" H2_GET)),
        ENDS("its size behind a field", COMPRESSION_ERROR,
             SAY(HEADERS, BOTH, 1, H2_GET "\x20")),
        ENDS("Huffman's end", COMPRESSION_ERROR,
             SAY(HEADERS, BOTH, 1,
                 H2_GET "\x40\x01"
                        "a\x84\xff\xff\xff\xff")),
        BORNE("the size at the begin",
              SAY(HEADERS, BOTH, 1, "\x20\x3f\xe1\x1f" H2_GET)),
    };

    PLAY(cases);
}

/* --- 5: streams ---------------------------------------------------------- */

TEST(nothing_comes_on_an_idle_stream)
{
    static const struct h2_case cases[] = {
        ENDS("DATA", PROTOCOL_ERROR, SAY(DATA, 0, 1, "x")),
        ENDS("RST_STREAM", PROTOCOL_ERROR, SAY(RST_STREAM, 0, 1, "\0\0\0\0")),
        ENDS("WINDOW_UPDATE", PROTOCOL_ERROR,
             SAY(WINDOW_UPDATE, 0, 1, "\0\0\0\1")),
        ENDS("CONTINUATION", PROTOCOL_ERROR,
             SAY(CONTINUATION, END_HEADERS, 1, H2_GET)),
        ENDS("RST_STREAM of a server's", PROTOCOL_ERROR,
             SAY(HEADERS, BOTH, 5, H2_GET), SAY(RST_STREAM, 0, 2, "\0\0\0\0")),
        ENDS("WINDOW_UPDATE of a server's", PROTOCOL_ERROR,
             SAY(HEADERS, BOTH, 5, H2_GET),
             SAY(WINDOW_UPDATE, 0, 2, "\0\0\0\1")),
        ENDS("PRIORITY of one that depends on itself", PROTOCOL_ERROR,
             SAY(PRIORITY, 0, 2, "\0\0\0\2\0")),
        BORNE("but PRIORITY", SAY(PRIORITY, 0, 9, "\0\0\0\0\0")),
        BORNE("and PRIORITY_UPDATE",
              SAY_OTHER(H2_PRIORITY_UPDATE, 0, 0, "\0\0\0\x9u=1")),
    };

    PLAY(cases);
}

TEST(streams_of_clients_have_odd_numbers_that_grow)
{
    static const struct h2_case cases[] = {
        ENDS("an even one", PROTOCOL_ERROR, SAY(HEADERS, BOTH, 2, H2_GET)),
        ENDS("none", PROTOCOL_ERROR, SAY(HEADERS, BOTH, 0, H2_GET)),
        ENDS("a smaller one", PROTOCOL_ERROR, SAY(HEADERS, BOTH, 5, H2_GET),
             SAY(HEADERS, BOTH, 3, H2_GET)),
        BORNE("some left out", SAY(HEADERS, BOTH, 7, H2_GET),
              SAY(HEADERS, BOTH, 101, H2_GET)),
    };

    PLAY(cases);
}

TEST(nothing_comes_behind_the_end_of_a_stream)
{
    static const struct h2_case cases[] = {
        RESETS("DATA", STREAM_CLOSED, SAY(HEADERS, BOTH, 1, H2_GET),
               SAY(DATA, 0, 1, "x")),
        RESETS("HEADERS", STREAM_CLOSED, SAY(HEADERS, BOTH, 1, H2_GET),
               SAY(HEADERS, BOTH, 1, H2_GET)),
        RESETS("DATA behind DATA", STREAM_CLOSED,
               SAY(HEADERS, END_HEADERS, 1, H2_PUT),
               SAY(DATA, END_STREAM, 1, "x"), SAY(DATA, 0, 1, "x")),
        ENDS("CONTINUATION", PROTOCOL_ERROR, SAY(HEADERS, BOTH, 1, H2_GET),
             SAY(CONTINUATION, END_HEADERS, 1, "")),
        RESETS("HEADERS behind a reset", STREAM_CLOSED,
               SAY(HEADERS, END_HEADERS, 1, H2_PUT),
               SAY(RST_STREAM, 0, 1, "\0\0\0\x8"),
               SAY(HEADERS, BOTH, 1, H2_GET)),
        BORNE("but PRIORITY", SAY(HEADERS, BOTH, 1, H2_GET),
              SAY(PRIORITY, 0, 1, "\0\0\0\0\0")),
        BORNE("and WINDOW_UPDATE", SAY(HEADERS, BOTH, 1, H2_GET),
              SAY(WINDOW_UPDATE, 0, 1, "\0\0\0\1")),
        BORNE("and RST_STREAM", SAY(HEADERS, BOTH, 1, H2_GET),
              SAY(RST_STREAM, 0, 1, "\0\0\0\x8"),
              SAY(RST_STREAM, 0, 1, "\0\0\0\x8")),
    };

    PLAY(cases);
}

TEST(the_stream_of_a_frame_is_one_that_it_may_have)
{
    static const struct h2_case cases[] = {
        ENDS("DATA", PROTOCOL_ERROR, SAY(DATA, 0, 0, "x")),
        ENDS("PRIORITY", PROTOCOL_ERROR, SAY(PRIORITY, 0, 0, "\0\0\0\0\0")),
        ENDS("RST_STREAM", PROTOCOL_ERROR, SAY(RST_STREAM, 0, 0, "\0\0\0\0")),
        ENDS("SETTINGS", PROTOCOL_ERROR, SAY(SETTINGS, 0, 1, "")),
        ENDS("PING", PROTOCOL_ERROR, SAY(PING, 0, 1, "12345678")),
        ENDS("GOAWAY", PROTOCOL_ERROR, SAY(GOAWAY, 0, 1, "\0\0\0\0\0\0\0\0")),
        ENDS("CONTINUATION", PROTOCOL_ERROR,
             SAY(CONTINUATION, END_HEADERS, 0, "")),
        ENDS("PUSH_PROMISE, which clients do not send", PROTOCOL_ERROR,
             SAY(HEADERS, END_HEADERS, 1, H2_PUT),
             SAY(PUSH_PROMISE, END_HEADERS, 1, "\0\0\0\2" H2_GET)),
        ENDS("PRIORITY_UPDATE", PROTOCOL_ERROR,
             SAY_OTHER(H2_PRIORITY_UPDATE, 0, 1, "\0\0\0\1u=1")),
        ENDS("PRIORITY_UPDATE of none", PROTOCOL_ERROR,
             SAY_OTHER(H2_PRIORITY_UPDATE, 0, 0, "\0\0\0\0u=1")),
    };

    PLAY(cases);
}

E2E_SUITE(start);
