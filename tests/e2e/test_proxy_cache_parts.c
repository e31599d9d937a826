/*
 * --proxy-cache, and answers that are a part (206): they are kept, joined where
 * their bytes are of the same representation, and never mixed where they are
 * not.
 */
#include "caching.h"

enum { KB = 1024, LARGE = 300 * KB, SEED = 9 };

#define V1 "ETag: \"v1\"\r\n"
#define V2 "ETag: \"v2\"\r\n"
#define AT(range) "Content-Range: bytes " range "\r\n"
/* Who asks again does so by another connection. */
#define WHOLE(fields, body) \
    "HTTP/1.1 200 OK\r\nConnection: close\r\n" DATED KEEP fields "\r\n" body
#define PART(fields, body)                                                    \
    "HTTP/1.1 206 Partial Content\r\nConnection: close\r\n" DATED KEEP fields \
    "\r\n" body

/* NULL: all of it. */
static const char *range_field(const char *range)
{
    return range ? printed("Range: bytes=%s\r\n", range) : "";
}

/* What the cache has. */
static struct reply *ask_for(const struct server *server, const char *range)
{
    return client_ask_host(client_open(server), "GET", "a", "/a",
                           range_field(range));
}

/* The client asks for that, and the upstream is heard; its request is
 * *head_out.
 */
static struct client *begin(const struct server *server,
                            const struct upstream *upstream, const char *range,
                            struct client **peer_out, const char **head_out)
{
    struct client *client = client_open(server);

    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n%s\r\n",
               range_field(range));
    *peer_out = upstream_accept(upstream);
    *head_out = hear_head(*peer_out);
    return client;
}

/* One asks for that, the upstream answers so. */
static struct reply *fetch(const struct server *server,
                           const struct upstream *upstream, const char *range,
                           const char *text)
{
    struct client *peer;
    const char *head;
    struct client *client = begin(server, upstream, range, &peer, &head);

    client_say(peer, "%s", text);
    return client_reply(client);
}

static void expect_hit(const struct server *server, const char *range,
                       unsigned status, const char *body)
{
    struct reply *reply = ask_for(server, range);

    expect_status(reply, status);
    expect_body(reply, body);
    expect_cache_status(reply, "hit");
}

static void expect_has(const char *head, const char *field)
{
    if (!strstr(head, field))
        flunk("'%s' is not in the request: %s", field, head);
}

/* The answer ends before its body does. */
static void expect_broken(struct client *client)
{
    struct reply *reply;

    enum client_event event = client_try(client, false, &reply);

    if (event != CLIENT_BROKEN)
        flunk("event %d instead, and: %s", event, client_raw(client));
}

/* --- Kept ---------------------------------------------------------------- */

TEST(a_part_is_kept_and_ranges_within_it_are_answered)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct reply *reply = fetch(server, upstream, "2-5",
                                PART(V1 AT("2-5/10") LEN(4) "X: y\r\n",
                                     "2345"));

    expect_status(reply, 206);
    expect_body(reply, "2345");
    expect_field(reply, "Content-Range", "bytes 2-5/10");
    expect_cache_status(reply, "fwd=uri-miss; fwd-status=206; stored");
    expect_hit(server, "2-5", 206, "2345");
    reply = ask_for(server, "3-4");
    expect_body(reply, "34");
    expect_field(reply, "Content-Range", "bytes 3-4/10");
    expect_field(reply, "X", "y");
    expect_cache_status(reply, "hit");
    expect_status(ask_for(server, "10-"), 416);
    assert_false(upstream_hears(upstream, 30));
}

