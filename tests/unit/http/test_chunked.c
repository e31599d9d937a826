#include "unit/http/chunked_fixture.h"

/* Wire may hold NUL; it ends where the literal ends. */
struct wire_case {
    struct bytes wire;
    const char *body;
    size_t rest; /* bytes behind the body */
};

#define WIRE(text)               \
    {                            \
        (text), sizeof(text) - 1 \
    }

static const struct wire_case good[] = {
    {WIRE("0\r\n\r\n"), "", 0},
    {WIRE("5\r\nhello\r\n0\r\n\r\n"), "hello", 0},
    {WIRE("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"), "hello world", 0},
    {WIRE("1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n"), "abc", 0},
    /* What follows is not ours. */
    {WIRE("0\r\n\r\nGET / HTTP/1.1\r\n"), "", 16},
    {WIRE("0\r\n\r\n\r\n"), "", 2},
    {WIRE("0\r\n\r\n\0"), "", 1},
    /* The data may look like framing. */
    {WIRE("7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n"), "\r\n0\r\n\r\n", 0},
    /* Sizes. */
    {WIRE("A\r\n0123456789\r\n0\r\n\r\n"), "0123456789", 0},
    {WIRE("a\r\n0123456789\r\n0\r\n\r\n"), "0123456789", 0},
    {WIRE("0a\r\n0123456789\r\n000\r\n\r\n"), "0123456789", 0},
    {WIRE("10\r\n0123456789abcdef\r\n0\r\n\r\n"), "0123456789abcdef", 0},
    {WIRE("0000000000000001\r\na\r\n0000000000000000\r\n\r\n"), "a", 0},
    /* Extensions. */
    {WIRE("1;a\r\nx\r\n0;b\r\n\r\n"), "x", 0},
    {WIRE("1;a=b\r\nx\r\n0;a=b;c;d=e\r\n\r\n"), "x", 0},
    {WIRE("1;a=\"\"\r\nx\r\n0\r\n\r\n"), "x", 0},
    {WIRE("1;a=\"b c\\\"d\\\\;=\t,\xff\"\r\nx\r\n0\r\n\r\n"), "x", 0},
    {WIRE("1;a=\"\\\t\\ \\a\\\xff\";b\r\nx\r\n0\r\n\r\n"), "x", 0},
    {WIRE("1 ; a = b ; c\t;\td\t=\t\"e\" ;f\r\nx\r\n0\r\n\r\n"), "x", 0},
    {WIRE("1;0=f\r\nx\r\n0;!#$%&'*+-.^_`|~=0aF9zZ\r\n\r\n"), "x", 0},
    /* Trailer fields. */
    {WIRE("0\r\nA: b\r\n\r\n"), "", 0},
    {WIRE("0\r\nA:\r\n\r\n"), "", 0},
    {WIRE("0\r\nA: \t \r\nContent-Length: 5\r\nHost: x\r\n\r\n"), "", 0},
    {WIRE("0\r\n!#$%&'*+-.^_`|~09azAZ:;=:\\\"\xff\t~\r\n\r\n"), "", 0},
    {WIRE("1\r\nx\r\n0;a=b\r\nA: b\r\n\r\n0\r\n\r\n"), "x", 5},
};

