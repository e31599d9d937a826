#include "http/rules/dictionary_rules.h"

#include "suite.h"

static struct dictionary_rules rules;

static int clear(void **state)
{
    (void)state;
    rules = (struct dictionary_rules){0};
    return 0;
}

SUITE(.each_begin = clear);

static void add(const char *text)
{
    const char *fault = dictionary_rules_add(&rules, bytes_of(text));

    if (fault)
        fail_msg("%s %s", text, fault);
}

static void expect_line(struct bytes line, const char *expected)
{
    if (!bytes_eq(line, bytes_of(expected)))
        fail_msg("%.*s", (int)line.len, line.data);
}

TEST(a_browser_is_told_the_pattern_as_it_writes_patterns)
{
    static const struct {
        const char *text;
        const char *value;
    } cases[] = {
        {"/assets/app.*.js", "match=\"/assets/app.*.js\""},
        {"/a/**/b", "match=\"/a/*/b\""},
        {"/**", "match=\"/*\""},
        {"/a:b+c(d)", "match=\"/a\\\\:b\\\\+c\\\\(d\\\\)\""},
        {"/a\\*\\?\\=", "match=\"/a\\\\*%3F=\""},
        {"/a b\"{c}%\\\\", "match=\"/a%20b%22%7Bc%7D%25%5C\""},
        {"/\xC3\xA4", "match=\"/%C3%A4\""},
        {"a\"\\b:/x", "match=\"/x\", id=\"a\\\"\\\\b\""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char line[200];

        clear(NULL);
        add(cases[i].text);
        snprintf(line, sizeof(line), "Use-As-Dictionary: %s\r\n",
                 cases[i].value);
        expect_line(dictionary_rule_use(&rules.rules[0]), line);
        assert_int_equal(dictionary_rule_link(&rules.rules[0]).len, 0);
    }
}

TEST(a_file_is_told_by_a_link_and_is_the_only_dictionary)
{
    const struct dictionary_rule *rule = &rules.rules[0];

    add("/docs/*=/a b.words");
    expect_line(dictionary_rule_use(rule),
                "Use-As-Dictionary: match=\"/docs/*\"\r\n");
    expect_line(dictionary_rule_link(rule),
                "Link: </a%20b.words>; rel=\"compression-dictionary\"\r\n");
    assert_ptr_equal(dictionary_rules_find_used(&rules, BYTES("/docs/x")),
                     rule);
    assert_null(dictionary_rules_find_made(&rules, BYTES("/docs/x")));
    assert_null(dictionary_rules_find_used(&rules, BYTES("/a b.words")));
    assert_ptr_equal(dictionary_rules_find_made(&rules, BYTES("/a b.words")),
                     rule);
}

TEST(the_first_rule_that_fits_counts)
{
    add("/a/*.js");
    add("/**");
    assert_ptr_equal(dictionary_rules_find_used(&rules, BYTES("/a/b.js")),
                     &rules.rules[0]);
    assert_ptr_equal(dictionary_rules_find_made(&rules, BYTES("/a/b/c.js")),
                     &rules.rules[1]);
    assert_null(dictionary_rules_find_used(NULL, BYTES("/a/b.js")));
}

TEST(nonsense_is_no_rule)
{
    static const char *const wrong[] = {"",       "a",       "/a?",   ":/a",
                                        "/a=",    "/a=b",    "/a=/*", "/a=/",
                                        "/a=/b/", "\x01:/a", "id:a",  "/a\\"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        if (!dictionary_rules_add(&rules, bytes_of(wrong[i])))
            fail_msg("'%s' is a rule", wrong[i]);
    assert_int_equal(rules.count, 0);
}

TEST(each_part_has_a_longest)
{
    char text[4 * DICTIONARY_PATH_BYTES_MAX];
    char *at = text;

    memset(at, '"', DICTIONARY_ID_BYTES_MAX);
    at += DICTIONARY_ID_BYTES_MAX;
    *at++ = ':';
    memset(at, '(', DICTIONARY_PATH_BYTES_MAX);
    *at = '/';
    at += DICTIONARY_PATH_BYTES_MAX;
    *at++ = '=';
    memset(at, ' ', DICTIONARY_PATH_BYTES_MAX);
    *at = '/';
    at += DICTIONARY_PATH_BYTES_MAX;
    assert_null(dictionary_rules_add(&rules, bytes_between(text, at)));
    assert_true(dictionary_rule_link(&rules.rules[0]).len >
                3 * (DICTIONARY_PATH_BYTES_MAX - 1));
    *at++ = ' ';
    assert_non_null(dictionary_rules_add(&rules, bytes_between(text, at)));
    memset(text, 'a', sizeof(text));
    text[0] = '/';
    assert_non_null(dictionary_rules_add(
        &rules, (struct bytes){text, DICTIONARY_PATH_BYTES_MAX + 1}));
    text[0] = 'a';
    text[DICTIONARY_ID_BYTES_MAX + 1] = ':';
    text[DICTIONARY_ID_BYTES_MAX + 2] = '/';
    assert_non_null(dictionary_rules_add(
        &rules, (struct bytes){text, DICTIONARY_ID_BYTES_MAX + 9}));
}

TEST(there_are_eight_at_most)
{
    for (int i = 0; i < DICTIONARY_RULES_MAX; i++)
        add("/a");
    assert_non_null(dictionary_rules_add(&rules, BYTES("/a")));
}
