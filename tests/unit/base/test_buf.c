/* link: -Wl,--wrap=malloc,--wrap=realloc */
#include "base/buf.h"

#include <inttypes.h>

#include "suite.h"
#include "unit/memory.h"

/* --- Memory that can be refused ----------------------------------------- */

static int set_up(void **state)
{
    (void)state;
    allocations_left = -1;
    allocations = 0;
    return 0;
}

static void assert_holds(const struct buf *buf, struct bytes text)
{
    assert_int_equal(buf->len, text.len);
    if (text.len > 0)
        assert_memory_equal(buf->data, text.data, text.len);
}

/* --- Growing ------------------------------------------------------------- */

TEST(what_fits_stays_in_the_lent_storage)
{
    char storage[8];
    struct buf buf;

    buf_init(&buf, storage, sizeof(storage), 100);
    buf_put_literal(&buf, "1234");
    buf_put_literal(&buf, "5678");
    assert_holds(&buf, BYTES("12345678"));
    assert_ptr_equal(buf.data, storage);
    assert_int_equal(allocations, 0);
    buf_fini(&buf);
}

TEST(what_does_not_fit_moves_to_the_heap)
{
    char storage[8];
    struct buf buf;

    buf_init(&buf, storage, sizeof(storage), 100);
    buf_put_literal(&buf, "12345678");
    buf_put_literal(&buf, "9");
    assert_holds(&buf, BYTES("123456789"));
    assert_ptr_not_equal(buf.data, storage);
    assert_false(buf.failed);
    buf_fini(&buf);
}

TEST(it_works_without_storage)
{
    struct buf buf;

    buf_init(&buf, NULL, 0, 100);
    buf_put(&buf, (struct bytes){NULL, 0});
    assert_holds(&buf, BYTES(""));
    buf_put_literal(&buf, "text");
    assert_holds(&buf, BYTES("text"));
    assert_int_equal(allocations, 1);
    buf_fini(&buf);
}

TEST(growing_byte_by_byte_allocates_rarely)
{
    enum { LEN = 100000 };
    struct buf buf;

    buf_init(&buf, NULL, 0, LEN);
    for (int i = 0; i < LEN; i++)
        buf_put(&buf, (struct bytes){&"0123456789"[i % 10], 1});
    assert_false(buf.failed);
    assert_int_equal(buf.len, LEN);
    for (int i = 0; i < LEN; i++)
        assert_int_equal(buf.data[i], '0' + i % 10);
    assert_true(allocations < 12); /* 256 * 2^9 is more than LEN */
    buf_fini(&buf);
}

TEST(a_finished_buffer_takes_nothing)
{
    char storage[8];
    struct buf buf;

    buf_init(&buf, storage, sizeof(storage), 100);
    buf_put_literal(&buf, "123456789");
    buf_fini(&buf);
    buf_fini(&buf);
    buf_put_literal(&buf, "1");
    assert_true(buf.failed);
}

/* --- The ceiling --------------------------------------------------------- */

TEST(the_ceiling_itself_can_be_reached)
{
    char text[300] = {0};
    struct buf buf;

    buf_init(&buf, NULL, 0, sizeof(text));
    buf_put(&buf, (struct bytes){text, 299});
    buf_put(&buf, (struct bytes){text, 1});
    assert_false(buf.failed);
    assert_int_equal(buf.len, 300);
    buf_fini(&buf);
}

TEST(what_goes_over_the_ceiling_is_dropped_and_told)
{
    struct buf buf;

    buf_init(&buf, NULL, 0, 10);
    buf_put_literal(&buf, "12345");
    buf_put_literal(&buf, "678901");
    assert_true(buf.failed);
    assert_holds(&buf, BYTES("12345"));
    buf_fini(&buf);
}

TEST(storage_over_the_ceiling_is_not_used)
{
    char storage[20];
    struct buf buf;

    buf_init(&buf, storage, sizeof(storage), 10);
    buf_put_literal(&buf, "1234567890");
    assert_false(buf.failed);
    buf_put_literal(&buf, "1");
    assert_true(buf.failed);
    assert_holds(&buf, BYTES("1234567890"));
    buf_fini(&buf);
}

