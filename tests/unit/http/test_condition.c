#include "http/condition.h"

#include "suite.h"
#include "unit/http/request_fixture.h"

#define MODIFIED 784111777 /* Sun, 06 Nov 1994 08:49:37 GMT */
#define NOW 800000000
#define DATE "Sun, 06 Nov 1994 08:49:37 GMT"
#define DATE_BEFORE "Sun, 06 Nov 1994 08:49:36 GMT"
#define DATE_AFTER "Sun, 06 Nov 1994 08:49:38 GMT"

static const struct validators strong = {{"\"v1\"", 4}, MODIFIED, false};
static const struct validators weak = {{"W/\"v1\"", 6}, MODIFIED, false};
static const struct validators none = {{NULL, 0}, INT64_MIN, false};

/* Nothing happens when value is NULL. The byte behind it would end a tag. */
static void add(enum field_id id, const char *value)
{
    if (value)
        request_add(id, value, '"');
}

static enum condition_verdict evaluate(const struct validators *current)
{
    return condition_evaluate(&request, current, NOW);
}

static enum condition_verdict evaluate_one(enum method method, enum field_id id,
                                           const char *value)
{
    request_begin(method);
    add(id, value);
    return evaluate(&strong);
}

/* --- Precedence --------------------------------------------------------- */

enum truth { ABSENT, TRUE, FALSE, INVALID, TRUTHS };

/* RFC 9110 13.2.2, step by step; INVALID dates are as good as absent ones,
 * INVALID lists match nothing. */
static enum condition_verdict follow_the_steps(bool reads, enum truth if_match,
                                               enum truth if_unmodified,
                                               enum truth if_none_match,
                                               enum truth if_modified)
{
    /* 1. When recipient is the origin server and If-Match is present */
    if (if_match != ABSENT) {
        if (if_match != TRUE)
            return CONDITION_FAILED;
        goto step_3;
    }
    /* 2. ... If-Match is not present, and If-Unmodified-Since is present */
    if (if_unmodified == FALSE)
        return CONDITION_FAILED;
step_3:
    /* 3. When If-None-Match is present */
    if (if_none_match != ABSENT) {
        if (if_none_match == FALSE)
            return reads ? CONDITION_NOT_MODIFIED : CONDITION_FAILED;
        return CONDITION_PROCEED;
    }
    /* 4. When the method is GET or HEAD, If-None-Match is not present, and
     * If-Modified-Since is present */
    if (reads && if_modified == FALSE)
        return CONDITION_NOT_MODIFIED;
    return CONDITION_PROCEED;
}

TEST(every_combination_follows_the_order_of_precedence)
{
    static const enum method methods[] = {METHOD_GET, METHOD_HEAD, METHOD_PUT,
                                          METHOD_POST, METHOD_OPTIONS};
    static const char *const match[TRUTHS] = {NULL, "\"v1\"", "\"v2\"", "v1"};
    static const char *const unmodified[TRUTHS] = {NULL, DATE, DATE_BEFORE,
                                                   "yesterday"};
    static const char *const none_match[TRUTHS] = {NULL, "\"v2\"", "\"v1\"",
                                                   "v1"};
    static const char *const modified[TRUTHS] = {NULL, DATE_BEFORE, DATE,
                                                 "yesterday"};

    for (unsigned i = 0; i < 5u * 256; i++) {
        enum method method = methods[i / 256];
        unsigned a = i % 4, b = i / 4 % 4, c = i / 16 % 4, d = i / 64 % 4;

        request_begin(method);
        add(FIELD_IF_MODIFIED_SINCE, modified[d]);
        add(FIELD_IF_NONE_MATCH, none_match[c]);
        add(FIELD_IF_UNMODIFIED_SINCE, unmodified[b]);
        add(FIELD_IF_MATCH, match[a]);
        assert_int_equal(evaluate(&strong),
                         follow_the_steps(method == METHOD_GET ||
                                              method == METHOD_HEAD,
                                          (enum truth)a, (enum truth)b,
                                          (enum truth)c, (enum truth)d));
    }
}

TEST(without_conditions_it_proceeds)
{
    request_begin(METHOD_GET);
    add(FIELD_HOST, "example.com");
    add(FIELD_RANGE, "bytes=0-1");
    add(FIELD_IF_RANGE, "\"v2\"");
    assert_int_equal(evaluate(&strong), CONDITION_PROCEED);
    assert_int_equal(evaluate(&none), CONDITION_PROCEED);
}

