#include "http/coding.h"

#include "suite.h"
#include "unit/http/request_fixture.h"

enum {
    GZIP = 1 << CODING_GZIP,
    ZSTD = 1 << CODING_ZSTD,
    BR = 1 << CODING_BR,
    ALL = GZIP | ZSTD | BR
};

static enum coding pick(unsigned available)
{
    struct coding_taste taste;

    if (!coding_taste_read(&taste, &request))
        return CODING_IDENTITY;
    return coding_pick(&taste, available, &coding_order_of_siblings);
}

static enum coding choose(const char *value, unsigned available)
{
    request_begin(METHOD_GET);
    request_add(FIELD_ACCEPT_ENCODING, value, 'x');
    return pick(available);
}

struct choose_case {
    const char *value;
    unsigned available;
    enum coding coding;
};

static void check(const struct choose_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (choose(cases[i].value, cases[i].available) != cases[i].coding)
            fail_msg("'%s' of %x: %d, not %d", cases[i].value,
                     cases[i].available,
                     choose(cases[i].value, cases[i].available),
                     cases[i].coding);
}

#define CHECK(cases) check((cases), sizeof(cases) / sizeof(*(cases)))

TEST(tokens_and_suffixes_are_those_of_the_registry)
{
    static const struct {
        enum coding coding;
        const char *token;
        const char *suffix;
    } cases[] = {{CODING_IDENTITY, "", ""},
                 {CODING_GZIP, "gzip", ".gz"},
                 {CODING_ZSTD, "zstd", ".zst"},
                 {CODING_BR, "br", ".br"}};

    assert_int_equal(sizeof(cases) / sizeof(*cases), CODING_COUNT);
    for (size_t i = 0; i < CODING_COUNT; i++) {
        assert_true(bytes_eq(coding_token(cases[i].coding),
                             bytes_of(cases[i].token)));
        assert_true(bytes_eq(coding_suffix(cases[i].coding),
                             bytes_of(cases[i].suffix)));
    }
}

TEST(without_the_field_nothing_is_coded)
{
    request_begin(METHOD_GET);
    assert_int_equal(pick(ALL), CODING_IDENTITY);
    request_add(FIELD_ACCEPT, "gzip", 'x');
    assert_int_equal(pick(ALL), CODING_IDENTITY);
}

TEST(the_best_of_what_is_there_and_liked_is_chosen)
{
    static const struct choose_case cases[] = {
        {"gzip, deflate, br, zstd", ALL, CODING_BR},
        {"gzip, deflate, br, zstd", GZIP | ZSTD, CODING_ZSTD},
        {"gzip, deflate, br, zstd", GZIP, CODING_GZIP},
        {"gzip, deflate, br, zstd", 0, CODING_IDENTITY},
        {"gzip, deflate, br, zstd", 1 << CODING_IDENTITY, CODING_IDENTITY},
        {"gzip, deflate", ALL, CODING_GZIP},
        {"gzip, deflate", BR | ZSTD, CODING_IDENTITY},
        {"deflate", ALL, CODING_IDENTITY},
        {"compress, gzip", ALL, CODING_GZIP},
        {"br", ALL, CODING_BR},
        {"zstd", ALL | 1 << CODING_IDENTITY, CODING_ZSTD},
        {"gzip", ~0u, CODING_GZIP},
    };

    CHECK(cases);
}

TEST(weights_come_before_our_preference)
{
    static const struct choose_case cases[] = {
        {"gzip;q=1.0, br;q=0.9", ALL, CODING_GZIP},
        {"gzip;q=0.5, br;q=0.9, zstd;q=0.7", ALL, CODING_BR},
        {"gzip;q=0.5, br;q=0.9, zstd;q=0.7", GZIP | ZSTD, CODING_ZSTD},
        {"gzip;q=0.001, br;q=0.002", ALL, CODING_BR},
        {"gzip;q=0.002, br;q=0.001", ALL, CODING_GZIP},
        {"gzip;q=0.12, br;q=0.119", ALL, CODING_GZIP},
        {"br;q=0.5, zstd;q=0.5, gzip;q=0.5", ALL, CODING_BR},
        {"br;q=1., gzip;q=1.000", ALL, CODING_BR},
        {"br;q=0.999, gzip", ALL, CODING_GZIP},
    };

    CHECK(cases);
}