TEST(parts_with_one_etag_are_joined_to_the_whole)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct reply *reply;

    fetch(server, upstream, "0-4", PART(V1 AT("0-4/12") LEN(5), "01234"));
    reply = fetch(server, upstream, "9-11",
                  PART(V1 AT("9-11/12") LEN(3), "9ab"));
    expect_cache_status(reply, "fwd=partial");
    /* It overlaps both. */
    fetch(server, upstream, "3-10", PART(V1 AT("3-10/12") LEN(8), "3456789a"));
    expect_hit(server, "2-10", 206, "23456789a");
    expect_hit(server, "-5", 206, "789ab");
    expect_hit(server, NULL, 200, "0123456789ab");
    assert_null(reply_field(ask_for(server, NULL), "Content-Range"));
    assert_false(upstream_hears(upstream, 30));
}

TEST(the_only_gap_is_asked_for_and_the_whole_is_kept)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client, *peer;
    struct reply *reply;
    const char *head;

    fetch(server, upstream, "0-3",
          PART(V1 AT("0-3/10") LEN(4) "Content-Type: text/x\r\n", "0123"));
    fetch(server, upstream, "8-9", PART(V1 AT("8-9/10") LEN(2), "89"));
    client = begin(server, upstream, NULL, &peer, &head);
    expect_has(head, "Range: bytes=4-7\r\n");
    expect_has(head, "If-Range: \"v1\"\r\n");
    /* With If-Range a server need not say again what it is. */
    client_say(peer,
               PART(V1 AT("4-7/10") LEN(4) "Set-Cookie: a=b\r\n", "4567"));
    reply = client_reply(client);
    expect_status(reply, 200);
    expect_body(reply, "0123456789");
    expect_field(reply, "Content-Type", "text/x");
    expect_field(reply, "Set-Cookie", "a=b"); /* for who asked alone */
    expect_no_field(ask_for(server, NULL), "Set-Cookie");
    expect_cache_status(reply, "fwd=partial; fwd-status=206; stored");
    expect_hit(server, NULL, 200, "0123456789");
    expect_hit(server, "3-8", 206, "345678");
    assert_false(upstream_hears(upstream, 30));
}

TEST(long_parts_are_joined_and_completed)
{
    enum { FIRST = 100 * KB, SECOND = 200 * KB };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client, *peer;
    char *body = scratch(LARGE);
    const char *head;

    seeded_fill(SEED, 0, body, LARGE);
    client = begin(server, upstream, printed("%d-", SECOND), &peer, &head);
    client_say(peer,
               PART(V1 "Content-Range: bytes %d-%d/%d\r\n"
                       "Content-Length: %d\r\n",
                    ""),
               SECOND, LARGE - 1, LARGE, LARGE - SECOND);
    client_send(peer, body + SECOND, LARGE - SECOND);
    expect_seeded(client_reply(client), SEED, SECOND, LARGE - SECOND);
    client = begin(server, upstream, printed("0-%d", FIRST - 1), &peer, &head);
    client_say(peer,
               PART(V1 "Content-Range: bytes 0-%d/%d\r\n"
                       "Content-Length: %d\r\n",
                    ""),
               FIRST - 1, LARGE, FIRST);
    client_send(peer, body, FIRST);
    expect_seeded(client_reply(client), SEED, 0, FIRST);
    client = begin(server, upstream, NULL, &peer, &head);
    expect_has(head, printed("Range: bytes=%d-%d\r\n", FIRST, SECOND - 1));
    client_say(peer,
               PART(V1 "Content-Range: bytes %d-%d/%d\r\n"
                       "Content-Length: %d\r\n",
                    ""),
               FIRST, SECOND - 1, LARGE, SECOND - FIRST);
    client_send(peer, body + FIRST, SECOND - FIRST);
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    expect_seeded(ask_for(server, NULL), SEED, 0, LARGE);
    assert_false(upstream_hears(upstream, 30));
}