TEST(a_buffer_that_failed_stays_failed_and_grows_no_more)
{
    char storage[4];
    struct buf buf;

    buf_init(&buf, storage, sizeof(storage), 10);
    buf_put_literal(&buf, "12345678901");
    buf_put_literal(&buf, "12345"); /* below the ceiling, but too late */
    assert_true(buf.failed);
    assert_ptr_equal(buf.data, storage);
    assert_int_equal(allocations, 0);
    buf_fini(&buf);
}

TEST(a_length_near_the_largest_number_is_refused)
{
    struct buf buf;

    buf_init(&buf, NULL, 0, SIZE_MAX - 1);
    buf_put_literal(&buf, "12345");
    assert_null(buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);
    assert_holds(&buf, BYTES("12345"));
    buf_fini(&buf);
}

TEST(no_memory_for_the_first_growth_is_told)
{
    char storage[4];
    struct buf buf;

    buf_init(&buf, storage, sizeof(storage), 100);
    buf_put_literal(&buf, "1234");
    allocations_left = 0;
    buf_put_literal(&buf, "5");
    assert_true(buf.failed);
    assert_holds(&buf, BYTES("1234"));
    buf_fini(&buf);
}

TEST(no_memory_for_later_growth_keeps_what_there_was)
{
    char text[1000];
    struct buf buf;

    memset(text, 'x', sizeof(text));
    buf_init(&buf, NULL, 0, 5000);
    buf_put(&buf, (struct bytes){text, 200});
    allocations_left = 0;
    buf_put(&buf, (struct bytes){text, sizeof(text)});
    assert_true(buf.failed);
    assert_holds(&buf, (struct bytes){text, 200});
    buf_fini(&buf);
}

TEST(room_reserved_is_the_callers_to_fill)
{
    struct buf buf;
    char *room;

    buf_init(&buf, NULL, 0, 1000);
    buf_put_literal(&buf, "a");
    room = buf_reserve(&buf, 999);
    assert_non_null(room);
    memset(room, 'b', 999);
    assert_int_equal(buf.len, 1);
    buf.len += 2;
    assert_holds(&buf, BYTES("abb"));
    buf_fini(&buf);
}

/* --- Numbers and formats ------------------------------------------------- */

TEST(numbers_are_decimal)
{
    struct buf buf;

    buf_init(&buf, NULL, 0, 100);
    buf_put_number(&buf, 0);
    buf_put_literal(&buf, " ");
    buf_put_number(&buf, 1090);
    buf_put_literal(&buf, " ");
    buf_put_number(&buf, UINT64_MAX);
    assert_holds(&buf, BYTES("0 1090 18446744073709551615"));
    buf_fini(&buf);
}

TEST(numbers_of_every_length_are_what_printf_makes_of_them)
{
    char expected[24];
    struct buf buf;

    for (uint64_t ten = 1; ten < UINT64_MAX / 10; ten *= 10)
        for (uint64_t number = ten - 1; number <= ten + 100; number++) {
            snprintf(expected, sizeof(expected), "%" PRIu64, number);
            buf_init(&buf, NULL, 0, 100);
            buf_put_number(&buf, number);
            assert_holds(&buf, bytes_of(expected));
            buf_fini(&buf);
        }
}

TEST(formatted_text_is_appended)
{
    struct buf buf;

    buf_init(&buf, NULL, 0, 1000);
    buf_put_literal(&buf, "<");
    buf_printf(&buf, "%03d %s", 7, "seven");
    buf_put_literal(&buf, ">");
    assert_holds(&buf, BYTES("<007 seven>"));
    buf_printf(&buf, "%500s", "far right");
    assert_int_equal(buf.len, 511);
    buf_fini(&buf);
}

TEST(formatted_text_over_the_ceiling_is_dropped_and_told)
{
    struct buf buf;

    buf_init(&buf, NULL, 0, 10);
    buf_put_literal(&buf, "<");
    buf_printf(&buf, "%d", 1234567890);
    assert_true(buf.failed);
    assert_holds(&buf, BYTES("<"));
    buf_fini(&buf);
}

