/*
 * --proxy-cache: what one client says does not decide what others get.
 */
#include "upstream.h"

#define KEEP "Cache-Control: max-age=600\r\n"
#define LEN(n) "Content-Length: " #n "\r\n"
#define REPLY(fields, body) \
    "HTTP/1.1 200 OK\r\nConnection: close\r\n" fields "\r\n" body

#define START_CACHE(upstream, ...)                                        \
    START("--workers=1", printed("--proxy=/=%s", (upstream)->at),         \
          "--proxy-cache=memory", "--proxy-retries=0", "--proxy-fails=0", \
          __VA_ARGS__)

static void say(struct client *client, const char *method, const char *path,
                const char *fields)
{
    client_say(client, "%s %s HTTP/1.1\r\nHost: a\r\n%s\r\n", method, path,
               fields);
}

/* Asks with these fields; the upstream answers. What came there is
 * *head_out. */
static struct reply *fetch(const struct server *server,
                           const struct upstream *upstream, const char *method,
                           const char *path, const char *fields,
                           const char *text, const char **head_out)
{
    struct client *client = client_open(server), *peer;
    const char *head;

    say(client, method, path, fields);
    peer = upstream_accept(upstream);
    head = hear_head(peer);
    if (head_out)
        *head_out = head;
    client_say(peer, "%s", text);
    return client_reply(client);
}

/* Fails unless it is kept for such a request, or is not. */
static void expect_kept(const struct server *server, const char *path,
                        const char *fields, const char *body)
{
    struct client *client = client_open(server);
    struct reply *reply;

    say(client, "GET", path,
        printed("%sCache-Control: only-if-cached\r\n", fields));
    reply = client_reply(client);
    expect_status(reply, body ? 200 : 504);
    if (body)
        expect_body(reply, body);
}

/* Many origins make '_' of '-', or of both. */
TEST(a_field_that_the_origin_may_take_for_another_leaves_nothing)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    const char *const english = "Accept-Language: en\r\n";

    fetch(server, upstream, "GET", "/a",
          "Accept-Language: en\r\nAccept_Language: de\r\n",
          REPLY(KEEP "Vary: Accept-Language\r\n" LEN(2), "de"), NULL);
    expect_kept(server, "/a", english, NULL);
    fetch(server, upstream, "GET", "/a", english,
          REPLY(KEEP "Vary: Accept-Language\r\n" LEN(2), "en"), NULL);
    expect_kept(server, "/a", english, "en");
    expect_kept(server, "/a", "Accept-Language: en\r\nAccept_Language: de\r\n",
                NULL);
}

TEST(what_a_key_has_in_it_may_be_written_as_the_origin_reads_it)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--cache-key=cookie:lang",
                                        "--cache-key=header:X-Tier",
                                        "--cache-bypass=cookie:session");

    fetch(server, upstream, "GET", "/a", "Cookie: lang =de\r\n",
          REPLY(KEEP LEN(2), "de"), NULL);
    fetch(server, upstream, "GET", "/a", "X_Tier: gold\r\n",
          REPLY(KEEP LEN(4), "gold"), NULL);
    fetch(server, upstream, "GET", "/a", "Cookie: a=b; session =1\r\n",
          REPLY(KEEP LEN(4), "mine"), NULL);
    /* RFC 2965 ends a pair at a comma, too. */
    fetch(server, upstream, "GET", "/a", "Cookie: a=b, lang=fr\r\n",
          REPLY(KEEP LEN(2), "fr"), NULL);
    fetch(server, upstream, "GET", "/a", "Cookie: a=b,session=1\r\n",
          REPLY(KEEP LEN(4), "mine"), NULL);
    expect_kept(server, "/a", "", NULL);
}