/* RFC 9530 2: of the bytes of one answer, and of all bytes. */
TEST(a_digest_of_one_answers_bytes_goes_with_no_others)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct reply *reply;

    fetch(server, upstream, NULL,
          WHOLE(V1 LEN(10) "Content-Digest: sha-256=:a:\r\n"
                           "Repr-Digest: sha-256=:b:\r\n",
                "0123456789"));
    expect_field(ask_for(server, NULL), "Content-Digest", "sha-256=:a:");
    reply = ask_for(server, "2-3");
    expect_status(reply, 206);
    expect_no_field(reply, "Content-Digest");
    expect_field(reply, "Repr-Digest", "sha-256=:b:");
    assert_false(upstream_hears(upstream, 30));
}

TEST(the_digest_of_a_part_is_not_that_of_the_whole)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    fetch(server, upstream, "0-4",
          PART(V1 AT("0-4/10") LEN(5) "Content-Digest: sha-256=:a:\r\n",
               "01234"));
    expect_no_field(ask_for(server, "1-2"), "Content-Digest");
    fetch(server, upstream, "5-9",
          PART(V1 AT("5-9/10") LEN(5) "Content-MD5: b\r\n", "56789"));
    expect_hit(server, NULL, 200, "0123456789");
    expect_no_field(ask_for(server, NULL), "Content-Digest");
    expect_no_field(ask_for(server, NULL), "Content-MD5");
    assert_false(upstream_hears(upstream, 30));
}

TEST(a_part_that_is_all_is_kept_as_the_whole)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct reply *reply = fetch(server, upstream, "0-",
                                PART(AT("0-4/5") LEN(5), "hello"));

    expect_status(reply, 206);
    expect_field(reply, "Content-Range", "bytes 0-4/5");
    expect_hit(server, NULL, 200, "hello");
    expect_hit(server, "-2", 206, "lo");
}

TEST(a_whole_that_comes_for_a_range_is_kept)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct reply *reply = fetch(server, upstream, "1-2",
                                WHOLE(LEN(5), "hello"));

    expect_status(reply, 206);
    expect_body(reply, "el");
    expect_hit(server, NULL, 200, "hello");
}

TEST(parts_with_a_folder_are_kept_and_the_whole_is_written)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START("--workers=2",
                                  printed("--proxy=/=%s", upstream->at),
                                  printed("--proxy-cache=%s/kept", folder()),
                                  "--proxy-retries=0", NULL);
    struct client *client, *peer;
    const char *head;
    char *body = scratch(LARGE);

    seeded_fill(SEED, 0, body, LARGE);
    client = begin(server, upstream, "0-199999", &peer, &head);
    client_say(peer,
               PART(V1 "Content-Range: bytes 0-199999/%d\r\n"
                       "Content-Length: 200000\r\n",
                    ""),
               LARGE);
    client_send(peer, body, 200000);
    expect_seeded(client_reply(client), SEED, 0, 200000);
    expect_seeded(ask_for(server, "1000-199999"), SEED, 1000, 199000);
    /* It is whole as soon as the disk's thread has written it. */
    do {
        client = begin(server, upstream, NULL, &peer, &head);
        if (strstr(head, "\r\nRange: "))
            break;
        client_say(peer, "HTTP/1.1 503 Not yet\r\nConnection: close\r\n"
                         "Content-Length: 0\r\n\r\n");
        expect_status(client_reply(client), 503);
    } while (true);
    expect_has(head, printed("Range: bytes=200000-%d\r\n", LARGE - 1));
    client_say(peer,
               PART(V1 "Content-Range: bytes 200000-%d/%d\r\n"
                       "Content-Length: %d\r\n",
                    ""),
               LARGE - 1, LARGE, LARGE - 200000);
    client_send(peer, body + 200000, LARGE - 200000);
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    server_stop(server);
    server = START("--workers=2", printed("--proxy=/=%s", upstream->at),
                   printed("--proxy-cache=%s/kept", folder()), NULL);
    assert_true(eventually(({
                               struct reply *reply = client_ask_host(
                                   client_open(server), "GET", "a", "/a",
                                   "Cache-Control: only-if-cached\r\n");

                               reply->status == 200 && reply->length == LARGE;
                           }),
                           3000));
    expect_seeded(ask_for(server, NULL), SEED, 0, LARGE);
}

