/*
 * Rules before a proxy hold for what the server behind may read a path as, and
 * not only for what this one does.
 */
#include "configured.h"
#include "passwords.h"

static struct server *front;

E2E_BEGIN(start)
{
    site_text("../www/canary", "canary\n");
}

/* Before one that answers 404 to whatever is not the canary. */
static void start_front(const char *locations)
{
    struct server *behind = START(NULL);

    front = start_configured(printed("root = www\n"
                                     "proxy = \"/=http://127.0.0.1:%u\"\n"
                                     "site all {\n%s}\n",
                                     behind->port, locations));
}

struct reading {
    const char *target;
    unsigned status;
};

static void check(const struct reading *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        going_on("%s", cases[i].target);
        expect_status(get(front, cases[i].target), cases[i].status);
    }
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof(*(cases)))

TEST(what_another_server_may_read_as_denied_is_refused)
{
    static const struct reading cases[] = {
        {"/canary", 200},        {"/admin/x", 403},
        {"/admin;a=b/x", 400},   {"/admin;", 400},
        {"/admin;a=b", 400},     {"/;/admin/x", 400},
        {"/;a=b/;c/admin", 400}, {"/admin%3ba/x", 400},
        {"/admin%3B", 400},      {"/%61dmin;/x", 400},
        {"/admin\\x", 400},      {"/\\admin/x", 400},
        {"/admin%5cx", 400},     {"/%5Cadmin/x", 400},
        {"/a\\..\\admin", 400},  {"/x/..;/admin", 400},
        {"/admin;a\\x", 400},    {"/;b\\admin", 400},
        {"/..;/x", 400}, /* above the root */
        {"/exact;v=1", 400},     {"/;a%5cb\\admin", 400},
    };

    start_front("    location /admin { deny = {\"0.0.0.0/0\"} }\n"
                "    location \"= /exact\" { deny = {\"0.0.0.0/0\"} }\n");
    CHECK(cases);
}

/* Many a program makes a URL of what it is asked for and its own address: then
 * what begins with two slashes names another host. */
TEST(what_another_server_may_read_as_a_host_leads_nowhere_else)
{
    static const struct reading cases[] = {
        {"//x/admin", 400},         {"///x/admin/y", 400}, {"/\\x/admin", 400},
        {"//x\\admin", 400},        {"/%5cx/admin", 400},  {"//x;/admin", 400},
        {"//x/%61dmin", 400},       {"//x:80/admin", 400}, {"//admin/x", 403},
        {"//canary", 200},          {"//x//admin", 400},   {"//x/y/admin", 404},
        {"/canary?//x/admin", 200},
    };

    start_front("    location /admin { deny = {\"0.0.0.0/0\"} }\n");
    CHECK(cases);
}

/* What comes first then is what follows the prefix. */
TEST(a_host_may_stand_behind_a_prefix_that_is_cut_off)
{
    static const struct reading cases[] = {
        {"/app/admin", 403},   {"/app//x/admin", 400}, {"/app/canary", 200},
        {"/app//x/open", 404}, {"/app//canary", 200},
    };
    struct server *behind = START(NULL);

    front = start_configured(
        printed("root = www\n"
                "site all {\n"
                "    location /app { proxy = \"http://127.0.0.1:%u/\" }\n"
                "    location /app/admin { deny = {\"0.0.0.0/0\"} }\n"
                "}\n",
                behind->port));
    CHECK(cases);
}

TEST(what_no_rule_is_about_passes_as_it_is)
{
    static const struct reading cases[] = {
        {"/canary;jsessionid=1", 404}, {"/a\\b", 404},     {"/a%5Cb%3Bc", 404},
        {"/admins;a/x", 404},          {"/open;a/x", 404}, {"/x;/admin", 404},
        {"/canary?/admin;a\\b", 200},
    };

    start_front("    location /admin { deny = {192.0.2.1} }\n"
                "    location /open { header-set = \"X-A: b\" }\n");
    /* A path below the parameters of which there is one with a rule. */
    expect_status(get(front, "/x;/../admin"), 400);
    CHECK(cases);
}

