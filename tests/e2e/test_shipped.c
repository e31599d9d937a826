/*
 * The configurations that are shipped: they are well-formed, and serve what
 * their comments say.
 */
#include "configured.h"

/* The text with every folder that is not there on this machine replaced by
 * one that is. */
static const char *settle(const char *text)
{
    static const char *const folders[] = {
        "/var/www/html", "/srv/", "/var/log/sprintd/", "/var/lib/sprintd/"};
    char *settled = scratch(strlen(text) + 64 * 1024);
    char *to = settled;

    while (*text) {
        size_t at = 0;

        while (at < 4 && strncmp(text, folders[at], strlen(folders[at])) != 0)
            at++;
        if (at == 4) {
            *to++ = *text++;
            continue;
        }
        text += strlen(folders[at]);
        to = stpcpy(to, at >= 2 ? printed("%s/", folder()) : site());
        if (at == 1) /* the name of the site's folder */
            text += strcspn(text, " \n;}");
    }
    *to = '\0';
    return settled;
}

TEST(what_is_shipped_is_well_formed)
{
    static const struct {
        const char *path;
        const char *verdict;
    } cases[] = {
        {"packaging/sprintd.conf", "0 sites, 0 locations"},
        {"packaging/examples/single-page-app.conf", "2 sites, 3 locations"},
        {"packaging/examples/downloads-over-a-slow-link.conf",
         "0 sites, 0 locations"},
        {"packaging/examples/several-sites.conf", "3 sites, 3 locations"},
        {"packaging/examples/key-value-store.conf", "0 sites, 0 locations"},
        {"packaging/examples/reverse-proxy.conf", "2 sites, 3 locations"}};
    struct outcome outcome;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *path =
            configuration(settle(read_text(cases[i].path, NULL)));

        going_on("%s", cases[i].path);
        RUN(&outcome, "-t", "-c", path);
        assert_int_equal(outcome.status, 0);
        assert_string_equal(outcome.err, "");
        assert_string_equal(outcome.out, printed("%s: well-formed, %s\n", path,
                                                 cases[i].verdict));
        RUN(&outcome, "-T", "-c", path);
        assert_int_equal(outcome.status, 0);
    }
}

struct shipped {
    const char *path;
    const char *host;
    const char *target;
    unsigned status;
    const char *body; /* NULL: any */
    const char *name; /* of a field that it has; NULL: none in particular */
    const char *value;
};

/* Asks a server under what is shipped; cases of one file follow each other. */
static void expect_shipped(const struct shipped *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *path =
            configuration(settle(read_text(cases[i].path, NULL)));
        struct launch launch = {.root = "", .is_bare = true};
        struct server *one =
            server_start(&launch,
                         (const char *const[]){"-c", path,
                                               "--listen=127.0.0.1:0", NULL});

        for (;; i++) {
            struct reply *reply = ask_host(one, "GET", cases[i].host,
                                           cases[i].target,
                                           "Accept: text/html\r\n");

            going_on("%s: %s of %s", cases[i].path, cases[i].target,
                     cases[i].host);
            expect_status(reply, cases[i].status);
            if (cases[i].body)
                expect_body(reply, cases[i].body);
            if (cases[i].name)
                expect_field(reply, cases[i].name, cases[i].value);
            if (i + 1 == count || cases[i + 1].path != cases[i].path)
                break;
        }
        server_stop(one);
    }
}

TEST(what_is_shipped_serves)
{
    static const char plain[] = "packaging/sprintd.conf";
    static const char app[] = "packaging/examples/single-page-app.conf";
    static const char slow[] =
        "packaging/examples/downloads-over-a-slow-link.conf";
    static const char sites[] = "packaging/examples/several-sites.conf";
    static const char store[] = "packaging/examples/key-value-store.conf";
    static const struct shipped cases[] = {
        {store, "a", "/canary", 200, "canary\n", NULL, NULL},
        {store, "localhost", "/kv/", 200, NULL, "Content-Type",
         "application/json"},
        {store, "[::1]:8080", "/kv/none", 404, NULL, "Content-Type",
         "application/problem+json"},
        {plain, "a", "/canary", 200, "canary\n", NULL, NULL},
        {plain, "127.0.0.1", "/_sprintd/health", 200, NULL, NULL, NULL},
        {plain, "a", "/_sprintd/status.json", 403, NULL, NULL, NULL},
        {store, "a", "/kv/none", 403, NULL, "Content-Type",
         "application/problem+json"},
        {app, "app.example.org", "/", 200, "page", "Cache-Control", "no-cache"},
        {app, "app.example.org", "/a/b", 200, "page", "Referrer-Policy",
         "no-referrer"},
        {app, "app.example.org", "/lost.js", 404, NULL, NULL, NULL},
        {app, "app.example.org", "/assets/a.js", 200, "js", "Cache-Control",
         "public, max-age=31536000, immutable"},
        {app, "app.example.org", "/assets/lost", 404, NULL, NULL, NULL},
        {app, "app.example.org", "/api/users", 200, "{}", "Vary", "Origin"},
        {app, "app.example.org", "/health", 200, "ok\n", NULL, NULL},
        {app, "example.org", "/a/b?c", 301, NULL, "Location",
         "http://app.example.org/a/b?c"},
        {slow, "a", "/canary", 200, "canary\n", "Cache-Control",
         "public, max-age=300"},
        {slow, "a", "/sub/a.iso", 200, NULL, "Cache-Control", "max-age=86400"},
        {slow, "a", "/latest", 302, NULL, "Location", "/releases/"},
        {slow, "a", "/pub/a/b", 301, NULL, "Location", "/a/b"},
        {sites, "example.org", "/canary", 200, "canary\n", "X-Frame-Options",
         "DENY"},
        {sites, "www.example.org", "/team/a", 308, NULL, "Location",
         "/about/a"},
        {sites, "example.org", "/shop/a/b", 308, NULL, "Location",
         "https://shop.example.org/a/b"},
        {sites, "example.org", "/downloads/canary", 200, "canary\n", NULL,
         NULL},
        {sites, "example.org", "/internal/x", 403, NULL, NULL, NULL},
        {sites, "joe.people.example.org", "/about", 200, "about", NULL, NULL},
        {sites, "192.0.2.1", "/canary", 404, "There is nothing here.\n", NULL,
         NULL},
    };

    site_text("index.html", "page");
    site_text("about.html", "about");
    site_text("assets/a.js", "js");
    site_text("api/users.json", "{}");
    site_text("sub/a.iso", "iso");
    expect_shipped(cases, sizeof(cases) / sizeof(cases[0]));
}

E2E_SUITE(harness_begin_site);
