/*
 * Files that are compressed, and clients that say oddly what they take, or
 * have already something of the file, or may not have it.
 */
#include "client.h"
#include "configured.h"
#include "passwords.h"
#include "unpacked.h"

enum { LONG_AGO = 1000000000, MADE_MS = 10000, LEN = 20000 };

static struct server *server;

/* Letters that shrink, of which each seed has others. */
static const char *text_of(unsigned seed)
{
    char *text = scratch(LEN + 1);

    seeded_fill(seed, 0, text, LEN);
    for (size_t i = 0; i < LEN; i++)
        text[i] = "eeeetaoin shrdl\n"[text[i] & 15];
    text[LEN] = '\0';
    return text;
}

static void write_old(const char *name, unsigned seed)
{
    site_text(name, text_of(seed));
    site_date(name, LONG_AGO, 0);
}

E2E_BEGIN(start)
{
    write_old("a.txt", 1);
    write_old("b.txt", 2);
    write_old("c.txt", 3);
    pause_ms(200);
    server = START("--workers=1");
}

E2E_SUITE(start);

static struct reply *ask_for(struct client *client, const char *target,
                             const char *codings, const char *fields)
{
    return client_ask(client, "GET", target,
                      printed("Accept-Encoding: %s\r\n%s", codings, fields));
}

static struct reply *await_coded(struct client *client, const char *target,
                                 const char *coding, const char *fields)
{
    struct reply *reply;

    if (!eventually((reply = ask_for(client, target, coding, fields),
                     strcmp(coding_of(reply), coding) == 0),
                    MADE_MS))
        flunk("%s is never sent in %s", target, coding);
    return reply;
}

static void expect_text(const struct reply *reply, const char *text)
{
    const char *plain = reply->body;
    size_t len = reply->body_len;

    expect_status(reply, 200);
    if (strcmp(coding_of(reply), "identity") != 0)
        plain = unpack(reply, &len);
    assert_int_equal(len, LEN);
    assert_memory_equal(plain, text, LEN);
}

/* --- What they take ------------------------------------------------------ */

TEST(what_is_said_oddly_is_read_as_it_stands)
{
    static const struct {
        const char *fields;
        const char *coding;
    } cases[] = {
        {"Accept-Encoding: GZIP\r\n", "gzip"},
        {"ACCEPT-ENCODING: gZiP \t;\t Q=0.001\r\n", "gzip"},
        {"Accept-Encoding: gzip;q=1.000\r\n", "gzip"},
        {"Accept-Encoding: gzip;q=0\r\n", "identity"},
        {"Accept-Encoding: gzip;q=0.000\r\n", "identity"},
        /* What is no weight is none. */
        {"Accept-Encoding: gzip;q=0.0000\r\n", "identity"},
        {"Accept-Encoding: gzip;q=2\r\n", "identity"},
        {"Accept-Encoding: gzip;q=1.001\r\n", "identity"},
        {"Accept-Encoding: gzip;q=-1\r\n", "identity"},
        {"Accept-Encoding: gzip;q=\r\n", "identity"},
        {"Accept-Encoding: gzip;q=NaN\r\n", "identity"},
        {"Accept-Encoding: gzip;level=9\r\n", "identity"},
        {"Accept-Encoding: gzip;q=1;q=1\r\n", "identity"},
        {"Accept-Encoding: \"gzip\"\r\n", "identity"},
        {"Accept-Encoding: gzip br\r\n", "identity"},
        {"Accept-Encoding: gzi, gzipp, xgzip\r\n", "identity"},
        /* Of several for one the last counts, whatever it is called. */
        {"Accept-Encoding: gzip, gzip;q=0\r\n", "identity"},
        {"Accept-Encoding: gzip;q=0, x-gzip\r\n", "gzip"},
        {"Accept-Encoding: br\r\nAccept-Encoding: br;q=0, gzip\r\n", "gzip"},
        {"Accept-Encoding: ,, ,gzip,,\r\n", "gzip"},
        {"Accept-Encoding: *;q=0\r\n", "identity"},
        {"Accept-Encoding: *;q=0, gzip\r\n", "gzip"},
        {"Accept-Encoding: identity;q=0, *;q=0\r\n", "identity"},
        {"Accept-Encoding: gzip;q=0.5, identity\r\n", "identity"},
        {"Accept-Encoding: gzip;q=0.5, identity;q=0.5\r\n", "gzip"},
        {"Accept-Encoding: dcz, dcb\r\n", "identity"},
        {"Accept-Encoding:\r\n", "identity"},
        {"", "identity"}};
    struct client *client = client_open(server);

    for (size_t i = 0; i < WAYS; i++)
        await_coded(client, "/a.txt", ways[i].token, "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct reply *reply = client_ask(client, "GET", "/a.txt",
                                         cases[i].fields);

        going_on("%s", cases[i].fields);
        assert_string_equal(coding_of(reply), cases[i].coding);
        assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
        expect_text(reply, text_of(1));
    }
}

