#include "cache/cache_facts.h"

#include "suite.h"

/* Sun, 06 Nov 1994 08:49:37 GMT */
#define NOW 784111777
#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#define HOUR_LATER "Expires: Sun, 06 Nov 1994 09:49:37 GMT\r\n"
#define HOUR_AGO "Expires: Sun, 06 Nov 1994 07:49:37 GMT\r\n"
#define MODIFIED "Last-Modified: Sun, 06 Nov 1994 07:49:37 GMT\r\n"

static struct cache_facts read_it(unsigned status, const char *lines)
{
    const struct cache_circumstances when = {.asked_s = NOW,
                                             .came_s = NOW,
                                             .may_guess = true,
                                             .surrogate = BYTES("us")};
    struct cache_facts facts;

    cache_facts_read(&facts, status, bytes_of(lines), &when);
    return facts;
}

static const struct fresh_case {
    unsigned status;
    const char *lines;
    int64_t ttl;
} cases[] = {
    {200, "", 0},
    {200, "Cache-Control: max-age=60\r\n", 60},
    {200, "Cache-Control: max-age=60\r\nCache-Control: s-maxage=5\r\n", 5},
    {200, "Cache-Control: max-age=5, s-maxage=60\r\n" DATE HOUR_AGO, 60},
    {200, DATE HOUR_LATER, 3600},
    {200, DATE HOUR_AGO, 0},
    {200, DATE HOUR_LATER HOUR_LATER, 0},
    {200, DATE "Expires: 0\r\n", 0},
    {200, DATE HOUR_LATER "Cache-Control: max-age=5\r\n", 5},
    {200, "Cache-Control: max-age=60\r\nAge: 20\r\n", 40},
    {200, "Cache-Control: max-age=60\r\nAge: 20, 1\r\n", 40},
    {200, "Cache-Control: max-age=60\r\nAge: abc\r\n", 60},
    {200, "Cache-Control: max-age=60\r\nAge: -20\r\n", 60},
    {200, "Cache-Control: max-age=60\r\nAge: 20.0\r\n", 60},
    {200, "Cache-Control: max-age=60\r\nAge: x, 20\r\n", 60},
    {200, "Cache-Control: max-age=60\r\nAge: \r\n", 60},
    {200, "Cache-Control: max-age=60\r\nAge: 0\r\nAge: 20\r\n", 60},
    {200, "Cache-Control: max-age=60\r\nAge: 20\r\nAge: 0\r\n", 40},
    {200, "Cache-Control: max-age=60\r\nAge: 20, 20\r\n", 40},
    {200, "Cache-Control: max-age=60\r\nAge: 9999999999999999999999\r\n",
     60 - CACHE_SECONDS_MAX},
    /* An hour old by its Date. */
    {200,
     "Cache-Control: max-age=7200\r\nDate: Sun, 06 Nov 1994 07:49:37 GMT\r\n",
     3600},
    /* Guesses. */
    {200, DATE MODIFIED, 360},
    {404, DATE MODIFIED, 360},
    {201, DATE MODIFIED, 0},
    {599, DATE MODIFIED, 0},
    {599, DATE MODIFIED "Cache-Control: public\r\n", 360},
    {200, DATE MODIFIED "Set-Cookie: a=b\r\n", 0},
    {200, DATE "Last-Modified: Sun, 06 Nov 1964 07:49:37 GMT\r\n", 86400},
    {200, DATE "Last-Modified: Sun, 06 Nov 1994 09:49:37 GMT\r\n", 0},
    /* To shared caches alone. */
    {200, "Cache-Control: no-store\r\nCDN-Cache-Control: max-age=9\r\n", 9},
    {200, "Cache-Control: max-age=9\r\nCDN-Cache-Control: max-age=0\r\n", 0},
    {200, "CDN-Cache-Control: public\r\n" DATE HOUR_LATER, 0},
    {200, "Cache-Control: max-age=9\r\nCDN-Cache-Control: \r\n", 9},
    {200, "Cache-Control: max-age=9\r\nCDN-Cache-Control: max-age=1, &\r\n", 9},
    {200,
     "CDN-Cache-Control: max-age=1\r\nCache-Control: max-age=9\r\n"
     "CDN-Cache-Control: MAX-AGE=5\r\n",
     9},
    {200, "Cache-Control: max-age=9\r\nCDN-Cache-Control: max-age=\"5\"\r\n",
     0},
    {200, "Surrogate-Control: max-age=9\r\nCache-Control: max-age=1\r\n", 9},
    {200, "Surrogate-Control: max-age=9;them\r\nCache-Control: max-age=1\r\n",
     1},
    {200, "Surrogate-Control: foo\r\nCache-Control: max-age=1\r\n", 1},
};

