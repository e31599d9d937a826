#include "http/rules/type_rules.h"

#include "unit/http/rules/rules_fixture.h"

RULES(type)

static void assert_finds(const char *path, const char *expected)
{
    struct bytes type = type_rules_find(&rules, bytes_of(path));

    if (!bytes_eq(type, bytes_of(expected)))
        fail_msg("%s: '%.*s'", path, (int)type.len, type.data);
}

TEST(without_a_rule_that_fits_there_is_no_type)
{
    assert_finds("/a.ts", "");
    add("*.ts video/mp2t");
    assert_finds("/a.tsx", "");
    assert_finds("/a.ts/b", "");
    assert_int_equal(type_rules_find(NULL, BYTES("/a.ts")).len, 0);
}

TEST(the_first_rule_by_name_or_path_decides)
{
    add("/code/** text/plain");
    add("*.ts video/mp2t");
    add("*.ts image/png");
    add("feed application/rss+xml");
    assert_finds("/a/b.ts", "video/mp2t");
    assert_finds("/.ts", "video/mp2t");
    assert_finds("/code/a/b.ts", "text/plain; charset=utf-8");
    assert_finds("/news/feed", "application/rss+xml; charset=utf-8");
    assert_finds("/feed/news", "");
}

TEST(a_text_type_is_utf_8_unless_it_says)
{
    add("*.a text/plain;charset=iso-8859-1");
    add("*.b\ttext/plain; format=\"a b\"");
    add("*.c application/wasm");
    add("  *.d   text/x  ");
    assert_finds("/x.a", "text/plain;charset=iso-8859-1");
    assert_finds("/x.b", "text/plain; format=\"a b\"");
    assert_finds("/x.c", "application/wasm");
    assert_finds("/x.d", "text/x; charset=utf-8");
}

TEST(what_is_no_pattern_and_type_is_refused)
{
    static const char *const bad[] = {
        "",          "*.ts",          "*.ts video",    "*.ts /mp2t",
        "*.ts a/",   "*.ts a/b c/d",  "*.ts a/b/c",    "*.ts ;charset=utf-8",
        "*.ts a/\"", "*.ts a/b;\r\n", "*.ts a/b;\x7f", "\\ a/b"};
    char longest[64 + TYPE_RULE_BYTES_MAX] = "* a/";

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (!type_rules_add(&rules, bytes_of(bad[i])))
            fail_msg("'%s' is taken", bad[i]);
    assert_int_equal(rules.count, 0);
    memset(longest + 4, 'x', TYPE_RULE_BYTES_MAX - 2);
    add(longest);
    longest[4 + TYPE_RULE_BYTES_MAX - 2] = 'x';
    assert_non_null(type_rules_add(&rules, bytes_of(longest)));
}

TEST(there_are_only_so_many)
{
    for (int i = 0; i < TYPE_RULES_MAX; i++)
        add("*.ts video/mp2t");
    assert_non_null(type_rules_add(&rules, BYTES("*.ts video/mp2t")));
}

SUITE(.each_begin = clear);