TEST(weight_zero_means_no)
{
    static const struct choose_case cases[] = {
        {"gzip;q=0", ALL, CODING_IDENTITY},
        {"gzip;q=0.0", ALL, CODING_IDENTITY},
        {"gzip;q=0.", ALL, CODING_IDENTITY},
        {"gzip;q=0.000", ALL, CODING_IDENTITY},
        {"br;q=0, gzip", ALL, CODING_GZIP},
        {"br;q=0, *", ALL, CODING_ZSTD},
        {"*, br;q=0", ALL, CODING_ZSTD},
        {"*;q=0", ALL, CODING_IDENTITY},
        {"*;q=0, gzip", ALL, CODING_GZIP},
    };

    CHECK(cases);
}

TEST(the_star_stands_for_what_is_not_listed)
{
    static const struct choose_case cases[] = {
        {"*", ALL, CODING_BR},
        {"*", GZIP, CODING_GZIP},
        {"gzip, *;q=0.5", ALL, CODING_GZIP},
        {"gzip;q=0.3, *;q=0.5", ALL, CODING_BR},
        {"gzip;q=0.3, *;q=0.5", GZIP, CODING_IDENTITY},
        {"*;q=0.1, identity;q=0.2", ALL, CODING_IDENTITY},
        {"*;q=0.3, identity;q=0.2", ALL, CODING_BR},
    };

    CHECK(cases);
}

TEST(identity_is_listed_or_last)
{
    static const struct choose_case cases[] = {
        {"", ALL, CODING_IDENTITY},
        {"identity", ALL, CODING_IDENTITY},
        {"gzip;q=0.001", ALL, CODING_GZIP},
        {"identity, gzip;q=0.9", ALL, CODING_IDENTITY},
        {"identity;q=0.5, gzip;q=0.5", ALL, CODING_GZIP},
        {"identity;q=0.5, gzip;q=0.6", ALL, CODING_GZIP},
        {"gzip;q=1.0, identity; q=0.5, *;q=0", ALL, CODING_GZIP},
        {"gzip;q=1.0, identity; q=0.5, *;q=0", BR, CODING_IDENTITY},
        /* Nothing is acceptable; identity all the same. */
        {"identity;q=0", ALL, CODING_IDENTITY},
        {"identity;q=0, *;q=0", ALL, CODING_IDENTITY},
        {"identity;q=0, compress", ALL, CODING_IDENTITY},
    };

    CHECK(cases);
}

TEST(white_space_case_and_aliases_do_not_matter)
{
    static const struct choose_case cases[] = {
        {"GZIP", ALL, CODING_GZIP},
        {"Br", ALL, CODING_BR},
        {"x-gzip", ALL, CODING_GZIP},
        {"X-GZip;q=0.5", ALL, CODING_GZIP},
        {"gzip\t;\tQ=0.5 ,\tbr ; q=0.4", ALL, CODING_GZIP},
        {"  ,, gzip ,,", ALL, CODING_GZIP},
        {",", ALL, CODING_IDENTITY},
        {"Identity;q=1, gzip;q=0.5", ALL, CODING_IDENTITY},
    };

    CHECK(cases);
}

TEST(a_malformed_member_is_not_taken)
{
    static const struct choose_case cases[] = {
        {"gzip;q=", ALL, CODING_IDENTITY},
        {"gzip;q", ALL, CODING_IDENTITY},
        {"gzip;", ALL, CODING_IDENTITY},
        {"gzip;q=a", ALL, CODING_IDENTITY},
        {"gzip;q=.5", ALL, CODING_IDENTITY},
        {"gzip;q=-1", ALL, CODING_IDENTITY},
        {"gzip;q=+1", ALL, CODING_IDENTITY},
        {"gzip;q=2", ALL, CODING_IDENTITY},
        {"gzip;q=1.1", ALL, CODING_IDENTITY},
        {"gzip;q=1.001", ALL, CODING_IDENTITY},
        {"gzip;q=0.1234", ALL, CODING_IDENTITY},
        {"gzip;q=1.0000", ALL, CODING_IDENTITY},
        {"gzip;q=0,5", ALL, CODING_IDENTITY},
        {"gzip;q=0.-1", ALL, CODING_IDENTITY},
        {"gzip;q=0.5-", ALL, CODING_IDENTITY},
        {"gzip;q=0.00:", ALL, CODING_IDENTITY},
        {"gzip;q:1", ALL, CODING_IDENTITY},
        {"gzip;p=1", ALL, CODING_IDENTITY},
        {"gzip;q=01", ALL, CODING_IDENTITY},
        {"gzip;q=00.5", ALL, CODING_IDENTITY},
        {"gzip;q=1x", ALL, CODING_IDENTITY},
        {"gzip;q=0.5x", ALL, CODING_IDENTITY},
        {"gzip;q =1", ALL, CODING_IDENTITY},
        {"gzip;q= 1", ALL, CODING_IDENTITY},
        {"gzip;q=\"1\"", ALL, CODING_IDENTITY},
        {"gzip;q=1;q=1", ALL, CODING_IDENTITY},
        {"gzip;level=9", ALL, CODING_IDENTITY},
        {"gzip;level=9;q=1", ALL, CODING_IDENTITY},
        {"gzip q=1", ALL, CODING_IDENTITY},
        {"gzip br", ALL, CODING_IDENTITY},
        {"\"gzip\"", ALL, CODING_IDENTITY},
        {"gzips", ALL, CODING_IDENTITY},
        {"gzi", ALL, CODING_IDENTITY},
        {"*gzip", ALL, CODING_IDENTITY},
        {"**", ALL, CODING_IDENTITY},
        {";q=1", ALL, CODING_IDENTITY},
        {";", ALL, CODING_IDENTITY},
        /* The others stay good. */
        {"br;q=, gzip", ALL, CODING_GZIP},
        {"gzip br, zstd", ALL, CODING_ZSTD},
        {"br;q=x, *;q=0.1", ALL, CODING_ZSTD},
    };

    CHECK(cases);
}