/* --- Escaping ------------------------------------------------------------ */

typedef void put_fn(struct buf *buf, struct bytes text);

struct escape_case {
    struct bytes raw;
    const char *escaped;
};

/* The bytes of a literal, NULs inside it too, where a constant must stand. */
#define RAW(literal)                   \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

static void assert_escapes(put_fn *put, const struct escape_case *cases,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct buf buf;

        buf_init(&buf, NULL, 0, 1000);
        put(&buf, cases[i].raw);
        assert_false(buf.failed);
        buf_put(&buf, (struct bytes){"", 1});
        assert_string_equal(buf.data, cases[i].escaped);
        buf_fini(&buf);
    }
}

#define ASSERT_ESCAPES(put, cases) \
    assert_escapes((put), (cases), sizeof(cases) / sizeof(*(cases)))

TEST(html_has_no_markup_and_no_controls_left)
{
#define FFFD "\xEF\xBF\xBD"
    static const struct escape_case cases[] = {
        {RAW(""), ""},
        {{NULL, 0}, ""},
        {RAW("plain /text; caf\xC3\xA9"), "plain /text; caf\xC3\xA9"},
        {RAW("<a href=\"x\">'&'</a>"),
         "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;"},
        {RAW("&amp;"), "&amp;amp;"},
        {RAW("\0\n\x1F\x7F"), FFFD FFFD FFFD FFFD},
        {RAW("\x80<\xC3>\xE2\x82"), FFFD "&lt;" FFFD "&gt;" FFFD FFFD},
        {RAW("\xE2\x82\xAC\xF0\x9F\x98\x80"), "\xE2\x82\xAC\xF0\x9F\x98\x80"},
    };
#undef FFFD

    ASSERT_ESCAPES(buf_put_html, cases);
}

TEST(json_is_valid_utf8_without_controls)
{
    static const struct escape_case cases[] = {
        {RAW(""), ""},
        {{NULL, 0}, ""},
        {RAW("plain </text>"), "plain </text>"},
        {RAW("\"\\\""), "\\\"\\\\\\\""},
        {RAW("\0\x01\n\r\t\x1F\x7F"),
         "\\u0000\\u0001\\u000a\\u000d\\u0009\\u001f\\u007f"},
    };

    ASSERT_ESCAPES(buf_put_json, cases);
}

TEST(json_keeps_the_ends_of_each_utf8_range)
{
    static const char *const kept[] = {
        "\x20",
        "\x7E", /* ASCII but controls */
        "\xC2\xA0",
        "\xDF\xBF", /* U+00A0, U+07FF */
        "\xE0\xA0\x80",
        "\xEC\xBF\xBF", /* U+0800, U+CFFF */
        "\xED\x80\x80",
        "\xED\x9F\xBF", /* U+D000, U+D7FF */
        "\xEE\x80\x80",
        "\xEF\xBF\xBF", /* U+E000, U+FFFF */
        "\xF0\x90\x80\x80",
        "\xF3\xBF\xBF\xBF", /* U+10000, U+FFFFF */
        "\xF4\x80\x80\x80",
        "\xF4\x8F\xBF\xBF", /* U+100000, U+10FFFF */
        "a\xE2\x82\xAC\xF0\x9F\x98\x80z",
    };

    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        struct escape_case same = {bytes_of(kept[i]), kept[i]};

        assert_escapes(buf_put_json, &same, 1);
    }
}

