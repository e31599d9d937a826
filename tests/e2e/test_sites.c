/*
 * Sites by the host that is asked for, their locations by path, and the files
 * in these: each has what the configuration says of it, and nothing else.
 */
#include "configured.h"

static struct server *server;

static const char hosts_conf[] =
    "root = www/site\n"
    "site exact { hosts = {one.example, 192.0.2.1} root = www/exact }\n"
    "site below { hosts = {\"*.one.example\"} root = www/below }\n"
    "site deeper { hosts = {\"*.a.one.example\"} root = www/deeper }\n"
    "site six { hosts = {\"[2001:db8::1]\"} root = www/six }\n"
    "site rest { root = www/rest }\n"
    "site places {\n"
    "    hosts = {places.example}\n"
    "    root = www/places\n"
    "    location /a { root = www/a }\n"
    "    location /a/b { root = www/b }\n"
    "    location \"= /a/b/exact\" { root = www/exactly }\n"
    "    location \"/with space\" { root = www/space }\n"
    "    location /alias { root = www/a/a strip-prefix = yes }\n"
    "    location /list { autoindex = yes index = start.htm }\n"
    "    location /list/closed { autoindex = no }\n"
    "    location /hidden { show-hidden = yes }\n"
    "    location /packed { header-set = \"X-Place: packed\" }\n"
    "}\n";

static void name_file(const char *root, const char *name)
{
    site_text(printed("../www/%s/%s", root, name), root);
}

E2E_BEGIN(start)
{
    static const char *const roots[] = {"site", "exact", "below", "deeper",
                                        "six",  "rest",  "places"};

    for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
        name_file(roots[i], "f");
    name_file("a", "a/f");
    name_file("a", "a/b/f");
    name_file("a", "a/sub/index.html");
    name_file("b", "a/b/f");
    name_file("b", "a/b/exact");
    name_file("exactly", "a/b/exact");
    name_file("space", "with space/f");
    name_file("places", "ab/f");
    name_file("places", "index.html");
    name_file("places", "list/one");
    name_file("places", "list/index.html");
    name_file("places", "list/started/start.htm");
    name_file("places", "list/closed/one");
    name_file("places", "hidden/.f");
    name_file("places", ".f");
    site_seeded("../www/places/packed/app.js", 1, 50000);
    site_seeded("../www/places/packed/app.js.gz", 2, 20000);
    server = start_configured(hosts_conf);
}

/* --- Sites ---------------------------------------------------------------- */

