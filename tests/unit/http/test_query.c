#include "http/query.h"

#include "suite.h"

static char out[200];
static struct query_parameter asked[3];
static struct bytes name;

/* From a copy of exactly that size, so that a sanitizer sees the next byte. */
static enum query_verdict read_query(const char *text)
{
    size_t len = strlen(text);
    static char copy_of_name[200];
    char *copy = malloc(len + 1);
    enum query_verdict verdict;

    assert_non_null(copy);
    memcpy(copy + 1, text, len);
    asked[0] = (struct query_parameter){.name = BYTES("a")};
    asked[1] = (struct query_parameter){.name = BYTES("long")};
    asked[2] = (struct query_parameter){.name = BYTES("")};
    verdict = query_read((struct bytes){copy + 1, len}, out, asked, 3, &name);
    if (verdict != QUERY_DONE) {
        assert_true(name.len < sizeof(copy_of_name));
        memcpy(copy_of_name, name.data, name.len);
        name.data = copy_of_name;
    }
    free(copy);
    return verdict;
}

static void assert_value(size_t at, const char *expected)
{
    struct bytes value = asked[at].value;

    if (!expected) {
        assert_null(value.data);
        return;
    }
    assert_non_null(value.data);
    if (!bytes_eq(value, bytes_of(expected)))
        fail_msg("'%.*s' is not '%s'", (int)value.len, value.data, expected);
}

TEST(parameters_are_found_and_decoded)
{
    static const struct {
        const char *query;
        const char *a;
        const char *other;
    } cases[] = {
        {"", NULL, NULL},
        {"&&", NULL, NULL},
        {"a=1", "1", NULL},
        {"a", "", NULL},
        {"a=", "", NULL},
        {"a=&long=x", "", "x"},
        {"&long=2&&a=1&", "1", "2"},
        {"a=b=c", "b=c", NULL},
        {"a=x+y%2Bz%26%3d", "x y+z&=", NULL},
        {"a=%2525", "%25", NULL},
        {"%61=1&lon%67=2", "1", "2"},
        {"a=%ff%01", "\377\1", NULL},
        {"a=/?:@", "/?:@", NULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(read_query(cases[i].query), QUERY_DONE);
        assert_value(0, cases[i].a);
        assert_value(1, cases[i].other);
    }
    assert_int_equal(read_query("=x"), QUERY_DONE);
    assert_value(2, "x");
}

TEST(what_is_wrong_is_named)
{
    static const struct {
        const char *query;
        enum query_verdict verdict;
        const char *name;
    } cases[] = {
        {"b=1", QUERY_UNKNOWN, "b"},
        {"a=1&A=2", QUERY_UNKNOWN, "A"},
        {"lon=1", QUERY_UNKNOWN, "lon"},
        {"%62+c", QUERY_UNKNOWN, "b c"},
        {"a=1&a=1", QUERY_TWICE, "a"},
        {"a&long=1&%61", QUERY_TWICE, "a"},
        {"a=%", QUERY_MALFORMED, "a"},
        {"a=%2", QUERY_MALFORMED, "a"},
        {"a=%2&long=1", QUERY_MALFORMED, "a"},
        {"a=%2g", QUERY_MALFORMED, "a"},
        {"a=x%00", QUERY_MALFORMED, "a"},
        {"%=1", QUERY_MALFORMED, "%"},
        {"b%00=1", QUERY_MALFORMED, "b%00"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (read_query(cases[i].query) != cases[i].verdict)
            fail_msg("'%s'", cases[i].query);
        if (!bytes_eq(name, bytes_of(cases[i].name)))
            fail_msg("'%s': '%.*s'", cases[i].query, (int)name.len, name.data);
    }
}

TEST(numbers_are_digits_up_to_a_limit)
{
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "0x1",
                                      "a",
                                      "101",
                                      "1000",
                                      "99999999999999999999999999"};
    uint64_t number = 5;

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (query_number(bytes_of(bad[i]), 100, &number))
            fail_msg("'%s' is taken", bad[i]);
    assert_int_equal(number, 5);
    assert_true(query_number(BYTES("100"), 100, &number));
    assert_int_equal(number, 100);
    assert_true(query_number(BYTES("007"), 100, &number));
    assert_int_equal(number, 7);
    assert_true(query_number(BYTES("0"), 0, &number));
    assert_int_equal(number, 0);
    assert_false(query_number(BYTES("1"), 0, &number));
    assert_true(query_number(BYTES("18446744073709551615"), UINT64_MAX,
                             &number));
    assert_true(number == UINT64_MAX);
    assert_false(query_number(BYTES("18446744073709551616"), UINT64_MAX,
                              &number));
}
