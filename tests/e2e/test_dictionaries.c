/*
 * Deltas against what a client has already (RFC 9842): who is offered a
 * dictionary, and who is sent a difference.
 */
#include "h2_client.h"
#include "versions.h"

/* --- Who gets what ------------------------------------------------------- */

TEST(who_has_a_version_gets_the_next_as_the_difference)
{
    struct client *client = client_open(START_DICT(RULE, "--workers=2"));
    struct reply *reply;

    publish(client, 1);
    reply = fetch_ok(client, "/assets/app.1.js", TAKES);
    expect_field(reply, "Use-As-Dictionary", "match=\"/assets/app.*.js\"");
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    assert_true(reply_lists(reply, "Vary", "Available-Dictionary"));
    version_write("assets/app.2.js", 2);
    reply = await_delta(client, "/assets/app.2.js", 1);
    expect_reply_delta(reply, 1, 2);
    expect_field(reply, "Use-As-Dictionary", "match=\"/assets/app.*.js\"");
    expect_field(reply, "Vary", "Accept-Encoding, Available-Dictionary");
    expect_field(reply, "Content-Type", "text/javascript; charset=utf-8");
    reply = fetch_ok(client, "/assets/app.2.js", TAKES);
    assert_false(is_delta(reply));
    assert_true(reply_lists(reply, "Vary", "Available-Dictionary"));
}

TEST(a_file_that_keeps_its_name_is_sent_by_what_it_was)
{
    struct client *client = client_open(START("--dictionary=/assets/app.js",
                                              state_argument()));

    version_write("assets/app.js", 1);
    assert_true(eventually((fetch_ok(client, "/assets/app.js", TAKES),
                            count_kept() == 1),
                           MADE_MS));
    site_replace("assets/app.js", version_text(2), LEN);
    site_date("assets/app.js", LONG_AGO + 2, 0);
    expect_reply_delta(await_delta(client, "/assets/app.js", 1), 1, 2);
}

TEST(nobody_else_gets_a_difference)
{
    const char *one = offer(1);
    const struct {
        const char *why;
        const char *fields;
    } cases[] = {
        {"no dictionary", TAKES},
        {"unknown", printed(TAKES "%s", offer(9))},
        {"the same", printed(TAKES "%s", offer(2))},
        {"not taken", printed("Accept-Encoding: zstd\r\n%s", one)},
        {"refused", printed("Accept-Encoding: zstd, dcz;q=0\r\n%s", one)},
        {"less liked", printed("Accept-Encoding: br, dcz;q=0.9\r\n%s", one)},
        {"a star", printed("Accept-Encoding: *\r\n%s", one)},
        {"dcb alone", printed("Accept-Encoding: dcb\r\n%s", one)},
        {"twice", printed(TAKES "%s%s", one, one)},
        {"no colon", printed(TAKES "%.*s\r\n", (int)strlen(one) - 3, one)},
        {"a parameter",
         printed(TAKES "%.*s;a=1\r\n", (int)strlen(one) - 2, one)},
        {"short", TAKES "Available-Dictionary: :AAAA:\r\n"},
        {"nothing", TAKES "Available-Dictionary: ::\r\n"},
        {"no base64", TAKES "Available-Dictionary: :!!!!!!!!!!!!!!!!!!!!!!!!"
                            "!!!!!!!!!!!!!!!!!!!!:\r\n"},
        {"another site", printed(TAKES "%sSec-Fetch-Site: cross-site\r\n"
                                       "Sec-Fetch-Mode: no-cors\r\n",
                                 one)},
        {"CORS", printed(TAKES "%sSec-Fetch-Site: same-site\r\n"
                               "Sec-Fetch-Mode: cors\r\n"
                               "Origin: http://other.localhost\r\n",
                         one)}};
    struct client *client = client_open(START_DICT(RULE, "--workers=1"));

    publish(client, 1);
    publish(client, 2);
    await_delta(client, "/assets/app.2.js", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("%s", cases[i].why);
        assert_false(is_delta(fetch_ok(client, "/assets/app.2.js",
                                       cases[i].fields)));
    }
}

TEST(browsers_get_it_of_their_own_origin)
{
    static const char *const fields[] = {
        "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: no-cors\r\n",
        "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\n",
        "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"};
    struct client *client = client_open(START_DICT(RULE, "--workers=1"));

    publish(client, 1);
    version_write("assets/app.2.js", 2);
    await_delta(client, "/assets/app.2.js", 1);
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        going_on("%s", fields[i]);
        assert_true(is_delta(fetch_ok(client, "/assets/app.2.js",
                                      printed(TAKES "%s%s", offer(1),
                                              fields[i]))));
    }
}

TEST(in_clear_text_only_this_machine_is_told)
{
    static const struct {
        const char *host;
        bool is_told;
    } cases[] = {{"localhost:3000", true}, {"app.localhost", true},
                 {"127.0.0.1:3000", true}, {"[::1]:3000", true},
                 {"example.org", false},   {"192.0.2.1", false},
                 {"localhost.org", false}, {"notlocalhost", false},
                 {"127.0.0.1.org", false}};
    struct client *client = client_open(START_DICT(RULE, "--workers=1"));

    publish(client, 1);
    version_write("assets/app.2.js", 2);
    await_delta(client, "/assets/app.2.js", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply = client_ask_host(client, "GET", cases[i].host,
                                              "/assets/app.2.js",
                                              printed(TAKES "%s", offer(1)));

        going_on("%s", cases[i].host);
        expect_status(reply, 200);
        assert_true(is_delta(reply) == cases[i].is_told);
        assert_true((reply_field(reply, "Use-As-Dictionary") != NULL) ==
                    cases[i].is_told);
        assert_true(reply_lists(reply, "Vary", "Available-Dictionary"));
    }
}