/* Else one who takes "zstd" would leave a page that others cannot read. */
TEST(what_is_coded_is_for_those_who_take_that_said_or_not)
{
    static const char *const who[] = {"Accept-Encoding: gzip\r\n",
                                      "Accept-Encoding: br, x-gzip;q=0.1\r\n",
                                      "Accept-Encoding: *\r\n"};
    static const char *const others[] = {"", "Accept-Encoding: br\r\n",
                                         "Accept-Encoding:\r\n",
                                         "Accept-Encoding: gzip;q=0, *\r\n"};
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    fetch(server, upstream, "GET", "/a", who[0],
          REPLY(KEEP "Content-Encoding: gzip\r\n" LEN(2), "gz"), NULL);
    for (size_t i = 0; i < sizeof(who) / sizeof(*who); i++)
        expect_kept(server, "/a", who[i], "gz");
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        expect_kept(server, "/a", others[i], NULL);
    fetch(server, upstream, "GET", "/a", "", REPLY(KEEP LEN(5), "plain"), NULL);
    expect_kept(server, "/a", who[0], "plain");
    expect_kept(server, "/a", "", "plain");
    fetch(server, upstream, "GET", "/b", "",
          REPLY(KEEP "Content-Encoding: own\r\n" LEN(3), "own"), NULL);
    expect_kept(server, "/b", "", "own");
    /* A difference is for those who have what it is to. */
    fetch(server, upstream, "GET", "/c",
          "Accept-Encoding: dcz\r\nAvailable-Dictionary: :AAAA:\r\n",
          REPLY(KEEP "Content-Encoding: dcz\r\n" LEN(3), "dcz"), NULL);
    expect_kept(server, "/c",
                "Accept-Encoding: dcz\r\nAvailable-Dictionary: :AAAA:\r\n",
                "dcz");
    expect_kept(server, "/c",
                "Accept-Encoding: dcz\r\nAvailable-Dictionary: :BBBB:\r\n",
                NULL);
    expect_kept(server, "/c", "Accept-Encoding: dcz\r\n", NULL);
}

/* Many origins let read it whoever asks, and do not say that it varies by
 * that. */
TEST(who_asks_first_does_not_say_who_may_read_it)
{
    static const char evil[] = "Origin: https://evil.example\r\n";
    static const char good[] = "Origin: https://good.example\r\n";
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    fetch(server, upstream, "GET", "/a", evil,
          REPLY(KEEP
                "Access-Control-Allow-Origin: https://evil.example\r\n" LEN(4),
                "evil"),
          NULL);
    expect_kept(server, "/a", evil, "evil");
    expect_kept(server, "/a", good, NULL);
    expect_kept(server, "/a", "", NULL);
    fetch(server, upstream, "GET", "/b", evil,
          REPLY(KEEP "Access-Control-Allow-Origin: *\r\n" LEN(3), "all"), NULL);
    expect_kept(server, "/b", good, "all");
}

/* One that understands ESI would leave its tags to those that do not. */
TEST(what_a_client_understands_as_a_surrogate_is_not_passed_on)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    const char *head;

    fetch(server, upstream, "GET", "/a",
          "Surrogate-Capability: a=\"ESI/1.0\"\r\n"
          "surrogate_capability: b=\"ESI/1.0\"\r\n",
          REPLY(KEEP "Vary: Surrogate-Capability\r\n" LEN(2), "hi"), &head);
    if (strstr(head, "ESI"))
        flunk("it is passed on: %s", head);
    expect_kept(server, "/a", "", "hi");
}

/* As a reference, "//b" would be another host. */
TEST(a_write_makes_invalid_what_its_very_address_has)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    fetch(server, upstream, "GET", "//b/c", "", REPLY(KEEP LEN(3), "old"),
          NULL);
    expect_kept(server, "//b/c", "", "old");
    fetch(server, upstream, "POST", "//b/c",
          "X-Original-URL: /x\r\nContent-Length: 0\r\n", REPLY(LEN(0), ""),
          NULL);
    expect_kept(server, "//b/c", "", NULL);
}

/* --- Pages for errors ---------------------------------------------------- */

