#include "http/http1/http1.h"

#include "suite.h"
#include "unit/http/http1/http1_grammar.h"
#include "unit/http/http1/http1_pieces.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Reads text whole, byte by byte, and split around its line ends; all must
 * come to this. Status 0 is HTTP1_DONE. */
static void assert_comes_to(const struct buf *text, unsigned status)
{
    struct bytes head = buf_bytes(text);
    struct outcome whole;

    assert_false(text->failed);
    read_whole(&whole, head);
    assert_int_equal(whole.verdict, status == 0 ? HTTP1_DONE : HTTP1_BAD);
    assert_int_equal(whole.status, status);
    assert_int_equal(grammar_head_bytes(head) > 0, status == 0);
    for (size_t i = 0; i < head.len; i++)
        if (head.data[i] == '\r' || head.data[i] == '\n')
            for (size_t first = i; first <= i + 1; first++)
                assert_same_in_steps(&whole, head, first, head.len, true);
    assert_same_in_steps(&whole, head, 0, 101, true);
    assert_same_in_steps(&whole, head, 0, 1, true);
    outcome_fini(&whole);
}

static void fill(struct buf *text, size_t count)
{
    while (count-- > 0)
        buf_put_literal(text, "x");
}

/* A head whose request line has so many bytes. */
static void assert_line_comes_to(size_t line_bytes, const char *before,
                                 unsigned status)
{
    struct buf text;

    buf_init(&text, NULL, 0, 100000);
    buf_put(&text, bytes_of(before));
    buf_put_literal(&text, "GET /");
    fill(&text, line_bytes - strlen("GET / HTTP/1.1"));
    buf_put_literal(&text, " HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_comes_to(&text, status);
    buf_fini(&text);
}

TEST(a_request_line_has_8192_bytes_at_most)
{
    assert_line_comes_to(HTTP1_LINE_BYTES_MAX - 1, "", 0);
    assert_line_comes_to(HTTP1_LINE_BYTES_MAX, "", 0);
    assert_line_comes_to(HTTP1_LINE_BYTES_MAX + 1, "", 414);
    assert_line_comes_to(HTTP1_LINE_BYTES_MAX + 2, "", 414);
    assert_line_comes_to(2 * HTTP1_HEAD_BYTES_MAX, "", 414);
    assert_line_comes_to(HTTP1_LINE_BYTES_MAX, "\r\n\r\n\r\n\r\n", 0);
    assert_line_comes_to(HTTP1_LINE_BYTES_MAX + 1, "\r\n\r\n\r\n\r\n", 414);
}

/* A head of so many bytes, the empty line included. */
static void assert_head_comes_to(size_t head_bytes, const char *before,
                                 unsigned status)
{
    static const char begin[] = "GET / HTTP/1.1\r\nHost: a\r\nA: ";
    static const char middle[] = "\r\nB: ";
    struct buf text;

    buf_init(&text, NULL, 0, 100000);
    buf_put(&text, bytes_of(before));
    buf_put_literal(&text, begin);
    fill(&text, 4000);
    buf_put_literal(&text, middle);
    fill(&text, head_bytes - 4000 - strlen(begin) - strlen(middle) -
                    strlen("\r\n\r\n"));
    buf_put_literal(&text, "\r\n\r\n");
    assert_int_equal(text.len, strlen(before) + head_bytes);
    assert_comes_to(&text, status);
    buf_fini(&text);
}

TEST(a_head_has_16384_bytes_at_most)
{
    assert_head_comes_to(HTTP1_HEAD_BYTES_MAX - 1, "", 0);
    assert_head_comes_to(HTTP1_HEAD_BYTES_MAX, "", 0);
    assert_head_comes_to(HTTP1_HEAD_BYTES_MAX + 1, "", 431);
    assert_head_comes_to(HTTP1_HEAD_BYTES_MAX + 2, "", 431);
    assert_head_comes_to(2 * HTTP1_HEAD_BYTES_MAX, "", 431);
    assert_head_comes_to(HTTP1_HEAD_BYTES_MAX, "\r\n\r\n\r\n\r\n", 0);
    assert_head_comes_to(HTTP1_HEAD_BYTES_MAX + 1, "\r\n\r\n\r\n\r\n", 431);
}

TEST(a_head_has_100_fields_at_most)
{
    for (unsigned count = 99; count <= 102; count++) {
        struct buf text;

        buf_init(&text, NULL, 0, 100000);
        buf_put_literal(&text, "GET / HTTP/1.1\r\nHost: a\r\n");
        for (unsigned i = 1; i < count; i++)
            buf_printf(&text, "A%u: b%u\r\n", i, i);
        buf_put_literal(&text, "\r\n");
        assert_comes_to(&text, count <= REQUEST_FIELDS_MAX ? 0 : 431);
        buf_fini(&text);
    }
}

TEST(all_of_100_fields_are_kept)
{
    struct outcome outcome;
    struct buf text;

    buf_init(&text, NULL, 0, 100000);
    buf_put_literal(&text, "GET / HTTP/1.0\r\n");
    for (unsigned i = 0; i < 99; i++)
        buf_printf(&text, "A%u: b%u\r\n", i, i);
    buf_put_literal(&text, "Range: last\r\n\r\n");
    read_whole(&outcome, buf_bytes(&text));
    assert_int_equal(outcome.request.field_count, 100);
    assert_bytes(outcome.request.fields[98].name, "A98");
    assert_bytes(outcome.request.fields[98].value, "b98");
    assert_bytes(request_single(&outcome.request, FIELD_RANGE)->value, "last");
    outcome_fini(&outcome);
    buf_fini(&text);
}

TEST(endless_lines_are_refused_before_they_end)
{
    static const struct {
        const char *begin;
        size_t bytes;
        unsigned status;
    } cases[] = {
        {"", HTTP1_LINE_BYTES_MAX + 1, 501}, /* a method without end */
        {"\r\n", 2 + HTTP1_LINE_BYTES_MAX + 1, 501},
        {"GET /", HTTP1_LINE_BYTES_MAX + 1, 414},
        {"\r\nGET /", 2 + HTTP1_LINE_BYTES_MAX + 1, 414},
        {"GET / HTTP/1.1\r\n", HTTP1_HEAD_BYTES_MAX + 1, 431},
        {"\r\nGET / HTTP/1.1\r\n", 2 + HTTP1_HEAD_BYTES_MAX + 1, 431},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct outcome outcome;
        struct buf text;

        buf_init(&text, NULL, 0, 100000);
        buf_put(&text, bytes_of(cases[i].begin));
        fill(&text, 50000);
        read_in_steps(&outcome, buf_bytes(&text), 0, 1);
        assert_int_equal(outcome.verdict, HTTP1_BAD);
        assert_int_equal(outcome.status, cases[i].status);
        assert_int_equal(outcome.read, cases[i].bytes);
        outcome_fini(&outcome);
        buf_fini(&text);
    }
}

TEST(four_empty_lines_may_come_first_and_no_more)
{
    for (unsigned count = 0; count <= HTTP1_LEADING_CRLF_MAX + 1; count++) {
        struct buf text;

        buf_init(&text, NULL, 0, 1000);
        for (unsigned i = 0; i < count; i++)
            buf_put_literal(&text, "\r\n");
        buf_put_literal(&text, "GET / HTTP/1.0\r\n\r\n");
        assert_comes_to(&text, count <= HTTP1_LEADING_CRLF_MAX ? 0 : 400);
        buf_fini(&text);
    }
}

TEST(faults_are_found_as_soon_as_they_come)
{
    static const char *const texts[] = {"GET / HTTP/1.1\r\nA: b\x01",
                                        "GET /\n",
                                        "\x16",
                                        "GET / HTTP/1.1\r\nHost: a\r\nA: b\rc",
                                        "GET / HTTP/9.9\r\n",
                                        "GET / HTTP/1.1\r\nA : b\r\n"};

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct outcome outcome;
        struct buf text;

        buf_init(&text, NULL, 0, 1000);
        buf_put(&text, bytes_of(texts[i]));
        fill(&text, 500);
        read_in_steps(&outcome, buf_bytes(&text), 0, 1);
        assert_int_equal(outcome.verdict, HTTP1_BAD);
        assert_int_equal(outcome.read, strlen(texts[i]));
        outcome_fini(&outcome);
        buf_fini(&text);
    }
}
