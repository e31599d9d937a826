/*
 * Conditional requests (RFC 9110 13): which of 200, 304 and 412 each field,
 * and each pair of fields, leads to.
 */
#include "client.h"

enum { MODIFIED = 1000000000 }; /* 2001-09-09 01:46:40 UTC, a Sunday */

#define EARLIER "Sun, 09 Sep 2001 01:46:39 GMT"
#define SAME "Sun, 09 Sep 2001 01:46:40 GMT"
#define LATER "Sun, 09 Sep 2001 01:46:41 GMT"

static struct server *server;
static char tag[128]; /* of /f */

E2E_BEGIN(start)
{
    site_text("f", "some text\n");
    site_date("f", MODIFIED, 500);
    server = START("--workers=2");
    snprintf(tag, sizeof(tag), "%s", reply_field(get(server, "/f"), "ETag"));
}

/* '$' in the fields stands for the tag without its quotes. */
struct condition_case {
    const char *fields;
    unsigned status;
};

static void check(const struct condition_case *cases, size_t count)
{
    struct client *client = client_open(server);

    for (size_t i = 0; i < count; i++) {
        char fields[1024] = "";
        size_t len = 0;

        for (const char *at = cases[i].fields; *at; at++)
            len += (size_t)(*at == '$'
                                ? snprintf(fields + len, sizeof(fields) - len,
                                           "%.*s", (int)strlen(tag) - 2,
                                           tag + 1)
                                : snprintf(fields + len, sizeof(fields) - len,
                                           "%c", *at));
        for (unsigned head = 0; head < 2; head++) {
            struct reply *reply = client_ask(client, head ? "HEAD" : "GET",
                                             "/f", fields);

            going_on("%s %s", head ? "HEAD" : "GET", fields);
            if (reply->status != cases[i].status)
                flunk("answered %u, not %u", reply->status, cases[i].status);
            if (reply->status == 200 && !head)
                expect_body(reply, "some text\n");
            if (reply->status == 304)
                expect_field(reply, "ETag", tag);
            /* RFC 9110 8.6: that of the 200, or none. */
            if (reply->status == 304 && reply_field(reply, "Content-Length"))
                assert_int_equal(reply->length, 10);
        }
    }
    client_expect_usable(client);
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof(*(cases)))

TEST(if_none_match_compares_weakly)
{
    static const struct condition_case cases[] = {
        {"If-None-Match: \"$\"\r\n", 304},
        {"If-None-Match: W/\"$\"\r\n", 304},
        {"If-None-Match: *\r\n", 304},
        {"If-None-Match: \"other\", \"$\"\r\n", 304},
        {"If-None-Match: \"a\",\"b\" , W/\"$\",\"c\"\r\n", 304},
        {"If-None-Match: , ,\"$\",\r\n", 304},
        {"If-None-Match: \"other\"\r\nIf-None-Match: \"$\"\r\n", 304},
        {"If-None-Match: \"a,b\", \"$\"\r\n", 304},
        {"If-None-Match: \"\", \"$\"\r\n", 304},
        {"If-None-Match: \"other\"\r\n", 200},
        {"If-None-Match: \"$ \"\r\n", 200},
        {"If-None-Match: \"$x\"\r\n", 200},
        {"If-None-Match: \"x$\"\r\n", 200},
        {"If-None-Match: \"\"\r\n", 200},
        {"If-None-Match: \"a, \\\"$\\\"\"\r\n", 200},
        {"If-None-Match: $\r\n", 200},
        {"If-None-Match: w/\"$\"\r\n", 200},
        {"If-None-Match: W/$\r\n", 200},
        {"If-None-Match:\r\n", 200},
        {"if-none-match: \"$\"\r\n", 304},
    };

    CHECK(cases);
}

TEST(if_match_compares_strongly)
{
    static const struct condition_case cases[] = {
        {"If-Match: \"$\"\r\n", 200},
        {"If-Match: *\r\n", 200},
        {"If-Match: \"other\", \"$\"\r\n", 200},
        {"If-Match: \"other\"\r\nIf-Match: \"$\"\r\n", 200},
        {"If-Match: W/\"$\"\r\n", 412},
        {"If-Match: \"other\"\r\n", 412},
        {"If-Match: \"other\", W/\"$\"\r\n", 412},
        {"If-Match: \"$x\"\r\n", 412},
        {"If-Match: $\r\n", 412},
    };

    CHECK(cases);
}

TEST(dates_compare_in_all_three_formats)
{
    static const struct condition_case cases[] = {
        {"If-Modified-Since: " SAME "\r\n", 304},
        {"If-Modified-Since: " LATER "\r\n", 304},
        {"If-Modified-Since: " EARLIER "\r\n", 200},
        {"If-Modified-Since: Sunday, 09-Sep-01 01:46:40 GMT\r\n", 304},
        {"If-Modified-Since: Sunday, 09-Sep-01 01:46:39 GMT\r\n", 200},
        {"If-Modified-Since: Sun Sep  9 01:46:40 2001\r\n", 304},
        {"If-Modified-Since: Sun Sep  9 01:46:39 2001\r\n", 200},
        {"If-Modified-Since: Fri, 01 Jan 1960 00:00:00 GMT\r\n", 200},
        {"If-Unmodified-Since: " SAME "\r\n", 200},
        {"If-Unmodified-Since: " LATER "\r\n", 200},
        {"If-Unmodified-Since: " EARLIER "\r\n", 412},
        {"If-Unmodified-Since: Sunday, 09-Sep-01 01:46:39 GMT\r\n", 412},
        {"If-Unmodified-Since: Sun Sep  9 01:46:39 2001\r\n", 412},
        {"If-Unmodified-Since: Sun Sep  9 01:46:40 2001\r\n", 200},
    };

    CHECK(cases);
}

