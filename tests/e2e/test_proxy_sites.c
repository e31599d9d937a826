/*
 * Proxies that sites and locations have for themselves, and those that are all
 * there is to serve.
 */
#include <sys/stat.h>

#include "configured.h"
#include "json.h"
#include "origin.h"

/* --- All there is -------------------------------------------------------- */

/* A folder without a www, where somebody tries the first command. */
static const char *empty_folder(void)
{
    const char *path = printed("%s/empty", folder());

    if (mkdir(path, 0755) == -1 && access(path, F_OK) == -1)
        flunk("mkdir");
    return path;
}

static struct server *start_empty(const char *argument, const char *other)
{
    struct launch launch = {.root = "", .folder = empty_folder()};

    return server_start(&launch, (const char *const[]){argument, other, NULL});
}

TEST(a_proxy_needs_no_root)
{
    struct origin *origin = origin_start("alone");
    const char *rule = printed("proxy = {\"/=%s\"}\n", origin->at);
    struct outcome outcome;

    expect_body(get_host(start_empty(printed("--proxy=/=%s", origin->at), NULL),
                         "a", "/name"),
                "alone");
    expect_body(get_host(start_empty(printed("--proxy=%s", origin->at), NULL),
                         "a", "/name"),
                "alone");
    expect_body(get_host(start_configured(rule), "a", "/name"), "alone");
    RUN(&outcome, "-t", "-c", configuration(rule));
    assert_int_equal(outcome.status, 0);
    expect_status(get_host(start_empty("--proxy=/app=http://127.0.0.1:1",
                                       "--kv=/kv=../data"),
                           "localhost", "/kv/?limit=1"),
                  200);
    server_run(&(struct launch){.root = "",
                                .is_bare = true,
                                .folder = empty_folder()},
               (const char *const[]){"--port=0", NULL}, &outcome);
    assert_int_equal(outcome.status, 66);
    assert_non_null(strstr(outcome.err, "DOCROOT 'www'"));
}

/* --- Of sites and locations ---------------------------------------------- */

TEST(each_host_has_a_backend)
{
    struct origin *a = origin_start("a");
    struct origin *b = origin_start("b");
    struct origin *c = origin_start("c");
    struct reply *reply;
    struct server *server;

    site_text("../www/canary", "files\n");
    server = start_configured(
        printed("proxy = %s\n"
                "site one { hosts = {one.example} proxy = %s\n"
                "    location /c { proxy = %s/ }\n"
                "    location /c/files { root = www strip-prefix = yes }\n"
                "    location \"= /c/no\" { deny = 127.0.0.0/8 }\n"
                "}\n"
                "site files { hosts = {files.example} proxy = {} root = www }\n"
                "site rest { header-set = \"X-Site: rest\" }\n",
                a->at, b->at, c->at));
    expect_body(get_host(server, "one.example", "/name"), "b");
    expect_body(get_host(server, "one.example", "/c/name"), "c");
    expect_status(get_host(server, "one.example", "/c/no"), 403);
    expect_status(get_host(server, "one.example", "/c/files/nothing"), 404);
    expect_body(get_host(server, "files.example", "/canary"), "files\n");
    reply = get_host(server, "two.example", "/name");
    expect_body(reply, "a");
    assert_true(reply_says(reply, "X-Site", "rest"));
    origin_check(a);
    origin_check(b);
    origin_check(c);
}

TEST(each_is_told_of_by_its_name)
{
    struct origin *origin = origin_start("a");
    struct server *server;
    const char *body;

    site_text("../www/canary", "files\n");
    server = start_configured(
        printed("status = /_s\n"
                "site one { hosts = {one.example} proxy = \"/app=%s\" }\n"
                "site two { root = www location \"= /x\" { proxy = %s } }\n",
                origin->at, origin->at));
    expect_status(get_host(server, "one.example", "/app/name"), 404);
    expect_status(get_host(server, "two.example", "/x"), 404);
    body = get_host(server, "127.0.0.1", "/_s/metrics")->body;
    assert_non_null(strstr(
        body,
        printed("sprintd_upstream_requests_total{proxy=\"one:/app\",server=\""
                "127.0.0.1:%u\"} 1\n",
                origin->port)));
    assert_non_null(strstr(
        body,
        printed("sprintd_upstream_requests_total{proxy=\"two:= /x\",server=\""
                "127.0.0.1:%u\"} 1\n",
                origin->port)));
}

TEST(what_cannot_be_is_told_with_its_line)
{
    const char *path = configuration("root = /\n"
                                     "site one {\n"
                                     "    proxy = \"/app=http://127.0.0.1:1\"\n"
                                     "    location /app {\n"
                                     "        proxy = http://127.0.0.1:2\n"
                                     "    }\n"
                                     "}\n");
    struct outcome outcome;

    RUN(&outcome, "-c", path);
    assert_int_equal(outcome.status, 78);
    assert_string_equal(
        outcome.err,
        printed("%s:5: site \"one\": location \"/app\": proxy "
                "'http://127.0.0.1:2' has a prefix that is taken already\n",
                path));
}

static const char *two_sites(const struct origin *one, const struct origin *two)
{
    return printed("site one { hosts = {one.example} proxy = %s }\n"
                   "site two { hosts = {two.example} proxy = %s }\n",
                   one->at, two->at);
}

/* What is under way ends where it began; servers of proxies that are as they
 * were keep their counts. */
TEST(a_reload_moves_a_site_to_another_backend)
{
    struct origin *a = origin_start("a");
    struct origin *b = origin_start("b");
    struct server *server = start_configured(two_sites(a, b));

    expect_body(get_host(server, "one.example", "/name"), "a");
    expect_body(get_host(server, "two.example", "/name"), "b");
    configuration(two_sites(b, b));
    server_signal(server, 1);
    assert_true(eventually(
        strcmp(get_host(server, "one.example", "/name")->body, "b") == 0,
        10000));
    expect_body(get_host(server, "two.example", "/name"), "b");
}

TEST(a_dump_says_the_same)
{
    const char *text = "site one {\n    hosts = {one.example}\n"
                       "    proxy = http://127.0.0.1:1\n"
                       "    location /x { proxy = {} respond = x }\n}\n";
    struct outcome outcome;

    RUN(&outcome, "-T", "-c", configuration(text));
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out,
                           "\n    proxy = {\"http://127.0.0.1:1\"} "));
    assert_non_null(strstr(outcome.out, "\n        proxy = {} "));
}

SUITE(.begin = harness_begin, .end = harness_end,
      .each_end = origins_after_test);
