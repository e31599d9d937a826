#include "handler/redirect.h"

#include "unit/handler/asked.h"

static struct redirect_rules rules;
static struct forwarded_trust trust;
static const char *fields = "";
static struct address neighbour;

static int set_up(void **state)
{
    rules = (struct redirect_rules){0};
    trust = (struct forwarded_trust){.field = FORWARDED_NONE};
    neighbour = (struct address){.family = ADDRESS_IPV4};
    fields = "";
    return begin_asking(state);
}

static void add(const char *from, const char *to)
{
    const char *fault = redirect_rules_add(&rules, bytes_of(from), bytes_of(to),
                                           0);

    if (fault)
        fail_msg("'%s' to '%s' %s", from, to, fault);
}

/* Asks for a target; whether a rule leads elsewhere from there. */
static bool get(const char *target)
{
    static char line[HTTP1_LINE_BYTES_MAX];
    static char room[HTTP1_LINE_BYTES_MAX];
    struct path path;

    snprintf(line, sizeof(line), "GET %s", target);
    ask(line, fields);
    exchange.neighbour = &neighbour;
    assert_true(path_clean(exchange.request.path, room, &path));
    return redirect_answer(&rules, &exchange, path.clean, &trust, &defaults);
}

static const char *location_of(const char *target)
{
    static char location[RESPONSE_HEAD_BYTES_MAX];
    const char *at;

    if (!get(target))
        return "nowhere";
    at = strstr(answer_text(), "\r\nLocation: ");
    assert_non_null(at);
    at += strlen("\r\nLocation: ");
    snprintf(location, sizeof(location), "%.*s", (int)strcspn(at, "\r\n"), at);
    return location;
}

/* With that one rule. */
static void assert_leads(const char *from, const char *to, const char *target,
                         const char *expected)
{
    rules.count = 0;
    add(from, to);
    if (strcmp(location_of(target), expected) != 0)
        fail_msg("'%s' to '%s' leads %s to %s", from, to, target,
                 location_of(target));
}

TEST(a_path_that_matches_leads_to_the_target)
{
    add("/old/*", "/new/$1");
    assert_true(get("/old/a.html"));
    assert_int_equal(exchange.response.status, 308);
    assert_has("HTTP/1.1 308 Permanent Redirect\r\n" BEGIN
               "Location: /new/a.html\r\nContent-Type: ");
    assert_false(get("/old/a/b"));
    assert_int_equal(exchange.response.bytes_left, 0);
}

TEST(the_first_rule_that_matches_decides)
{
    add("/a/b", "/1");
    add("/a/*", "/2");
    add("/**", "https://x.example/$1");
    assert_string_equal(location_of("/a/b"), "/1");
    assert_string_equal(location_of("/a/c"), "/2");
    assert_string_equal(location_of("/b/c/d"), "https://x.example/b/c/d");
}

TEST(every_status_of_a_redirect_can_be_asked_for)
{
    static const unsigned statuses[] = {301, 302, 303, 307, 308};
    static const unsigned faulty[] = {1, 200, 300, 304, 305, 306, 309, 65844};

    for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
        rules.count = 0;
        assert_null(redirect_rules_add(&rules, BYTES("/a"), BYTES("/b"),
                                       statuses[i]));
        assert_true(get("/a"));
        assert_int_equal(exchange.response.status, statuses[i]);
    }
    for (size_t i = 0; i < sizeof(faulty) / sizeof(*faulty); i++)
        assert_non_null(redirect_rules_add(&rules, BYTES("/a"), BYTES("/b"),
                                           faulty[i]));
}

TEST(captures_come_where_they_are_named)
{
    assert_leads("/*/*.html", "/$2/$1", "/a/b.html", "/b/a");
    assert_leads("/*-*", "/x/$1/$1", "/a-b", "/x/a/a");
    assert_leads("/a*", "/x$$1", "/ab", "/x$1");
    assert_leads("/old/**", "https://n.example/$1", "/old/a/b/",
                 "https://n.example/a/b/");
    assert_leads("/old/**", "https://n.example:8443", "/old/a",
                 "https://n.example:8443");
    assert_leads("/old/**", "HTTP://[::1]/$1", "/old/a", "HTTP://[::1]/a");
}

