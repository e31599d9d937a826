#include "http/rules/compress_rules.h"

#include "suite.h"

static struct compress_rules rules;

static int clear(void **state)
{
    (void)state;
    rules = (struct compress_rules){0};
    return 0;
}

SUITE(.each_begin = clear);

TEST(what_is_text_shrinks_and_what_is_compressed_does_not)
{
    static const char *const taken[] = {"text/html",
                                        "text/html; charset=utf-8",
                                        "text/x-anything",
                                        "application/json",
                                        "application/geo+json",
                                        "application/rss+xml;charset=utf-8",
                                        "image/svg+xml",
                                        "application/wasm",
                                        "font/ttf",
                                        "image/vnd.microsoft.icon"};
    static const char *const left[] = {"image/png",
                                       "video/mp4",
                                       "application/zip",
                                       "application/octet-stream",
                                       "font/woff2",
                                       "application/pdf",
                                       "",
                                       "text",
                                       "atext/html"};

    compress_rules_add_types(&rules);
    for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
        if (!compress_rules_take(&rules, bytes_of(taken[i])))
            fail_msg("%s", taken[i]);
    for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
        if (compress_rules_take(&rules, bytes_of(left[i])))
            fail_msg("%s", left[i]);
    assert_false(compress_rules_take(&rules, (struct bytes){NULL, 0}));
}

TEST(types_are_patterns)
{
    assert_null(compress_rules_add_type(&rules, BYTES("image/x-*")));
    assert_true(compress_rules_take(&rules, BYTES("image/x-raw")));
    assert_false(compress_rules_take(&rules, BYTES("image/raw")));
    assert_non_null(compress_rules_add_type(&rules, BYTES("html")));
    assert_non_null(compress_rules_add_type(&rules, BYTES("text/a;b=c")));
    assert_non_null(compress_rules_add_type(&rules, BYTES("")));
}

TEST(there_are_not_too_many_types)
{
    for (int i = 0; i < COMPRESS_TYPES_MAX; i++)
        assert_null(compress_rules_add_type(&rules, BYTES("text/a")));
    assert_non_null(compress_rules_add_type(&rules, BYTES("text/a")));
    assert_int_equal(rules.type_count, COMPRESS_TYPES_MAX);
}

TEST(codings_are_kept_in_their_order_each_once)
{
    assert_null(compress_rules_add_coding(&rules, BYTES("gzip")));
    assert_null(compress_rules_add_coding(&rules, BYTES("zstd")));
    assert_non_null(compress_rules_add_coding(&rules, BYTES("gzip")));
    assert_non_null(compress_rules_add_coding(&rules, BYTES("deflate")));
    assert_non_null(compress_rules_add_coding(&rules, BYTES("off")));
    assert_non_null(compress_rules_add_coding(&rules, BYTES("")));
    assert_int_equal(rules.order.count, 2);
    assert_int_equal(rules.order.codings[0], CODING_GZIP);
    assert_int_equal(rules.order.codings[1], CODING_ZSTD);
    assert_int_equal(rules.codings, 1u << CODING_GZIP | 1u << CODING_ZSTD);
}

TEST(no_transform_is_a_directive_and_no_part_of_one)
{
    assert_true(compress_is_forbidden(BYTES("no-transform")));
    assert_true(compress_is_forbidden(BYTES("max-age=1,  No-Transform ")));
    assert_true(compress_is_forbidden(BYTES("no-transform,public")));
    assert_false(compress_is_forbidden(BYTES("")));
    assert_false(compress_is_forbidden(BYTES("no-transformation")));
    assert_false(compress_is_forbidden(BYTES("x=\"no-transform\"")));
    assert_false(compress_is_forbidden(BYTES("no-cache, no-store")));
}

/* A field that is a list may stand in several lines (RFC 9110 5.3). */
TEST(no_transform_counts_in_whichever_line_it_stands)
{
    static const struct {
        const char *lines;
        bool is_forbidden;
    } cases[] = {
        {"", false},
        {"A: no-transform\r\n", false},
        {"Cache-Control: no-transform\r\n", true},
        {"Cache-Control: max-age=1\r\nA: b\r\ncache-control:"
         " public, no-transform\r\n",
         true},
        {"Cache-Control:\r\nCache-Control: no-transform\r\n", true},
        {"Cache-Control: max-age=1\r\nCache-Control: public\r\n", false},
        {"Cache-Control-X: no-transform\r\n", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (compress_is_forbidden_in(bytes_of(cases[i].lines), 0) !=
            cases[i].is_forbidden)
            fail_msg("case %zu", i);
    assert_false(compress_is_forbidden_in(
        BYTES("Cache-Control: no-transform\r\nA: b\r\n"), 29));
}
