#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const struct bytes nothing = {NULL, 0};

static void a_literal_comes_without_its_nul(void **state)
{
    (void)state;
    assert_int_equal(BYTES("").len, 0);
    assert_int_equal(BYTES("abc").len, 3);
    assert_int_equal(BYTES("a\0b").len, 3);
    assert_int_equal(bytes_of("a\0b").len, 1);
}

static void between_is_what_lies_between(void **state)
{
    static const char text[] = "key=value";

    (void)state;
    assert_true(bytes_eq(bytes_between(text, text + 3), BYTES("key")));
    assert_int_equal(bytes_between(text, text).len, 0);
}

static void equal_is_to_the_byte(void **state)
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

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(bytes_eq(cases[i].a, cases[i].b), cases[i].is_equal);
        assert_int_equal(bytes_eq(cases[i].b, cases[i].a), cases[i].is_equal);
        assert_int_equal(bytes_ieq(cases[i].a, cases[i].b),
                         cases[i].is_equal_but_for_case);
        assert_int_equal(bytes_ieq(cases[i].b, cases[i].a),
                         cases[i].is_equal_but_for_case);
    }
}

static void only_ascii_letters_have_a_lower_case(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        char lower = i >= 'A' && i <= 'Z' ? (char)(i + 32) : (char)i;

        assert_int_equal(byte_lower((char)i), lower);
    }
}

static void trimming_takes_spaces_and_tabs_off_both_ends(void **state)
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

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_true(bytes_eq(bytes_trim(bytes_of(cases[i].text)),
                             bytes_of(cases[i].trimmed)));
    assert_int_equal(bytes_trim(nothing).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_literal_comes_without_its_nul),
        cmocka_unit_test(between_is_what_lies_between),
        cmocka_unit_test(equal_is_to_the_byte),
        cmocka_unit_test(only_ascii_letters_have_a_lower_case),
        cmocka_unit_test(trimming_takes_spaces_and_tabs_off_both_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
