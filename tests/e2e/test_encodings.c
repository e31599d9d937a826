/*
 * Precompressed siblings (RFC 9110 8.4, 12.5.3): which is chosen, and that it
 * is a representation of its own.
 */
#include <sys/stat.h>

#include "client.h"

enum { LONG_AGO = 1000000000 };

static struct server *server;

E2E_BEGIN(start)
{
    /* What lies in them is of no concern to the server. */
    site_text("all.txt", "identity identity identity\n");
    site_text("all.txt.gz", "gzip gzip gzip\n");
    site_text("all.txt.zst", "zstd zstd\n");
    site_text("all.txt.br", "br\n");
    site_text("one.css", "identity identity\n");
    site_text("one.css.gz", "gzip gzip\n");
    site_text("none.css", "identity\n");
    site_text("index.html", "identity index\n");
    site_text("index.html.br", "br index\n");
    site_folder("odd.txt.gz");
    site_text("odd.txt", "identity\n");
    site_text("piped.txt", "identity\n");
    assert_int_equal(mkfifoat(site_open(), "piped.txt.gz", 0644), 0);
    site_text("only.txt.gz", "gzip\n");
    site_date("all.txt", LONG_AGO, 0);
    site_date("all.txt.gz", LONG_AGO, 0);
    server = START(NULL);
}

static const char *coding_of(const struct reply *reply)
{
    const char *coding = reply_field(reply, "Content-Encoding");

    return coding ? coding : "identity";
}

TEST(the_best_weight_wins)
{
    /* Of equal ones, and of what "*" allows, the server may choose. */
    static const struct {
        const char *accept;
        const char *codings;
    } cases[] = {
        {"", "identity"},
        {"Accept-Encoding:\r\n", "identity"},
        {"Accept-Encoding: gzip\r\n", "gzip"},
        {"Accept-Encoding: br\r\n", "br"},
        {"Accept-Encoding: zstd\r\n", "zstd"},
        {"Accept-Encoding: GZip\r\n", "gzip"},
        {"Accept-Encoding: gzip, deflate, br, zstd\r\n", "br zstd gzip"},
        {"Accept-Encoding: gzip;q=1.0, br;q=0.5\r\n", "gzip"},
        {"Accept-Encoding: gzip;q=0.5, br;q=0.500, zstd;q=0.501\r\n", "zstd"},
        {"Accept-Encoding: br;q=0.001, gzip;q=0.002\r\n", "gzip identity"},
        {"Accept-Encoding: gzip;q=0\r\n", "identity"},
        {"Accept-Encoding: gzip;q=0.0, br;q=0.000\r\n", "identity"},
        {"Accept-Encoding: gzip;q=0, br\r\n", "br"},
        {"Accept-Encoding: gzip; q=0.3 , br ;q=0.2\r\n", "gzip"},
        {"Accept-Encoding: gzip;Q=0.3, br;q=0.2\r\n", "gzip"},
        {"Accept-Encoding: deflate\r\n", "identity"},
        {"Accept-Encoding: compress, deflate\r\n", "identity"},
        {"Accept-Encoding: gzipp, xbr\r\n", "identity"},
        {"Accept-Encoding: identity\r\n", "identity"},
        {"Accept-Encoding: identity;q=1, gzip;q=0.5\r\n", "identity"},
        {"Accept-Encoding: identity;q=0.5, gzip;q=1\r\n", "gzip"},
        {"Accept-Encoding: identity;q=0, gzip\r\n", "gzip"},
        {"Accept-Encoding: *\r\n", "br zstd gzip identity"},
        {"Accept-Encoding: *;q=0\r\n", "identity"},
        {"Accept-Encoding: *;q=0, gzip\r\n", "gzip"},
        {"Accept-Encoding: br;q=0, zstd;q=0, *\r\n", "gzip identity"},
        {"Accept-Encoding: gzip;q=0.5, *;q=0.1\r\n", "gzip"},
        {"Accept-Encoding: gzip\r\nAccept-Encoding: br;q=0.9\r\n", "gzip"},
        {"Accept-Encoding: , ,br,\r\n", "br"},
        {"Accept-Encoding: x-gzip\r\n", "gzip identity"},
        {"Accept-Encoding: gzip;q=nonsense\r\n", "gzip identity"},
        {"Accept-Encoding: gzip;q=2, br;q=0.1\r\n", "gzip br identity"},
    };
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply = client_ask(client, "GET", "/all.txt",
                                         cases[i].accept);
        const char *coding = coding_of(reply);

        going_on("%s", cases[i].accept);
        expect_status(reply, 200);
        if (!strstr(cases[i].codings, coding))
            flunk("sent %s", coding);
        if (strncmp(reply->body, coding, strlen(coding)) != 0)
            flunk("said %s, but sent '%.*s'", coding, (int)reply->body_len,
                  reply->body);
        expect_field(reply, "Content-Type", "text/plain; charset=utf-8");
        assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    }
}