TEST(the_later_of_two_members_counts)
{
    static const struct choose_case cases[] = {
        {"gzip, gzip;q=0", ALL, CODING_IDENTITY},
        {"gzip;q=0, x-gzip", ALL, CODING_GZIP},
        {"br;q=0.1, gzip;q=0.5, br;q=0.9", ALL, CODING_BR},
        {"*, *;q=0", ALL, CODING_IDENTITY},
    };

    CHECK(cases);
}

TEST(the_list_may_come_in_several_lines)
{
    request_begin(METHOD_GET);
    request_add(FIELD_ACCEPT_ENCODING, "gzip;q=0.5", 'x');
    request_add(FIELD_HOST, "zstd", 'x');
    request_add(FIELD_ACCEPT_ENCODING, "", 'x');
    request_add(FIELD_ACCEPT_ENCODING, "br;q=0.7", 'x');
    assert_int_equal(pick(ALL), CODING_BR);
    assert_int_equal(pick(GZIP), CODING_GZIP);
    assert_int_equal(pick(ZSTD), CODING_IDENTITY);
}

TEST(those_are_found_that_are_liked_the_same)
{
    static const struct {
        const char *value;
        unsigned available;
        enum coding as;
        unsigned liked;
    } cases[] = {
        {"gzip, br, zstd", ALL, CODING_BR, ALL},
        {"gzip, br, zstd", GZIP | BR, CODING_BR, GZIP | BR},
        {"gzip;q=0.5, br, zstd;q=0.5", ALL, CODING_ZSTD, GZIP | ZSTD},
        {"gzip;q=0.5, br, zstd;q=0.5", ALL, CODING_BR, BR},
        {"*", ALL, CODING_GZIP, ALL},
        {"br, *;q=0.1", ALL, CODING_GZIP, GZIP | ZSTD},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct coding_taste taste;

        request_begin(METHOD_GET);
        request_add(FIELD_ACCEPT_ENCODING, cases[i].value, 'x');
        assert_true(coding_taste_read(&taste, &request));
        assert_int_equal(coding_likes_as(&taste, cases[i].available,
                                         cases[i].as),
                         cases[i].liked);
    }
}

TEST(what_is_recalled_is_what_would_be_read)
{
    static const char *const values[] = {
        "gzip",     "gzip",
        "gzip;q=0", "br, gzip",
        "br, gzip", "",
        "gzip",     "identity;q=0, zstd;q=0.5, br;q=0.4, gzip;q=0.3, *;q=0.1",
        "gzip",     "x-gzip",
        "*",        "*"};
    struct coding_memo memo = {0};

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        struct coding_taste recalled = {{0}}, read = {{0}};

        request_begin(METHOD_GET);
        assert_false(coding_taste_recall(&memo, &request, &recalled));
        request_add(FIELD_ACCEPT_ENCODING, values[i], 'x');
        assert_true(coding_taste_recall(&memo, &request, &recalled));
        assert_true(coding_taste_read(&read, &request));
        assert_memory_equal(&recalled, &read, sizeof(read));
        /* Of two fields both count. */
        request_add(FIELD_ACCEPT_ENCODING, "br;q=0.7", 'x');
        assert_true(coding_taste_recall(&memo, &request, &recalled));
        assert_true(coding_taste_read(&read, &request));
        assert_memory_equal(&recalled, &read, sizeof(read));
    }
}
