/* link: -Wl,--wrap=malloc,--wrap=realloc */
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- Memory that can be refused ----------------------------------------- */

static bool has_memory = true;
static int allocations;

void *__real_malloc(size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
    allocations++;
    return has_memory ? __real_malloc(size) : NULL;
}

void *__wrap_realloc(void *memory, size_t size)
{
    allocations++;
    return has_memory ? __real_realloc(memory, size) : NULL;
}

static int set_up(void **state)
{
    (void)state;
    has_memory = true;
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

static void what_fits_stays_in_the_lent_storage(void **state)
{
    char storage[8];
    struct buf buf;

    (void)state;
    buf_init(&buf, storage, sizeof(storage), 100);
    buf_put_literal(&buf, "1234");
    buf_put_literal(&buf, "5678");
    assert_holds(&buf, BYTES("12345678"));
    assert_ptr_equal(buf.data, storage);
    assert_int_equal(allocations, 0);
    buf_fini(&buf);
}

static void what_does_not_fit_moves_to_the_heap(void **state)
{
    char storage[8];
    struct buf buf;

    (void)state;
    buf_init(&buf, storage, sizeof(storage), 100);
    buf_put_literal(&buf, "12345678");
    buf_put_literal(&buf, "9");
    assert_holds(&buf, BYTES("123456789"));
    assert_ptr_not_equal(buf.data, storage);
    assert_false(buf.failed);
    buf_fini(&buf);
}

static void it_works_without_storage(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, NULL, 0, 100);
    buf_put(&buf, (struct bytes){NULL, 0});
    assert_holds(&buf, BYTES(""));
    buf_put_literal(&buf, "text");
    assert_holds(&buf, BYTES("text"));
    assert_int_equal(allocations, 1);
    buf_fini(&buf);
}

static void growing_byte_by_byte_allocates_rarely(void **state)
{
    enum { LEN = 100000 };
    struct buf buf;

    (void)state;
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

static void a_finished_buffer_takes_nothing(void **state)
{
    char storage[8];
    struct buf buf;

    (void)state;
    buf_init(&buf, storage, sizeof(storage), 100);
    buf_put_literal(&buf, "123456789");
    buf_fini(&buf);
    buf_fini(&buf);
    buf_put_literal(&buf, "1");
    assert_true(buf.failed);
}

/* --- The ceiling --------------------------------------------------------- */

static void the_ceiling_itself_can_be_reached(void **state)
{
    char text[300] = {0};
    struct buf buf;

    (void)state;
    buf_init(&buf, NULL, 0, sizeof(text));
    buf_put(&buf, (struct bytes){text, 299});
    buf_put(&buf, (struct bytes){text, 1});
    assert_false(buf.failed);
    assert_int_equal(buf.len, 300);
    buf_fini(&buf);
}

static void what_goes_over_the_ceiling_is_dropped_and_told(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, NULL, 0, 10);
    buf_put_literal(&buf, "12345");
    buf_put_literal(&buf, "678901");
    assert_true(buf.failed);
    assert_holds(&buf, BYTES("12345"));
    buf_fini(&buf);
}

static void storage_over_the_ceiling_is_not_used(void **state)
{
    char storage[20];
    struct buf buf;

    (void)state;
    buf_init(&buf, storage, sizeof(storage), 10);
    buf_put_literal(&buf, "1234567890");
    assert_false(buf.failed);
    buf_put_literal(&buf, "1");
    assert_true(buf.failed);
    assert_holds(&buf, BYTES("1234567890"));
    buf_fini(&buf);
}

static void a_buffer_that_failed_stays_failed_and_grows_no_more(void **state)
{
    char storage[4];
    struct buf buf;

    (void)state;
    buf_init(&buf, storage, sizeof(storage), 10);
    buf_put_literal(&buf, "12345678901");
    buf_put_literal(&buf, "12345"); /* below the ceiling, but too late */
    assert_true(buf.failed);
    assert_ptr_equal(buf.data, storage);
    assert_int_equal(allocations, 0);
    buf_fini(&buf);
}

static void a_length_near_the_largest_number_is_refused(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, NULL, 0, SIZE_MAX - 1);
    buf_put_literal(&buf, "12345");
    assert_null(buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);
    assert_holds(&buf, BYTES("12345"));
    buf_fini(&buf);
}

static void no_memory_for_the_first_growth_is_told(void **state)
{
    char storage[4];
    struct buf buf;

    (void)state;
    buf_init(&buf, storage, sizeof(storage), 100);
    buf_put_literal(&buf, "1234");
    has_memory = false;
    buf_put_literal(&buf, "5");
    assert_true(buf.failed);
    assert_holds(&buf, BYTES("1234"));
    buf_fini(&buf);
}

static void no_memory_for_later_growth_keeps_what_there_was(void **state)
{
    char text[1000];
    struct buf buf;

    (void)state;
    memset(text, 'x', sizeof(text));
    buf_init(&buf, NULL, 0, 5000);
    buf_put(&buf, (struct bytes){text, 200});
    has_memory = false;
    buf_put(&buf, (struct bytes){text, sizeof(text)});
    assert_true(buf.failed);
    assert_holds(&buf, (struct bytes){text, 200});
    buf_fini(&buf);
}

