#include "http/name_glob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool matches(const char *pattern, const char *path)
{
    struct name_glob glob;

    assert_null(name_glob_read(&glob, bytes_of(pattern)));
    return name_glob_matches(&glob, bytes_of(path));
}

static void without_a_slash_the_last_segment_must_match(void **state)
{
    (void)state;
    assert_true(matches("*.css", "/a.css"));
    assert_true(matches("*.css", "/b/c/a.css"));
    assert_true(matches("*.css", "a.css"));
    assert_false(matches("*.css", "/a.css/b"));
    assert_false(matches("*.css", "/a.css/"));
}

static void with_one_the_whole_path_must(void **state)
{
    (void)state;
    assert_true(matches("/b/*.css", "/b/a.css"));
    assert_false(matches("/b/*.css", "/c/b/a.css"));
    assert_false(matches("b/a.css", "/b/a.css"));
}

static void the_pattern_of_a_rule_ends_at_the_first_blank(void **state)
{
    struct bytes text = BYTES(" \t*.css \t max-age=3, immutable ");

    (void)state;
    assert_true(bytes_eq(name_glob_take(&text), BYTES("*.css")));
    assert_true(bytes_eq(text, BYTES("max-age=3, immutable")));
    text = BYTES("*.css");
    assert_true(bytes_eq(name_glob_take(&text), BYTES("*.css")));
    assert_int_equal(text.len, 0);
}

static void what_is_wrong_with_a_pattern_is_said(void **state)
{
    struct name_glob glob;

    (void)state;
    assert_non_null(name_glob_read(&glob, BYTES("a\\")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_slash_the_last_segment_must_match),
        cmocka_unit_test(with_one_the_whole_path_must),
        cmocka_unit_test(the_pattern_of_a_rule_ends_at_the_first_blank),
        cmocka_unit_test(what_is_wrong_with_a_pattern_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