TEST(what_leads_elsewhere_is_known_before)
{
    rules = (struct redirect_rules){0};
    assert_false(redirect_leads(&rules, BYTES("/a")));
    assert_null(redirect_rules_add(&rules, BYTES("/a"), BYTES("/b"), 0));
    assert_null(redirect_rules_add(&rules, BYTES("/c/*"), BYTES("/d"), 0));
    assert_true(redirect_leads(&rules, BYTES("/a")));
    assert_true(redirect_leads(&rules, BYTES("/c/x")));
    assert_false(redirect_leads(&rules, BYTES("/c/x/y")));
}

TEST(the_query_is_kept)
{
    assert_leads("/a/*", "/b/$1", "/a/x?q=1&r=%20", "/b/x?q=1&r=%20");
    assert_leads("/a/*", "/b/$1", "/a/x?q=100%&r=%zz", "/b/x?q=100%&r=%zz");
    assert_leads("/a/*", "/b/$1", "/a/x?q#r", "/b/x?q%23r");
    assert_leads("/a/*", "/b#$1", "/a/x?\xC3\xA9", "/b?%C3%A9#x");
    assert_leads("/a/*", "/b/$1", "/a/x?", "/b/x");
    assert_leads("/a/*", "/b?p=$1", "/a/x?q=1", "/b?p=x&q=1");
    assert_leads("/a/*", "/b?p=$1", "/a/x", "/b?p=x");
    assert_leads("/a/*", "/b?", "/a/x?q", "/b?q");
    assert_leads("/a/*", "/b#$1", "/a/x?q=1", "/b?q=1#x");
    assert_leads("/a/*", "/b?p#f?x", "/a/x?q", "/b?p&q#f?x");
    assert_leads("/a", "https://x.example", "/a?q", "https://x.example?q");
}

TEST(no_capture_ends_the_part_it_gets_into)
{
    assert_leads("/a/*", "/b/$1", "/a/%0D%0AEvil:%20x", "/b/%0D%0AEvil%3A%20x");
    assert_leads("/a/*", "/b/$1", "/a/x%3Fy%23z%25", "/b/x%3Fy%23z%25");
    assert_leads("/a/*", "/b?p=$1&r", "/a/x&y=z+%23", "/b?p=x%26y%3Dz%2B%23&r");
    assert_leads("/a/*", "/b#$1", "/a/x%0Ay%C3%A9", "/b#x%0Ay%C3%A9");
    assert_leads("/a/*", "/b/$1", "/a/$1", "/b/$1");
}

TEST(no_capture_names_another_host)
{
    assert_leads("/old/**", "$1", "/old/evil.example", "/evil.example");
    assert_leads("/old**", "$1", "/old//evil.example", "/evil.example");
    assert_leads("/old**", "/$1", "/old/evil.example", "/evil.example");
    assert_leads("/old/*", "/$1", "/old/%5Cevil.example", "/%5Cevil.example");
    assert_leads("/old/*", "$1", "/old/%5C%5Cevil.example",
                 "/%5C%5Cevil.example");
    assert_leads("/old/*", "$1", "/old/http:%5Cx", "/http%3A%5Cx");
    assert_leads("/old**/*/x", "/$1/$2", "/old/e/f/x", "/e/f");
    assert_leads("/old*/*", "/$1/$2", "/old/evil.example", "/evil.example");
    assert_leads("/old/*", "$1", "/old/", "/");
}

TEST(a_target_that_lets_a_request_choose_the_host_is_refused)
{
    static const char *const faulty[] = {"https://$1",
                                         "https://$1/",
                                         "http://a.$1.example/x",
                                         "https://a.example$1",
                                         "https://$1@b.example",
                                         "https://a@b.example/",
                                         "//$1",
                                         "//a.example/",
                                         "https://",
                                         "https:///x",
                                         "https:/x",
                                         "ftp://a/$1",
                                         "javascript:alert($1)",
                                         "new/$1",
                                         "?a"};

    for (size_t i = 0; i < sizeof(faulty) / sizeof(*faulty); i++)
        if (!redirect_rules_add(&rules, BYTES("/old/*"), bytes_of(faulty[i]),
                                0))
            fail_msg("'%s' is a target", faulty[i]);
    assert_int_equal(rules.count, 0);
}