#define STALE "Cache-Control: max-age=0, stale-while-revalidate=600\r\n"
#define NOT_FOUND \
    "HTTP/1.1 404 Not Found\r\nConnection: close\r\n" KEEP LEN(3) "\r\nraw"

static const char *await_asked(const struct upstream *upstream,
                               const char *text)
{
    struct client *peer = upstream_accept(upstream);
    const char *head = hear_head(peer);

    client_say(peer, "%s", text);
    return head;
}

/* A page stands for each 404 of the upstream. */
static struct server *start_with_page(struct upstream *upstream)
{
    site_text("e.html", "page");
    return START_CACHE(upstream, "--error-page=404 /e.html",
                       "--proxy-intercept-errors");
}

/* What is asked for behind the clients' backs has no place whose page it could
 * be. */
TEST(an_error_that_a_page_is_to_stand_for_is_never_kept)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_with_page(upstream);

    fetch(server, upstream, "GET", "/a", "",
          REPLY(STALE "ETag: \"a\"\r\n" LEN(3), "old"), NULL);
    expect_body(client_ask_host(client_open(server), "GET", "a", "/a", NULL),
                "old");
    (void)await_asked(upstream, NOT_FOUND);
    pause_ms(50);
    expect_body(fetch(server, upstream, "GET", "/a", "", NOT_FOUND, NULL),
                "page");
    expect_kept(server, "/a", "", NULL);
}

/* It is an answer, and no failure that what is kept would stand in for. */
TEST(what_is_gone_is_not_kept_on_because_a_page_says_so)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_with_page(upstream);

    fetch(server, upstream, "GET", "/a", "",
          REPLY("Cache-Control: max-age=0\r\nETag: \"a\"\r\n" LEN(3), "old"),
          NULL);
    expect_body(fetch(server, upstream, "GET", "/a", "", NOT_FOUND, NULL),
                "page");
    expect_kept(server, "/a", "Cache-Control: max-stale\r\n", NULL);
}

/* Whoever is refused here has not heard of the origin that anything changed. */
TEST(a_request_that_is_refused_makes_nothing_go)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    const char *own = "1.1 sprintd, 1.1 sprintd, 1.1 sprintd, 1.1 sprintd";
    struct client *client = client_open(server);

    fetch(server, upstream, "GET", "/a", "", REPLY(KEEP LEN(2), "hi"), NULL);
    say(client, "GET", "/a",
        printed("Cache-Control: no-cache\r\nVia: %s, %s, %s\r\n", own, own,
                own));
    expect_status(client_reply(client), 508);
    expect_kept(server, "/a", "", "hi");
}

/* Whoever asks too often, or with too long a field, would have others told so:
 * some origins say the same lifetime of all that they answer (RFC 6585). */
TEST(what_one_asks_too_much_is_told_to_nobody_else)
{
    static const char *const told[] = {"429 Too Many Requests",
                                       "431 Request Header Fields Too Large"};
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
        fetch(server, upstream, "GET", "/a", "",
              printed("HTTP/1.1 %s\r\nConnection: close\r\n"
                      "Cache-Control: public, max-age=600\r\n" LEN(0) "\r\n",
                      told[i]),
              NULL);
        expect_kept(server, "/a", "", NULL);
    }
    fetch(server, upstream, "GET", "/a", "", REPLY(KEEP LEN(2), "hi"), NULL);
    expect_kept(server, "/a", "", "hi");
}

/* Else one whose field is too long for the origin, say, would have it send all
 * that is kept once more. */
