#include "http/name_glob.h"

#include "suite.h"

static bool matches(const char *pattern, const char *path)
{
    struct name_glob glob;

    assert_null(name_glob_read(&glob, bytes_of(pattern)));
    return name_glob_matches(&glob, bytes_of(path));
}

TEST(without_a_slash_the_last_segment_must_match)
{
    assert_true(matches("*.css", "/a.css"));
    assert_true(matches("*.css", "/b/c/a.css"));
    assert_true(matches("*.css", "a.css"));
    assert_false(matches("*.css", "/a.css/b"));
    assert_false(matches("*.css", "/a.css/"));
}

TEST(with_one_the_whole_path_must)
{
    assert_true(matches("/b/*.css", "/b/a.css"));
    assert_false(matches("/b/*.css", "/c/b/a.css"));
    assert_false(matches("b/a.css", "/b/a.css"));
}

TEST(the_pattern_of_a_rule_ends_at_the_first_blank)
{
    struct bytes text = BYTES(" \t*.css \t max-age=3, immutable ");

    assert_true(bytes_eq(name_glob_take(&text), BYTES("*.css")));
    assert_true(bytes_eq(text, BYTES("max-age=3, immutable")));
    text = BYTES("*.css");
    assert_true(bytes_eq(name_glob_take(&text), BYTES("*.css")));
    assert_int_equal(text.len, 0);
}

TEST(what_is_wrong_with_a_pattern_is_said)
{
    struct name_glob glob;

    assert_non_null(name_glob_read(&glob, BYTES("a\\")));
}