TEST(by_tls_anybody_is_told_over_both_protocols)
{
    struct server *server =
        server_start(&(struct launch){.is_tls = true},
                     (const char *const[]){RULE, state_argument(), NULL});
    struct client *client = client_open(server);
    struct h2_reply *reply;
    struct h2 *h2;

    publish(client, 1);
    version_write("assets/app.2.js", 2);
    expect_reply_delta(await_delta(client, "/assets/app.2.js", 1), 1, 2);
    assert_true(is_delta(client_ask_host(client, "GET", "example.org",
                                         "/assets/app.2.js",
                                         printed(TAKES "%s", offer(1)))));
    h2 = h2_open(server);
    assert_true(eventually((reply = h2_get_with(h2, "/assets/app.2.js",
                                                H2_WITH("accept-encoding",
                                                        "zstd, dcz",
                                                        "available-dictionary",
                                                        version_value(1))),
                            expect_h2(reply, 200), reply->body_len < LEN / 40),
                           MADE_MS));
    expect_h2_field(reply, "content-encoding", "dcz");
    expect_h2_field(reply, "use-as-dictionary", "match=\"/assets/app.*.js\"");
    expect_delta(reply->body, reply->body_len, 1, 2);
}

/* --- Conditions and ranges ----------------------------------------------- */

TEST(a_delta_has_conditions_and_ranges_of_its_own)
{
    struct client *client = client_open(START_DICT(RULE, "--workers=1"));
    struct reply *reply;
    const char *etag;
    char *whole;
    size_t len;

    publish(client, 1);
    version_write("assets/app.2.js", 2);
    reply = await_delta(client, "/assets/app.2.js", 1);
    etag = printed("%s", reply_field(reply, "ETag"));
    assert_int_equal(*etag, '"'); /* strong */
    len = reply->body_len;
    whole = scratch(len);
    memcpy(whole, reply->body, len);
    reply = client_ask(client, "GET", "/assets/app.2.js",
                       printed(TAKES "%sIf-Range: %s\r\nRange: bytes=50-99\r\n",
                               offer(1), etag));
    expect_status(reply, 206);
    expect_field(reply, "Content-Encoding", "dcz");
    expect_field(reply, "Content-Range", printed("bytes 50-99/%zu", len));
    assert_memory_equal(reply->body, whole + 50, 50);
    assert_true(client_say(client,
                           "HEAD /assets/app.2.js HTTP/1.1\r\nHost: "
                           "localhost\r\n" TAKES "%s\r\n",
                           offer(1)));
    reply = client_reply_to_head(client);
    expect_field(reply, "Content-Encoding", "dcz");
    expect_field(reply, "ETag", etag);
    assert_int_equal(reply->length, len);
    assert_non_null(reply_field(reply, "Use-As-Dictionary"));
}

/* A browser offers what it has last got, which is the file itself by now. */
TEST(who_names_the_etag_of_a_delta_has_that_version_whatever_it_offers)
{
    struct client *client = client_open(START_DICT(RULE, "--workers=1"));
    struct reply *reply;
    const char *etag;

    publish(client, 1);
    publish(client, 2);
    reply = await_delta(client, "/assets/app.2.js", 1);
    etag = printed("%s", reply_field(reply, "ETag"));
    for (unsigned version = 1; version <= 3; version++) {
        reply = client_ask(client, "GET", "/assets/app.2.js",
                           printed(TAKES "%sIf-None-Match: \"x\", %s\r\n",
                                   offer(version), etag));
        expect_status(reply, 304);
        expect_field(reply, "ETag", etag);
        expect_field(reply, "Vary", "Accept-Encoding, Available-Dictionary");
    }
    version_write("assets/app.2.js", 3);
    assert_true(
        eventually((reply = client_ask(client, "GET", "/assets/app.2.js",
                                       printed(TAKES "%sIf-None-Match: %s\r\n",
                                               offer(2), etag)),
                    reply->status == 200),
                   MADE_MS));
}

/* A cache that has the delta for others may name it for a client to which it
 * would be of no use. */
TEST(who_takes_no_deltas_has_none)
{
    static const char *const takes[] = {"", "Accept-Encoding: gzip\r\n",
                                        "Accept-Encoding: br, dcz;q=0\r\n"};
    struct client *client = client_open(START_DICT(RULE, "--workers=1"));
    const char *etag;

    publish(client, 1);
    version_write("assets/app.2.js", 2);
    etag = printed("%s", reply_field(await_delta(client, "/assets/app.2.js", 1),
                                     "ETag"));
    for (size_t i = 0; i < sizeof(takes) / sizeof(*takes); i++) {
        going_on("%s", takes[i]);
        assert_false(is_delta(fetch_ok(client, "/assets/app.2.js",
                                       printed("%sIf-None-Match: %s\r\n",
                                               takes[i], etag))));
    }
}

VERSIONS_SUITE;