/* --- What is asked for ---------------------------------------------------- */

TEST(a_target_may_have_what_is_asked_for)
{
    assert_leads("/**", "https://$host$path", "/a/b%20c?d=%20e",
                 "https://h/a/b%20c?d=%20e");
    assert_leads("/**", "https://www.$host/x$path", "/a", "https://www.h/x/a");
    assert_leads("/**", "https://other.example$path", "/a//b/../c",
                 "https://other.example/a/c");
    assert_leads("/a", "$scheme://$host:8080/b", "/a", "http://h:8080/b");
    assert_leads("/a*", "/b?to=$path&on=$host#$1$$", "/a&b",
                 "/b?to=/a%26b&on=h#%26b$");
}

TEST(the_query_goes_where_it_is_said)
{
    assert_leads("/a", "/b?x=1&$query&y", "/a?c=d", "/b?x=1&c=d&y");
    assert_leads("/a", "/b?$query", "/a?c=d", "/b?c=d");
    assert_leads("/a", "/b?$query", "/a", "/b");
    assert_leads("/a", "/b?$query#f", "/a?", "/b#f");
}

TEST(who_has_come_by_the_scheme_goes_on)
{
    struct cidr proxy = {.family = ADDRESS_IPV4, .bits = 32};

    add("/**", "https://$host$path");
    fields = "X-Forwarded-Proto: https\r\n";
    assert_true(get("/a")); /* nobody is believed */
    trust.blocks = &proxy;
    trust.block_count = 1;
    assert_false(get("/a"));
    fields = "X-Forwarded-Proto: http\r\n";
    assert_true(get("/a"));
    fields = "X-Forwarded-Proto: https, http\r\n";
    assert_true(get("/a"));
    rules.count = 0;
    add("/a", "$scheme://id.example/");
    fields = "X-Forwarded-Proto: HTTPS\r\n";
    assert_string_equal(location_of("/a"), "https://id.example/");
}

TEST(a_host_that_is_no_name_is_not_sent_back)
{
    add("/a", "https://$host/b");
    ask("GET http://h.example:81/a", "");
    exchange.neighbour = &neighbour;
    assert_true(redirect_answer(&rules, &exchange, BYTES("/a"), &trust,
                                &defaults));
    assert_has("\r\nLocation: https://h.example/b\r\n");
    ask("GET http://[2001:db8::1]:81/a", "");
    assert_true(redirect_answer(&rules, &exchange, BYTES("/a"), &trust,
                                &defaults));
    assert_has("\r\nLocation: https://[2001:db8::1]/b\r\n");
    ask("GET http://h'h/a", "");
    assert_true(redirect_answer(&rules, &exchange, BYTES("/a"), &trust,
                                &defaults));
    assert_int_equal(exchange.response.status, 400);
    exchange.request.host = BYTES("");
    response_fini(&exchange.response);
    response_init(&exchange.response, &exchange.room.response);
    assert_true(redirect_answer(&rules, &exchange, BYTES("/a"), &trust,
                                &defaults));
    assert_int_equal(exchange.response.status, 400);
}