TEST(what_is_no_date_is_ignored)
{
    static const struct condition_case cases[] = {
        {"If-Modified-Since: yesterday\r\n", 200},
        {"If-Modified-Since:\r\n", 200},
        {"If-Modified-Since: Sun, 09 Sep 2001 01:46:40\r\n", 200},
        {"If-Modified-Since: Sun, 09 Sep 2001 25:46:40 GMT\r\n", 200},
        {"If-Modified-Since: Sun, 31 Feb 2002 01:46:40 GMT\r\n", 200},
        {"If-Modified-Since: Sun, 09 Foo 2002 01:46:40 GMT\r\n", 200},
        {"If-Modified-Since: Sun, 09 Sep 99999999999999999999 01:46:40 GMT\r\n",
         200},
        {"If-Modified-Since: 1000000000\r\n", 200},
        {"If-Unmodified-Since: yesterday\r\n", 200},
        {"If-Unmodified-Since: Sun, 00 Sep 2001 01:46:39 GMT\r\n", 200},
        {"If-Unmodified-Since:\r\n", 200},
    };

    CHECK(cases);
}

TEST(conditions_have_an_order)
{
    /* RFC 9110 13.2.2. */
    static const struct condition_case cases[] = {
        /* If-Match hides If-Unmodified-Since, */
        {"If-Match: \"$\"\r\nIf-Unmodified-Since: " EARLIER "\r\n", 200},
        {"If-Match: \"x\"\r\nIf-Unmodified-Since: " LATER "\r\n", 412},
        /* If-None-Match hides If-Modified-Since, */
        {"If-None-Match: \"x\"\r\nIf-Modified-Since: " LATER "\r\n", 200},
        {"If-None-Match: \"$\"\r\nIf-Modified-Since: " EARLIER "\r\n", 304},
        /* and 412 comes before 304. */
        {"If-Match: \"x\"\r\nIf-None-Match: \"$\"\r\n", 412},
        {"If-None-Match: \"$\"\r\nIf-Match: \"x\"\r\n", 412},
        {"If-Match: \"$\"\r\nIf-None-Match: \"$\"\r\n", 304},
        {"If-Match: \"$\"\r\nIf-None-Match: \"x\"\r\n", 200},
        {"If-Match: \"$\"\r\nIf-Modified-Since: " SAME "\r\n", 304},
        {"If-Unmodified-Since: " EARLIER "\r\nIf-None-Match: \"$\"\r\n", 412},
        {"If-Unmodified-Since: " SAME "\r\nIf-None-Match: \"$\"\r\n", 304},
        {"If-Unmodified-Since: " SAME "\r\nIf-Modified-Since: " SAME "\r\n",
         304},
        {"If-Unmodified-Since: " EARLIER "\r\nIf-Modified-Since: " SAME "\r\n",
         412},
        /* All of them come before Range. */
        {"Range: bytes=0-1\r\nIf-None-Match: \"$\"\r\n", 304},
        {"Range: bytes=0-1\r\nIf-Match: \"x\"\r\n", 412},
        {"Range: bytes=99-\r\nIf-None-Match: \"$\"\r\n", 304},
    };

    CHECK(cases);
}

TEST(conditions_count_only_where_all_else_would_succeed)
{
    struct client *client = client_open(server);
    char fields[256];

    /* RFC 9110 13.2.1 */
    expect_status(client_ask(client, "GET", "/none", "If-Match: *\r\n"), 404);
    expect_status(client_ask(client, "GET", "/none", "If-None-Match: *\r\n"),
                  404);
    snprintf(fields, sizeof(fields), "If-None-Match: %s\r\n", tag);
    expect_status(client_ask(client, "DELETE", "/f", fields), 405);
    expect_status(client_ask(client, "POST", "/f", "If-Match: \"x\"\r\n"), 405);
    client_expect_usable(client);
}

TEST(the_etag_is_the_same_everywhere_and_after_a_restart)
{
    struct server *again = START("--workers=1", "--send-method=sendfile",
                                 "--cache-size=0");

    for (size_t i = 0; i < 20; i++) /* by either worker */
        expect_field(get(server, "/f"), "ETag", tag);
    expect_field(get(again, "/f"), "ETag", tag);
    server_stop(again);
    expect_field(get(START("--workers=4"), "/f"), "ETag", tag);
}

TEST(the_etag_changes_with_a_nanosecond)
{
    char other[128];

    site_text("g", "some text\n");
    site_date("g", MODIFIED, 501);
    snprintf(other, sizeof(other), "%s",
             reply_field(get(server, "/g"), "ETag"));
    assert_string_not_equal(other, tag);
    site_date("g", MODIFIED, 502);
    assert_true(eventually(strcmp(reply_field(get(server, "/g"), "ETag"),
                                  other) != 0,
                           1500));
}

E2E_SUITE(start);