TEST(a_list_of_hundreds_is_read_to_its_end)
{
    struct client *client = client_open(server);
    char *list = scratch(4001);

    await_coded(client, "/a.txt", "gzip", "");
    for (size_t i = 0; i < 3996; i++)
        list[i] = "none;q=1,"[i % 9];
    memcpy(list + 3996, "gzip", 5);
    assert_string_equal(coding_of(ask_for(client, "/a.txt", list, "")), "gzip");
    list[3998] = 'o';
    assert_string_equal(coding_of(ask_for(client, "/a.txt", list, "")),
                        "identity");
}

/* --- What they have ------------------------------------------------------ */

static const char *etag_of(const struct reply *reply)
{
    return printed("%s", reply_field(reply, "ETag"));
}

static struct reply *ask_known(struct client *client, const char *codings,
                               const char *etag)
{
    return ask_for(client, "/b.txt", codings,
                   printed("If-None-Match: %s\r\n", etag));
}

/* Whoever has the file in one coding is not sent it in another, as would be
 * smaller by now; nor all of it where no variant is there, or not yet. */
TEST(who_has_any_of_a_version_is_told_so)
{
    struct client *client = client_open(server);
    const char *etags[WAYS];

    for (size_t i = 0; i < WAYS; i++)
        etags[i] = etag_of(await_coded(client, "/b.txt", ways[i].token, ""));
    for (size_t again = 0; again < 2; again++) {
        for (size_t i = 0; i < WAYS; i++) {
            struct reply *reply = ask_known(client, "gzip, br, zstd",
                                            printed("\"x\", W/%s", etags[i]));

            going_on("%s, %zu", ways[i].token, again);
            expect_status(reply, 304);
            expect_field(reply, "ETag", etags[i]);
            assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
            assert_non_null(reply_field(reply, "Last-Modified"));
            expect_no_field(reply, "Content-Encoding");
        }
        client = client_open(START("--workers=1")); /* has made nothing yet */
    }
}

/* A cache that keeps answers for others names all that it has of a page, and
 * would send it on. */
TEST(what_a_client_does_not_take_it_does_not_have)
{
    static const char *const takes[] = {"gzip", "gzip, br;q=0", "identity",
                                        "gzip, *;q=0", ""};
    struct client *client = client_open(server);
    const char *etag = etag_of(await_coded(client, "/b.txt", "br", ""));

    for (size_t i = 0; i < sizeof(takes) / sizeof(*takes); i++) {
        going_on("'%s'", takes[i]);
        expect_text(ask_known(client, takes[i], etag), text_of(2));
    }
    expect_text(client_ask(client, "GET", "/b.txt",
                           printed("If-None-Match: %s\r\n", etag)),
                text_of(2));
}

TEST(what_is_like_an_etag_of_a_variant_is_none)
{
    struct client *client = client_open(server);
    const char *etag = etag_of(await_coded(client, "/b.txt", "br", ""));
    const char *dot = strchr(etag, '.');
    const char *dash = strrchr(etag, '-');
    const char *version, *hash;

    assert_non_null(dot);
    version = printed("%.*s", (int)(dot - etag), etag);
    hash = printed("%.*s", (int)(dash - dot - 1), dot + 1);
    {
        const char *const wrong[] = {
            printed("%s.\"", version),
            printed("%s.-br\"", version),
            printed("%s.%s\"", version, hash),
            printed("%s.%s-bro\"", version, hash),
            printed("%s.%s-dcz\"", version, hash),
            printed("%s.%s-identity\"", version, hash),
            printed("%s.x%s-br\"", version, hash),
            printed("%s.%s0123456789abcdef-br\"", version, hash),
            printed("%s.%s-br", version, hash),
            printed("%s0.1-br\"", version),
            printed("\"x%s.1-br\"", version + 1),
            "\"0-0.1-br\"",
            printed("\"a\" %s.%s-br\"", version, hash)};

        for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
            going_on("%s", wrong[i]);
            expect_text(ask_known(client, "br", wrong[i]), text_of(2));
        }
    }
}