static const struct wire_case bad[] = {
    /* Sizes. */
    {WIRE("\r\n"), "", 0},
    {WIRE(" 0\r\n\r\n"), "", 0},
    {WIRE(";a\r\n\r\n"), "", 0},
    {WIRE("g\r\n"), "", 0},
    {WIRE("0x1\r\nx\r\n"), "", 0},
    {WIRE("+1\r\nx\r\n"), "", 0},
    {WIRE("-1\r\nx\r\n"), "", 0},
    {WIRE("1_0\r\n"), "", 0},
    {WIRE("1.0\r\n"), "", 0},
    {WIRE("1h\r\n"), "", 0},
    {WIRE("5,5\r\n"), "", 0},
    {WIRE("\xef\xbc\x95\r\n"), "", 0},
    {WIRE("1\0\r\nx\r\n"), "", 0},
    {WIRE("8000000000000000"), "", 0},
    {WIRE("ffffffffffffffff\r\n"), "", 0},
    {WIRE("10000000000000000"), "", 0},
    {WIRE("00000000000000000"), "", 0},
    {WIRE("00000000000000001"), "", 0},
    {WIRE("fffffffffffffffff"), "", 0},
    /* Line ends. */
    {WIRE("1\nx\r\n0\r\n\r\n"), "", 0},
    {WIRE("1\rx"), "", 0},
    {WIRE("1\r\r\nx"), "", 0},
    {WIRE("1 \r\nx\r\n"), "", 0},
    {WIRE("1\t\r\nx\r\n"), "", 0},
    {WIRE("1\v\r\nx\r\n"), "", 0},
    {WIRE("1\f;a\r\nx\r\n"), "", 0},
    {WIRE("1\r\nx\n0\r\n\r\n"), "x", 0},
    {WIRE("1\r\nx\r0\r\n\r\n"), "x", 0},
    {WIRE("1\r\nx0\r\n\r\n"), "x", 0},
    {WIRE("1\r\nxx\r\n0\r\n\r\n"), "x", 0},
    {WIRE("5\r\nAAAAAXX2\r\n"), "AAAAA", 0},
    {WIRE("1\r\nx\r\n\r\n0\r\n\r\n"), "x", 0},
    {WIRE("1\r\nx\r\n 0\r\n\r\n"), "x", 0},
    {WIRE("0\n\r\n"), "", 0},
    {WIRE("0\r\n\n"), "", 0},
    {WIRE("0\r\n\r\r\n"), "", 0},
    {WIRE("0\r\n\rX"), "", 0},
    /* Extensions. */
    {WIRE("1;\r\n"), "", 0},
    {WIRE("1; \r\n"), "", 0},
    {WIRE("1;;a\r\n"), "", 0},
    {WIRE("1;a;\r\n"), "", 0},
    {WIRE("1;a \r\n"), "", 0},
    {WIRE("1;a=\r\n"), "", 0},
    {WIRE("1;a= \r\n"), "", 0},
    {WIRE("1;a=b \r\n"), "", 0},
    {WIRE("1;a=;b\r\n"), "", 0},
    {WIRE("1;=b\r\n"), "", 0},
    {WIRE("1;a==b\r\n"), "", 0},
    {WIRE("1;a=b=c\r\n"), "", 0},
    {WIRE("1;a=b c\r\n"), "", 0},
    {WIRE("1;a b\r\n"), "", 0},
    {WIRE("1 a\r\n"), "", 0},
    {WIRE("1,a\r\n"), "", 0},
    {WIRE("1;a,b\r\n"), "", 0},
    {WIRE("1;a=b,c\r\n"), "", 0},
    {WIRE("1;\"a\"=b\r\n"), "", 0},
    {WIRE("1;a=\"b\r\n"), "", 0},
    {WIRE("1;a=\"b\"c\r\n"), "", 0},
    {WIRE("1;a=\"b\"\"c\"\r\n"), "", 0},
    {WIRE("1;a=\"b\"=c\r\n"), "", 0},
    {WIRE("1;a=\"b\" \r\n"), "", 0},
    {WIRE("1;a=b\"c\"\r\n"), "", 0},
    {WIRE("1;a=\"\\\r\n"), "", 0},
    {WIRE("1;a=\"\0\"\r\n"), "", 0},
    {WIRE("1;a=\"\\\0\"\r\n"), "", 0},
    {WIRE("1;a=\"\x7f\"\r\n"), "", 0},
    {WIRE("1;a=\"\\\x7f\"\r\n"), "", 0},
    {WIRE("1;a=\"\n\"\r\n"), "", 0},
    {WIRE("1;a=\xff\r\n"), "", 0},
    {WIRE("1;\xff\r\n"), "", 0},
    {WIRE("1;a\0\r\n"), "", 0},
    {WIRE("1;a\n\r\n"), "", 0},
    {WIRE("2;\nxx\r\n0\r\n\r\n"), "", 0},
    {WIRE("1;a\rb\r\nx"), "", 0},
    {WIRE("1;a\r;b\r\nx"), "", 0},
    {WIRE("0;\r\n\r\n"), "", 0},
    /* Trailer fields. */
    {WIRE("0\r\n: b\r\n\r\n"), "", 0},
    {WIRE("0\r\nA\r\n\r\n"), "", 0},
    {WIRE("0\r\nA : b\r\n\r\n"), "", 0},
    {WIRE("0\r\nA\t: b\r\n\r\n"), "", 0},
    {WIRE("0\r\n A: b\r\n\r\n"), "", 0},
    {WIRE("0\r\nA: b\r\n c\r\n\r\n"), "", 0},
    {WIRE("0\r\nA: b\r\n\tc: d\r\n\r\n"), "", 0},
    {WIRE("0\r\nA B: c\r\n\r\n"), "", 0},
    {WIRE("0\r\nA(: c\r\n\r\n"), "", 0},
    {WIRE("0\r\n\xff: c\r\n\r\n"), "", 0},
    {WIRE("0\r\n\"A\": c\r\n\r\n"), "", 0},
    {WIRE("0\r\nA: b\n\r\n"), "", 0},
    {WIRE("0\r\nA: b\r\r\n\r\n"), "", 0},
    {WIRE("0\r\nA: b\rc\r\n\r\n"), "", 0},
    {WIRE("0\r\nA: \0\r\n\r\n"), "", 0},
    {WIRE("0\r\nA: \x01\r\n\r\n"), "", 0},
    {WIRE("0\r\nA: \x7f\r\n\r\n"), "", 0},
    {WIRE("0\r\n\0: b\r\n\r\n"), "", 0},
    {WIRE("0\r\nA: b\r\n\n"), "", 0},
    {WIRE("0\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"), "", 0},
};

enum {
    GOOD_COUNT = sizeof(good) / sizeof(*good),
    BAD_COUNT = sizeof(bad) / sizeof(*bad)
};