TEST(what_is_not_there_is_not_sent)
{
    static const char all[] = "Accept-Encoding: br, zstd, gzip\r\n";
    struct client *client = client_open(server);
    struct reply *reply = client_ask(client, "GET", "/one.css", all);

    expect_field(reply, "Content-Encoding", "gzip");
    expect_field(reply, "Content-Type", "text/css; charset=utf-8");
    reply = client_ask(client, "GET", "/one.css", "Accept-Encoding: br\r\n");
    expect_no_field(reply, "Content-Encoding");
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    reply = client_ask(client, "GET", "/none.css", all);
    expect_status(reply, 200);
    expect_no_field(reply, "Content-Encoding");
    /* Only a file can be one. */
    reply = client_ask(client, "GET", "/odd.txt", all);
    expect_status(reply, 200);
    expect_body(reply, "identity\n");
    reply = client_ask(client, "GET", "/piped.txt", all);
    expect_status(reply, 200);
    expect_body(reply, "identity\n");
    /* Nothing is asked for that is not there itself. */
    reply = client_ask(client, "GET", "/only.txt", NULL);
    expect_status(reply, 404);
    /* The sibling by its own name is a file like any other. */
    reply = client_ask(client, "GET", "/all.txt.gz", all);
    expect_status(reply, 200);
    expect_no_field(reply, "Content-Encoding");
    expect_body(reply, "gzip gzip gzip\n");
    /* An index has siblings too. */
    reply = client_ask(client, "GET", "/", all);
    expect_field(reply, "Content-Encoding", "br");
    expect_field(reply, "Content-Type", "text/html; charset=utf-8");
    expect_body(reply, "br index\n");
    reply = client_ask(client, "HEAD", "/all.txt", "Accept-Encoding: gzip\r\n");
    expect_field(reply, "Content-Encoding", "gzip");
    assert_int_equal(reply->length, 15);
    client_expect_usable(client);
}

static struct reply *ask_coded(struct client *client, const char *coding,
                               const char *fields)
{
    return client_ask(client, "GET", "/all.txt",
                      printed("Accept-Encoding: %s\r\n%s", coding, fields));
}

TEST(each_coding_has_its_own_etag)
{
    static const char *const codings[] = {"identity", "gzip", "zstd", "br"};
    struct client *client = client_open(server);
    char *tags[4];

    for (size_t i = 0; i < 4; i++) {
        const char *other = i > 0 ? tags[i - 1] : "\"none\"";
        struct reply *reply = ask_coded(client, codings[i], "");

        tags[i] = printed("%s", reply_field(reply, "ETag"));
        assert_int_equal(tags[i][0], '"');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(tags[i], tags[j]);

        reply = ask_coded(client, codings[i],
                          printed("If-None-Match: %s\r\n", tags[i]));
        expect_status(reply, 304);
        expect_field(reply, "ETag", tags[i]);
        assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
        /* What another coding's tag matches is no match. */
        reply = ask_coded(client, codings[i],
                          printed("If-None-Match: %s\r\n", other));
        expect_status(reply, 200);
        reply = ask_coded(client, codings[i],
                          printed("If-Match: %s\r\n", other));
        expect_status(reply, 412);
        reply = ask_coded(client, codings[i],
                          printed("If-Range: %s\r\nRange: bytes=0-1\r\n",
                                  other));
        expect_status(reply, 200);
    }
}

TEST(ranges_are_of_the_encoded_bytes)
{
    struct client *client = client_open(server);
    struct reply *reply = client_ask(client, "GET", "/all.txt",
                                     "Accept-Encoding: gzip\r\n"
                                     "Range: bytes=5-8\r\n");

    expect_status(reply, 206);
    expect_field(reply, "Content-Encoding", "gzip");
    expect_field(reply, "Content-Range", "bytes 5-8/15");
    expect_body(reply, "gzip");
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    reply = client_ask(client, "GET", "/all.txt",
                       "Accept-Encoding: br\r\nRange: bytes=10-\r\n");
    expect_status(reply, 416);
    expect_field(reply, "Content-Range", "bytes */3");
    reply = client_ask(client, "GET", "/all.txt", "Range: bytes=10-11\r\n");
    expect_status(reply, 206);
    expect_field(reply, "Content-Range", "bytes 10-11/27");
    expect_no_field(reply, "Content-Encoding");
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    reply = client_ask(client, "GET", "/all.txt",
                       "Accept-Encoding: gzip\r\nRange: bytes=0-1,5-6\r\n");
    expect_status(reply, 206);
    expect_field(reply, "Content-Encoding", "gzip");
    client_expect_usable(client);
}

TEST(siblings_come_and_go)
{
    static const char gzip[] = "Accept-Encoding: gzip\r\n";
    struct server *other = START("--workers=1");
    struct client *client = client_open(other);

    site_text("late.txt", "identity\n");
    expect_no_field(client_ask(client, "GET", "/late.txt", gzip),
                    "Content-Encoding");
    site_text("late.txt.gz", "gzip\n");
    assert_true(eventually(reply_field(client_ask(client, "GET", "/late.txt",
                                                  gzip),
                                       "Content-Encoding"),
                           1500));
    site_replace("late.txt.gz", "gzip gzip\n", 10);
    assert_true(eventually(
        client_ask(client, "GET", "/late.txt", gzip)->body_len == 10, 1500));
    site_remove("late.txt.gz");
    assert_true(eventually(!reply_field(client_ask(client, "GET", "/late.txt",
                                                   gzip),
                                        "Content-Encoding"),
                           1500));
    expect_body(client_ask(client, "GET", "/late.txt", gzip), "identity\n");
}

TEST(a_sibling_outside_the_root_is_none)
{
    char path[128];
    FILE *outside;

    snprintf(path, sizeof(path), "%s/outside.gz", folder());
    outside = fopen(path, "we");
    assert_non_null(outside);
    assert_true(fputs("SECRET\n", outside) >= 0);
    fclose(outside);
    site_text("linked.txt", "identity\n");
    site_link("linked.txt.gz", path);
    expect_body(ask(server, "GET", "/linked.txt", "Accept-Encoding: gzip\r\n"),
                "identity\n");
}

E2E_SUITE(start);
