#include "base/bytes.h"

#include <limits.h>

#include "suite.h"

static const struct bytes nothing = {NULL, 0};

TEST(a_literal_comes_without_its_nul)
{
    assert_int_equal(BYTES("").len, 0);
    assert_int_equal(BYTES("abc").len, 3);
    assert_int_equal(BYTES("a\0b").len, 3);
    assert_int_equal(bytes_of("a\0b").len, 1);
}

TEST(between_is_what_lies_between)
{
    static const char text[] = "key=value";

    assert_true(bytes_eq(bytes_between(text, text + 3), BYTES("key")));
    assert_int_equal(bytes_between(text, text).len, 0);
}

TEST(equal_is_to_the_byte)
{
    static const struct {
        struct bytes a;
        struct bytes b;
        bool is_equal;
        bool is_equal_but_for_case;
    } cases[] = {
        {{"", 0}, {"", 0}, true, true},
        {{NULL, 0}, {"", 0}, true, true},
        {{NULL, 0}, {NULL, 0}, true, true},
        {{NULL, 0}, {"a", 1}, false, false},
        {{"host", 4}, {"host", 4}, true, true},
        {{"Host", 4}, {"hOST", 4}, false, true},
        {{"host", 4}, {"hosts", 5}, false, false},
        {{"a\0b", 3}, {"a\0c", 3}, false, false},
        {{"a\0b", 3}, {"a\0b", 3}, true, true},
        {{"az", 2}, {"AZ", 2}, false, true},
        /* What lies 0x20 apart without being letters, and beyond ASCII. */
        {{"@", 1}, {"`", 1}, false, false},
        {{"[", 1}, {"{", 1}, false, false},
        {{"\xc4", 1}, {"\xe4", 1}, false, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(bytes_eq(cases[i].a, cases[i].b), cases[i].is_equal);
        assert_int_equal(bytes_eq(cases[i].b, cases[i].a), cases[i].is_equal);
        assert_int_equal(bytes_ieq(cases[i].a, cases[i].b),
                         cases[i].is_equal_but_for_case);
        assert_int_equal(bytes_ieq(cases[i].b, cases[i].a),
                         cases[i].is_equal_but_for_case);
    }
}

/* Each byte against each other, at every place of texts up to three words long,
 * so that none is taken for its neighbour's. */
TEST(each_byte_counts_wherever_it_stands)
{
    enum { LEN_MAX = 25 };
    char a[LEN_MAX], b[LEN_MAX];

    for (size_t len = 1; len <= LEN_MAX; len++)
        for (size_t at = 0; at < len; at++)
            for (int byte = 0; byte < 256; byte++)
                for (int change = 0; change < 8; change++) {
                    char other = (char)(byte ^ 1 << change);

                    memset(a, 0x80 + 'A', len);
                    memset(b, 0x80 + 'A', len);
                    a[at] = (char)byte;
                    b[at] = other;
                    assert_int_equal(bytes_ieq((struct bytes){a, len},
                                               (struct bytes){b, len}),
                                     byte_lower((char)byte) ==
                                         byte_lower(other));
                }
}

TEST(only_ascii_letters_have_a_lower_case)
{
    for (int i = 0; i < 256; i++) {
        char lower = i >= 'A' && i <= 'Z' ? (char)(i + 32) : (char)i;

        assert_int_equal(byte_lower((char)i), lower);
    }
}

TEST(trimming_takes_spaces_and_tabs_off_both_ends)
{
    static const struct {
        const char *text;
        const char *trimmed;
    } cases[] = {
        {"", ""},
        {" ", ""},
        {" \t \t", ""},
        {"a", "a"},
        {" a", "a"},
        {"a\t", "a"},
        {"\t a \t b \t", "a \t b"},
        {"\ra\n", "\ra\n"},
        {"\va\f", "\va\f"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_true(bytes_eq(bytes_trim(bytes_of(cases[i].text)),
                             bytes_of(cases[i].trimmed)));
    assert_int_equal(bytes_trim(nothing).len, 0);
}

TEST(texts_stand_in_the_order_of_their_bytes)
{
    static const struct bytes sorted[] = {{NULL, 0},  {"\0", 1}, {"a", 1},
                                          {"a\0", 2}, {"ab", 2}, {"b", 1},
                                          {"\xe4", 1}};

    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 7; b++) {
            int order = bytes_order(sorted[a], sorted[b]);

            assert_int_equal((order > 0) - (order < 0), (a > b) - (a < b));
        }
}

TEST(what_stands_in_front_is_taken_off)
{
    struct bytes text = BYTES("https://x");

    assert_false(bytes_take(&text, BYTES("HTTPS:")));
    assert_false(bytes_take(&text, BYTES("https://xy")));
    assert_true(bytes_eq(text, BYTES("https://x")));
    assert_true(bytes_take_ieq(&text, BYTES("HTTPS:")));
    assert_false(bytes_take_ieq(&text, BYTES("//xy")));
    assert_true(bytes_take(&text, BYTES("//")));
    assert_true(bytes_take(&text, BYTES("x")));
    assert_false(bytes_take(&text, BYTES("x")));
    assert_false(bytes_take_ieq(&text, BYTES("x")));
    assert_int_equal(text.len, 0);
}

TEST(a_control_is_found_wherever_it_stands)
{
    enum { LEN_MAX = 20 };

    assert_false(bytes_has_control(nothing));
    for (size_t len = 1; len <= LEN_MAX; len++) {
        char *text = malloc(len); /* for the sanitizer to watch */

        assert_non_null(text);
        for (size_t at = 0; at < len; at++)
            for (unsigned c = 0; c <= UCHAR_MAX; c++) {
                memset(text, c % 2 == 0 ? ' ' : 0x80, len);
                text[at] = (char)c;
                assert_int_equal(bytes_has_control((struct bytes){text, len}),
                                 c < ' ' || c == 0x7F);
            }
        free(text);
    }
}

TEST(words_stand_between_blanks)
{
    struct bytes text = BYTES(" a\t bc\rd \t");

    assert_true(bytes_eq(bytes_take_word(&text), BYTES("a")));
    assert_true(bytes_eq(text, BYTES("\t bc\rd \t")));
    assert_true(bytes_eq(bytes_take_word(&text), BYTES("bc\rd")));
    assert_int_equal(bytes_take_word(&text).len, 0);
    assert_int_equal(text.len, 0);
    text = nothing;
    assert_int_equal(bytes_take_word(&text).len, 0);
}

TEST(lines_come_without_their_ends)
{
    struct bytes text = BYTES("a\r\n\n\r\nb\rc\n\rd\r");

    assert_true(bytes_eq(bytes_take_line(&text), BYTES("a")));
    assert_int_equal(bytes_take_line(&text).len, 0);
    assert_int_equal(bytes_take_line(&text).len, 0);
    assert_true(bytes_eq(bytes_take_line(&text), BYTES("b\rc")));
    assert_true(bytes_eq(bytes_take_line(&text), BYTES("\rd")));
    assert_int_equal(text.len, 0);
    text = nothing;
    assert_int_equal(bytes_take_line(&text).len, 0);
}
