/*
 * --proxy-cache: what an operator says of how long answers are kept, for which
 * requests, and under which key.
 */
#include "caching.h"

/* One asks so, and the upstream answers. */
static struct reply *fetch_path(const struct server *server,
                                const struct upstream *upstream,
                                const char *path, const char *fields,
                                const char *text)
{
    return ask_through(client_open(server), upstream,
                       printed("GET %s HTTP/1.1\r\nHost: a\r\n%s\r\n", path,
                               fields),
                       text);
}

TEST(what_says_nothing_is_kept_for_as_long_as_is_said_for_it)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--cache-default=1m");
    const char *note;

    fetch_a(server, upstream,
            "HTTP/1.1 200 OK\r\nConnection: close\r\n" LEN(2) "\r\nhi");
    expect_cache_status(get_a(server), "hit");
    note = reply_field(get_a(server), "Cache-Status");
    assert_in_range(strtol(strstr(note, "ttl=") + 4, NULL, 10), 50, 60);
    fetch_path(
        server, upstream, "/b", "",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nSet-Cookie: a=b\r\n" LEN(
            2) "\r\nhi");
    fetch_path(server, upstream, "/b", "",
               "HTTP/1.1 200 OK\r\nConnection: close\r\nCache-Control: "
               "no-store\r\n" LEN(2) "\r\nhi");
    fetch_path(server, upstream, "/b", "", REPLY(LEN(2), "hi"));
}

TEST(who_has_what_is_to_go_past_gets_and_leaves_nothing)
{
    static const char *const fields[] = {"X-Preview: 1\r\n",
                                         "Cookie: a=b; session=1\r\n"};
    struct upstream *upstream = upstream_open();
    struct server *server = START(printed("--proxy=/=%s", upstream->at),
                                  "--proxy-cache=memory",
                                  "--cache-bypass=header:X-Preview",
                                  "--cache-bypass=cookie:session",
                                  "--cache-bypass=query:nocache");

    fetch_a(server, upstream, REPLY(KEEP LEN(3), "all"));
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        struct reply *reply = fetch_path(server, upstream, "/a", fields[i],
                                         REPLY(KEEP LEN(3), "one"));

        expect_body(reply, "one");
        expect_cache_status(reply, "fwd=bypass");
    }
    for (int i = 0; i < 2; i++)
        expect_cache_status(fetch_path(server, upstream, "/a?x=1&nocache=1", "",
                                       REPLY(KEEP LEN(3), "one")),
                            "fwd=bypass");
    expect_body(get_a(server), "all");
    expect_cache_status(ask_path(server, "/a", "Cookie: sessions=1; b\r\n"),
                        "hit");
}

TEST(a_key_has_in_it_what_is_said_and_not_what_is_left_out)
{
    struct upstream *upstream = upstream_open();
    struct server *server =
        START(printed("--proxy=/=%s", upstream->at), "--proxy-cache=memory",
              "--cache-key=-query:utm_*", "--cache-key=-query:sid",
              "--cache-key=header:X-Country", "--cache-key=cookie:tier");
    struct reply *reply;

    fetch_path(server, upstream, "/a?x=1&utm_source=y", "",
               REPLY(KEEP LEN(3), "one"));
    expect_body(ask_path(server, "/a?x=1", NULL), "one");
    expect_body(ask_path(server, "/a?sid=7&x=1&utm_=", NULL), "one");
    reply = fetch_path(server, upstream, "/a?x=1&sida=1", "",
                       REPLY(KEEP LEN(3), "two"));
    expect_cache_status(reply, "fwd=uri-miss");
    fetch_path(server, upstream, "/a?x=1", "X-Country: at\r\n",
               REPLY(KEEP LEN(3), "at."));
    fetch_path(server, upstream, "/a?x=1", "Cookie: tier=gold\r\n",
               REPLY(KEEP LEN(4), "gold"));
    expect_body(ask_path(server, "/a?x=1", "X-Country: at\r\n"), "at.");
    expect_body(ask_path(server, "/a?x=1", "Cookie: b; tier=gold; c\r\n"),
                "gold");
    expect_body(ask_path(server, "/a?x=1", "Cookie: other=1\r\n"), "one");
    expect_body(purge(client_open(server), "/a?utm_x=1&x=1", NULL),
                "{\"purged\":3}\n");
}

/* The method is not why (RFC 9211 2.2). */
TEST(a_condition_that_only_the_origin_can_judge_goes_past)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    fetch_a(server, upstream, REPLY(KEEP LEN(3) "ETag: \"a\"\r\n", "old"));
    expect_cache_status(fetch_path(server, upstream, "/a",
                                   "If-Match: \"a\"\r\n",
                                   REPLY(KEEP LEN(3), "new")),
                        "fwd=bypass");
    expect_body(get_a(server), "old");
}

/* "10.0.0.1" is a name in Via, and no item of a structured field. */
TEST(a_name_that_is_no_token_is_told_in_quotes)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--proxy-name=10.0.0.1");
    struct reply *reply = fetch_a(server, upstream, REPLY(KEEP LEN(2), "hi"));

    expect_field(reply, "Cache-Status",
                 "\"10.0.0.1\"; fwd=uri-miss; fwd-status=200; stored");
    upstream_shut(upstream);
    reply = ask_path(server, "/b", NULL);
    expect_field(reply, "Proxy-Status",
                 "\"10.0.0.1\"; error=connection_refused");
}

TEST(parts_of_requests_that_there_are_not_are_refused)
{
    static const char *const wrong[] = {
        "--cache-key=query:a",       "--cache-key=-header:a",
        "--cache-key=header:",       "--cache-key=host",
        "--cache-key=cookie:a=b",    "--cache-bypass=-query:a",
        "--cache-bypass=header:a b", "--cache-bypass="};
    struct outcome outcome;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        RUN(&outcome, "--port=0", "--proxy=/=http://127.0.0.1:9", wrong[i]);
        assert_int_equal(outcome.status, 64);
    }
}

E2E_SUITE(harness_begin);