/* --- Not mixed ----------------------------------------------------------- */

TEST(parts_are_not_joined_without_the_same_strong_etag)
{
    static const char *const tags[][2] = {
        {V1, V2}, {"", ""}, {"ETag: W/\"v\"\r\n", "ETag: W/\"v\"\r\n"}};
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
        struct client *client, *peer;
        const char *head;

        fetch(server, upstream, "0-4",
              printed(PART("%s" AT("0-4/10") LEN(5), "aaaaa"), tags[i][0]));
        fetch(server, upstream, "5-9",
              printed(PART("%s" AT("5-9/10") LEN(5), "bbbbb"), tags[i][1]));
        expect_hit(server, "6-7", 206, "bb"); /* the newest */
        client = begin(server, upstream, "4-5", &peer, &head);
        client_say(peer, PART("Cache-Control: no-store\r\n" AT("4-5/10") LEN(2),
                              "xy"));
        expect_body(client_reply(client), "xy");
        client_ask_host(client_open(server), "PURGE", "a", "/a", NULL);
    }
}

TEST(what_has_changed_in_the_gap_takes_the_place_of_all)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client, *peer;
    const char *head;

    fetch(server, upstream, "0-4", PART(V1 AT("0-4/10") LEN(5), "01234"));
    client = begin(server, upstream, NULL, &peer, &head);
    expect_has(head, "If-Range: \"v1\"\r\n");
    client_say(peer, WHOLE(V2 LEN(3), "new"));
    expect_body(client_reply(client), "new");
    expect_hit(server, NULL, 200, "new");
    assert_false(upstream_hears(upstream, 30));
}

TEST(who_mends_the_gap_wrongly_is_asked_for_all)
{
    static const char *const wrong[] = {
        PART(V2 AT("5-9/10") LEN(5), "56789"),  /* of another */
        PART(AT("5-9/10") LEN(5), "56789"),     /* of who knows what */
        PART(V1 AT("5-8/10") LEN(4), "5678"),   /* not all */
        PART(V1 AT("4-9/10") LEN(6), "456789"), /* more */
        PART(V1 AT("5-9/11") LEN(5), "56789"),  /* of a longer one */
        PART(V1 AT("5-9/10") LEN(4), "5678"),   /* less than it says */
        PART(V1 LEN(5), "56789"),
        "HTTP/1.1 416 Not That\r\nConnection: close\r\n" DATED LEN(0) "\r\n",
    };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct client *client, *peer;
        const char *head;

        going_on("answer %zu", i);
        fetch(server, upstream, "0-4", PART(V1 AT("0-4/10") LEN(5), "01234"));
        client = begin(server, upstream, NULL, &peer, &head);
        expect_has(head, "Range: bytes=5-9\r\n");
        client_say(peer, "%s", wrong[i]);
        peer = upstream_accept(upstream);
        head = hear_head(peer);
        assert_null(strstr(head, "Range: "));
        client_say(peer, WHOLE(V2 LEN(2), "ok"));
        expect_body(client_reply(client), "ok");
        client_ask_host(client_open(server), "PURGE", "a", "/a", NULL);
    }
}