TEST(what_is_no_rule_is_refused)
{
    static const char *const faulty[][2] = {
        {"", "/b"},
        {"a", "/b"},
        {"/a/***", "/b"},
        {"/a", ""},
        {"/a", "/$1"},
        {"/*", "/b/$2"},
        {"/*", "/b/$"},
        {"/*", "/b/$x"},
        {"/*", "/b/$0"},
        {"/a", "/b c"},
        {"/a", "/b\r\nx"},
        {"/a", "/\xC3\xA9"},
        {"/a", "/$query"},
        {"/a", "/b?c#$query"},
        {"/a", "/$hosts"},
        {"/*", "https://$1$path"},
        {"/*", "https://$path"},
        {"/*", "https://a.$query/"},
        {"/*", "$scheme:/x"},
        {"/*", "$scheme://$scheme/"},
        {"/*", "https://a@$host/"},
        {"/a", "/b\"c"},
        {"/a", "/b\\c"},
        {"/a", "/<b>"},
    };
    char target[REDIRECT_TARGET_MAX + 2] = "/";

    for (size_t i = 0; i < sizeof(faulty) / sizeof(*faulty); i++)
        if (!redirect_rules_add(&rules, bytes_of(faulty[i][0]),
                                bytes_of(faulty[i][1]), 0))
            fail_msg("'%s' to '%s' is a rule", faulty[i][0], faulty[i][1]);
    memset(target + 1, 'x', REDIRECT_TARGET_MAX);
    assert_non_null(redirect_rules_add(&rules, BYTES("/a"), bytes_of(target),
                                       0));
    target[REDIRECT_TARGET_MAX] = '\0';
    add("/a", target);
    while (rules.count < REDIRECT_RULES_MAX)
        add("/a", "/b");
    assert_non_null(redirect_rules_add(&rules, BYTES("/a"), BYTES("/b"), 0));
}

TEST(what_leads_to_itself_for_ever_is_refused)
{
    static const char *const endless[][2] = {
        {"/a", "/a"},
        {"/a", "/a?x=1"},
        {"/**", "/new/$1"},
        {"/old/*", "/old/x"},
        {"/*", "/$1"},
        {"/*", "$1"},
        {"/*/*", "/x/$1"},
        {"**", "/x$1"},
        {"/old/**", "/old/v2/$1"},
        {"/old/*", "/old/#f"},
        {"/old**", "//$1"},
        {"/a", "$path"},
        {"/**", "/new$path"},
        {"/**", "$scheme://$host$path"},
        {"/a", "$scheme://$host/a"},
        {"/**", "$scheme://$host"},
    };

    for (size_t i = 0; i < sizeof(endless) / sizeof(*endless); i++)
        if (!redirect_rules_add(&rules, bytes_of(endless[i][0]),
                                bytes_of(endless[i][1]), 0))
            fail_msg("'%s' to '%s' is taken", endless[i][0], endless[i][1]);
    add("/*/index.html", "/$1/");
    add("/x*", "/$1");
    add("/old/*", "https://same.example/old/$1");
    add("/old/*", "/new$path");
    add("/**", "$scheme://$host:81$path");
}

/* A head has to have room for it. */
TEST(what_would_be_too_long_to_send_is_414)
{
    static char target[8001];

    add("/*", "/x/$1/$1/$1/$1/$1");
    memset(target, 'a', sizeof(target) - 1);
    *target = '/';
    assert_true(get(target));
    assert_int_equal(exchange.response.status, 414);
    target[5000] = '\0';
    assert_true(get(target));
    assert_int_equal(exchange.response.status, 308);
    assert_int_equal(strlen(location_of(target)), 2 + 5 * 5000);
}

/* Every byte that a path can have, in every place of a target. */
TEST(whatever_is_captured_the_location_is_one_line)
{
    static const char *const targets[] = {"$1", "/$1", "/b?$1", "/b#$1",
                                          "https://x.example/$1"};

    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        rules.count = 0;
        add("/old/**", targets[i]);
        for (unsigned byte = 1; byte < 256; byte++) {
            char target[50];
            const char *location;

            if (byte == '/' || byte == '.')
                continue;
            snprintf(target, sizeof(target), "/old/%%%02X%%%02X", byte, byte);
            location = location_of(target);
            if (strspn(location,
                       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                       "0123456789-._~:/?#$!()*+,;=%") != strlen(location) ||
                location[1] == '/' ||
                (i == 4 && strncmp(location, "https://x.example/", 18) != 0))
                fail_msg("%s by '%s': %s", target, targets[i], location);
        }
    }
}

SUITE(.each_begin = set_up, .each_end = end_asking);
