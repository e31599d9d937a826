/*
 * --proxy-cache: what a 304 and an answer to HEAD do to what is kept, and what
 * comes before a final answer.
 */
#include "upstream.h"

#define DATED "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#define LEN(n) "Content-Length: " #n "\r\n"
#define KEEP "Cache-Control: max-age=2000000000\r\n"
#define STALE "Cache-Control: max-age=60\r\n" /* at once: it is from 1994 */
#define V1 "ETag: \"v1\"\r\n"
#define V2 "ETag: \"v2\"\r\n"
/* Who asks again does so by another connection. */
#define REPLY(fields, body) \
    "HTTP/1.1 200 OK\r\nConnection: close\r\n" fields "\r\n" body
#define SAME(fields) \
    "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n" fields "\r\n"
#define OLD REPLY(DATED STALE V1 LEN(3) "A: 1\r\n", "old")
#define NEW REPLY(DATED KEEP V2 LEN(3), "new")

#define START_CACHE(upstream)                                             \
    START("--workers=2", printed("--proxy=/=%s", (upstream)->at),         \
          "--proxy-cache=memory", "--proxy-retries=0", "--proxy-fails=0", \
          "--request-id=off")

/* Asks; the upstream answers so; the head that it was asked with is
 * *asked_out. */
static struct reply *fetch(const struct server *server,
                           const struct upstream *upstream, const char *method,
                           const char *fields, const char *text,
                           const char **asked_out)
{
    bool is_head = strcmp(method, "HEAD") == 0;
    struct client *client = client_open(server), *peer;
    const char *asked;

    client_say(client, "%s /a HTTP/1.1\r\nHost: a\r\n%s\r\n", method, fields);
    peer = upstream_accept(upstream);
    asked = hear_head(peer);
    if (asked_out)
        *asked_out = asked;
    client_say(peer, "%s", text);
    return is_head ? client_reply_to_head(client) : client_reply(client);
}

static struct reply *get_a(const struct server *server,
                           const struct upstream *upstream, const char *text)
{
    return fetch(server, upstream, "GET", "", text, NULL);
}

static struct reply *hit(const struct server *server)
{
    struct reply *reply = client_ask_host(client_open(server), "GET", "a", "/a",
                                          NULL);
    const char *note = reply_field(reply, "Cache-Status");

    if (!note || !strstr(note, "; hit"))
        flunk("Cache-Status is '%s', and no hit", note ? note : "");
    return reply;
}

static void expect_asked(const char *head, const char *part, bool is_there)
{
    if ((strstr(head, part) != NULL) != is_there)
        flunk("the upstream was asked '%s', where '%s' should%s be", head, part,
              is_there ? "" : " not");
}

/* --- 304 ----------------------------------------------------------------- */