TEST(how_long_an_answer_is_fresh)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cache_facts facts = read_it(cases[i].status, cases[i].lines);

        if (cache_facts_ttl(&facts, NOW) != cases[i].ttl)
            fail_msg("%u %s: %lld", cases[i].status, cases[i].lines,
                     (long long)cache_facts_ttl(&facts, NOW));
    }
}

TEST(age_counts_the_time_it_took_to_come_and_has_lain_here)
{
    const struct cache_circumstances when = {.asked_s = NOW - 7, .came_s = NOW};
    struct cache_facts facts;

    cache_facts_read(&facts, 200,
                     BYTES("Cache-Control: max-age=60\r\nAge: 20\r\n"), &when);
    assert_int_equal(cache_facts_age(&facts, NOW), 27);
    assert_int_equal(cache_facts_age(&facts, NOW + 10), 37);
    assert_int_equal(cache_facts_ttl(&facts, NOW + 50), -17);
    /* A clock that was set back makes nothing younger than new. */
    assert_int_equal(cache_facts_age(&facts, NOW - 3600), 0);
}

/* How old it is nobody knows then: it came with a year's clock, say. */
TEST(nothing_is_fresh_that_came_when_the_clock_was_ahead)
{
    struct cache_facts facts = read_it(200, "Cache-Control: max-age=60, "
                                            "stale-while-revalidate=30\r\n");
    struct cache_control nothing;

    cache_control_init(&nothing);
    assert_int_equal(cache_facts_use(&facts, &nothing, NOW - 1),
                     CACHE_USE_FRESH);
    assert_int_equal(cache_facts_use(&facts, &nothing, NOW - 20),
                     CACHE_USE_MEANWHILE);
    assert_int_equal(cache_facts_use(&facts, &nothing, NOW - 31536000),
                     CACHE_USE_ASK);
    assert_int_equal(cache_facts_ttl(&facts, NOW - 3600), -3600);
}

static const struct keep_case {
    unsigned status;
    const char *lines;
    bool is_authorized;
    bool no_store;
    enum cache_refusal refusal;
} keeps[] = {
    {200, "Cache-Control: max-age=60\r\n", false, false, CACHE_KEPT},
    {200, "Cache-Control: max-age=60\r\n", false, true, CACHE_REFUSED_NO_STORE},
    {200, "Cache-Control: max-age=60, no-store\r\n", false, false,
     CACHE_REFUSED_NO_STORE},
    {200, "Cache-Control: max-age=60, no-store, must-understand\r\n", false,
     false, CACHE_KEPT},
    {599, "Cache-Control: max-age=60, must-understand\r\n", false, false,
     CACHE_REFUSED_STATUS},
    {599, "Cache-Control: max-age=60\r\n", false, false, CACHE_KEPT},
    {206, "Cache-Control: max-age=60\r\n", false, false, CACHE_REFUSED_STATUS},
    {304, "Cache-Control: max-age=60\r\n", false, false, CACHE_REFUSED_STATUS},
    {401, "Cache-Control: public, max-age=60\r\n", false, false,
     CACHE_REFUSED_STATUS},
    {407, "Cache-Control: public, max-age=60\r\n", false, false,
     CACHE_REFUSED_STATUS},
    {403, "Cache-Control: max-age=60\r\n", false, false, CACHE_KEPT},
    {428, "Cache-Control: max-age=60\r\n", false, false, CACHE_REFUSED_STATUS},
    {425, "Cache-Control: max-age=60\r\n", false, false, CACHE_REFUSED_STATUS},
    {429, "Cache-Control: max-age=60\r\n", false, false, CACHE_REFUSED_STATUS},
    {430, "Cache-Control: max-age=60\r\n", false, false, CACHE_KEPT},
    {431, "Cache-Control: max-age=60\r\n", false, false, CACHE_REFUSED_STATUS},
    {511, "Cache-Control: public, max-age=60\r\n", false, false,
     CACHE_REFUSED_STATUS},
    {200, "Cache-Control: max-age=60, private\r\n", false, false,
     CACHE_REFUSED_PRIVATE},
    {200, "Cache-Control: max-age=60, private=\"a\"\r\n", false, false,
     CACHE_KEPT},
    {200, "Cache-Control: max-age=60\r\n", true, false,
     CACHE_REFUSED_AUTHORIZED},
    {200, "Cache-Control: max-age=60, public\r\n", true, false, CACHE_KEPT},
    {200, "Cache-Control: s-maxage=60\r\n", true, false, CACHE_KEPT},
    {200, "Cache-Control: max-age=60, must-revalidate\r\n", true, false,
     CACHE_KEPT},
    {200, "Cache-Control: max-age=60\r\nVary: a, *\r\n", false, false,
     CACHE_REFUSED_VARY},
    {200, "", false, false, CACHE_REFUSED_STALE},
    {200, "ETag: \"a\"\r\n", false, false, CACHE_KEPT},
    {200, "ETag: \"a\"\r\nCache-Control: no-cache\r\n", false, false,
     CACHE_KEPT},
    /* A validator is no reason to store what no lifetime is guessed of. */
    {404, "ETag: \"a\"\r\n", false, false, CACHE_KEPT},
    {302, "ETag: \"a\"\r\n", false, false, CACHE_REFUSED_STATUS},
    {403, DATE MODIFIED, false, false, CACHE_REFUSED_STATUS},
    {500, "ETag: \"a\"\r\nCache-Control: no-cache\r\n", false, false,
     CACHE_REFUSED_STATUS},
    {302, "ETag: \"a\"\r\nCache-Control: public\r\n", false, false, CACHE_KEPT},
    {403, "ETag: \"a\"\r\nCache-Control: max-age=0\r\n", false, false,
     CACHE_KEPT},
    {403, "ETag: \"a\"\r\nExpires: 0\r\n", false, false, CACHE_KEPT},
};