static void set_outcome(struct outcome *outcome, enum chunked_event event,
                        const char *body, size_t used)
{
    outcome->event = event;
    outcome->used = used;
    outcome->body_len = strlen(body);
    memcpy(outcome->body, body, outcome->body_len);
}

TEST(bodies_are_decoded_however_they_are_split)
{
    static struct outcome expected;

    for (size_t i = 0; i < GOOD_COUNT; i++) {
        set_outcome(&expected, CHUNKED_END, good[i].body,
                    good[i].wire.len - good[i].rest);
        check(good[i].wire, &expected);
    }
}

TEST(the_beginning_of_a_body_wants_more)
{
    static struct outcome expected;

    for (size_t i = 0; i < GOOD_COUNT; i++) {
        for (size_t len = 0; len < good[i].wire.len - good[i].rest; len++) {
            struct bytes wire = {good[i].wire.data, len};

            run_model(wire, &expected);
            assert_int_equal(expected.event, CHUNKED_AGAIN);
            check(wire, &expected);
        }
    }
}

TEST(malformed_bodies_are_refused_however_they_are_split)
{
    static struct outcome expected;

    for (size_t i = 0; i < BAD_COUNT; i++) {
        set_outcome(&expected, CHUNKED_BAD, bad[i].body, 0);
        check(bad[i].wire, &expected);
    }
}

TEST(the_model_agrees_about_the_cases_by_hand)
{
    static struct outcome expected, outcome;

    for (size_t i = 0; i < GOOD_COUNT + BAD_COUNT; i++) {
        struct bytes wire = i < GOOD_COUNT ? good[i].wire
                                           : bad[i - GOOD_COUNT].wire;

        run_model(wire, &expected);
        decode(wire, wire.len, 0, &outcome);
        assert_same(wire, &outcome, &expected);
    }
}

TEST(a_chunk_may_be_larger_than_memory)
{
    static struct outcome expected;

    set_outcome(&expected, CHUNKED_AGAIN, "abc", 0);
    check(BYTES("7fffffffffffffff\r\nabc"), &expected);
    check(BYTES("7FFFFFFFFFFFFFFF;a=\"b\"\r\nabc"), &expected);
}

TEST(data_is_a_view_into_the_input)
{
    struct bytes wire = BYTES("3\r\nabc\r\n");
    struct bytes input = wire;
    struct bytes data;
    struct chunked chunked;

    chunked_init(&chunked);
    assert_int_equal(chunked_next(&chunked, &input, &data), CHUNKED_DATA);
    assert_ptr_equal(data.data, wire.data + 3);
    assert_int_equal(data.len, 3);
    assert_int_equal(chunked_next(&chunked, &input, &data), CHUNKED_AGAIN);
    assert_int_equal(input.len, 0);
    assert_int_equal(chunked_next(&chunked, &input, &data), CHUNKED_AGAIN);
}

/* --- Kept trailers ------------------------------------------------------ */

TEST(trailer_fields_are_kept_for_who_asks)
{
    static const struct {
        struct bytes wire;
        const char *lines;
    } cases[] = {
        {WIRE("3\r\nabc\r\n0\r\n\r\n"), ""},
        {WIRE("0\r\nA: b\r\n\r\n"), "A: b\r\n"},
        {WIRE("1;x=y\r\n:\r\n0;z\r\nA:\r\nB-c: \xff\"\\,;\t d\r\n\r\nE: f\r\n"),
         "A:\r\nB-c: \xff\"\\,;\t d\r\n"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        for (size_t step = 1; step <= cases[i].wire.len; step++) {
            struct bytes rest = cases[i].wire;
            enum chunked_event event;
            struct chunked chunked;
            struct buf trailer;

            buf_init(&trailer, NULL, 0, CHUNKED_TRAILER_BYTES_MAX);
            chunked_init(&chunked);
            chunked.trailer = &trailer;
            do {
                struct bytes data;
                struct bytes piece = {rest.data,
                                      step < rest.len ? step : rest.len};

                rest.data += piece.len;
                rest.len -= piece.len;
                while ((event = chunked_next(&chunked, &piece, &data)) ==
                       CHUNKED_DATA)
                    ;
            } while (event == CHUNKED_AGAIN);
            assert_int_equal(event, CHUNKED_END);
            assert_true(bytes_eq(buf_bytes(&trailer),
                                 bytes_of(cases[i].lines)));
            buf_fini(&trailer);
        }
    }
}

/* The body is good all the same, and who asked sees that some are missing. */
TEST(a_trailer_that_finds_no_room_is_said_to_have_failed)
{
    struct bytes wire = BYTES("0\r\nName: value\r\n\r\n");
    struct chunked chunked;
    struct bytes data;
    struct buf trailer;
    char storage[8];

    buf_init(&trailer, storage, sizeof(storage), sizeof(storage));
    chunked_init(&chunked);
    chunked.trailer = &trailer;
    assert_int_equal(chunked_next(&chunked, &wire, &data), CHUNKED_END);
    assert_true(trailer.failed);
}