/* Whoever fetches it settles what is kept, or drops it. */
TEST(a_304_about_what_is_still_coming_is_for_who_asked_alone)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream);
    struct client *first = client_open(server), *second = client_open(server);
    struct client *third = client_open(server), *peer, *again;

    client_say(first, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    hear_head(peer);
    client_say(peer, "HTTP/1.1 200 OK\r\n" KEEP V1 LEN(6) "\r\nold");
    if (!client_hears(first, 2000))
        flunk("nothing comes of what is fetched");
    client_say(second,
               "GET /a HTTP/1.1\r\nHost: a\r\nCache-Control: no-cache\r\n\r\n");
    again = upstream_accept(upstream);
    expect_asked(hear_head(again), "If-None-Match: \"v1\"", true);
    client_say(again, "%s", SAME(KEEP V1));
    if (!client_hears(second, 2000))
        flunk("nothing comes of what is the same");
    client_close(peer); /* it never comes whole */
    client_take(first, SIZE_MAX);
    client_take(second, SIZE_MAX);
    client_say(third, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    hear_head(peer);
    client_say(peer, "%s", NEW);
    expect_body(client_reply(third), "new");
    expect_body(hit(server), "new");
}

TEST(a_304_about_something_else_renews_nothing_and_all_is_asked_for)
{
    static const char *const others[] = {
        SAME(DATED KEEP V2),
        SAME(DATED KEEP "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n")};
    static const char *const firsts[] = {
        OLD, REPLY(DATED STALE LEN(3) "Last-Modified: Sun, 06 Nov 1994 "
                                      "07:49:37 GMT\r\n",
                   "old")};

    for (size_t i = 0; i < 2; i++) {
        struct upstream *upstream = upstream_open();
        struct server *server = START_CACHE(upstream);
        struct client *client = client_open(server), *peer;

        get_a(server, upstream, firsts[i]);
        client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
        peer = upstream_accept(upstream);
        expect_asked(hear_head(peer),
                     i == 0 ? "If-None-Match: \"v1\"" : "If-Modified-Since: ",
                     true);
        client_say(peer, "%s", others[i]);
        peer = upstream_accept(upstream);
        expect_asked(hear_head(peer), "\r\nIf-", false);
        client_say(peer, NEW);
        expect_body(client_reply(client), "new");
        expect_body(hit(server), "new");
    }
}

TEST(a_304_that_may_not_be_shared_is_for_who_asked_alone)
{
    static const char *const forbids[] = {
        "Cache-Control: private, max-age=2000000000\r\n",
        "Cache-Control: no-store\r\n", KEEP "Vary: *\r\n", KEEP "Vary: B\r\n"};

    for (size_t i = 0; i < sizeof(forbids) / sizeof(*forbids); i++) {
        struct upstream *upstream = upstream_open();
        struct server *server = START_CACHE(upstream);
        const char *asked;

        get_a(server, upstream, OLD);
        expect_body(get_a(server, upstream,
                          printed(SAME(DATED V1 "%s"), forbids[i])),
                    "old");
        expect_body(fetch(server, upstream, "GET", "", NEW, &asked), "new");
        expect_asked(asked, "If-None-Match", false);
    }
}

TEST(who_lets_nothing_be_stored_leaves_what_is_kept_as_it_was)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream);
    struct reply *reply;
    const char *asked;

    get_a(server, upstream, OLD);
    reply = fetch(server, upstream, "GET", "Cache-Control: no-store\r\n",
                  SAME(DATED KEEP V1 "A: 2\r\n"), NULL);
    expect_field(reply, "A", "2");
    reply = fetch(server, upstream, "GET", "", SAME(DATED KEEP V1), &asked);
    expect_field(reply, "A", "1");
    expect_asked(asked, "If-None-Match: \"v1\"", true);
}

TEST(what_has_no_date_has_that_of_its_coming)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream);
    struct reply *reply;
    const char *date;

    get_a(server, upstream, OLD);
    /* By the date that is stored it would be stale again at once. */
    get_a(server, upstream, SAME(V1 "Cache-Control: max-age=600\r\n"));
    reply = hit(server);
    date = reply_field(reply, "Date");
    assert_non_null(date);
    assert_null(strstr(date, "1994"));
    assert_in_range(strtol(reply_field(reply, "Age"), NULL, 10), 0, 60);
    pause_ms(1100);
    assert_string_equal(reply_field(hit(server), "Date"), date);
}

/* --- HEAD ---------------------------------------------------------------- */

TEST(a_head_brings_what_is_kept_up_to_date)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream);
    struct reply *reply;
    const char *asked;

    get_a(server, upstream, OLD);
    reply = fetch(server, upstream, "HEAD", "",
                  REPLY(DATED KEEP V1 LEN(3) "A: 2\r\n", ""), &asked);
    expect_asked(asked, "HEAD /a ", true);
    expect_status(reply, 200);
    expect_field(reply, "A", "2");
    reply = hit(server);
    expect_body(reply, "old");
    expect_field(reply, "A", "2");
    assert_false(upstream_hears(upstream, 20));
}

TEST(a_head_that_is_not_modified_is_answered_and_renews)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream);
    struct reply *reply;
    const char *asked;

    get_a(server, upstream, OLD);
    reply = fetch(server, upstream, "HEAD", "", SAME(DATED KEEP V1), &asked);
    expect_asked(asked, "If-None-Match: \"v1\"", true);
    expect_status(reply, 200);
    assert_int_equal(reply->length, 3);
    expect_body(hit(server), "old");
}

