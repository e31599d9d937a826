#include "handler/location.h"

#include "handler/cors.h"
#include "handler/error_pages.h"
#include "handler/redirect.h"
#include "handler/try_files.h"
#include "http/head_edit.h"
#include "http/rules/cache_rules.h"
#include "http/rules/priority_rules.h"
#include "suite.h"

static struct arena arena;
static struct location_options location;

static int set_up(void **state)
{
    (void)state;
    location = (struct location_options){.respond_status = 200};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

static void say(struct texts *texts, const char *text)
{
    assert_true(texts_add(texts, &arena, text));
}

static void compile_well(void)
{
    struct location_fault fault = location_compile(&location, &arena);

    if (fault.option)
        fail_msg("%s %s", fault.option, fault.words);
}

static void expect_fault(const char *option)
{
    struct location_fault fault = location_compile(&location, &arena);

    assert_non_null(fault.option);
    assert_string_equal(fault.option, option);
    assert_non_null(fault.words);
}

TEST(of_nothing_nothing_is_compiled)
{
    compile_well();
    assert_null(location.edits);
    assert_null(location.cache_rules);
    assert_null(location.type_rules);
    assert_null(location.try_files);
    assert_null(location.error_pages);
    assert_null(location.redirects);
    assert_null(location.cors);
}

TEST(what_is_said_is_compiled)
{
    say(&location.header_set, "A: set");
    say(&location.header_add, "B: added");
    say(&location.header_remove, "C");
    say(&location.cache_control_for, "*.css max-age=1");
    say(&location.type, "*.ts video/mp2t");
    say(&location.try_list, "$path");
    say(&location.try_list, "=410");
    say(&location.error_page, "404 /404.html");
    say(&location.redirect, "/a /b");
    say(&location.redirect, "  /c   /d\t301 ");
    say(&location.cors_origin, "https://a.example");
    say(&location.cors_method, "PUT");
    say(&location.cors_header, "X-A");
    say(&location.cors_expose, "X-B");
    location.cors_credentials = true;
    location.cors_max_age_ms = 90500;
    compile_well();
    /* First removed, then set, then added. */
    assert_int_equal(location.edits->count, 3);
    assert_int_equal(location.edits->edits[0].kind, HEAD_REMOVE);
    assert_int_equal(location.edits->edits[1].kind, HEAD_SET);
    assert_int_equal(location.edits->edits[2].kind, HEAD_ADD);
    assert_int_equal(location.cache_rules->count, 1);
    assert_int_equal(location.type_rules->count, 1);
    assert_int_equal(location.try_files->count, 1);
    assert_int_equal(location.try_files->status, 410);
    assert_true(bytes_eq(error_pages_find(location.error_pages, 404),
                         BYTES("/404.html")));
    assert_int_equal(location.redirects->count, 2);
    assert_int_equal(location.redirects->rules[0].status, 308);
    assert_int_equal(location.redirects->rules[1].status, 301);
    assert_true(bytes_eq(location.redirects->rules[1].to, BYTES("/d")));
    assert_int_equal(location.cors->origin_count, 1);
    assert_int_equal(location.cors->max_age_s, 90);
    assert_true(location.cors->allows_credentials);
}

/* It begins as a copy of what it lies in. */
TEST(compiled_anew_it_has_nothing_of_before)
{
    const struct head_edits *before;

    say(&location.header_set, "A: set");
    say(&location.redirect, "/a /b");
    say(&location.cors_origin, "*");
    compile_well();
    before = location.edits;
    compile_well();
    assert_ptr_not_equal(location.edits, before);
    assert_int_equal(location.edits->count, 1);
    location.header_set.count = 0;
    location.redirect.count = 0;
    location.cors_origin.count = 0;
    compile_well();
    assert_null(location.edits);
    assert_null(location.redirects);
    assert_null(location.cors);
}

TEST(what_does_not_go_together_is_told)
{
    say(&location.cors_origin, "*");
    location.cors_credentials = true;
    expect_fault("cors-origin");
    set_up(NULL);
    say(&location.try_list, "=404");
    say(&location.try_list, "$path");
    expect_fault("try-files");
    set_up(NULL);
    say(&location.error_page, "404 /a");
    say(&location.error_page, "404 /b");
    expect_fault("error-page");
    set_up(NULL);
    location.respond = "text";
    location.respond_status = 204;
    expect_fault("respond");
    location.respond = "";
    compile_well();
    location.respond_status = 301;
    expect_fault("respond");
    location.respond = NULL; /* then it does not matter */
    compile_well();
}

TEST(more_than_there_is_room_for_is_told)
{
    for (int i = 0; i < HEAD_EDITS_MAX; i++)
        say(i % 2 ? &location.header_set : &location.header_add, "A: b");
    compile_well();
    say(&location.header_remove, "A");
    expect_fault("header-set");
    set_up(NULL);
    for (int i = 0; i < REDIRECT_RULES_MAX; i++)
        say(&location.redirect, "/a /b");
    compile_well();
    say(&location.redirect, "/a /b");
    expect_fault("redirect");
    set_up(NULL);
    for (int i = 0; i < CACHE_RULES_MAX; i++)
        say(&location.cache_control_for, "*.css no-cache");
    compile_well();
    say(&location.cache_control_for, "*.css no-cache");
    expect_fault("cache-control-for");
    set_up(NULL);
    for (int i = 0; i < TYPE_RULES_MAX; i++)
        say(&location.type, "*.ts video/mp2t");
    compile_well();
    say(&location.type, "*.ts video/mp2t");
    expect_fault("type");
    set_up(NULL);
    for (int i = 0; i < PRIORITY_RULES_MAX; i++)
        say(&location.priority, "*.css u=1");
    compile_well();
    say(&location.priority, "*.css u=1");
    expect_fault("priority");
}

TEST(a_redirect_is_two_words_or_three)
{
    static const char *const bad[] = {
        "",         "/a",         "/a /b 301 c",       "/a /b 3x1",
        "/a /b -1", "/a /b 0301", "/a /b 99999999999", "/a /b 304"};
    struct redirect_rules rules = {0};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (!location_add_redirect(&rules, bytes_of(bad[i])))
            fail_msg("'%s' is taken", bad[i]);
    assert_int_equal(rules.count, 0);
    assert_null(location_add_redirect(&rules, BYTES("\t/a\t/b\t307\t")));
    assert_int_equal(rules.rules[0].status, 307);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
