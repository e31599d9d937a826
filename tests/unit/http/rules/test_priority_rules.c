#include "http/rules/priority_rules.h"

#include "unit/http/rules/rules_fixture.h"

RULES(priority)

/* As RFC 9218 would have it; "": nothing. */
static void expect(const char *path, const char *expected)
{
    struct priority_said said = priority_rules_find(&rules, bytes_of(path));
    char text[16] = "";

    if (said.has_urgency)
        snprintf(text, sizeof(text), "u=%u", said.urgency);
    if (said.has_turns)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "i=%d",
                 said.is_incremental);
    if (strcmp(text, expected) != 0)
        fail_msg("%s: '%s'", path, text);
}

TEST(the_first_rule_by_name_or_path_decides)
{
    expect("/a.css", "");
    add("/late/** u=7");
    add("*.css u=1");
    add("*.css u=2");
    add("  *.jpg \t u=5, i  ");
    expect("/a.css", "u=1");
    expect("/a/b.css", "u=1");
    expect("/late/b.css", "u=7");
    expect("/a.jpg", "u=5i=1");
    expect("/a.CSS", "");
    expect("/", "");
}

TEST(urgency_and_turns_may_be_said)
{
    static const char *const good[][2] = {
        {"* u=0", "u=0"},           {"* u=7", "u=7"},  {"* i", "i=1"},
        {"* i=?0", "i=0"},          {"* i=?1", "i=1"}, {"* i,u=3", "u=3i=1"},
        {"* u=3 ,\ti=?0", "u=3i=0"}};

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        clear(NULL);
        add(good[i][0]);
        expect("/a", good[i][1]);
    }
}

TEST(what_is_no_pattern_and_priority_is_refused)
{
    static const char *const bad[] = {
        "",         "*.css",     "u=1",       "* u=8",  "* u=",    "* u=11",
        "* u=-1",   "* U=1",     "* u = 1",   "* u=1,", "* ,u=1",  "* u=1,u=1",
        "* i,i",    "* u=1,i,i", "* i=1",     "* i=?2", "* u=1 i", "* u=1;i",
        "* u=1, x", "* urgent",  "* u=1\r\n", "\\ u=1"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (!priority_rules_add(&rules, bytes_of(bad[i])))
            fail_msg("'%s' is taken", bad[i]);
    assert_int_equal(rules.count, 0);
}

TEST(there_are_only_so_many)
{
    for (int i = 0; i < PRIORITY_RULES_MAX; i++)
        add("*.css u=1");
    assert_non_null(priority_rules_add(&rules, BYTES("*.css u=1")));
}

SUITE(.each_begin = clear);