TEST(a_head_of_something_else_makes_what_is_kept_go)
{
    static const char *const others[] = {
        REPLY(DATED KEEP V2 LEN(3), ""), REPLY(DATED KEEP V1 LEN(4), ""),
        REPLY(DATED "Cache-Control: private\r\n" V1 LEN(3), "")};

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        struct upstream *upstream = upstream_open();
        struct server *server = START_CACHE(upstream);
        const char *asked;

        get_a(server, upstream, OLD);
        fetch(server, upstream, "HEAD", "", others[i], NULL);
        expect_body(fetch(server, upstream, "GET", "", NEW, &asked), "new");
        expect_asked(asked, "If-None-Match", false);
    }
}

/* As with GET: the origin has not said that others may have it. */
TEST(a_head_that_was_answered_to_one_user_changes_nothing_for_others)
{
    static const struct {
        const char *fields;
        const char *answer;
        bool counts;
    } cases[] = {
        {"Cookie: id=1\r\n", REPLY("User: 1\r\n", ""), false},
        {"Cookie: id=1\r\n", REPLY(V1 "User: 1\r\n", ""), false},
        {"Cookie: id=1\r\n", REPLY(V2 "User: 1\r\n", ""), false},
        {"X-API-Key: 1\r\n", REPLY(LEN(4) "User: 1\r\n", ""), false},
        {"Cookie: id=1\r\n", REPLY(DATED STALE "User: 1\r\n", ""), true},
        {"", REPLY(DATED "User: 1\r\n", ""), true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct upstream *upstream = upstream_open();
        struct server *server = START_CACHE(upstream);
        struct reply *reply;
        const char *user;

        get_a(server, upstream, OLD);
        reply = fetch(server, upstream, "HEAD", cases[i].fields,
                      cases[i].answer, NULL);
        expect_field(reply, "User", "1");
        reply = get_a(server, upstream, SAME(DATED KEEP V1));
        expect_body(reply, "old");
        user = reply_field(reply, "User");
        if ((user != NULL) != cases[i].counts)
            flunk("case %zu: the next one gets '%s'", i, user ? user : "");
    }
}

/* A server that knows no HEAD, or has failed, says nothing of what GET gets. */
TEST(a_head_that_fails_leaves_what_is_kept_and_none_makes_an_answer_to_get)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream);
    const char *asked;

    fetch(server, upstream, "HEAD", "", REPLY(DATED KEEP V1 LEN(3), ""), NULL);
    get_a(server, upstream, OLD);
    fetch(server, upstream, "HEAD", "",
          "HTTP/1.1 405 No\r\nConnection: close\r\n" DATED KEEP
          "Content-Length: 9\r\n\r\n",
          NULL);
    expect_body(fetch(server, upstream, "GET", "", SAME(DATED KEEP V1), &asked),
                "old");
    expect_asked(asked, "If-None-Match: \"v1\"", true);
}

/* --- For one alone ------------------------------------------------------- */

TEST(fields_that_are_kept_for_nobody_reach_whom_the_origin_has_answered)
{
    static const char *const lists[] = {"no-cache", "private"};

    for (size_t i = 0; i < 2; i++) {
        const char *control = printed("Cache-Control: max-age=2000000000, "
                                      "%s=\"Set-Cookie, b\"\r\n",
                                      lists[i]);
        struct upstream *upstream = upstream_open();
        struct server *server = START_CACHE(upstream);
        struct reply *reply;

        reply = get_a(server, upstream,
                      printed(REPLY(DATED V1 LEN(3) "%s"
                                                    "A: 1\r\nB: 1\r\n"
                                                    "Set-Cookie: x=1\r\n",
                                    "old"),
                              control));
        expect_field(reply, "Set-Cookie", "x=1");
        expect_field(reply, "B", "1");
        reply = hit(server);
        assert_null(reply_field(reply, "Set-Cookie"));
        assert_null(reply_field(reply, "B"));
        expect_field(reply, "A", "1");
        /* The same of what is not modified. */
        reply = fetch(server, upstream, "GET", "Cache-Control: no-cache\r\n",
                      printed(SAME(DATED V1 "%sSet-Cookie: x=2\r\n"), control),
                      NULL);
        expect_field(reply, "Set-Cookie", "x=2");
        assert_non_null(strstr(reply_field(reply, "Cache-Status"),
                               "fwd=request; fwd-status=304"));
        assert_null(reply_field(hit(server), "Set-Cookie"));
    }
}