TEST(who_asks_badly_makes_nothing_go)
{
    static const struct {
        const char *fields;
        const char *status;
        bool makes_go;
    } cases[] = {
        {"", "400 Bad Request", false},
        {"", "406 Not Acceptable", false},
        {"", "431 Request Header Fields Too Large", false},
        {"", "501 Not Implemented", false},
        {"Request-Range: bytes=0-0\r\n", "206 Partial Content", false},
        {"A-IM: feed\r\n", "226 IM Used", false},
        {"Authorization: Basic eDp5\r\n", "401 Unauthorized", false},
        {"Cookie: session=x\r\n", "403 Forbidden", false},
        {"X-API-Key: x\r\n", "403 Forbidden", false},
        {"", "403 Forbidden", true},
        {"", "404 Not Found", true},
        {"", "410 Gone", true},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        fetch(server, upstream, "GET", "/a", "Cache-Control: no-cache\r\n",
              REPLY(KEEP "Cache-Control: public\r\n" LEN(2), "hi"), NULL);
        fetch(server, upstream, "GET", "/a",
              printed("Cache-Control: no-cache\r\n%s", cases[i].fields),
              printed("HTTP/1.1 %s\r\nConnection: close\r\n" LEN(0) "\r\n",
                      cases[i].status),
              NULL);
        expect_kept(server, "/a", "", cases[i].makes_go ? NULL : "hi");
    }
}

/* As all answers of an origin that says the same lifetime of each. */
static const char *lasting_error(const char *status)
{
    return printed("HTTP/1.1 %s\r\nConnection: close\r\n"
                   "Cache-Control: public, max-age=600\r\n" LEN(0) "\r\n",
                   status);
}

TEST(who_asks_badly_takes_the_place_of_nothing_that_is_kept)
{
    static const struct {
        const char *fields;
        const char *status;
    } cases[] = {
        {"", "400 Bad Request"},
        {"", "406 Not Acceptable"},
        {"", "501 Not Implemented"},
        {"Authorization: Basic eDp5\r\n", "400 Bad Request"},
        {"Authorization: Basic eDp5\r\n", "403 Forbidden"},
        {"Cookie: session=x\r\n", "403 Forbidden"},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);

    fetch(server, upstream, "GET", "/a", "", REPLY(KEEP LEN(2), "hi"), NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply = fetch(server, upstream, "GET", "/a",
                                    printed("Cache-Control: no-cache\r\n%s",
                                            cases[i].fields),
                                    lasting_error(cases[i].status), NULL);

        going_on("%s%s", cases[i].fields, cases[i].status);
        expect_status(reply, (unsigned)strtoul(cases[i].status, NULL, 10));
        expect_kept(server, "/a", "", "hi");
    }
    /* Nor that of what others select. */
    fetch(server, upstream, "GET", "/c", "Foo: 1\r\n",
          REPLY(KEEP "Vary: Foo\r\n" LEN(2), "hi"), NULL);
    fetch(server, upstream, "GET", "/c", "Foo: 2\r\n",
          lasting_error("400 Bad Request"), NULL);
    expect_kept(server, "/c", "Foo: 1\r\n", "hi");
    /* Nor is it kept where the request is not as others are. */
    fetch(server, upstream, "GET", "/d", printed("Foo: %05000d\r\n", 1),
          lasting_error("400 Bad Request"), NULL);
    expect_kept(server, "/d", "", NULL);
    fetch(server, upstream, "GET", "/d", "Foo: \xc3\xa4\r\n",
          lasting_error("400 Bad Request"), NULL);
    expect_kept(server, "/d", "", NULL);
    /* Of what is gone all are told, and where nothing is kept, of any error. */
    fetch(server, upstream, "GET", "/a", "Cache-Control: no-cache\r\n",
          lasting_error("410 Gone"), NULL);
    expect_status(client_ask_host(client, "GET", "a", "/a", NULL), 410);
    fetch(server, upstream, "GET", "/b", "", lasting_error("400 Bad Request"),
          NULL);
    expect_status(client_ask_host(client, "GET", "a", "/b", NULL), 400);
    fetch(server, upstream, "GET", "/b", "Cache-Control: no-cache\r\n",
          lasting_error("406 Not Acceptable"), NULL);
    expect_status(client_ask_host(client, "GET", "a", "/b", NULL), 406);
}

E2E_SUITE(harness_begin);