TEST(a_file_that_has_changed_is_sent_to_who_has_the_one_before)
{
    struct client *client = client_open(server);
    const char *etag = etag_of(await_coded(client, "/c.txt", "br", ""));
    struct reply *reply;

    site_replace("c.txt", text_of(4), LEN);
    site_date("c.txt", LONG_AGO + 1, 0);
    assert_true(eventually((reply = ask_for(client, "/c.txt", "br",
                                            printed("If-None-Match: %s\r\n",
                                                    etag)),
                            reply->status == 200),
                           3000));
    expect_text(reply, text_of(4));
    await_coded(client, "/c.txt", "br", "");
    expect_text(ask_for(client, "/c.txt", "br",
                        printed("If-None-Match: %s\r\n", etag)),
                text_of(4));
}

/* Some ways to release give all files one date, and names of what a page loads
 * are of one length. */
TEST(a_release_of_the_same_date_and_length_is_another_version)
{
    struct client *client = client_open(server);
    struct reply *reply;
    const char *etag;

    write_old("e.txt", 6);
    pause_ms(200);
    etag = etag_of(await_coded(client, "/e.txt", "br", ""));
    site_replace("e.txt", text_of(7), LEN);
    site_date("e.txt", LONG_AGO, 0);
    client = client_open(START("--workers=1"));
    reply = ask_for(client, "/e.txt", "br",
                    printed("If-None-Match: %s\r\n", etag));
    expect_text(reply, text_of(7));
}

/* A release gives all its files a new date, also those that stay the same. */
TEST(who_has_the_bytes_of_another_date_has_them)
{
    struct client *client = client_open(server);
    const char *etag, *later;

    write_old("d.txt", 5);
    pause_ms(200);
    etag = etag_of(await_coded(client, "/d.txt", "gzip", ""));
    site_replace("d.txt", text_of(5), LEN);
    site_date("d.txt", LONG_AGO + 5, 0);
    assert_true(eventually((later = etag_of(await_coded(client, "/d.txt",
                                                        "gzip", "")),
                            strcmp(later, etag) != 0),
                           MADE_MS));
    for (int i = 0; i < 2; i++) {
        const char *named = i ? later : etag;
        struct reply *reply = ask_for(client, "/d.txt", "gzip",
                                      printed("If-None-Match: %s\r\n", named));

        expect_status(reply, 304);
        expect_field(reply, "ETag", named);
    }
}

/* --- Who may have what --------------------------------------------------- */

/* Both have the date and length, and so the ETag, of the other. */
TEST(files_of_one_etag_are_never_taken_for_each_other)
{
    struct client *client = client_open(server);

    write_old("twin1.txt", 11);
    write_old("twin2.txt", 12);
    pause_ms(200);
    for (size_t i = 0; i < WAYS; i++)
        for (unsigned twin = 1; twin <= 2; twin++) {
            struct reply *reply = await_coded(client,
                                              printed("/twin%u.txt", twin),
                                              ways[i].token, "");

            expect_text(reply, text_of(10 + twin));
        }
}

TEST(variants_of_what_is_guarded_are_guarded)
{
    const char *joe = credentials("joe", "open sesame");
    struct server *own;
    struct client *client;
    const char *etag;

    write_old("../www/secret/a.txt", 1);
    site_text("../users", password_line("joe", "open sesame", "$5$", 0));
    own = start_configured("root = www\nlocation /secret {\n"
                           "  auth-file = users\n}\n");
    client = client_open(own);
    etag = etag_of(await_coded(client, "/secret/a.txt", "br", joe));
    for (size_t i = 0; i < WAYS; i++) {
        const char *codings = ways[i].token;

        expect_status(ask_for(client, "/secret/a.txt", codings, ""), 401);
        expect_status(ask_for(client, "/secret/a.txt", codings,
                              credentials("joe", "guess")),
                      401);
        expect_status(ask_for(client, "/secret/a.txt", codings,
                              printed("If-None-Match: %s\r\n", etag)),
                      401);
        expect_status(ask_for(client, "/secret/a.txt", codings,
                              "Range: bytes=0-9\r\n"),
                      401);
    }
    expect_text(await_coded(client, "/secret/a.txt", "br", joe), text_of(1));
}
