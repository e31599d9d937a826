#include "cache/cache_control.h"

#include "suite.h"

static struct cache_control read_it(const char *value)
{
    struct cache_control control;

    cache_control_init(&control);
    cache_control_read(&control, bytes_of(value), BYTES("us"));
    return control;
}

static const struct age_case {
    const char *value;
    int64_t max_age;
} ages[] = {
    {"max-age=3600", 3600},
    {"MaX-aGe=3600", 3600},
    {"max-age=003600", 3600},
    {"max-age=\"3600\"", 3600},
    {"foo, max-age=1 ,bar", 1},
    {"max-age=99999999999999999999", CACHE_SECONDS_MAX},
    {"max-age=1, max-age=5", 1},
    {"max-age=5, max-age=1", 1},
    {"max-age=-1", 0},
    {"max-age=1.5", 0},
    {"max-age='10'", 0},
    {"max-age=a1", 0},
    {"max-age=1a", 0},
    {"max-age=", 0},
    {"max-age", 0},
    {"max-age =10", CACHE_UNSAID},
    {"x=\"max-age=10\"", CACHE_UNSAID},
    {"x=\"a, max-age=10, \\\" max-age=11,\"", CACHE_UNSAID},
    {"x=\"max-age=1\", max-age=2", 2},
    {"x=\"open, max-age=2", CACHE_UNSAID},
    {"", CACHE_UNSAID},
    {",,,", CACHE_UNSAID},
};

TEST(times_are_numbers_of_seconds_and_the_least_counts)
{
    for (size_t i = 0; i < sizeof(ages) / sizeof(*ages); i++) {
        struct cache_control control = read_it(ages[i].value);

        if (control.max_age != ages[i].max_age)
            fail_msg("'%s': %lld", ages[i].value, (long long)control.max_age);
    }
}

TEST(directives_are_found_in_any_case_and_order)
{
    struct cache_control control =
        read_it("No-StOrE, public, must-revalidate, proxy-revalidate, "
                "must-understand, only-if-cached, immutable, s-maxage=5, "
                "stale-while-revalidate=6, stale-if-error=7, min-fresh=8");

    assert_int_equal(control.said,
                     CACHE_NO_STORE | CACHE_PUBLIC | CACHE_MUST_REVALIDATE |
                         CACHE_PROXY_REVALIDATE | CACHE_MUST_UNDERSTAND |
                         CACHE_ONLY_IF_CACHED | CACHE_IMMUTABLE | CACHE_ANY);
    assert_int_equal(control.s_maxage, 5);
    assert_int_equal(control.stale_while_revalidate, 6);
    assert_int_equal(control.stale_if_error, 7);
    assert_int_equal(control.min_fresh, 8);
    assert_int_equal(control.max_stale, CACHE_UNSAID);
    assert_int_equal(read_it("max-stale").max_stale, CACHE_SECONDS_MAX);
    assert_int_equal(read_it("max-stale=3").max_stale, 3);
    assert_int_equal(read_it("nothing").said, CACHE_ANY);
    assert_int_equal(read_it(" ").said, 0);
}

TEST(what_is_private_or_unsure_may_be_some_fields_only)
{
    struct cache_control control = read_it("private=\"a, b\", no-cache=\"c\"");

    assert_true(bytes_eq(control.private_fields, BYTES("a, b")));
    assert_true(bytes_eq(control.no_cache_fields, BYTES("c")));
    assert_false(cache_control_says(&control, CACHE_PRIVATE));
    assert_false(cache_control_says(&control, CACHE_NO_CACHE));
    assert_true(read_it("private").said & CACHE_PRIVATE);
    assert_true(read_it("no-cache").said & CACHE_NO_CACHE);
    /* Of two lists one would be lost: all is meant. */
    assert_true(read_it("private=\"a\", private=\"b\"").said & CACHE_PRIVATE);
    assert_true(read_it("max-age=9, x=\"a, no-store").said & CACHE_PRIVATE);
    assert_true(read_it("private=\"a\\\", no-store").said & CACHE_PRIVATE);
    assert_false(read_it("x=\"a\\\"b, c\", max-age=9").said & CACHE_PRIVATE);
    assert_true(read_it("no-cache=\"\"").said & CACHE_NO_CACHE);
}

TEST(where_there_are_no_targets_a_semicolon_ends_a_directive)
{
    struct cache_control control;

    cache_control_init(&control);
    cache_control_read(&control,
                       BYTES("max-age=5; no-store;;private ; "
                             "no-cache=\"a;b\"; must-revalidate"),
                       BYTES(""));
    assert_int_equal(control.said, CACHE_NO_STORE | CACHE_PRIVATE |
                                       CACHE_MUST_REVALIDATE | CACHE_ANY);
    assert_int_equal(control.max_age, 5);
    assert_true(bytes_eq(control.no_cache_fields, BYTES("a;b")));
}

TEST(what_is_said_to_another_surrogate_is_not_for_us)
{
    assert_int_equal(read_it("max-age=5;us").max_age, 5);
    assert_int_equal(read_it("max-age=5; US").max_age, 5);
    assert_int_equal(read_it("max-age=5;them").max_age, CACHE_UNSAID);
    assert_int_equal(read_it("no-store;them, max-age=7").said, CACHE_ANY);
}