TEST(what_may_be_kept)
{
    for (size_t i = 0; i < sizeof(keeps) / sizeof(*keeps); i++) {
        struct cache_facts facts = read_it(keeps[i].status, keeps[i].lines);
        struct cache_asked asked = {.is_authorized = keeps[i].is_authorized,
                                    .no_store = keeps[i].no_store};

        if (cache_facts_judge(&facts, &asked) != keeps[i].refusal)
            fail_msg("%u %s", keeps[i].status, keeps[i].lines);
    }
}

#define SET "Set-Cookie: a=b\r\n"
#define TAG "ETag: \"a\"\r\n"

static const struct cookie_case {
    const char *lines;
    bool has_cookie; /* the request */
    bool is_kept;
} cookies[] = {
    /* A 304 for another would give the cookie away, and so would a failure. */
    {SET TAG, false, false},
    {SET DATE MODIFIED, false, false},
    {SET TAG "Cache-Control: no-cache\r\n", false, false},
    {SET TAG "Cache-Control: max-age=60, no-cache\r\n", false, false},
    {SET TAG "Cache-Control: public\r\n", false, false},
    {SET TAG "Cache-Control: public, max-age=0\r\n", false, false},
    {SET TAG DATE HOUR_AGO, false, false},
    {SET TAG "Cache-Control: max-age=60\r\n", false, true},
    {SET TAG DATE HOUR_LATER, true, true},
    /* Who is asked by name may have answered that one alone. */
    {TAG, true, false},
    {DATE MODIFIED, true, false},
    {TAG "Cache-Control: max-age=0\r\n", true, false},
    {TAG "Cache-Control: no-cache\r\n", true, false},
    {TAG "Cache-Control: max-age=60, no-cache\r\n", true, false},
    {TAG "Cache-Control: max-age=0, must-revalidate\r\n", true, false},
    {TAG "Cache-Control: public, no-cache\r\n", true, true},
    {TAG "Cache-Control: public\r\n", true, true},
    {DATE MODIFIED "Cache-Control: public\r\n", true, true},
    {"Cache-Control: max-age=60\r\n", true, true},
    {TAG, false, true},
    {DATE MODIFIED, false, true},
};

TEST(what_has_to_do_with_cookies_is_kept_only_if_it_says_that_it_is_for_all)
{
    for (size_t i = 0; i < sizeof(cookies) / sizeof(*cookies); i++) {
        const struct cookie_case *one = &cookies[i];
        const struct cache_circumstances when = {
            .asked_s = NOW, .came_s = NOW, .may_guess = !one->has_cookie};
        const struct cache_asked asked = {.has_user = one->has_cookie};
        struct cache_facts facts;

        cache_facts_read(&facts, 200, bytes_of(one->lines), &when);
        if (cache_facts_judge(&facts, &asked) !=
            (one->is_kept ? CACHE_KEPT : CACHE_REFUSED_COOKIE))
            fail_msg("%s %d", one->lines, one->has_cookie);
    }
}