TEST(a_host_leads_to_its_site)
{
    static const struct {
        const char *host;
        const char *root;
    } cases[] = {
        {"one.example", "exact"},
        {"ONE.Example", "exact"},
        {"one.example.", "exact"},
        {"one.example:80", "exact"},
        {"one.example:65535", "exact"},
        {"192.0.2.1", "exact"},
        {"192.0.2.1:8080", "exact"},
        {"www.one.example", "below"},
        {"b.c.One.Example:81", "below"},
        {"a.one.example", "below"},
        {"x.a.one.example", "deeper"},
        {"x.y.a.one.example", "deeper"},
        {"xone.example", "rest"},
        {"[2001:db8::1]", "six"},
        {"[2001:DB8::1]:8080", "six"},
        {"[2001:db8::2]", "rest"},
        {"192.0.2.2", "rest"},
        {"two.example", "rest"},
        {"example", "rest"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply;

        going_on("host '%s'", cases[i].host);
        reply = get_host(server, cases[i].host, "/f");
        expect_status(reply, 200);
        expect_body(reply, cases[i].root);
    }
}

/* RFC 9112 3.2.2: what stands in the request line wins over Host. */
TEST(an_absolute_target_names_the_site)
{
    struct reply *reply;

    reply = get_host(server, "two.example", "http://one.example/f");
    expect_body(reply, "exact");
    reply = get_host(server, "one.example", "http://X.a.one.example:80/f");
    expect_body(reply, "deeper");
}

TEST(one_connection_may_ask_several_sites)
{
    struct client *client = client_open(server);

    client_say(client, "GET /f HTTP/1.1\r\nHost: one.example\r\n\r\n"
                       "GET /f HTTP/1.1\r\nHost: w.one.example\r\n\r\n"
                       "GET /f HTTP/1.0\r\n\r\n");
    expect_body(client_reply(client), "exact");
    expect_body(client_reply(client), "below");
    expect_body(client_reply(client), "rest");
    client_expect_end(client);
}

TEST(a_site_has_no_files_of_others)
{
    expect_status(get_host(server, "one.example", "/ab/f"), 404);
    expect_status(get_host(server, "one.example", "/a/f"), 404);
    expect_status(get_host(server, "places.example", "/../exact/f"), 400);
    expect_status(get_host(server, "places.example", "/%2e%2e/exact/f"), 400);
}

/* --- Locations ------------------------------------------------------------ */

TEST(the_longest_prefix_decides)
{
    static const struct {
        const char *target;
        unsigned status;
        const char *root;
    } cases[] = {
        {"/f", 200, "places"},
        {"/a/f", 200, "a"},
        {"/a/b/f", 200, "b"},
        {"/ab/f", 200, "places"}, /* prefixes end where segments do */
        {"/a/bf", 404, NULL},
        {"/a/b/exact", 200, "exactly"},
        {"/a/b/exact?query", 200, "exactly"},
        {"/A/f", 404, NULL}, /* case counts in paths */
        {"/with%20space/f", 200, "space"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply;

        going_on("%s", cases[i].target);
        reply = get_host(server, "places.example", cases[i].target);
        expect_status(reply, cases[i].status);
        if (cases[i].root)
            expect_body(reply, cases[i].root);
    }
}

TEST(another_spelling_is_the_same_location)
{
    static const char *const spellings[] = {
        "/a/b/f",      "/%61/b/f",   "/a/./b/f",     "//a//b///f",
        "/x/../a/b/f", "/a/%2e/b/f", "/a/b/c/../f",  "/a/x/%2E%2e/b/f",
        "/a/b/f?/a/f", "/a/b/%66",   "/./a/b/././f",
    };

    for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++) {
        struct reply *reply;

        going_on("%s", spellings[i]);
        reply = get_host(server, "places.example", spellings[i]);
        expect_status(reply, 200);
        expect_body(reply, "b");
    }
    /* And out of it again. */
    expect_body(get_host(server, "places.example", "/a/b/../f"), "a");
    expect_body(get_host(server, "places.example", "/a/b/../../f"), "places");
}

TEST(a_prefix_can_be_stripped)
{
    struct reply *reply;

    expect_body(get_host(server, "places.example", "/alias/f"), "a");
    expect_status(get_host(server, "places.example", "/alias/alias/f"), 404);
    expect_body(get_host(server, "places.example", "/alias/sub/"), "a");
    reply = get_host(server, "places.example", "/alias/sub?q=1");
    expect_status(reply, 301);
    expect_field(reply, "Location", "/alias/sub/?q=1");
    reply = get_host(server, "places.example", "/alias");
    expect_status(reply, 301);
    expect_field(reply, "Location", "/alias/");
    expect_status(get_host(server, "places.example", "/alias/../../f"), 400);
}

/* --- Directories ---------------------------------------------------------- */

TEST(index_and_listings_go_by_location)
{
    struct reply *reply;

    reply = get_host(server, "places.example", "/");
    expect_body(reply, "places"); /* index.html */
    reply = ask_host(server, "GET", "places.example", "/list/",
                     "Accept: application/json\r\n");
    expect_status(reply, 200);
    assert_non_null(memmem(reply->body, reply->body_len, "\"one\"", 5));
    assert_non_null(memmem(reply->body, reply->body_len, "index.html", 10));
    expect_body(get_host(server, "places.example", "/list/started/"), "places");
    expect_status(get_host(server, "places.example", "/list/closed/"), 403);
    expect_body(get_host(server, "places.example", "/list/closed/one"),
                "places");
    expect_status(get_host(server, "places.example", "/ab/"), 403);
}

TEST(hidden_files_go_by_location)
{
    expect_status(get_host(server, "places.example", "/.f"), 404);
    expect_body(get_host(server, "places.example", "/hidden/.f"), "places");
    expect_status(get_host(server, "places.example", "/hidden/../.f"), 404);
}

/* --- Files in locations --------------------------------------------------- */

TEST(what_files_can_do_they_do_in_locations)
{
    static const char target[] = "/packed/app.js";
    struct reply *reply;
    const char *etag;

    reply = get_host(server, "places.example", target);
    expect_seeded(reply, 1, 0, 50000);
    expect_field(reply, "X-Place", "packed");
    expect_field(reply, "Vary", "Accept-Encoding");
    etag = reply_field(reply, "ETag");
    reply = ask_host(server, "GET", "places.example", target,
                     printed("If-None-Match: %s\r\n", etag));
    expect_status(reply, 304);
    expect_field(reply, "ETag", etag);
    expect_field(reply, "X-Place", "packed");
    reply = ask_host(server, "GET", "places.example", target,
                     "Accept-Encoding: gzip\r\n");
    expect_field(reply, "Content-Encoding", "gzip");
    expect_seeded(reply, 2, 0, 20000);
    expect_field(reply, "X-Place", "packed");
    assert_string_not_equal(reply_field(reply, "ETag"), etag);
    reply = ask_host(server, "GET", "places.example", target,
                     "Range: bytes=40000-40999\r\n");
    expect_status(reply, 206);
    expect_field(reply, "Content-Range", "bytes 40000-40999/50000");
    expect_field(reply, "X-Place", "packed");
    expect_seeded(reply, 1, 40000, 1000);
    reply = ask_host(server, "GET", "places.example", target,
                     "Accept-Encoding: gzip\r\nRange: bytes=-10\r\n");
    expect_status(reply, 206);
    expect_seeded(reply, 2, 19990, 10);
    reply = ask_host(server, "GET", "places.example", target,
                     "Range: bytes=50000-\r\n");
    expect_status(reply, 416);
    expect_field(reply, "X-Place", "packed");
    reply = ask_host(server, "HEAD", "places.example", target, NULL);
    expect_status(reply, 200);
    assert_int_equal(reply->length, 50000);
    expect_field(reply, "X-Place", "packed");
}

TEST(a_site_without_a_root_has_nothing)
{
    struct server *one =
        start_configured("site bare { location /f { root = www/site } }\n");

    expect_body(get(one, "/f"), "site");
    expect_status(get(one, "/"), 404);
    expect_status(get(one, "/g"), 404);
}

TEST(the_first_site_serves_whom_none_is_for)
{
    struct server *one =
        start_configured("site first { hosts = a.example root = www/exact }\n"
                         "site second { hosts = b.example root = www/six }\n");

    expect_body(get_host(one, "b.example", "/f"), "six");
    expect_body(get_host(one, "c.example", "/f"), "exact");
}

E2E_SUITE(start);
