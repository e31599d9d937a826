/*
 * What is sent in the end is judged by its own location, too: indexes, what
 * try-files finds, precompressed siblings, pages for errors.
 */
#include "configured.h"
#include "passwords.h"

#define NOBODY "{\"0.0.0.0/0\", \"::/0\"}"

E2E_BEGIN(start)
{
    site_text("../www/index.html", "index");
    site_text("../www/sub/index.html", "sub");
    site_text("../www/page.html", "page");
    site_text("../www/about.html", "about");
    site_text("../www/404.html", "lost");
    site_text("../www/app.js", "plain");
    site_text("../www/app.js.br", "brotli");
    site_text("../www/app.js.gz", "gzip");
    site_text("../www/canary", "canary\n");
    site_text("../users",
              printed("%s%s", password_line("joe", "sesame", "$5$", 0),
                      password_line("slow", "patience", "$2y$", 10)));
    site_text("../others",
              printed("%s%s", password_line("ann", "pepper", "$5$", 0),
                      password_line("slow", "patience", "$2y$", 10)));
}

static struct server *start_site(const char *text)
{
    return start_configured(printed("root = www\nsite all {\n%s}\n", text));
}

/* --- Indexes ------------------------------------------------------------- */

TEST(an_index_is_judged_by_its_own_location)
{
    struct server *one =
        start_site("location \"= /index.html\" { deny = " NOBODY " }\n"
                   "location \"= /sub/index.html\" { deny = 192.0.2.1 }\n");

    expect_status(get(one, "/index.html"), 403);
    expect_status(get(one, "/"), 403);
    expect_status(ask(one, "HEAD", "/", NULL), 403);
    expect_status(ask(one, "GET", "/", "If-None-Match: *\r\n"), 403);
    expect_status(get(one, "/sub/"), 200);
    expect_status(get(one, "/canary"), 200);
}

TEST(a_location_that_only_says_no_says_it_for_its_file)
{
    struct server *one = start_site("location \"= /index.html\" {\n"
                                    "    respond = \"\"\n"
                                    "    respond-status = 410\n"
                                    "}\n"
                                    "location \"= /sub/index.html\" {\n"
                                    "    redirect = \"/sub/index.html /sub/\"\n"
                                    "}\n");

    expect_status(get(one, "/"), 410);
    expect_status(get(one, "/sub/index.html"), 308);
    expect_status(get(one, "/sub/"), 200);
}

TEST(below_a_prefix_that_is_stripped_too)
{
    struct server *one =
        start_site("location /in { strip-prefix = yes\n"
                   "    try-files = {\"$path\", \"/page.html\"}\n"
                   "    error-page = \"404 /404.html\" }\n"
                   "location \"= /in/index.html\" { deny = " NOBODY " }\n"
                   "location \"= /in/page.html\" { deny = " NOBODY " }\n"
                   "location \"= /in/404.html\" { deny = " NOBODY " }\n");

    expect_status(get(one, "/in/"), 403);
    expect_status(get(one, "/in/canary"), 200);
    expect_status(ask(one, "GET", "/in/none", "Accept: text/html\r\n"), 403);
    assert_null(strstr(get(one, "/in/lost.js")->body, "lost"));
    expect_status(get(one, "/"), 200);
}

TEST(its_rate_counts_as_well)
{
    struct server *one = start_site("location \"= /index.html\" {\n"
                                    "    rate-limit = 2/m rate-burst = 2\n"
                                    "}\n");
    struct client *client = client_open(one);

    expect_status(client_ask(client, "GET", "/", NULL), 200);
    expect_status(client_ask(client, "GET", "/index.html", NULL), 200);
    expect_status(client_ask(client, "GET", "/", NULL), 429);
    expect_status(client_ask(client, "GET", "/canary", NULL), 200);
}

/* --- try-files ----------------------------------------------------------- */

TEST(what_is_tried_is_judged_by_its_own_location)
{
    static const char html[] = "Accept: text/html\r\n";
    struct server *one =
        start_site("try-files = {\"$path\", \"$path.html\", \"/page.html\"}\n"
                   "location \"= /page.html\" { deny = " NOBODY " }\n"
                   "location \"= /about.html\" { deny = " NOBODY " }\n");

    expect_status(ask(one, "GET", "/any/where", html), 403);
    expect_status(ask(one, "GET", "/about", html), 403);
    expect_status(ask(one, "GET", "/canary", html), 200);
    expect_status(ask(one, "GET", "/any.js", html), 404);
}