TEST(a_gap_that_is_cut_short_or_too_long_ends_the_answer)
{
    static const char *const wrong[][2] = {
        {LEN(4), "45"},
        {"Transfer-Encoding: chunked\r\n", "2\r\n45\r\n0\r\n\r\n"},
        {"Transfer-Encoding: chunked\r\n", "6\r\n456789\r\n0\r\n\r\n"},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct client *client, *peer;
        const char *head;

        going_on("answer %zu", i);
        fetch(server, upstream, "0-3", PART(V1 AT("0-3/10") LEN(4), "0123"));
        fetch(server, upstream, "8-9", PART(V1 AT("8-9/10") LEN(2), "89"));
        client = begin(server, upstream, NULL, &peer, &head);
        client_say(peer, PART(V1 AT("4-7/10") "%s", ""), wrong[i][0]);
        assert_true(client_take(client, 12) >= 12);
        client_say(peer, "%s", wrong[i][1]);
        client_close(peer);
        expect_broken(client);
        /* The head has a random name of the request in it. */
        assert_null(strstr(strstr(client_raw(client), "\r\n\r\n"), "89"));
        fetch(server, upstream, NULL, WHOLE(V1 LEN(2), "ok"));
        client_ask_host(client_open(server), "PURGE", "a", "/a", NULL);
    }
}

TEST(parts_that_lie_about_themselves_are_passed_on_and_not_kept)
{
    static const char *const lies[] = {
        AT("0-5/10") LEN(5),
        AT("0-3/10") LEN(5),
        AT("0-4/*") LEN(5),
        AT("4-0/10") LEN(5),
        AT("0-4/4") LEN(5),
        AT("0-4") LEN(5),
        AT("*/10") LEN(5),
        AT(" 0-4/10x") LEN(5),
        LEN(5),
        AT("0-4/10") AT("5-9/10") LEN(5),
        "Content-Range: lines 0-4/10\r\n" LEN(5),
        AT("0-18446744073709551620/18446744073709551621") LEN(5),
        "Content-Type: multipart/byteranges; boundary=b\r\n" LEN(5)};
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++)
        for (int again = 0; again < 2; again++) {
            struct reply *reply;

            going_on("lie %zu", i);
            reply = fetch(server, upstream, "0-4",
                          printed(PART(V1 "%s", "01234"), lies[i]));
            expect_status(reply, 206);
            expect_body(reply, "01234");
            assert_null(strstr(reply_field(reply, "Cache-Status"), "stored"));
        }
}

TEST(a_part_that_breaks_off_or_may_not_be_kept_is_not)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client, *peer;
    const char *head;

    client = begin(server, upstream, "0-4", &peer, &head);
    client_say(peer, PART(V1 AT("0-4/10") LEN(5), "012"));
    client_close(peer);
    expect_broken(client);
    for (int i = 0; i < 2; i++)
        expect_body(fetch(server, upstream, "0-4",
                          PART("Cache-Control: no-store\r\n" V1 AT("0-4/10")
                                   LEN(5),
                               "01234")),
                    "01234");
    expect_body(fetch(server, upstream, "0-4",
                      PART(V1 AT("0-4/10") "Vary: *\r\n" LEN(5), "01234")),
                "01234");
    assert_null(strstr(reply_field(fetch(server, upstream, "0-4",
                                         PART(V1 AT("0-4/10") LEN(5), "01234")),
                                   "Cache-Status"),
                       "partial"));
}

TEST(more_than_one_range_at_once_goes_past)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (int i = 0; i < 2; i++)
        expect_body(fetch(server, upstream, "0-1,4-5",
                          PART(V1 AT("0-4/10") LEN(5), "01234")),
                    "01234");
    expect_cache_status(fetch(server, upstream, "0-4",
                              PART(V1 AT("0-4/10") LEN(5), "01234")),
                        "fwd=uri-miss");
}

TEST(a_condition_is_judged_by_the_etag_of_a_part)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    fetch(server, upstream, "0-4", PART(V1 AT("0-4/10") LEN(5), "01234"));
    expect_status(client_ask_host(client_open(server), "GET", "a", "/a",
                                  "If-None-Match: \"v1\"\r\n"),
                  304);
    expect_body(client_ask_host(client_open(server), "GET", "a", "/a",
                                "Range: bytes=0-1\r\nIf-Range: \"v1\"\r\n"),
                "01");
    assert_false(upstream_hears(upstream, 30));
}

E2E_SUITE(harness_begin);
