/*
 * What locations answer besides the file that is asked for: pages of
 * single-page apps, error pages, redirects, fixed texts.
 */
#include "configured.h"

static struct server *server;

static const char answers_conf[] =
    "root = www\n"
    "site app {\n"
    "    hosts = {app.example}\n"
    "    root = www/app\n"
    "    cache-control = \"max-age=9\"\n"
    "    try-files = {\"$path\", \"$path.html\", \"/index.html\"}\n"
    "    location /docs { try-files = {\"$path/start.html\", \"=410\"} }\n"
    "}\n"
    "site errors {\n"
    "    hosts = {errors.example}\n"
    "    root = www/errors\n"
    "    error-page = {\"404 /404.html\", \"4xx /other.html\"}\n"
    "    header-set = {\"X-Error: kept\"}\n"
    "    location /lost { error-page = {\"404 /nowhere.html\"} }\n"
    "    location /bare { error-page = {} }\n"
    "    location /large { error-page = {\"404 /large.bin\"} }\n"
    "}\n"
    "site moved {\n"
    "    hosts = {moved.example}\n"
    "    root = www/moved\n"
    "    redirect = {\"/old/* /new/$1\", \"/blog/*/* "
    "https://blog.example/$2?from=$1 301\",\n"
    "        \"/temp / 307\", \"/see /there?x=1 303\"}\n"
    "    header-set = \"X-Moved: yes\"\n"
    "}\n"
    "site texts {\n"
    "    hosts = {texts.example}\n"
    "    respond = 'hello'\n"
    "    location /json { respond = '{}' respond-type = application/json }\n"
    "    location /none { respond = '' respond-status = 204 }\n"
    "    location /lines { respond = \"one\\n\\ttwo\\n\" }\n"
    "    location /gone { respond = 'gone' respond-status = 410 }\n"
    "}\n";

E2E_BEGIN(start)
{
    site_text("../www/app/index.html", "the app");
    site_text("../www/app/about.html", "about");
    site_text("../www/app/script.js", "script");
    site_text("../www/app/docs/start.html", "docs");
    site_text("../www/errors/404.html", "<p>not here");
    site_text("../www/errors/other.html", "<p>other");
    site_text("../www/errors/folder/f", "f");
    site_seeded("../www/errors/large.bin", 3, 100000);
    site_text("../www/moved/f", "moved");
    server = start_configured(answers_conf);
}

/* --- Single-page apps ----------------------------------------------------- */

#define NAVIGATING "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n"

static struct reply *ask_app(const char *method, const char *target,
                             const char *fields)
{
    return ask_host(server, method, "app.example", target, fields);
}

TEST(who_navigates_gets_the_page)
{
    static const char *const targets[] = {"/users/17", "/users/17/",
                                          "/search?q=a.b", "/a.b/c"};

    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        struct reply *reply = ask_app("GET", targets[i], NAVIGATING);

        going_on("%s", targets[i]);
        expect_status(reply, 200);
        expect_body(reply, "the app");
        expect_field(reply, "Content-Type", "text/html; charset=utf-8");
        expect_field(reply, "Cache-Control", "no-cache");
        assert_true(reply_lists(reply, "Vary", "Accept"));
        reply = ask_app("HEAD", targets[i], NAVIGATING);
        expect_status(reply, 200);
        assert_int_equal(reply->length, 7);
    }
}