/* --- Lists of entity tags ----------------------------------------------- */

TEST(lists_are_searched_whole)
{
    static const char *const cases[] = {
        "*",
        "\"v1\"",
        "\"v1\",\"v2\"",
        "\"v0\", \"v1\"",
        "\"v0\"\t,\t\"v1\" , \"v2\"",
        ",\"v1\"",
        "\"v1\",",
        ",, , \"v0\",,\"v1\", ,",
        "W/\"v1\", \"v1\"",
        "\"\", \"v1\"",
        "\"a,b\", \"v1\"",
        "\"a\\\", \"v1\"", /* no quoted-pair in an entity-tag */
        "\"\xc3\xa9!#$%&'()*+,-./:;<=>?@[]^_`{|}~\", \"v1\"",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (evaluate_one(METHOD_GET, FIELD_IF_NONE_MATCH, cases[i]) !=
                CONDITION_NOT_MODIFIED ||
            evaluate_one(METHOD_PUT, FIELD_IF_NONE_MATCH, cases[i]) !=
                CONDITION_FAILED ||
            evaluate_one(METHOD_GET, FIELD_IF_MATCH, cases[i]) !=
                CONDITION_PROCEED)
            fail_msg("does not match: %s", cases[i]);
    }
}

TEST(what_is_not_in_the_list_does_not_match)
{
    static const char *const cases[] = {
        "",
        ",",
        "\"\"",
        "\"v2\"",
        "\"V1\"",
        "\"v1 \"",
        "\"v11\"",
        "\"v\"",
        "\"v0\", \"v2\"",
        "\"a,\"",
        "\"v2\", W/\"v0\"",
        /* Malformed, though it is named. */
        "v1",
        "\"v1",
        "v1\"",
        "'v1'",
        "\"v1\" \"v2\"",
        "\"v1\"\"v2\"",
        "\"v1\"; \"v2\"",
        "\"v1\", v2",
        "\"v1\", \"v2",
        "\"v1\", *",
        "*, \"v1\"",
        "**",
        "\"*\"",
        "*,",
        "w/\"v1\"",
        "W\"v1\"",
        "W/ \"v1\"",
        "W/v1",
        "W/",
        "W",
        "\"v1\", W/",
        "\"v1\", \"a\x7f\"",
        "\"v1\", \"a b\"",
        "\"v1\", \"a\tb\"",
        "\"v1\", \"",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (evaluate_one(METHOD_GET, FIELD_IF_NONE_MATCH, cases[i]) !=
                CONDITION_PROCEED ||
            evaluate_one(METHOD_GET, FIELD_IF_MATCH, cases[i]) !=
                CONDITION_FAILED)
            fail_msg("matches: '%s'", cases[i]);
}

/* For the sanitizers: nothing lies behind. */
TEST(an_unfinished_tag_ends_with_its_field)
{
    static const char *const cases[] = {"\"", "\"v1", "W/", "W/\"", "W"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        size_t len = strlen(cases[i]);
        char *exact = malloc(len);

        for (size_t at = 0; at < len; at++)
            exact[at] = cases[i][at];
        request_begin(METHOD_GET);
        add(FIELD_IF_NONE_MATCH, "");
        request.fields[0].value = (struct bytes){exact, len};
        assert_int_equal(evaluate(&strong), CONDITION_PROCEED);
        free(exact);
    }
}

TEST(a_list_goes_on_in_the_next_line)
{
    static const struct {
        const char *first;
        const char *second;
        bool matches;
    } cases[] = {
        {"\"v0\"", "\"v1\"", true},
        {"\"v1\"", "\"v0\"", true},
        {"\"v0\",", ",\"v1\"", true},
        {"\"v1\"", "", true},
        {"", "\"v1\"", true},
        {"\"v0\"", "\"v2\"", false},
        {"\"v1\"", "v2", false},
        {"v2", "\"v1\"", false},
        {"*", "*", false},
        {"*", "\"v1\"", false},
        {"\"v1\"", "*", false},
        {"\"v", "1\"", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        request_begin(METHOD_GET);
        add(FIELD_IF_NONE_MATCH, cases[i].first);
        add(FIELD_ACCEPT, "*");
        add(FIELD_IF_NONE_MATCH, cases[i].second);
        assert_int_equal(evaluate(&strong), cases[i].matches
                                                ? CONDITION_NOT_MODIFIED
                                                : CONDITION_PROCEED);
    }
}

TEST(if_match_compares_strongly_and_if_none_match_weakly)
{
    static const struct {
        const struct validators *current;
        const char *tag;
        bool strongly;
        bool weakly;
    } cases[] = {
        /* The table of RFC 9110 8.8.3.2, with v1 and v2 for 1 and 2. */
        {&weak, "W/\"v1\"", false, true}, {&weak, "W/\"v2\"", false, false},
        {&weak, "\"v1\"", false, true},   {&strong, "W/\"v1\"", false, true},
        {&strong, "\"v1\"", true, true},  {&strong, "\"v2\"", false, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        request_begin(METHOD_GET);
        add(FIELD_IF_MATCH, cases[i].tag);
        assert_int_equal(evaluate(cases[i].current), cases[i].strongly
                                                         ? CONDITION_PROCEED
                                                         : CONDITION_FAILED);
        request_begin(METHOD_GET);
        add(FIELD_IF_NONE_MATCH, cases[i].tag);
        assert_int_equal(evaluate(cases[i].current),
                         cases[i].weakly ? CONDITION_NOT_MODIFIED
                                         : CONDITION_PROCEED);
    }
}

TEST(without_an_etag_only_the_star_matches)
{
    request_begin(METHOD_GET);
    add(FIELD_IF_NONE_MATCH, "\"\", \"v1\"");
    assert_int_equal(evaluate(&none), CONDITION_PROCEED);
    request_begin(METHOD_GET);
    add(FIELD_IF_MATCH, "\"\", \"v1\"");
    assert_int_equal(evaluate(&none), CONDITION_FAILED);
    request_begin(METHOD_GET);
    add(FIELD_IF_MATCH, "*");
    assert_int_equal(evaluate(&none), CONDITION_PROCEED);
    add(FIELD_IF_NONE_MATCH, "*");
    assert_int_equal(evaluate(&none), CONDITION_NOT_MODIFIED);
}

/* --- Dates -------------------------------------------------------------- */

TEST(dates_compare_to_the_second)
{
    static const struct {
        const char *date;
        enum condition_verdict modified;
        enum condition_verdict unmodified;
    } cases[] = {
        {DATE_BEFORE, CONDITION_PROCEED, CONDITION_FAILED},
        {DATE, CONDITION_NOT_MODIFIED, CONDITION_PROCEED},
        {DATE_AFTER, CONDITION_NOT_MODIFIED, CONDITION_PROCEED},
        {"Sunday, 06-Nov-94 08:49:36 GMT", CONDITION_PROCEED, CONDITION_FAILED},
        {"Sunday, 06-Nov-94 08:49:37 GMT", CONDITION_NOT_MODIFIED,
         CONDITION_PROCEED},
        {"Sun Nov  6 08:49:36 1994", CONDITION_PROCEED, CONDITION_FAILED},
        {"Sun Nov  6 08:49:37 1994", CONDITION_NOT_MODIFIED, CONDITION_PROCEED},
        /* After now: RFC 9110 does not call that invalid. */
        {"Fri, 31 Dec 9999 23:59:59 GMT", CONDITION_NOT_MODIFIED,
         CONDITION_PROCEED},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(evaluate_one(METHOD_GET, FIELD_IF_MODIFIED_SINCE,
                                      cases[i].date),
                         cases[i].modified);
        assert_int_equal(evaluate_one(METHOD_HEAD, FIELD_IF_MODIFIED_SINCE,
                                      cases[i].date),
                         cases[i].modified);
        assert_int_equal(evaluate_one(METHOD_PUT, FIELD_IF_MODIFIED_SINCE,
                                      cases[i].date),
                         CONDITION_PROCEED);
        assert_int_equal(evaluate_one(METHOD_GET, FIELD_IF_UNMODIFIED_SINCE,
                                      cases[i].date),
                         cases[i].unmodified);
        assert_int_equal(evaluate_one(METHOD_PUT, FIELD_IF_UNMODIFIED_SINCE,
                                      cases[i].date),
                         cases[i].unmodified);
    }
}

TEST(what_is_no_date_is_ignored)
{
    static const char *const cases[] = {"", "0", "yesterday",
                                        "Sun, 06 Nov 1994 08:49:37 GMT, x",
                                        "Sun, 31 Feb 1994 08:49:37 GMT"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(evaluate_one(METHOD_GET, FIELD_IF_MODIFIED_SINCE,
                                      cases[i]),
                         CONDITION_PROCEED);
        assert_int_equal(evaluate_one(METHOD_GET, FIELD_IF_UNMODIFIED_SINCE,
                                      cases[i]),
                         CONDITION_PROCEED);
    }
}

TEST(a_date_that_comes_twice_is_ignored)
{
    request_begin(METHOD_GET);
    add(FIELD_IF_MODIFIED_SINCE, DATE);
    add(FIELD_IF_MODIFIED_SINCE, DATE);
    assert_int_equal(evaluate(&strong), CONDITION_PROCEED);
    request_begin(METHOD_GET);
    add(FIELD_IF_UNMODIFIED_SINCE, DATE_BEFORE);
    add(FIELD_IF_UNMODIFIED_SINCE, DATE_BEFORE);
    assert_int_equal(evaluate(&strong), CONDITION_PROCEED);
}

TEST(without_a_modification_date_dates_are_ignored)
{
    request_begin(METHOD_GET);
    add(FIELD_IF_MODIFIED_SINCE, DATE);
    add(FIELD_IF_UNMODIFIED_SINCE, "Sat, 01 Jan 0000 00:00:00 GMT");
    assert_int_equal(evaluate(&none), CONDITION_PROCEED);
}

/* --- If-Range ----------------------------------------------------------- */

static bool range_applies(const struct validators *current, const char *value,
                          int64_t now)
{
    request_begin(METHOD_GET);
    add(FIELD_IF_RANGE, value);
    return condition_range_applies(&request, current, now);
}

TEST(without_if_range_a_range_applies)
{
    assert_true(range_applies(&strong, NULL, NOW));
    assert_true(range_applies(&none, NULL, NOW));
}

TEST(if_range_compares_etags_strongly)
{
    assert_true(range_applies(&strong, "\"v1\"", NOW));
    assert_false(range_applies(&strong, "\"v2\"", NOW));
    assert_false(range_applies(&strong, "W/\"v1\"", NOW));
    assert_false(range_applies(&weak, "W/\"v1\"", NOW));
    assert_false(range_applies(&weak, "\"v1\"", NOW));
    assert_false(range_applies(&none, "\"v1\"", NOW));
    assert_false(range_applies(&none, "\"\"", NOW));
}

TEST(if_range_wants_the_exact_date)
{
    assert_true(range_applies(&strong, DATE, NOW));
    assert_true(range_applies(&strong, "Sunday, 06-Nov-94 08:49:37 GMT", NOW));
    assert_true(range_applies(&strong, "Sun Nov  6 08:49:37 1994", NOW));
    assert_false(range_applies(&strong, DATE_BEFORE, NOW));
    assert_false(range_applies(&strong, DATE_AFTER, NOW));
    assert_false(range_applies(&none, DATE, NOW));
}

TEST(a_date_of_this_second_is_no_strong_validator)
{
    assert_true(range_applies(&strong, DATE, MODIFIED + 1));
    assert_false(range_applies(&strong, DATE, MODIFIED));
    assert_false(range_applies(&strong, DATE, MODIFIED - 1));
}

/* Whose bytes a client has, a date does not tell where several have the
 * same. */
TEST(a_date_that_others_share_is_no_strong_validator)
{
    struct validators shared = strong;

    shared.is_date_shared = true;
    assert_false(range_applies(&shared, DATE, NOW));
    assert_true(range_applies(&shared, "\"v1\"", NOW));
    assert_true(range_applies(&shared, NULL, NOW));
}

TEST(an_if_range_in_doubt_matches_nothing)
{
    static const char *const cases[] = {
        "",         "*",
        "v1",       "\"v1",
        "\"v1\",",  "\"v1\", \"v1\"",
        "\"v1\"x",  "\"",
        "W/",       "Sun, 06 Nov 1994 08:49:37 GMT, x",
        "yesterday"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_false(range_applies(&strong, cases[i], NOW));
    request_begin(METHOD_GET);
    add(FIELD_IF_RANGE, "\"v1\"");
    add(FIELD_IF_RANGE, "\"v1\"");
    assert_false(condition_range_applies(&request, &strong, NOW));
}
