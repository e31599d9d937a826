#include "http/chunked.h"

#include "chunked_model.h"
#include "suite.h"
#include "unit/draw.h"

/* --- Decoding ----------------------------------------------------------- */

/* Feeds one input that lies in memory of exactly its size. */
static enum chunked_event feed(struct chunked *chunked, struct bytes piece,
                               struct outcome *outcome)
{
    char *copy = malloc(piece.len + 1);
    struct bytes input = {copy + 1, piece.len};
    struct bytes data;
    enum chunked_event event;

    if (piece.len > 0)
        memcpy(copy + 1, piece.data, piece.len);
    while ((event = chunked_next(chunked, &input, &data)) == CHUNKED_DATA) {
        assert_true(data.len > 0);
        assert_true(data.data > copy && data.data + data.len == input.data);
        memcpy(outcome->body + outcome->body_len, data.data, data.len);
        outcome->body_len += data.len;
    }
    assert_true(event != CHUNKED_AGAIN || input.len == 0);
    if (event == CHUNKED_END)
        outcome->used += piece.len - input.len;
    else
        outcome->used += piece.len;
    free(copy);
    return event;
}

/* Splits wire before first, and from there on into pieces of step bytes, or
 * of random length when step is 0. */
static void decode(struct bytes wire, size_t first, size_t step,
                   struct outcome *outcome)
{
    struct chunked chunked;
    size_t len = first < wire.len ? first : wire.len;

    chunked_init(&chunked);
    outcome->used = outcome->body_len = 0;
    for (;;) {
        outcome->event = feed(&chunked, (struct bytes){wire.data, len},
                              outcome);
        wire.data += len;
        wire.len -= len;
        if (outcome->event != CHUNKED_AGAIN || wire.len == 0)
            return;
        len = step > 0 ? step : draw(20);
        if (len > wire.len)
            len = wire.len;
    }
}

static void assert_same(struct bytes wire, const struct outcome *outcome,
                        const struct outcome *expected)
{
    if (outcome->event != expected->event ||
        (outcome->event == CHUNKED_END && outcome->used != expected->used) ||
        outcome->body_len != expected->body_len ||
        memcmp(outcome->body, expected->body, expected->body_len) != 0) {
        print_error("%.*s\n", (int)wire.len, wire.data);
        fail_msg("event %d after %zu bytes, body of %zu; "
                 "expected %d after %zu, body of %zu",
                 outcome->event, outcome->used, outcome->body_len,
                 expected->event, expected->used, expected->body_len);
    }
}

/* Whole, split in two at every byte, and byte by byte. */
static void check(struct bytes wire, const struct outcome *expected)
{
    static struct outcome outcome;

    for (size_t split = 0; split <= wire.len; split++) {
        decode(wire, split, WIRE_MAX, &outcome);
        assert_same(wire, &outcome, expected);
    }
    decode(wire, 1, 1, &outcome);
    assert_same(wire, &outcome, expected);
}

/* --- By hand ------------------------------------------------------------ */

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

/* --- Limits ------------------------------------------------------------- */

static char wire_text[WIRE_MAX];

static void append(size_t *len, const char *text)
{
    *len += (size_t)snprintf(wire_text + *len, sizeof(wire_text) - *len, "%s",
                             text);
}

static enum chunked_event event_of(size_t len)
{
    static struct outcome whole, pieces;
    struct bytes wire = {wire_text, len};

    decode(wire, len, 0, &whole);
    decode(wire, 1, 1, &pieces);
    assert_same(wire, &pieces, &whole);
    return whole.event;
}

/* A body of chunks, each with an extension of that many bytes. */
static enum chunked_event decode_extensions(unsigned chunks, unsigned bytes,
                                            unsigned bytes_at_last)
{
    size_t len = 0;

    for (unsigned i = 0; i <= chunks; i++) {
        append(&len, i < chunks ? "1" : "0");
        if ((i < chunks ? bytes : bytes_at_last) > 0)
            append(&len, ";");
        for (unsigned j = 1; j < (i < chunks ? bytes : bytes_at_last); j++)
            append(&len, "a");
        append(&len, i < chunks ? "\r\nx\r\n" : "\r\n\r\n");
    }
    return event_of(len);
}

