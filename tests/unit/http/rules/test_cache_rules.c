#include "http/rules/cache_rules.h"

#include "unit/http/rules/rules_fixture.h"

RULES(cache)

static void assert_finds(const char *path, const char *type,
                         const char *expected)
{
    struct bytes value = cache_rules_find(&rules, bytes_of(path),
                                          bytes_of(type), BYTES("default"));

    if (!bytes_eq(value, bytes_of(expected)))
        fail_msg("%s, %s: '%.*s'", path, type, (int)value.len, value.data);
}

TEST(without_a_rule_that_fits_the_default_stays)
{
    assert_finds("/a.css", "text/css", "default");
    add("*.js no-store");
    assert_finds("/a.css", "text/css", "default");
    assert_true(bytes_eq(cache_rules_find(NULL, BYTES("/"), BYTES("a/b"),
                                          BYTES("d")),
                         BYTES("d")));
}

TEST(a_name_is_that_of_the_last_segment)
{
    add("*.css max-age=31536000, immutable");
    assert_finds("/a.css", "text/css", "max-age=31536000, immutable");
    assert_finds("/x/y/a.css", "text/css", "max-age=31536000, immutable");
    assert_finds("/a.css/b", "text/css", "default");
    assert_finds("/a.CSS", "text/css", "default");
}

TEST(a_path_is_all_of_it)
{
    add("/assets/* max-age=1");
    add("/deep/** max-age=2");
    assert_finds("/assets/a", "a/b", "max-age=1");
    assert_finds("/assets/a/b", "a/b", "default");
    assert_finds("/x/assets/a", "a/b", "default");
    assert_finds("/deep/a/b", "a/b", "max-age=2");
}

TEST(a_type_is_known_without_its_parameters)
{
    add("Text/HTML no-cache");
    add("image/* max-age=86400");
    assert_finds("/", "text/html; charset=utf-8", "no-cache");
    assert_finds("/", "text/html", "no-cache");
    assert_finds("/", "text/html5", "default");
    assert_finds("/", "image/png", "max-age=86400");
    assert_finds("/", "IMAGE/svg+xml;x=y", "max-age=86400");
    assert_finds("/", "image/", "default");
    assert_finds("/", "imagex/png", "default");
    assert_finds("/text/html", "a/b", "default");
}

TEST(the_first_rule_that_fits_decides)
{
    add("/sw.js no-store");
    add("*.js max-age=1");
    add("*/* max-age=3");
    add("text/javascript max-age=2");
    assert_finds("/sw.js", "text/javascript", "no-store");
    assert_finds("/x/sw.js", "text/javascript", "max-age=1");
    assert_finds("/x.mjs", "text/javascript", "max-age=3");
}

TEST(what_is_no_rule_is_refused_with_a_reason)
{
    static const char *const faulty[] = {
        "",
        " ",
        "*.css",
        "*.css ",
        "*** no-store",
        "/a\\ no-store",
        "text/ no-store",
        "text/*x no-store",
        "*/html no-store",
        "*x/html no-store",
        "te xt/html no-store",
        "a/b/c no-store",
        "*.css no-store\r\nEvil: 1",
        "*.css max-age",
    };

    for (size_t i = 0; i < sizeof(faulty) / sizeof(*faulty); i++)
        if (!cache_rules_add(&rules, bytes_of(faulty[i])))
            fail_msg("'%s' is a rule", faulty[i]);
    assert_int_equal(rules.count, 0);
    for (int i = 0; i < CACHE_RULES_MAX; i++)
        add("*.css no-store");
    assert_non_null(cache_rules_add(&rules, BYTES("*.css no-store")));
}

TEST(values_are_lists_of_directives)
{
    static const char *const good[] = {
        "no-cache",
        " no-store ",
        "max-age=0",
        "public,max-age=31536000 ,\timmutable",
        "Max-Age=2147483648",
        "s-maxage=5, stale-while-revalidate=60, stale-if-error=600",
        "private=\"set-cookie, \\\"x\\\"\", no-cache",
        "community=\"UCI\"",
        "x=y"};
    static const char *const faulty[] = {"",
                                         ",",
                                         "no-cache,",
                                         ",no-cache",
                                         "max-age",
                                         "max-age=",
                                         "max-age=-1",
                                         "max-age=1d",
                                         "max-age=\"1\"",
                                         "max-age=99999999999",
                                         "a b",
                                         "a=b c",
                                         "a=\"b",
                                         "a=\"b\\\"",
                                         "a = b",
                                         "a;b",
                                         "a=\x01",
                                         "a\n",
                                         "s-maxage=x",
                                         "no-cache,,no-store"};
    char text[CACHE_RULE_VALUE_MAX + 2] = "";

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        if (cache_control_check(bytes_of(good[i])))
            fail_msg("'%s' %s", good[i],
                     cache_control_check(bytes_of(good[i])));
    for (size_t i = 0; i < sizeof(faulty) / sizeof(*faulty); i++)
        if (!cache_control_check(bytes_of(faulty[i])))
            fail_msg("'%s' is taken", faulty[i]);
    memset(text, 'x', CACHE_RULE_VALUE_MAX);
    assert_null(cache_control_check(bytes_of(text)));
    text[CACHE_RULE_VALUE_MAX] = 'x';
    assert_non_null(cache_control_check(bytes_of(text)));
}

SUITE(.each_begin = clear);
