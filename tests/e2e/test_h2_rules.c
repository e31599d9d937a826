/*
 * What is ruled of requests holds of those over HTTP/2, too: who may come, what
 * another server may read a path as, who waits for a body, and who makes room.
 */
#include "configured.h"
#include "h2_client.h"
#include "passwords.h"
#include "upstream.h"

enum { QUIET_MS = 200, COST = 4 };

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static int start(void **state)
{
    static const char *const places[] = {"only", "but", "none", "all"};

    if (h2_begin(state) != 0)
        return -1;
    for (size_t i = 0; i < COUNT(places); i++)
        site_text(printed("../www/%s/f", places[i]), "in");
    site_text("../www/canary", "canary\n");
    return 0;
}

static unsigned status_of(struct h2 *h2, const char *path, const char *from)
{
    return h2_get_with(h2, path, H2_WITH("x-forwarded-for", from))->status;
}

/* A stream of its own for a body of one byte. */
static unsigned put(struct h2 *h2, const char *path, const char *from)
{
    uint32_t stream = h2_ask(h2, "PUT", path, H2_WITH("x-forwarded-for", from),
                             true);

    (void)h2_body(h2, stream, "x", 1, false);
    return h2_wait(h2, stream)->status;
}

TEST(an_unknown_client_is_allowed_by_nothing)
{
    static const char *const nobodies[] = {
        "", "unknown", "_hidden", "fe80::1%lo", "203.0.113.1, unknown", ", ,"};
    struct server *one = start_configured(
        printed("http2 = all\n"
                "trusted-proxies = 127.0.0.1\n"
                "kv = \"/kv=%s/store\"\n"
                "status = /_s\n"
                "root = www\n"
                "site all {\n"
                "    location /only { allow = {\"0.0.0.0/0\"} }\n"
                "    location /but { deny = 192.0.2.1 }\n"
                "    location /none { deny = all }\n"
                "    location /all { deny = 192.0.2.1\n"
                "        allow = {all} }\n"
                "}\n",
                folder()));
    struct h2 *h2 = h2_open(one);

    for (size_t i = 0; i < COUNT(nobodies); i++) {
        going_on("'%s'", nobodies[i]);
        assert_int_equal(status_of(h2, "/only/f", nobodies[i]), 403);
        assert_int_equal(status_of(h2, "/but/f", nobodies[i]), 403);
        assert_int_equal(status_of(h2, "/none/f", nobodies[i]), 403);
        assert_int_equal(status_of(h2, "/all/f", nobodies[i]), 403);
        assert_int_equal(status_of(h2, "/_s/status.json", nobodies[i]), 403);
        assert_int_equal(put(h2, "/kv/k", nobodies[i]), 403);
    }
    going_on("%s", "");
    assert_int_equal(h2_get(h2, "/only/f")->status, 403); /* it says nothing */
    assert_int_equal(status_of(h2, "/only/f", "198.51.100.7"), 200);
    assert_int_equal(status_of(h2, "/but/f", "198.51.100.7"), 200);
    assert_int_equal(status_of(h2, "/but/f", "192.0.2.1"), 403);
    assert_int_equal(status_of(h2, "/none/f", "198.51.100.7"), 403);
    assert_int_equal(status_of(h2, "/all/f", "198.51.100.7"), 200);
    assert_int_equal(status_of(h2, "/canary", "unknown"), 200);
}

TEST(statistics_are_told_by_names_of_this_machine_only)
{
    struct server *one = start_configured("http2 = all\n"
                                          "status = /_s\n"
                                          "root = www\n");
    struct h2 *h2 = h2_open(one);

    expect_h2(h2_get(h2, "/_s/status.json"), 200);
    expect_h2(h2_wait(h2, h2_ask_fields(h2,
                                        H2_GET_OF(h2, "evil.example",
                                                  "/_s/status.json"),
                                        false)),
              403);
    expect_h2(h2_get_with(h2, "/_s/status.json", H2_WITH("via", "2 a")), 403);
}

TEST(what_another_server_may_read_as_denied_is_refused)
{
    static const char *const paths[] = {
        "/admin;a=b/x", "/admin;",      "/;/admin/x", "/admin%3ba/x",
        "/admin\\x",    "/\\admin/x",   "/admin%5cx", "/x/..;/admin",
        "/admin%2fx",   "/x/../admin;", "//x/admin",  "/\\x/admin"};
    struct upstream *upstream = upstream_open();
    struct server *one = start_configured(
        printed("http2 = all\n"
                "root = www\n"
                "proxy = \"/=%s\"\n"
                "site all { location /admin { deny = all } }\n",
                upstream->at));
    struct h2 *h2 = h2_open(one);

    expect_h2(h2_get(h2, "/admin/x"), 403);
    for (size_t i = 0; i < COUNT(paths); i++) {
        going_on("%s", paths[i]);
        expect_h2(h2_get(h2, paths[i]), 400);
    }
    assert_false(upstream_hears(upstream, QUIET_MS));
}