TEST(rules_of_every_kind_count)
{
    static const char *const rules[] = {
        "allow = {127.0.0.0/8}",
        "deny = {192.0.2.1}",
        "rate-limit = 10/s",
        "max-body = 10",
        "respond = \"\" respond-status = 404",
        "auth-file = passwords",
    };

    site_text("../passwords", password_line("joe", "sesame", "$5$", 0));
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
        start_front(printed("location /admin { %s }\n", rules[i]));
        going_on("%s", rules[i]);
        expect_status(get(front, "/admin;a/x"), 400);
        expect_status(get(front, "/other;a/x"), 404);
        server_stop(front);
    }
}

/* No rule has admitted such a request when its path is looked at. */
TEST(a_long_path_with_many_readings_is_refused)
{
    static const struct {
        const char *begin;
        int len;
        unsigned status;
    } cases[] = {
        {"/a;b/", 4000, 404},       {"/a%5cb/", 4000, 404},
        {"/a//b/", 4000, 404},      {"/a;b\\c%5cd/", 300, 404},
        {"/a;b\\c%5cd/", 500, 400}, {"/a;b\\c/", 1000, 400},
        {"/a;b%3bc/", 2000, 400},   {"/a\\b//c/", 4000, 400},
    };
    char rest[4001];

    for (size_t i = 0; i + 1 < sizeof(rest); i++)
        rest[i] = i % 2 ? '/' : 'x';
    rest[sizeof(rest) - 1] = '\0';
    start_front("    location /admin { deny = {\"0.0.0.0/0\"} }\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("%s and %d bytes", cases[i].begin, cases[i].len);
        expect_status(get(front, printed("%s%.*s", cases[i].begin, cases[i].len,
                                         rest)),
                      cases[i].status);
    }
}

/* What answers there is a rule of its own. */
TEST(what_another_place_answers_is_not_read_here)
{
    static const struct reading cases[] = {
        {"/hid", 200},
        {"/hid;x", 400},
        {"/hid\\x", 400},
        {"/hid%5cx", 400},
        {"/files/canary", 200},
        {"/files;x/canary", 400},
        {"/none;x/canary", 400},
        {"/other;x/a", 400},
        {"/_s;x/health", 400},
        {"/kv;x/a", 400},
        {"/same;x/a", 404},
        {"/same/a;x", 404},
        {"/canary;x", 404},
        {"/other/a;x/b", 502},
        {"/x;/y\\z", 404},
        {"/;x%5cy/%5chid/a", 400},
        {"/;x\\y/\\hid/a", 400},
        {"/\\h;p\\q/hid/a", 400},
        {"/%5ch;p%5cq/hid/a", 400},
        {"//h%5cx/%5chid/a", 400},
    };
    struct server *behind = START(NULL);

    site_text("../www/files/canary", "canary\n");
    front = start_configured(
        printed("root = www\n"
                "status = /_s\n"
                "kv = \"/kv=%s/store\"\n"
                "proxy = {\"/=http://127.0.0.1:%u\"}\n"
                "site all {\n"
                "    location /hid { respond = \"x\" }\n"
                "    location /files { proxy = {} }\n"
                "    location /none { try-files = \"$path\" }\n"
                "    location /other { proxy = \"http://127.0.0.1:1\" }\n"
                "    location /same { header-set = \"X-A: b\" }\n"
                "}\n",
                folder(), behind->port));
    CHECK(cases);
}

/* Rules that are the same on both sides are the same for every reading. */
TEST(inherited_rules_are_no_stricter)
{
    start_front("deny = {192.0.2.1}\n"
                "location /admin { header-set = \"X-A: b\" }\n");
    expect_status(get(front, "/admin;a/x"), 404);
}

/* Nobody reads a file's name in another way. */
TEST(files_may_have_such_names)
{
    struct server *one;

    site_text("../www/a;b", "file\n");
    one = start_configured("root = www\n"
                           "site all {\n"
                           "    location /a { deny = {\"0.0.0.0/0\"} }\n"
                           "}\n");
    expect_status(get(one, "/a;b"), 200);
    expect_status(get(one, "/a"), 403);
}

E2E_SUITE(start);
