#include "base/glob.h"

#include "suite.h"
#include "unit/draw.h"

static struct glob glob;

static void read_pattern(const char *pattern)
{
    const char *fault = glob_read(&glob, bytes_of(pattern));

    if (fault)
        fail_msg("'%s' %s", pattern, fault);
}

struct match_case {
    const char *pattern;
    const char *text;
    const char *captures; /* each in <>; NULL: no match */
};

static void check(const struct match_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bytes captures[GLOB_CAPTURES_MAX];
        char text[500] = "";
        size_t len = 0;
        bool matches;

        read_pattern(cases[i].pattern);
        matches = glob_matches(&glob, bytes_of(cases[i].text), captures);
        if (matches != glob_matches(&glob, bytes_of(cases[i].text), NULL) ||
            matches != (cases[i].captures != NULL))
            fail_msg("'%s' and '%s': %d", cases[i].pattern, cases[i].text,
                     matches);
        for (unsigned k = 0; matches && k < glob.captures; k++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "<%.*s>",
                                    (int)captures[k].len, captures[k].data);
        if (matches && strcmp(text, cases[i].captures) != 0)
            fail_msg("'%s' and '%s': %s", cases[i].pattern, cases[i].text,
                     text);
    }
}

#define CHECK(cases) check((cases), sizeof(cases) / sizeof(*(cases)))

TEST(literals_match_themselves_and_nothing_else)
{
    static const struct match_case cases[] = {
        {"/a", "/a", ""},
        {"/a", "/A", NULL},
        {"/a", "/a/", NULL},
        {"/a", "/", NULL},
        {"/a", "", NULL},
        {"/a", "x/a", NULL},
        {"[a].+", "[a].+", ""},
        {"[a]", "a", NULL},
        {"\\*", "*", ""},
        {"\\*", "x", NULL},
        {"\\?", "?", ""},
        {"\\?", "x", NULL},
        {"\\\\", "\\", ""},
        {"\\a", "a", ""},
        {"\xC3\xA9", "\xC3\xA9", ""},
    };

    CHECK(cases);
}

TEST(a_question_mark_is_one_byte_of_a_segment)
{
    static const struct match_case cases[] = {
        {"/?", "/a", ""},      {"/?", "/", NULL}, {"/?", "/ab", NULL},
        {"/?", "//", NULL},    {"??", "ab", ""},  {"?*", "abc", "<bc>"},
        {"*?", "abc", "<ab>"}, {"*?", "", NULL},
    };

    CHECK(cases);
}

TEST(a_star_stays_within_its_segment)
{
    static const struct match_case cases[] = {
        {"*", "", "<>"},
        {"*", "abc", "<abc>"},
        {"*", "a/b", NULL},
        {"/old/*", "/old/", "<>"},
        {"/old/*", "/old/x.html", "<x.html>"},
        {"/old/*", "/old/x/y", NULL},
        {"/old/*", "/old", NULL},
        {"/*/b/*", "/a/b/c", "<a><c>"},
        {"/*/b/*", "/a/a/b/c", NULL},
        {"*.css", "a.css.css", "<a.css>"},
        {"*.css", "a.cssx", NULL},
        {"*.css", ".css", "<>"},
    };

    CHECK(cases);
}

TEST(two_stars_go_across_segments)
{
    static const struct match_case cases[] = {
        {"**", "", "<>"},
        {"**", "/a/b", "</a/b>"},
        {"/old/**", "/old/a/b", "<a/b>"},
        {"/**/x", "/a/b/x", "<a/b>"},
        {"/**/x", "/x", NULL},
        {"/**.*", "/a.b/c.d", "<a.b/c><d>"},
        {"**a*b", "a/ab", "<a/><>"},
        {"**a*b", "aaaa/b", NULL},
        {"**/*-*/**", "/x/a-b/c/d", "</x><a><b><c/d>"},
    };

    CHECK(cases);
}

TEST(earlier_wildcards_take_as_little_as_they_can)
{
    static const struct match_case cases[] = {
        {"/*-*", "/a-b-c", "<a><b-c>"}, {"**/**", "a/b/c", "<a><b/c>"},
        {"*a*a*", "aaaa", "<><><aa>"},  {"*-*.*", "x-y.z-1.2", "<x><y><z-1.2>"},
        {"*?*", "abc", "<><bc>"},
    };

    CHECK(cases);
}

TEST(as_many_as_nine_are_captured)
{
    static const struct match_case cases[] = {{"*-*-*-*-*-*-*-*-*",
                                               "1-2-3-4-5-6-7-8-9",
                                               "<1><2><3><4><5><6><7><8><9>"}};

    CHECK(cases);
}