TEST(who_loads_parts_gets_an_error)
{
    static const struct {
        const char *target;
        const char *fields;
        bool by_accept; /* another Accept would have had the page */
    } cases[] = {
        {"/users/17", NULL, true},
        {"/users/17", "Accept: */*\r\n", true},
        {"/users/17", "Accept: application/json\r\n", true},
        {"/users/17", "Accept: text/html;q=0, */*\r\n", true},
        {"/lost.js", NAVIGATING, false},
        {"/users/17.png", NAVIGATING, false},
        {"/lost.js", NULL, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply = ask_app("GET", cases[i].target, cases[i].fields);

        going_on("%s, %s", cases[i].target, cases[i].fields);
        expect_status(reply, 404);
        assert_int_equal(reply_lists(reply, "Vary", "Accept"),
                         cases[i].by_accept);
    }
    expect_status(ask_app("POST", "/users/17", NAVIGATING), 405);
}

TEST(files_come_before_the_page)
{
    struct reply *reply = ask_app("GET", "/script.js", NULL);

    expect_body(reply, "script");
    expect_field(reply, "Cache-Control", "max-age=9");
    expect_no_field(reply, "Vary");
    expect_body(ask_app("GET", "/about", NULL), "about");
    expect_body(ask_app("GET", "/about.html", NULL), "about");
    expect_body(ask_app("GET", "/docs", NULL), "docs");
    expect_body(ask_app("GET", "/docs/", NULL), "docs");
    expect_status(ask_app("GET", "/docs/lost", NAVIGATING), 410);
}

TEST(the_page_is_asked_for_again_and_not_changed)
{
    struct reply *reply = ask_app("GET", "/users", NAVIGATING);

    reply = ask_app("GET", "/users",
                    printed(NAVIGATING "If-None-Match: %s\r\n",
                            reply_field(reply, "ETag")));
    expect_status(reply, 304);
    expect_field(reply, "Cache-Control", "no-cache");
    assert_true(reply_lists(reply, "Vary", "Accept"));
    reply = ask_app("GET", "/users", NAVIGATING "Range: bytes=4-\r\n");
    expect_status(reply, 206);
    expect_body(reply, "app");
    assert_true(reply_lists(reply, "Vary", "Accept"));
}

/* --- Error pages ---------------------------------------------------------- */

static struct reply *ask_errors(const char *method, const char *target,
                                const char *fields)
{
    return ask_host(server, method, "errors.example", target, fields);
}

static void expect_page(const struct reply *reply, unsigned status,
                        const char *page)
{
    expect_status(reply, status);
    expect_body(reply, page);
    expect_field(reply, "Content-Type", "text/html; charset=utf-8");
    expect_field(reply, "X-Error", "kept");
    expect_no_field(reply, "ETag");
    expect_no_field(reply, "Last-Modified");
}

TEST(an_error_keeps_its_status_and_gets_a_page)
{
    struct reply *reply;

    expect_page(ask_errors("GET", "/lost-file", NULL), 404, "<p>not here");
    expect_page(ask_errors("GET", "/x/y/z.js?q", NULL), 404, "<p>not here");
    expect_page(ask_errors("GET", "/folder/", NULL), 403, "<p>other");
    reply = ask_errors("DELETE", "/folder/f", NULL);
    expect_page(reply, 405, "<p>other");
    expect_field(reply, "Allow", "GET, HEAD, OPTIONS");
    /* Neither range nor condition is about an error. */
    expect_page(ask_errors("GET", "/nothing", "Range: bytes=1-2\r\n"), 404,
                "<p>not here");
    expect_page(ask_errors("GET", "/nothing", "If-None-Match: *\r\n"), 404,
                "<p>not here");
    /* By its own name it is a file. */
    expect_status(ask_errors("GET", "/404.html", NULL), 200);
}

TEST(an_error_of_head_has_the_length_of_its_page)
{
    struct client *client = client_open(server);
    struct reply *reply;

    client_say(client,
               "HEAD /no HTTP/1.1\r\nHost: errors.example\r\n\r\n"
               "GET /folder/f HTTP/1.1\r\nHost: errors.example\r\n\r\n");
    reply = client_reply_to_head(client);
    expect_status(reply, 404);
    assert_int_equal(reply->length, 11);
    expect_body(client_reply(client), "f");
}

TEST(what_has_no_page_stays_as_it_is)
{
    struct reply *reply = ask_errors("GET", "/lost/f", NULL);

    expect_status(reply, 404);
    assert_non_null(memmem(reply->body, reply->body_len, "Not Found", 9));
    reply = ask_errors("GET", "/bare/f", NULL);
    expect_status(reply, 404);
    assert_non_null(memmem(reply->body, reply->body_len, "Not Found", 9));
    expect_status(ask_errors("GET", "/../f", NULL), 400);
}

TEST(a_page_may_be_large_and_no_html)
{
    struct client *client = client_open(server);
    struct reply *reply;

    for (int i = 0; i < 3; i++) {
        client_say(client,
                   "GET /large/%d HTTP/1.1\r\n"
                   "Host: errors.example\r\n\r\n",
                   i);
        reply = client_reply(client);
        expect_status(reply, 404);
        expect_seeded(reply, 3, 0, 100000);
        expect_field(reply, "Content-Type", "application/octet-stream");
    }
}

/* --- Redirects ------------------------------------------------------------ */

TEST(redirects_keep_query_and_captures)
{
    static const struct {
        const char *target;
        unsigned status;
        const char *to;
    } cases[] = {
        {"/old/page", 308, "/new/page"},
        {"/old/page?a=1&b=2", 308, "/new/page?a=1&b=2"},
        {"/old/", 308, "/new/"},
        {"/old/a%20b", 308, "/new/a%20b"},
        {"/x/../old/page", 308, "/new/page"},
        {"/old/%0d%0aX:%20y", 308, "/new/%0D%0AX%3A%20y"},
        {"/blog/2024/post", 301, "https://blog.example/post?from=2024"},
        {"/blog/a%26b/post?c", 301, "https://blog.example/post?from=a%26b&c"},
        {"/temp", 307, "/"},
        {"/see", 303, "/there?x=1"},
        {"/see?y=2", 303, "/there?x=1&y=2"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply;

        going_on("%s", cases[i].target);
        reply = get_host(server, "moved.example", cases[i].target);
        expect_status(reply, cases[i].status);
        expect_field(reply, "Location", cases[i].to);
        expect_field(reply, "X-Moved", "yes");
    }
    expect_body(get_host(server, "moved.example", "/f"), "moved");
    expect_status(get_host(server, "moved.example", "/old/a/b"), 404);
}

TEST(a_redirect_never_leads_to_a_host_that_was_captured)
{
    static const char *const targets[] = {
        "/old//evil.example", "/old/%2Fevil.example", "/old/\\evil.example"};

    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        struct reply *reply = get_host(server, "moved.example", targets[i]);
        const char *to = reply_field(reply, "Location");

        going_on("%s to %s", targets[i], to ? to : "nowhere");
        assert_true(!to || strncmp(to, "/new/", 5) == 0);
    }
}

/* A proxy in front that speaks TLS says so. */
TEST(a_redirect_may_have_what_is_asked_for)
{
    struct server *one = start_configured(
        "trusted-proxies = 127.0.0.1\n"
        "site secure { hosts = {secure.example} respond = secure\n"
        "    redirect = {\"/** https://$host$path 301\"} }\n"
        "site other {\n"
        "    redirect = {\"/q /login?$query&to=$path\",\n"
        "        \"/** $scheme://www.$host/new$path\"} }\n");
    struct reply *reply;

    reply = get_host(one, "secure.example:8080", "/a%20b?c=d");
    expect_status(reply, 301);
    expect_field(reply, "Location", "https://secure.example/a%20b?c=d");
    reply = ask_host(one, "GET", "secure.example", "/a",
                     "X-Forwarded-Proto: https\r\n");
    expect_status(reply, 200);
    expect_body(reply, "secure");
    expect_field(get_host(one, "x.example", "/q?a=1"), "Location",
                 "/login?a=1&to=/q");
    expect_field(ask_host(one, "GET", "x.example", "/r",
                          "X-Forwarded-Proto: https\r\n"),
                 "Location", "https://www.x.example/new/r");
}

TEST(other_methods_are_redirected_too)
{
    struct client *client = client_open(server);
    struct reply *reply;

    client_say(client,
               "POST /old/page HTTP/1.1\r\nHost: moved.example\r\n"
               "Content-Length: 3\r\n\r\nabc"
               "HEAD /old/page HTTP/1.1\r\nHost: moved.example\r\n\r\n");
    reply = client_reply(client);
    expect_status(reply, 308);
    expect_field(reply, "Location", "/new/page");
    expect_status(client_reply_to_head(client), 308);
}

/* --- Texts ---------------------------------------------------------------- */

TEST(a_text_is_told_to_all)
{
    struct reply *reply = get_host(server, "texts.example", "/any/path?q");

    expect_status(reply, 200);
    expect_body(reply, "hello");
    expect_field(reply, "Content-Type", "text/plain; charset=utf-8");
    reply = ask_host(server, "HEAD", "texts.example", "/", NULL);
    expect_status(reply, 200);
    assert_int_equal(reply->length, 5);
    reply = ask_host(server, "PUT", "texts.example", "/", NULL);
    expect_body(reply, "hello");
    reply = get_host(server, "texts.example", "/json/x");
    expect_body(reply, "{}");
    expect_field(reply, "Content-Type", "application/json");
    expect_body(get_host(server, "texts.example", "/lines"), "one\n\ttwo\n");
    reply = get_host(server, "texts.example", "/gone");
    expect_status(reply, 410);
    expect_body(reply, "gone");
}

/* To CONNECT a 200 would be a tunnel, of whose bytes the text would be some. */
TEST(a_text_is_no_tunnel)
{
    struct client *client = client_open(server);
    struct reply *reply;

    client_say(client, "CONNECT texts.example:80 HTTP/1.1\r\n"
                       "Host: texts.example:80\r\n\r\n");
    reply = client_reply(client);
    expect_status(reply, 405);
    assert_true(reply_lists(reply, "Allow", "GET"));
    reply = ask_host(server, "TRACE", "texts.example", "/", NULL);
    expect_status(reply, 405);
    assert_false(reply_lists(reply, "Allow", "TRACE"));
}

TEST(no_content_has_none)
{
    struct client *client = client_open(server);
    struct reply *reply;

    client_say(client, "GET /none HTTP/1.1\r\nHost: texts.example\r\n\r\n"
                       "HEAD /none HTTP/1.1\r\nHost: texts.example\r\n\r\n"
                       "GET / HTTP/1.1\r\nHost: texts.example\r\n\r\n");
    reply = client_reply(client);
    expect_status(reply, 204);
    expect_no_field(reply, "Content-Type");
    expect_status(client_reply_to_head(client), 204);
    expect_body(client_reply(client), "hello");
}

E2E_SUITE(start);