TEST(a_body_that_trickles_asks_nobody)
{
    static const char *const lengths[] = {"10", NULL};
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = h2_open(PROXY(upstream, "--http2=all"));

    for (size_t i = 0; i < COUNT(lengths); i++) {
        uint32_t stream =
            h2_ask(h2, "POST", "/",
                   lengths[i] ? H2_WITH("content-length", lengths[i]) : NULL,
                   true);
        struct client *peer;

        for (int byte = 0; byte < 9; byte++) {
            assert_true(h2_body(h2, stream, "x", 1, true));
            assert_false(upstream_hears(upstream, QUIET_MS / 9));
        }
        assert_true(h2_body(h2, stream, "x", 1, false));
        peer = upstream_accept(upstream);
        assert_non_null(strstr(hear_head(peer), "POST / HTTP/1.1\r\n"));
        client_say(peer, OK "Content-Length: 2\r\nConnection: close\r\n\r\nhi");
        expect_h2_body(h2_wait(h2, stream), "hi");
        client_close(peer);
    }
}

/* Nor does what waits for one count for those of other streams. */
TEST(a_client_that_goes_before_asked_nobody)
{
    struct upstream *upstream = upstream_open();
    struct server *one = PROXY(upstream, "--http2=all");
    struct h2 *h2 = h2_open(one);
    uint32_t stream = h2_ask(h2, "POST", "/", NULL, true);

    assert_true(h2_body(h2, stream, "abc", 3, true));
    h2_sync(h2);
    h2_reset(h2, stream, NGHTTP2_CANCEL);
    assert_true(h2_body(h2, h2_ask(h2, "POST", "/", NULL, true), "abc", 3,
                        true));
    h2_sync(h2);
    h2_close(h2);
    assert_false(upstream_hears(upstream, QUIET_MS));
}

TEST(nobody_is_asked_for_whom_is_refused)
{
    struct upstream *upstream = upstream_open();
    struct server *one;
    struct h2 *h2;

    site_text("../users", password_line("one", "right", "$2y$", COST));
    one = start_configured(printed("http2 = all\n"
                                   "proxy-request-buffer = 0\n"
                                   "site all { auth-file = users\n"
                                   "    proxy = \"/=%s\" }\n",
                                   upstream->at));
    h2 = h2_open(one);
    for (int i = 0; i < 2; i++) {
        uint32_t stream = h2_ask(h2, "POST", "/",
                                 i == 0 ? NULL
                                        /* one:wrong */
                                        : H2_WITH("authorization",
                                                  "Basic b25lOndyb25n"),
                                 true);

        assert_true(h2_body(h2, stream, "abc", 3, true));
        assert_false(upstream_hears(upstream, QUIET_MS));
        (void)h2_body(h2, stream, "d", 1, false);
        expect_h2(h2_wait(h2, stream), 401);
    }
    assert_false(upstream_hears(upstream, QUIET_MS));
    expect_h2(h2_get(h2_open(one), "/"), 401);
}

static void expect_end(struct h2 *h2)
{
    struct h2_frame frame;

    while (h2_take(h2, &frame))
        ;
}

TEST(the_longest_idle_goes_first)
{
    enum { MAX = 6 };
    struct server *one = H2_START("--max-connections=6", "--workers=1");
    struct h2 *all[MAX];

    for (size_t i = 0; i < MAX; i++) {
        all[i] = h2_open(one);
        h2_expect_usable(all[i]);
        pause_ms(5);
    }
    h2_expect_usable(all[0]);
    for (size_t i = 1; i < 4; i++) {
        h2_expect_usable(h2_open(one));
        expect_end(all[i]);
    }
    h2_expect_usable(all[0]);
    h2_expect_usable(all[5]);
}

/* A preface, or SETTINGS, is no request. */
TEST(who_has_not_asked_goes_too)
{
    enum { MAX = 6 };
    struct server *one = H2_START("--max-connections=6", "--workers=1");

    for (size_t i = 0; i < MAX; i++) {
        struct h2 *h2 = h2_open_silent(one);

        if (i % 2)
            h2_say(h2, RAW(H2_PREFACE));
    }
    pause_ms(100);
    for (size_t i = 0; i < MAX + 2; i++)
        h2_expect_usable(h2_open(one));
}

E2E_SUITE(start);