/* That the page is still good does not make the first one's session that of
 * whoever has asked about it. */
TEST(fields_that_are_kept_for_nobody_are_not_kept_until_a_304)
{
    static const char *const lists[] = {"no-cache", "private"};

    for (size_t i = 0; i < 2; i++) {
        const char *control = printed("Cache-Control: max-age=2000000000, "
                                      "%s=\"Set-Cookie, b\"\r\n",
                                      lists[i]);
        struct upstream *upstream = upstream_open();
        struct server *server = START_CACHE(upstream);
        struct reply *reply;

        get_a(server, upstream,
              printed(REPLY(DATED V1 LEN(3) "%sA: 1\r\nB: 1\r\n"
                                            "Set-Cookie: session=first\r\n",
                            "old"),
                      control));
        reply = fetch(server, upstream, "GET", "Cache-Control: no-cache\r\n",
                      printed(SAME(DATED V1 "%s"), control), NULL);
        expect_body(reply, "old");
        expect_field(reply, "A", "1");
        assert_null(reply_field(reply, "Set-Cookie"));
        assert_null(reply_field(reply, "B"));
    }
}

/* Browsers ask so whenever they come back. */
TEST(a_cookie_of_a_304_reaches_who_has_the_page_already)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream);
    struct reply *reply;

    get_a(server, upstream, OLD);
    reply = fetch(server, upstream, "GET", "If-None-Match: \"v1\"\r\n",
                  SAME(DATED KEEP V1 "Set-Cookie: id=1\r\n"), NULL);
    expect_status(reply, 304);
    expect_field(reply, "Set-Cookie", "id=1");
    assert_null(reply_field(hit(server), "Set-Cookie"));
}

TEST(a_cookie_that_comes_with_what_is_kept_already_is_for_who_asked_alone)
{
    static const char *const methods[] = {"GET", "HEAD"};
    static const char *const answers[] = {
        SAME(DATED KEEP V1 "A: 2\r\nSet-Cookie: id=victim\r\n"),
        REPLY(DATED KEEP V1 LEN(3) "A: 2\r\nSet-Cookie: id=victim\r\n", "")};

    for (size_t i = 0; i < 2; i++) {
        struct upstream *upstream = upstream_open();
        struct server *server = START_CACHE(upstream);
        struct reply *reply;

        get_a(server, upstream, OLD);
        reply = fetch(server, upstream, methods[i], "Cookie: id=victim\r\n",
                      answers[i], NULL);
        expect_field(reply, "Set-Cookie", "id=victim");
        reply = hit(server);
        expect_field(reply, "A", "2");
        assert_null(reply_field(reply, "Set-Cookie"));
    }
}

/* --- Before the answer --------------------------------------------------- */

TEST(what_comes_before_an_answer_is_passed_on_and_not_kept)
{
    static const char early[] =
        "HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n";
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream);
    struct client *client = client_open(server), *other = client_open(server);
    struct client *old = client_open(server), *peer;
    struct reply *reply;

    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    hear_head(peer);
    client_say(other, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    client_say(peer, "%s", early);
    expect_hears(client, "HTTP/1.1 103 Early Hints\r\n");
    expect_hears(client, "Link: </s.css>; rel=preload\r\n");
    hear_head(client);
    /* And two at once with the answer. */
    client_say(peer, "HTTP/1.1 102 Processing\r\n\r\n%s%s", early, NEW);
    expect_hears(client, "HTTP/1.1 102 Processing\r\n");
    hear_head(client);
    expect_hears(client, "HTTP/1.1 103 Early Hints\r\n");
    hear_head(client);
    reply = client_reply(client);
    expect_status(reply, 200);
    expect_body(reply, "new");
    assert_null(reply_field(reply, "Link"));
    expect_body(client_reply(other), "new");
    assert_null(reply_field(hit(server), "Link"));

    /* HTTP/1.0 knows none. */
    client_say(old, "GET /b HTTP/1.0\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    hear_head(peer);
    client_say(peer, "%s%s", early, NEW);
    expect_body(client_reply(old), "new");
}

E2E_SUITE(harness_begin);