TEST(what_is_no_pattern_is_refused_with_a_reason)
{
    static const char *const faulty[] = {"",
                                         "***",
                                         "/a/****",
                                         "a\\",
                                         "/a\n",
                                         "/\x7F",
                                         "\\",
                                         "\\\r",
                                         "*-*-*-*-*-*-*-*-*-*",
                                         "**/*/*/*/*/*/*/*/*/*"};
    char text[GLOB_BYTES_MAX + 1];

    for (size_t i = 0; i < sizeof(faulty) / sizeof(*faulty); i++)
        if (!glob_read(&glob, bytes_of(faulty[i])))
            fail_msg("'%s' is a pattern", faulty[i]);
    assert_non_null(glob_read(&glob, (struct bytes){"a\0b", 3}));
    memset(text, '?', sizeof(text));
    assert_null(glob_read(&glob, (struct bytes){text, GLOB_BYTES_MAX}));
    assert_non_null(glob_read(&glob, (struct bytes){text, sizeof(text)}));
}

TEST(the_longest_pattern_matches)
{
    char text[GLOB_BYTES_MAX];

    memset(text, '?', sizeof(text));
    assert_null(glob_read(&glob, (struct bytes){text, sizeof(text)}));
    memset(text, 'a', sizeof(text));
    assert_true(glob_matches(&glob, (struct bytes){text, sizeof(text)}, NULL));
    assert_false(glob_matches(&glob, (struct bytes){text, sizeof(text) - 1},
                              NULL));
}

/* Any that tries one way after the other would not be done in a lifetime. */
TEST(hostile_patterns_and_texts_take_no_longer_than_others)
{
    static const char *const patterns[] = {"*a*a*a*a*a*a*a*a*b",
                                           "**a**a**a**a**a**a**a**a**b",
                                           "**?*?**?*?**?*?**?*?**b",
                                           "**aaaaaaaa*aaaaaaaa**aaaaaaaab"};
    static char text[GLOB_TEXT_BYTES_MAX + 1];

    memset(text, 'a', sizeof(text));
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        read_pattern(patterns[i]);
        assert_false(glob_matches(&glob,
                                  (struct bytes){text, GLOB_TEXT_BYTES_MAX},
                                  NULL));
    }
    read_pattern("**");
    assert_true(glob_matches(&glob, (struct bytes){text, GLOB_TEXT_BYTES_MAX},
                             NULL));
    assert_false(glob_matches(&glob, (struct bytes){text, sizeof(text)}, NULL));
}

/* --- A naive model: one way after the other, the shortest first ----------- */

static bool match_naively(const char *pattern, const char *text, int *lens)
{
    bool deep = pattern[0] == '*' && pattern[1] == '*';

    if (*pattern == '\0')
        return *text == '\0';
    if (*pattern != '*')
        return *text != '\0' &&
               (*pattern == *text || (*pattern == '?' && *text != '/')) &&
               match_naively(pattern + 1, text + 1, lens);
    for (*lens = 0;; ++*lens) {
        if (match_naively(pattern + 1 + deep, text + *lens, lens + 1))
            return true;
        if (text[*lens] == '\0' || (text[*lens] == '/' && !deep))
            return false;
    }
}

TEST(random_patterns_agree_with_a_naive_model)
{
    static const char *const pieces[] = {"a", "b", "/", "?", "*", "**"};
    unsigned matches = 0;

    draw_seed = 11;
    for (int round = 0; round < 100000; round++) {
        struct bytes captures[GLOB_CAPTURES_MAX];
        int lens[GLOB_CAPTURES_MAX + 1];
        char pattern[32] = "";
        char text[12] = "";
        bool expected;

        for (unsigned i = 1 + draw(7); i > 0; i--)
            strncat(pattern, pieces[draw(6)], 2);
        for (unsigned i = draw(10); i > 0; i--)
            strncat(text, pieces[draw(3)], 1);
        if (glob_read(&glob, bytes_of(pattern)))
            continue;
        expected = match_naively(pattern, text, lens);
        if (glob_matches(&glob, bytes_of(text), captures) != expected)
            fail_msg("'%s' and '%s': not %d", pattern, text, expected);
        for (unsigned i = 0; expected && i < glob.captures; i++)
            if ((int)captures[i].len != lens[i])
                fail_msg("'%s' and '%s': wildcard %u", pattern, text, i);
        matches += expected;
    }
    assert_in_range(matches, 5000, 100000);
}