/* A terminal obeys them, or shows text elsewhere than where it stands. */
TEST(json_has_no_orders_for_a_terminal)
{
    static const struct escape_case cases[] = {
        {RAW("\xC2\x80"), "\\u0080"},
        {RAW("a\xC2\x9B[31m"), "a\\u009b[31m"},
        {RAW("\xC2\x9F\xC2\xA0"), "\\u009f\xC2\xA0"},
        {RAW("\xD8\x9B\xD8\x9C\xD8\x9D"), "\xD8\x9B\\u061c\xD8\x9D"},
        {RAW("\xE2\x80\x8D\xE2\x80\x8E\xE2\x80\x8F\xE2\x80\x90"),
         "\xE2\x80\x8D\\u200e\\u200f\xE2\x80\x90"},
        {RAW("\xE2\x80\xA9\xE2\x80\xAA\xE2\x80\xAE\xE2\x80\xAF"),
         "\xE2\x80\xA9\\u202a\\u202e\xE2\x80\xAF"},
        {RAW("\xE2\x81\xA5\xE2\x81\xA6\xE2\x81\xA9\xE2\x81\xAA"),
         "\xE2\x81\xA5\\u2066\\u2069\xE2\x81\xAA"},
    };

    ASSERT_ESCAPES(buf_put_json, cases);
}

TEST(json_replaces_each_byte_that_is_no_utf8)
{
#define BAD "\\ufffd"
    static const struct escape_case cases[] = {
        {RAW("\x80"), BAD},                         /* continues nothing */
        {RAW("\xBF\xBF"), BAD BAD},                 /* the same */
        {RAW("\xC0\x80"), BAD BAD},                 /* overlong NUL */
        {RAW("\xC1\xBF"), BAD BAD},                 /* overlong U+007F */
        {RAW("\xE0\x9F\xBF"), BAD BAD BAD},         /* overlong U+07FF */
        {RAW("\xED\xA0\x80"), BAD BAD BAD},         /* surrogate U+D800 */
        {RAW("\xED\xBF\xBF"), BAD BAD BAD},         /* surrogate U+DFFF */
        {RAW("\xF0\x8F\xBF\xBF"), BAD BAD BAD BAD}, /* overlong U+FFFF */
        {RAW("\xF4\x90\x80\x80"), BAD BAD BAD BAD}, /* U+110000 */
        {RAW("\xF5\x80\x80\x80"), BAD BAD BAD BAD}, /* no such lead */
        {RAW("\xFF"), BAD},
        {RAW("\xC3"), BAD},                 /* ends too early */
        {RAW("\xE2\x82"), BAD BAD},         /* the same */
        {RAW("\xF0\x9F\x98"), BAD BAD BAD}, /* the same */
        {RAW("\xC3z"), BAD "z"},
        {RAW("\xE2\x82z"), BAD BAD "z"},
        {RAW("\xE2(\xA1"), BAD "(" BAD},
        {RAW("\xF0\x9F\x98z"), BAD BAD BAD "z"},
        {RAW("\xF0\x9Fz\x80"), BAD BAD "z" BAD},
        {RAW("\xE2\xE2\x82\xAC"), BAD "\xE2\x82\xAC"},
        {RAW("\xC3\""), BAD "\\\""}, /* no quote slips through */
    };
#undef BAD

    ASSERT_ESCAPES(buf_put_json, cases);
}

TEST(a_log_line_is_visible_ascii)
{
    static const struct escape_case cases[] = {
        {RAW(""), ""},
        {{NULL, 0}, ""},
        {RAW("GET /a%20b HTTP/1.1 ~"), "GET /a%20b HTTP/1.1 ~"},
        {RAW("a\nb"), "a\\x0ab"},
        {RAW("\" \\"), "\\x22 \\x5c"},
        {RAW("\0\x1F\x7F\x80\xFF"), "\\x00\\x1f\\x7f\\x80\\xff"},
        {RAW("\r\nx\r\n"), "\\x0d\\x0ax\\x0d\\x0a"},
    };

    ASSERT_ESCAPES(buf_put_log, cases);
}

TEST(escaping_stops_at_the_ceiling)
{
    static put_fn *const puts[] = {buf_put_html, buf_put_json, buf_put_log};

    for (size_t i = 0; i < 3; i++) {
        struct buf buf;

        buf_init(&buf, NULL, 0, 8);
        puts[i](&buf, BYTES("\"\"\"\"\"\"\"\""));
        assert_true(buf.failed);
        assert_true(buf.len <= 8);
        buf_fini(&buf);
    }
}

SUITE(.each_begin = set_up);