/* An operator's word is one that it is for all. */
TEST(a_default_counts_for_those_who_have_cookies)
{
    const struct cache_circumstances when = {
        .asked_s = NOW, .came_s = NOW, .default_s = 9};
    const struct cache_asked asked = {.has_user = true};
    struct cache_facts facts;

    cache_facts_read(&facts, 200, BYTES(DATE MODIFIED), &when);
    assert_int_equal(cache_facts_ttl(&facts, NOW), 9);
    assert_int_equal(cache_facts_judge(&facts, &asked), CACHE_KEPT);
}

static const struct use_case {
    const char *lines;   /* of the answer */
    const char *request; /* what Cache-Control says there */
    int64_t later;       /* seconds since it came */
    enum cache_use use;
} uses[] = {
    {"Cache-Control: max-age=60\r\n", "", 59, CACHE_USE_FRESH},
    {"Cache-Control: max-age=60\r\n", "", 60, CACHE_USE_ASK},
    {"Cache-Control: max-age=60\r\n", "no-cache", 0, CACHE_USE_ASK},
    {"Cache-Control: max-age=60\r\n", "max-age=0", 0, CACHE_USE_ASK},
    {"Cache-Control: max-age=60\r\n", "max-age=10", 10, CACHE_USE_FRESH},
    {"Cache-Control: max-age=60\r\n", "max-age=10", 11, CACHE_USE_ASK},
    {"Cache-Control: max-age=60\r\n", "min-fresh=30", 30, CACHE_USE_FRESH},
    {"Cache-Control: max-age=60\r\n", "min-fresh=30", 31, CACHE_USE_ASK},
    {"Cache-Control: max-age=60\r\n", "max-stale=5", 65, CACHE_USE_STALE},
    {"Cache-Control: max-age=60\r\n", "max-stale=5", 66, CACHE_USE_ASK},
    {"Cache-Control: max-age=60\r\n", "max-stale", 6600, CACHE_USE_STALE},
    {"Cache-Control: max-age=60, must-revalidate\r\n", "max-stale", 61,
     CACHE_USE_ASK},
    {"Cache-Control: s-maxage=60\r\n", "max-stale", 61, CACHE_USE_ASK},
    {"Cache-Control: max-age=60, stale-while-revalidate=10\r\n", "", 69,
     CACHE_USE_MEANWHILE},
    {"Cache-Control: max-age=60, stale-while-revalidate=10\r\n", "", 70,
     CACHE_USE_ASK},
    {"Cache-Control: max-age=60, no-cache\r\n", "", 0, CACHE_USE_ASK},
    {"Cache-Control: max-age=60, no-cache\r\n", "max-stale", 0, CACHE_USE_ASK},
};

TEST(what_an_answer_is_good_for)
{
    for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++) {
        struct cache_facts facts = read_it(200, uses[i].lines);
        struct cache_control request;

        cache_control_init(&request);
        cache_control_read(&request, bytes_of(uses[i].request), BYTES(""));
        if (cache_facts_use(&facts, &request, NOW + uses[i].later) !=
            uses[i].use)
            fail_msg("case %zu: %s %s", i, uses[i].lines, uses[i].request);
    }
}

static bool bears(const char *lines, const char *asks, int64_t later,
                  bool has_answered)
{
    struct cache_facts facts = read_it(200, lines);
    struct cache_control request;

    cache_control_init(&request);
    cache_control_read(&request, bytes_of(asks), BYTES(""));
    return cache_facts_bears_error(&facts, &request, NOW + later, 100,
                                   has_answered);
}

TEST(what_is_stale_serves_when_the_origin_fails_as_far_as_it_may)
{
    assert_true(bears("Cache-Control: max-age=10\r\n", "", 109, false));
    assert_false(bears("Cache-Control: max-age=10\r\n", "", 110, false));
    assert_false(bears("Cache-Control: max-age=10\r\n", "", 11, true));
    assert_true(bears("Cache-Control: max-age=10, stale-if-error=5\r\n", "", 14,
                      true));
    assert_false(bears("Cache-Control: max-age=10, stale-if-error=5\r\n", "",
                       15, false));
    assert_true(bears("Cache-Control: max-age=10\r\n", "stale-if-error=5", 14,
                      true));
    assert_false(bears("Cache-Control: max-age=10, must-revalidate\r\n", "", 11,
                       false));
    assert_false(bears("Cache-Control: s-maxage=10\r\n", "", 11, false));
    assert_false(bears("Cache-Control: max-age=10, no-cache\r\n", "", 11,
                       false));
}
