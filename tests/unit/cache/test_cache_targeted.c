#include "cache/cache_targeted.h"

#include "suite.h"

#include <stdlib.h>

static const struct targeted_case {
    const char *value;
    bool is_dictionary;
    uint32_t said;
    int64_t max_age;
} cases[] = {
    {"", true, 0, CACHE_UNSAID},
    {"  ", true, 0, CACHE_UNSAID},
    {"max-age=60", true, CACHE_ANY, 60},
    {"foobar, max-age=60", true, CACHE_ANY, 60},
    {"max-age=60 ,\t no-store", true, CACHE_ANY | CACHE_NO_STORE, 60},
    {"max-age=60;x;y=1;z=\"a,b\", public", true, CACHE_ANY | CACHE_PUBLIC, 60},
    {"max-age=1, max-age=60", true, CACHE_ANY, 60},
    {"max-age=60, max-age=1", true, CACHE_ANY, 1},
    {"max-age=2147483648", true, CACHE_ANY, CACHE_SECONDS_MAX},
    {"max-age=99999999999", true, CACHE_ANY, CACHE_SECONDS_MAX},
    {"no-cache, private, must-revalidate", true,
     CACHE_ANY | CACHE_NO_CACHE | CACHE_PRIVATE | CACHE_MUST_REVALIDATE,
     CACHE_UNSAID},
    /* Said not to be so; or so with something that says nothing. */
    {"no-store=?0, private=?0, public=?0", true, CACHE_ANY, CACHE_UNSAID},
    {"no-store, no-store=?0", true, CACHE_ANY, CACHE_UNSAID},
    {"no-store=?1, private=1, public=1", true,
     CACHE_ANY | CACHE_NO_STORE | CACHE_PRIVATE, CACHE_UNSAID},
    /* Of the wrong kind: stale at once. */
    {"max-age=\"60\"", true, CACHE_ANY, 0},
    {"max-age=60.0", true, CACHE_ANY, 0},
    {"max-age=-60", true, CACHE_ANY, 0},
    {"max-age=sixty", true, CACHE_ANY, 0},
    {"max-age=(60 61)", true, CACHE_ANY, 0},
    {"max-age", true, CACHE_ANY, 0},
    {"max-age=?1", true, CACHE_ANY, 0},
    {"max-age=@60", true, CACHE_ANY, 0},
    {"max-age=:NjA=:", true, CACHE_ANY, 0},
    /* Whatever else there may be. */
    {"a=(), b=(\"x\" y;z 1.5);w, *c=to/k:en", true, CACHE_ANY, CACHE_UNSAID},
    {"x=\"max-age=1, \\\" \\\\\", max-age=2", true, CACHE_ANY, 2},
    /* No dictionaries. */
    {"max-age=60,", false, 0, 0},
    {",max-age=60", false, 0, 0},
    {"max-age=60,,no-store", false, 0, 0},
    {"max-age=60, &&&&&", false, 0, 0},
    {"max-age=60 no-store", false, 0, 0},
    {"MaX-aGe=60", false, 0, 0},
    {"max-age =60", false, 0, 0},
    {"max-age= 60", false, 0, 0},
    {"max-age=", false, 0, 0},
    {"max-age=-", false, 0, 0},
    {"max-age=1234567890123456", false, 0, 0},
    {"max-age=1.", false, 0, 0},
    {"max-age=1.2345", false, 0, 0},
    {"max-age=1234567890123.1", false, 0, 0},
    {"max-age=60;", false, 0, 0},
    {"max-age=60;A", false, 0, 0},
    {"max-age=60;a=", false, 0, 0},
    {"a=\"b", false, 0, 0},
    {"a=\"\\b\"", false, 0, 0},
    {"a=\"\\", false, 0, 0},
    {"a=\"\xc3\xa4\"", false, 0, 0},
    {"a=:b", false, 0, 0},
    {"a=?2", false, 0, 0},
    {"a=?", false, 0, 0},
    {"a=@1.5", false, 0, 0},
    {"a=(", false, 0, 0},
    {"a=(1", false, 0, 0},
    {"a=(1,2)", false, 0, 0},
    {"a=('1')", false, 0, 0},
};

TEST(members_of_a_dictionary_count_and_what_is_none_does_not)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct targeted_case *one = &cases[i];
        struct cache_control control;
        bool is_dictionary;

        cache_control_init(&control);
        is_dictionary = cache_targeted_read(&control, bytes_of(one->value));
        if (is_dictionary != one->is_dictionary ||
            (is_dictionary &&
             (control.said != one->said || control.max_age != one->max_age)))
            fail_msg("'%s': %d, %x, %lld", one->value, is_dictionary,
                     (unsigned)control.said, (long long)control.max_age);
    }
}

TEST(no_byte_behind_the_value_is_read)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (size_t len = 0; len <= strlen(cases[i].value); len++) {
            struct cache_control control;
            char *copy = malloc(len + 1);
            bool is_dictionary;

            assert_non_null(copy);
            memcpy(copy + 1, cases[i].value, len); /* ends where it ends */
            cache_control_init(&control);
            is_dictionary = cache_targeted_read(&control,
                                                (struct bytes){copy + 1, len});
            free(copy);
            if (len == strlen(cases[i].value))
                assert_int_equal(is_dictionary, cases[i].is_dictionary);
        }
}

TEST(lines_are_read_on_top_of_each_other)
{
    struct cache_control control;

    cache_control_init(&control);
    assert_true(cache_targeted_read(
        &control, BYTES("max-age=1, private=\"a, b\", stale-if-error=3")));
    assert_true(cache_targeted_read(
        &control, BYTES("max-age=2, s-maxage=4, no-cache=\"c\"")));
    assert_int_equal(control.max_age, 2);
    assert_int_equal(control.s_maxage, 4);
    assert_int_equal(control.stale_if_error, 3);
    assert_true(bytes_eq(control.private_fields, BYTES("a, b")));
    assert_true(bytes_eq(control.no_cache_fields, BYTES("c")));
    assert_int_equal(control.said, CACHE_ANY);
}
