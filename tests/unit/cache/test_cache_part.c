#include "cache/cache_part.h"

#include "suite.h"

SUITE(.begin = NULL);

static struct cache_parts parts_of(const char *const texts[], size_t count)
{
    struct cache_parts parts = {.count = count};

    for (size_t i = 0; i < count; i++)
        assert_null(cache_part_read(&parts.items[i], bytes_of(texts[i])));
    return parts;
}

static void expect_query(const struct cache_parts *parts, const char *query,
                         const char *left)
{
    char storage[100];
    struct buf out;

    buf_init(&out, storage, sizeof(storage), sizeof(storage));
    cache_parts_put_query(parts, bytes_of(query), &out);
    if (!bytes_eq(buf_bytes(&out), bytes_of(left)))
        fail_msg("'%s' is '%.*s'", query, (int)out.len, out.data);
}

TEST(what_is_left_out_of_a_query_leaves_nothing_behind)
{
    static const char *const texts[] = {"-query:utm_*", "-query:sid"};
    struct cache_parts parts = parts_of(texts, 2), none = {.count = 0};

    expect_query(&none, "", "?");
    expect_query(&none, "a&&b=", "?a&&b=");
    expect_query(&parts, "", "?");
    expect_query(&parts, "sid", "");
    expect_query(&parts, "sid=1&utm_=2&utm_x", "");
    expect_query(&parts, "a=1&sid=1&b=2&utm_x=3", "?a=1&b=2");
    expect_query(&parts, "a=1&", "?a=1&");
    expect_query(&parts, "sid=1&a=1&", "?a=1&");
    expect_query(&parts, "&", "?&");
    expect_query(&parts, "sid=1&", "?");
    expect_query(&parts, "utm_x=1;a=2&sid=1", "?utm_x=1;a=2");
    /* Node and Gunicorn see no 'a'. */
    expect_query(&parts, "utm_x=1#&a=2&sid=1", "?utm_x=1#&a=2");
    expect_query(&parts, "sid=#", "?sid=#");
    expect_query(&parts, "sida=1&asid=2&Sid=3", "?sida=1&asid=2&Sid=3");
}

TEST(all_of_a_query_may_be_left_out)
{
    static const char *const texts[] = {"-query:*"};
    struct cache_parts parts = parts_of(texts, 1);

    expect_query(&parts, "a=1&b=2&", "");
}

TEST(fields_and_cookies_are_found_by_their_whole_names)
{
    static const char *const texts[] = {"header:X-A", "cookie:tier"};
    struct field fields[] = {{.name = BYTES("x-a"), .value = BYTES("1")},
                             {.name = BYTES("Cookie"),
                              .value = BYTES("a=b;tier=gold ; tiers=2")},
                             {.name = BYTES("X-AB"), .value = BYTES("2")}};
    struct request request = {.fields = fields, .field_count = 3};
    struct cache_parts parts = parts_of(texts, 2);
    char storage[100];
    struct buf out;

    buf_init(&out, storage, sizeof(storage), sizeof(storage));
    cache_parts_put(&parts, &request, &out);
    assert_true(bytes_eq(buf_bytes(&out), BYTES("\nX-A: 1\ncookie tier=gold")));
    assert_true(cache_parts_has(&parts, &request));
    fields[0].name = BYTES("x-aa");
    fields[1].value = BYTES("tiers=1; =tier; atier=");
    assert_false(cache_parts_has(&parts, &request));
}

/* The parsers of Express, Django, PHP, ASP.NET and Python take these for the
 * cookie; what they find there is in the key, or goes past. */