static void room_reserved_is_the_callers_to_fill(void **state)
{
    struct buf buf;
    char *room;

    (void)state;
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

static void numbers_are_decimal(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, NULL, 0, 100);
    buf_put_number(&buf, 0);
    buf_put_literal(&buf, " ");
    buf_put_number(&buf, 1090);
    buf_put_literal(&buf, " ");
    buf_put_number(&buf, UINT64_MAX);
    assert_holds(&buf, BYTES("0 1090 18446744073709551615"));
    buf_fini(&buf);
}

static void formatted_text_is_appended(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, NULL, 0, 1000);
    buf_put_literal(&buf, "<");
    buf_printf(&buf, "%03d %s", 7, "seven");
    buf_put_literal(&buf, ">");
    assert_holds(&buf, BYTES("<007 seven>"));
    buf_printf(&buf, "%500s", "far right");
    assert_int_equal(buf.len, 511);
    buf_fini(&buf);
}

static void formatted_text_over_the_ceiling_is_dropped_and_told(void **state)
{
    struct buf buf;

    (void)state;
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

static void html_has_no_markup_and_no_controls_left(void **state)
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

    (void)state;
    ASSERT_ESCAPES(buf_put_html, cases);
}

static void json_is_valid_utf8_without_controls(void **state)
{
    static const struct escape_case cases[] = {
        {RAW(""), ""},
        {{NULL, 0}, ""},
        {RAW("plain </text>"), "plain </text>"},
        {RAW("\"\\\""), "\\\"\\\\\\\""},
        {RAW("\0\x01\n\r\t\x1F\x7F"),
         "\\u0000\\u0001\\u000a\\u000d\\u0009\\u001f\\u007f"},
    };

    (void)state;
    ASSERT_ESCAPES(buf_put_json, cases);
}

static void json_keeps_the_ends_of_each_utf8_range(void **state)
{
    static const char *const kept[] = {
        "\x20",
        "\x7E", /* ASCII but controls */
        "\xC2\x80",
        "\xDF\xBF", /* U+0080, U+07FF */
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

    (void)state;
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        struct escape_case same = {bytes_of(kept[i]), kept[i]};

        assert_escapes(buf_put_json, &same, 1);
    }
}

static void json_replaces_each_byte_that_is_no_utf8(void **state)
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

    (void)state;
    ASSERT_ESCAPES(buf_put_json, cases);
}

static void a_log_line_is_visible_ascii(void **state)
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

    (void)state;
    ASSERT_ESCAPES(buf_put_log, cases);
}

static void escaping_stops_at_the_ceiling(void **state)
{
    static put_fn *const puts[] = {buf_put_html, buf_put_json, buf_put_log};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct buf buf;

        buf_init(&buf, NULL, 0, 8);
        puts[i](&buf, BYTES("\"\"\"\"\"\"\"\""));
        assert_true(buf.failed);
        assert_true(buf.len <= 8);
        buf_fini(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_fits_stays_in_the_lent_storage, set_up),
        cmocka_unit_test_setup(what_does_not_fit_moves_to_the_heap, set_up),
        cmocka_unit_test_setup(it_works_without_storage, set_up),
        cmocka_unit_test_setup(growing_byte_by_byte_allocates_rarely, set_up),
        cmocka_unit_test_setup(a_finished_buffer_takes_nothing, set_up),
        cmocka_unit_test_setup(the_ceiling_itself_can_be_reached, set_up),
        cmocka_unit_test_setup(what_goes_over_the_ceiling_is_dropped_and_told,
                               set_up),
        cmocka_unit_test_setup(storage_over_the_ceiling_is_not_used, set_up),
        cmocka_unit_test_setup(
            a_buffer_that_failed_stays_failed_and_grows_no_more, set_up),
        cmocka_unit_test_setup(a_length_near_the_largest_number_is_refused,
                               set_up),
        cmocka_unit_test_setup(no_memory_for_the_first_growth_is_told, set_up),
        cmocka_unit_test_setup(no_memory_for_later_growth_keeps_what_there_was,
                               set_up),
        cmocka_unit_test_setup(room_reserved_is_the_callers_to_fill, set_up),
        cmocka_unit_test_setup(numbers_are_decimal, set_up),
        cmocka_unit_test_setup(formatted_text_is_appended, set_up),
        cmocka_unit_test_setup(
            formatted_text_over_the_ceiling_is_dropped_and_told, set_up),
        cmocka_unit_test_setup(html_has_no_markup_and_no_controls_left, set_up),
        cmocka_unit_test_setup(json_is_valid_utf8_without_controls, set_up),
        cmocka_unit_test_setup(json_keeps_the_ends_of_each_utf8_range, set_up),
        cmocka_unit_test_setup(json_replaces_each_byte_that_is_no_utf8, set_up),
        cmocka_unit_test_setup(a_log_line_is_visible_ascii, set_up),
        cmocka_unit_test_setup(escaping_stops_at_the_ceiling, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