TEST(extensions_are_bounded_in_the_whole_body)
{
    assert_int_equal(decode_extensions(1, 256, 0), CHUNKED_END);
    assert_int_equal(decode_extensions(1, 257, 0), CHUNKED_BAD);
    assert_int_equal(decode_extensions(0, 0, 256), CHUNKED_END);
    assert_int_equal(decode_extensions(0, 0, 257), CHUNKED_BAD);
    assert_int_equal(decode_extensions(128, 2, 0), CHUNKED_END);
    assert_int_equal(decode_extensions(128, 2, 2), CHUNKED_BAD);
    assert_int_equal(decode_extensions(64, 3, 64), CHUNKED_END);
    assert_int_equal(decode_extensions(64, 3, 65), CHUNKED_BAD);
    assert_int_equal(decode_extensions(1000, 0, 0), CHUNKED_END);
}

TEST(quoted_values_count_with_their_quotes)
{
    size_t len = 0;

    append(&len, "1;a=\"\\\"");
    while (len < CHUNKED_EXTENSION_BYTES_MAX)
        append(&len, "b");
    append(&len, "\"");
    assert_int_equal(event_of(len), CHUNKED_AGAIN);
    len--;
    append(&len, "b");
    assert_int_equal(event_of(len), CHUNKED_AGAIN);
    append(&len, "\"");
    assert_int_equal(event_of(len), CHUNKED_BAD);
}

TEST(white_space_counts_as_extension)
{
    size_t len = 0;

    append(&len, "1");
    for (int i = 0; i < CHUNKED_EXTENSION_BYTES_MAX; i++)
        append(&len, " ");
    assert_int_equal(event_of(len), CHUNKED_AGAIN);
    append(&len, " ");
    assert_int_equal(event_of(len), CHUNKED_BAD);
}

/* A trailer section of that many bytes, in fields of at most 100. */
static enum chunked_event decode_trailer(unsigned bytes)
{
    size_t len = 0;

    append(&len, "0\r\n");
    for (unsigned left = bytes - 2; left > 0;) {
        unsigned line = left > 200 ? 100 : left;

        append(&len, "N:");
        for (unsigned i = 4; i < line; i++)
            append(&len, "v");
        append(&len, "\r\n");
        left -= line;
    }
    append(&len, "\r\n");
    return event_of(len);
}

TEST(the_trailer_is_bounded)
{
    assert_int_equal(decode_trailer(CHUNKED_TRAILER_BYTES_MAX), CHUNKED_END);
    assert_int_equal(decode_trailer(CHUNKED_TRAILER_BYTES_MAX + 1),
                     CHUNKED_BAD);
    assert_int_equal(decode_trailer(2 * CHUNKED_TRAILER_BYTES_MAX),
                     CHUNKED_BAD);
}

