#include "http/body_reader.h"

#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* What came of reading a text in pieces. */
struct outcome {
    enum body_event event;  /* the last one */
    enum body_event finish; /* and what the close made of it; if it had to */
    size_t used;
    struct buf body;
};

/* Reads first bytes of text, then step more each time. */
static void read_in_steps(struct outcome *outcome, enum body_framing framing,
                          uint64_t length, struct bytes text, size_t first,
                          size_t step)
{
    struct body_reader reader;
    struct bytes rest = text;
    size_t len = first;

    body_reader_init(&reader, framing, length);
    buf_init(&outcome->body, NULL, 0, 1000);
    for (;;) {
        struct bytes input = {rest.data, len < rest.len ? len : rest.len};
        struct bytes data;

        rest.data += input.len;
        rest.len -= input.len;
        while ((outcome->event = body_reader_next(&reader, &input, &data)) ==
               BODY_DATA) {
            assert_true(data.len > 0);
            buf_put(&outcome->body, data);
        }
        outcome->used = text.len - rest.len - input.len;
        if (outcome->event != BODY_AGAIN || rest.len == 0)
            break;
        assert_int_equal(input.len, 0);
        len = step;
    }
    outcome->finish = outcome->event == BODY_AGAIN ? body_reader_finish(&reader)
                                                   : outcome->event;
    assert_int_equal(reader.is_done, outcome->event != BODY_AGAIN);
    assert_int_equal(reader.bytes, outcome->body.len);
}

static const struct {
    enum body_framing framing;
    uint64_t length;
    const char *text;
    const char *body;
    const char *rest;
    enum body_event event;
    enum body_event finish;
} cases[] = {
    {BODY_NONE, 0, "", "", "", BODY_END, BODY_END},
    {BODY_NONE, 9, "HTTP/1.1", "", "HTTP/1.1", BODY_END, BODY_END},
    {BODY_LENGTH, 0, "", "", "", BODY_END, BODY_END},
    {BODY_LENGTH, 0, "abc", "", "abc", BODY_END, BODY_END},
    {BODY_LENGTH, 3, "abc", "abc", "", BODY_END, BODY_END},
    {BODY_LENGTH, 3, "abcdef", "abc", "def", BODY_END, BODY_END},
    {BODY_LENGTH, 3, "ab", "ab", "", BODY_AGAIN, BODY_BAD},
    {BODY_LENGTH, 3, "", "", "", BODY_AGAIN, BODY_BAD},
    {BODY_LENGTH, UINT64_MAX, "abc", "abc", "", BODY_AGAIN, BODY_BAD},
    {BODY_CHUNKED, 0, "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nHTTP", "abcde", "HTTP",
     BODY_END, BODY_END},
    {BODY_CHUNKED, 0, "0\r\nA: b\r\n\r\n", "", "", BODY_END, BODY_END},
    {BODY_CHUNKED, 9, "3\r\nabc\r\n", "abc", "", BODY_AGAIN, BODY_BAD},
    {BODY_CHUNKED, 0, "3\r\nabc\r\n0\r\n", "abc", "", BODY_AGAIN, BODY_BAD},
    {BODY_CHUNKED, 0, "", "", "", BODY_AGAIN, BODY_BAD},
    {BODY_CHUNKED, 0, "3\r\nabcX", "abc", NULL, BODY_BAD, BODY_BAD},
    {BODY_UNTIL_CLOSE, 0, "abc", "abc", "", BODY_AGAIN, BODY_END},
    {BODY_UNTIL_CLOSE, 2, "", "", "", BODY_AGAIN, BODY_END},
    {BODY_TUNNEL, 0, "\x81\x05hello", "\x81\x05hello", "", BODY_AGAIN,
     BODY_END},
};

static void assert_case(size_t i, size_t first, size_t step)
{
    struct bytes text = bytes_of(cases[i].text);
    struct outcome outcome;

    read_in_steps(&outcome, cases[i].framing, cases[i].length, text, first,
                  step);
    assert_int_equal(outcome.event, cases[i].event);
    assert_int_equal(outcome.finish, cases[i].finish);
    assert_true(bytes_eq(buf_bytes(&outcome.body), bytes_of(cases[i].body)));
    if (cases[i].rest)
        assert_int_equal(text.len - outcome.used, strlen(cases[i].rest));
    buf_fini(&outcome.body);
}

TEST(bodies_end_where_their_framing_says)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_case(i, strlen(cases[i].text), 1);
}

TEST(bodies_are_the_same_in_any_pieces)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t len = strlen(cases[i].text);

        for (size_t first = 0; first < len; first++)
            assert_case(i, first, len);
        assert_case(i, 0, 1);
        assert_case(i, 1, 2);
    }
}

TEST(what_went_another_way_counts)
{
    struct bytes input = BYTES("de");
    struct body_reader reader;
    struct bytes data;

    body_reader_init(&reader, BODY_LENGTH, 1000);
    assert_int_equal(body_reader_plain(&reader), 1000);
    body_reader_pass(&reader, 999);
    assert_int_equal(body_reader_plain(&reader), 1);
    assert_int_equal(body_reader_finish(&reader), BODY_BAD);
    assert_int_equal(body_reader_next(&reader, &input, &data), BODY_DATA);
    assert_int_equal(data.len, 1);
    assert_int_equal(body_reader_next(&reader, &input, &data), BODY_END);
    assert_int_equal(input.len, 1);
    assert_int_equal(reader.bytes, 1000);
}

TEST(only_what_has_no_framing_inside_may_go_another_way)
{
    static const struct {
        enum body_framing framing;
        uint64_t plain;
    } plain[] = {{BODY_NONE, 0},
                 {BODY_LENGTH, 7},
                 {BODY_CHUNKED, 0},
                 {BODY_UNTIL_CLOSE, UINT64_MAX},
                 {BODY_TUNNEL, UINT64_MAX}};

    for (size_t i = 0; i < COUNT(plain); i++) {
        struct body_reader reader;

        body_reader_init(&reader, plain[i].framing, 7);
        assert_int_equal(body_reader_plain(&reader), plain[i].plain);
    }
}