TEST(a_list_of_a_directory_that_is_found_is_judged_by_the_directory)
{
    struct server *one;
    struct reply *reply;

    site_text("../www/home/ann/diary", "dear\n");
    one = start_site("autoindex = yes\n"
                     "try-files = {\"$path\", \"/home$path/\"}\n"
                     "location /home { auth-file = users }\n");
    expect_status(get(one, "/home/ann/"), 401);
    expect_status(get(one, "/home/ann/diary"), 401);
    expect_status(get(one, "/ann"), 401);
    reply = ask(one, "GET", "/ann", credentials("joe", "sesame"));
    expect_status(reply, 200);
    assert_non_null(strstr(reply->body, "diary"));
    server_stop(one);
    one = start_site("autoindex = yes\n"
                     "try-files = {\"$path\", \"$path/\"}\n"
                     "location \"= /home/ann/\" { deny = " NOBODY " }\n");
    expect_status(get(one, "/home/ann"), 403);
    expect_status(get(one, "/home/"), 200);
}

/* --- Siblings ------------------------------------------------------------ */

TEST(a_sibling_that_may_not_be_had_is_not_there)
{
    static const char takes[] = "Accept-Encoding: br, gzip;q=0.5\r\n";
    struct server *one = start_site("location \"= /app.js.br\" { deny = " NOBODY
                                    " }\n");

    expect_status(get(one, "/app.js.br"), 403);
    expect_body(ask(one, "GET", "/app.js", takes), "gzip");
    server_stop(one);
    one = start_site("location \"= /app.js.br\" { auth-file = users }\n"
                     "location \"= /app.js.gz\" { deny = " NOBODY " }\n");
    expect_body(ask(one, "GET", "/app.js", takes), "plain");
    server_stop(one);
    one = start_site("location \"= /app.js.br\" { deny = 192.0.2.1 }\n");
    expect_body(ask(one, "GET", "/app.js", takes), "brotli");
}

/* --- Pages for errors ---------------------------------------------------- */

TEST(a_page_that_may_not_be_had_is_not_shown)
{
    struct server *one =
        start_site("error-page = {\"404 /404.html\", \"403 /sub/index.html\"}\n"
                   "location \"= /404.html\" { deny = " NOBODY " }\n"
                   "location /no { deny = " NOBODY " }\n");
    struct reply *reply = get(one, "/none");

    expect_status(reply, 404);
    assert_null(strstr(reply->body, "lost"));
    /* One that may be had is shown to those who may have nothing else. */
    reply = get(one, "/no/x");
    expect_status(reply, 403);
    expect_body(reply, "sub");
}

TEST(who_is_denied_is_shown_no_page_of_there)
{
    struct server *one = start_site("error-page = \"403 /sub/index.html\"\n"
                                    "location /sub { deny = " NOBODY " }\n"
                                    "location /no { deny = " NOBODY " }\n");

    for (unsigned i = 0; i < 2; i++) {
        struct reply *reply = get(one, i ? "/no/" : "/sub/");

        expect_status(reply, 403);
        assert_null(strstr(reply->body, "sub"));
    }
    server_stop(one);
    /* What a site says for whom it denies itself is for them. */
    one = start_site("error-page = \"403 /sub/index.html\"\n"
                     "deny = " NOBODY "\n"
                     "location /sub { autoindex = on }\n"
                     "location /open { deny = {} "
                     "error-page = \"404 /sub/index.html\" }\n");
    expect_body(get(one, "/"), "sub");
    expect_body(get(one, "/sub/"), "sub");
    assert_null(strstr(get(one, "/open/none")->body, "sub"));
}

/* --- Passwords ----------------------------------------------------------- */

TEST(an_index_may_ask_for_a_password)
{
    struct server *one = start_site("location \"= /index.html\" {\n"
                                    "    auth-file = users\n"
                                    "    auth-realm = index\n"
                                    "}\n");
    const char *slow = credentials("slow", "patience");

    expect_field(get(one, "/"), "WWW-Authenticate",
                 "Basic realm=\"index\", charset=\"UTF-8\"");
    expect_status(ask(one, "GET", "/", credentials("joe", "wrong")), 401);
    expect_field(ask(one, "GET", "/", credentials("joe", "wrong")),
                 "WWW-Authenticate",
                 "Basic realm=\"index\", charset=\"UTF-8\"");
    for (int i = 0; i < 3; i++) /* which is checked, and then known */
        expect_body(ask(one, "GET", "/", slow), "index");
    expect_status(get(one, "/canary"), 200);
}

/* Both have to be right: the directory's and the index's. */
TEST(two_passwords_are_two_questions)
{
    struct server *one =
        start_site("location / { auth-file = users }\n"
                   "location \"= /index.html\" { auth-file = others }\n"
                   "location \"= /sub/index.html\" { auth-file = users }\n");

    expect_status(ask(one, "GET", "/", credentials("joe", "sesame")), 401);
    expect_status(ask(one, "GET", "/", credentials("ann", "pepper")), 401);
    expect_status(ask(one, "GET", "/index.html", credentials("ann", "pepper")),
                  200);
    expect_body(ask(one, "GET", "/", credentials("slow", "patience")), "index");
    expect_body(ask(one, "GET", "/sub/", credentials("joe", "sesame")), "sub");
    expect_body(ask(one, "GET", "/sub/", credentials("slow", "patience")),
                "sub");
}

E2E_SUITE(start);