TEST(an_endless_trailer_is_given_up_before_its_end)
{
    size_t len = 0;

    append(&len, "0\r\nName:");
    for (int i = 0; i < CHUNKED_TRAILER_BYTES_MAX - 5; i++)
        append(&len, "v");
    assert_int_equal(event_of(len), CHUNKED_AGAIN);
    append(&len, "v");
    assert_int_equal(event_of(len), CHUNKED_BAD);
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

/* --- Random runs -------------------------------------------------------- */

static const char *pick(const char *const *texts, unsigned count)
{
    return texts[draw(count)];
}

static void append_extensions(size_t *len)
{
    static const char *const gaps[] = {"", "", "", " ", "\t", " \t"};
    static const char *const names[] = {"a", "f00", "name", "x-y", "!~"};
    static const char *const values[] = {
        "1",        "b",        "token",        "\"\"",   "\"a b;=\"",
        "\"\\\"\"", "\"\\\\\"", "\"\xc3\xa9\"", "\"\t,\""};

    for (unsigned i = draw(3); i > 0; i--) {
        append(len, pick(gaps, 6));
        append(len, ";");
        append(len, pick(gaps, 6));
        append(len, pick(names, 5));
        if (draw(2))
            continue;
        append(len, pick(gaps, 6));
        append(len, "=");
        append(len, pick(gaps, 6));
        append(len, pick(values, 9));
    }
}

static void append_size(size_t *len, unsigned size)
{
    char text[24];
    int zeros = draw(4) == 0 ? (int)draw(14) : 1;

    snprintf(text, sizeof(text), draw(2) ? "%0*x" : "%0*X", zeros, size);
    append(len, text);
}

/* Writes a valid body to wire_text and what it means to expected. */
static size_t make_random_body(struct outcome *expected)
{
    static const char *const fields[] = {"A: b\r\n", "Name:value\r\n", "X:\r\n",
                                         "Y: \t\r\n", "Z: \xff;=\"\\\r\n"};
    size_t len = 0;

    expected->event = CHUNKED_END;
    expected->body_len = 0;
    for (unsigned chunks = draw(5); chunks > 0; chunks--) {
        unsigned size = 1 + draw(draw(2) ? 4 : 40);

        append_size(&len, size);
        append_extensions(&len);
        append(&len, "\r\n");
        for (; size > 0; size--) {
            char byte = (char)draw(256);

            if (draw(4) == 0)
                byte = "\r\n0;"[draw(4)];
            wire_text[len++] = byte;
            expected->body[expected->body_len++] = byte;
        }
        append(&len, "\r\n");
    }
    append_size(&len, 0);
    append_extensions(&len);
    append(&len, "\r\n");
    for (unsigned lines = draw(3); lines > 0; lines--)
        append(&len, pick(fields, 5));
    append(&len, "\r\n");
    expected->used = len;
    return len;
}

TEST(random_bodies_are_decoded_in_random_pieces)
{
    static struct outcome expected, outcome;

    draw_seed = 9112;
    for (int round = 0; round < 20000; round++) {
        size_t len = make_random_body(&expected);
        struct bytes wire = {wire_text, len};

        decode(wire, draw(20), 0, &outcome);
        assert_same(wire, &outcome, &expected);
        run_model(wire, &outcome);
        assert_same(wire, &outcome, &expected);
        append(&wire.len, "0\r\n"); /* the next request */
        decode(wire, draw(20), 0, &outcome);
        assert_same(wire, &outcome, &expected);
    }
}

TEST(mutated_bodies_agree_with_the_model)
{
    static const char favourites[] =
        "\r\n \t;=\"\\:0123456789abcfFgZ(,\x7f\xff";
    static struct outcome expected, outcome;
    unsigned counts[4] = {0};

    draw_seed = 9112;
    for (int round = 0; round < 100000; round++) {
        size_t len = make_random_body(&expected);
        size_t at = draw((unsigned)len);
        char byte = draw(4) ? favourites[draw(sizeof(favourites))]
                            : (char)draw(256);

        switch (draw(3)) {
        case 0: /* another byte */
            wire_text[at] = byte;
            break;
        case 1: /* one less */
            memmove(wire_text + at, wire_text + at + 1, len - at - 1);
            len--;
            break;
        default: /* one more */
            memmove(wire_text + at + 1, wire_text + at, len - at);
            wire_text[at] = byte;
            len++;
        }
        run_model((struct bytes){wire_text, len}, &expected);
        decode((struct bytes){wire_text, len}, draw(20), 0, &outcome);
        assert_same((struct bytes){wire_text, len}, &outcome, &expected);
        counts[expected.event]++;
    }
    assert_true(counts[CHUNKED_BAD] > 10000);
    assert_true(counts[CHUNKED_END] > 10000);
    assert_true(counts[CHUNKED_AGAIN] > 1000);
}