TEST(a_cookie_or_field_is_found_by_each_name_that_some_origin_finds_it_by)
{
    static const char *const texts[] = {"header:X-A", "cookie:the_tier"};
    static const struct {
        const char *name;
        const char *value;
        const char *key;
    } cases[] = {
        {"Cookie", "a; the_tier =gold", "\ncookie the_tier =gold"},
        {"Cookie", "THE_tier=gold", "\ncookie THE_tier=gold"},
        {"Cookie", "the.tier=gold", "\ncookie the.tier=gold"},
        {"Cookie", "the_tier\xc2\xa0=gold", "\ncookie the_tier\xc2\xa0=gold"},
        {"Cookie", "a=b the_tier=gold", "\ncookie a=b the_tier=gold"},
        {"Cookie", "a=b;c\tthe_tier=gold", "\ncookie c\tthe_tier=gold"},
        {"Cookie", "th%65_tier=gold", "\ncookie th%65_tier=gold"},
        {"Cookie", "the_tier[a]=gold", "\ncookie the_tier[a]=gold"},
        {"Cookie", "the_tier%5Ba=gold", "\ncookie the_tier%5Ba=gold"},
        {"Cookie", "the_tier%00a=gold", "\ncookie the_tier%00a=gold"},
        {"Cookie", "%20the_tier=gold", "\ncookie %20the_tier=gold"},
        {"Cookie", "+the+tier=gold", "\ncookie +the+tier=gold"},
        {"Cookie", "the_tier%=gold; the_tier%6=1; the_tie%=", ""},
        {"Cookie", "the_tie=gold; the_tierr=1;=", ""},
        /* Flask and Jetty see the first alone, and Django all. */
        {"Cookie", "a=\"; the_tier=gold; b=\"",
         "\ncookie the_tier=gold\ncookie a=\"; the_tier=gold; b=\""},
        {"Cookie", "a=\"\\\"; the_tier=gold",
         "\ncookie the_tier=gold\ncookie a=\"\\\"; the_tier=gold"},
        {"Cookie", "a=\"b\"; the_tier=gold", "\ncookie the_tier=gold"},
        {"Cookie", "a=\"; b=\"", ""},
        {"X_A", "1", "\nX_A: 1"},
        {"x.a", "1", "\nx.a: 1"},
        {"X-AA", "1", ""},
    };
    struct cache_parts parts = parts_of(texts, 2);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct field field = {.name = bytes_of(cases[i].name),
                              .value = bytes_of(cases[i].value)};
        struct request request = {.fields = &field, .field_count = 1};
        char storage[100];
        struct buf out;

        buf_init(&out, storage, sizeof(storage), sizeof(storage));
        cache_parts_put(&parts, &request, &out);
        if (!bytes_eq(buf_bytes(&out), bytes_of(cases[i].key)) ||
            cache_parts_has(&parts, &request) != (*cases[i].key != '\0'))
            fail_msg("case %zu: '%.*s'", i, (int)out.len, out.data);
    }
}

enum { TEXT_BYTES = 2000 };

static void add_text(char text[TEXT_BYTES], const char *more)
{
    strncat(text, more, TEXT_BYTES - strlen(text) - 1);
}

TEST(of_a_long_list_all_of_it_is_in_the_key)
{
    static const char *const texts[] = {"cookie:tier", "-query:utm_*"};
    char list[TEXT_BYTES] = "", query[TEXT_BYTES] = "";
    struct field field = {.name = BYTES("Cookie")};
    struct request request = {.fields = &field, .field_count = 1};
    struct cache_parts parts = parts_of(texts, 2);
    char storage[5000];
    struct buf out;

    for (int i = 0; i < 256; i++)
        add_text(list, "a;");
    add_text(list, "tier=1");
    field.value = bytes_of(list);
    buf_init(&out, storage, sizeof(storage), sizeof(storage));
    cache_parts_put(&parts, &request, &out);
    assert_non_null(memmem(out.data, out.len, list, strlen(list)));
    field.value = bytes_of(list + 4);
    out.len = 0;
    cache_parts_put(&parts, &request, &out);
    assert_true(bytes_eq(buf_bytes(&out), BYTES("\ncookie tier=1")));

    for (int i = 0; i < 299; i++)
        add_text(query, "utm_&");
    add_text(query, "page5");
    out.len = 0;
    cache_parts_put_query(&parts, bytes_of(query), &out);
    assert_true(bytes_eq(buf_bytes(&out), BYTES("?page5")));
    add_text(query, "&");
    out.len = 0;
    cache_parts_put_query(&parts, bytes_of(query), &out);
    assert_int_equal(out.len, 1 + strlen(query));
}

/* Gunicorn joins them by a comma, so that Django sees one cookie, whose name is
 * the first. */
TEST(cookies_of_several_fields_are_in_the_key_as_a_whole)
{
    static const char *const texts[] = {"cookie:tier"};
    struct field fields[] = {{.name = BYTES("Cookie"), .value = BYTES("a=1")},
                             {.name = BYTES("X"), .value = BYTES("1")},
                             {.name = BYTES("cookie"),
                              .value = BYTES("tier=gold")}};
    struct request request = {.fields = fields, .field_count = 3};
    struct cache_parts parts = parts_of(texts, 1);
    char storage[100];
    struct buf out;

    buf_init(&out, storage, sizeof(storage), sizeof(storage));
    cache_parts_put(&parts, &request, &out);
    assert_true(bytes_eq(buf_bytes(&out), BYTES("\ncookie tier=gold\ncookie a=1"
                                                "\ncookie tier=gold")));
    assert_true(cache_parts_has(&parts, &request));
    fields[2].value = BYTES("b=1");
    out.len = 0;
    cache_parts_put(&parts, &request, &out);
    assert_int_equal(out.len, 0);
    assert_false(cache_parts_has(&parts, &request));
}

TEST(what_names_nothing_is_refused)
{
    static const char *const wrong[] = {"",           "-",         "header:",
                                        "cookie:",    "query:",    "Header:a",
                                        "header:a b", "query:a=b", "cookie:;",
                                        "-header:a",  "--query:a"};
    struct cache_part part;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        if (!cache_part_read(&part, bytes_of(wrong[i])))
            fail_msg("'%s' was taken", wrong[i]);
}
