/*
 * Files that are compressed beside the requests: who gets what, what others
 * unpack of it, and that it is never of another version than its file.
 */
#include <sys/wait.h>

#include "client.h"
#include "configured.h"
#include "report.h"
#include "unpacked.h"

enum { LONG_AGO = 1000000000, MADE_MS = 10000 };

static struct server *server;

/* Text that shrinks: hexadecimal digits of what a seed stands for. */
static char *text_of(uint64_t seed, size_t len)
{
    char *text = scratch(len + 1);
    char *bytes = scratch(len / 2 + 1);

    seeded_fill(seed, 0, bytes, len / 2 + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = "0123456789abcdef"[bytes[i / 2] >> (i % 2 * 4) & 15];
    text[len] = '\0';
    return text;
}

/* A file that is old already: young ones wait. */
static void write_old(const char *name, uint64_t seed, size_t len)
{
    site_write(name, text_of(seed, len), len);
    site_date(name, LONG_AGO + (int64_t)seed, 0);
}

/* Of another kind than those, so that another coding makes the least of it. */
static void write_words(const char *name)
{
    char *text = scratch(20001);

    for (size_t i = 0; i < 20000; i++)
        text[i] = "the shortest answer is the first to be sent\n"[(i * i / 977 +
                                                                   i / 7) %
                                                                  44];
    site_write(name, text, 20000);
    site_date(name, LONG_AGO, 0);
}

E2E_BEGIN(start)
{
    write_old("small.txt", 1, 3000);
    write_old("large.css", 2, 300000);
    write_old("least.txt", 3, 512);
    write_old("less.txt", 4, 511);
    write_old("page.html", 5, 5000);
    write_old("style.css", 8, 5000);
    write_words("words.html");
    write_old("photo.png", 6, 5000);
    write_old("both.txt", 7, 5000);
    site_text("both.txt.gz", "a sibling\n");
    pause_ms(200);
    server = START("--workers=2");
}

E2E_SUITE(start);

/* --- Asking -------------------------------------------------------------- */

static const char *accepts(const char *codings)
{
    return printed("Accept-Encoding: %s\r\n", codings);
}

/* The body is len bytes of text, or what others unpack to that. */
static void expect_text(const struct reply *reply, const char *text, size_t len)
{
    const char *plain = reply->body;
    size_t plain_len = reply->body_len;

    if (strcmp(coding_of(reply), "identity") != 0)
        plain = unpack(reply, &plain_len);
    assert_int_equal(plain_len, len);
    assert_memory_equal(plain, text, len);
}

/* A reply in that coding, as soon as there is one. */
static struct reply *await_coded(struct client *client, const char *target,
                                 const char *coding)
{
    struct reply *reply;

    if (!eventually((reply = client_ask(client, "GET", target, accepts(coding)),
                     strcmp(coding_of(reply), coding) == 0),
                    MADE_MS))
        flunk("%s is never sent in %s", target, coding);
    return reply;
}

/* --- Who gets what ------------------------------------------------------- */

TEST(the_first_gets_the_file_and_later_ones_a_variant_that_others_unpack)
{
    static const struct {
        const char *target;
        uint64_t seed;
        size_t len;
    } files[] = {{"/small.txt", 1, 3000}, {"/large.css", 2, 300000}};
    struct client *client = client_open(server);

    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < WAYS; k++) {
            struct reply *reply = client_ask(client, "GET", files[i].target,
                                             NULL);

            going_on("%s, %s", files[i].target, ways[k].token);
            expect_no_field(reply, "Content-Encoding");
            assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
            reply = await_coded(client, files[i].target, ways[k].token);
            expect_status(reply, 200);
            assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
            assert_true(reply->body_len < files[i].len * 3 / 4);
            expect_text(reply, text_of(files[i].seed, files[i].len),
                        files[i].len);
        }
    }
}

/* What a client of another make saves of the target. */
static void expect_saved(const char *command, const char *target, uint64_t seed,
                         size_t len)
{
    const char *saved = printed("%s/saved", folder());
    const char *text;
    size_t saved_len;

    going_on("%s", command);
    assert_int_equal(system(printed("%s http://127.0.0.1:%u%s > %s", command,
                                    (unsigned)server->port, target, saved)),
                     0);
    text = read_text(saved, &saved_len);
    assert_int_equal(saved_len, len);
    assert_memory_equal(text, text_of(seed, len), len);
}

TEST(other_programs_take_it_over_the_wire)
{
    static const char python[] =
        "import gzip, sys, urllib.request as r; "
        "a = r.urlopen(r.Request(sys.argv[1], headers="
        "{'Accept-Encoding': 'gzip'})); "
        "assert a.headers['Content-Encoding'] == 'gzip'; "
        "sys.stdout.buffer.write(gzip.decompress(a.read()))";
    struct client *client = client_open(server);

    for (size_t k = 0; k < WAYS; k++)
        await_coded(client, "/large.css", ways[k].token);
    if (system("curl -V > /dev/null 2>&1") == 0) {
        expect_saved("curl -sSf --compressed", "/large.css", 2, 300000);
        expect_saved("curl -sSf --compressed -H 'Accept-Encoding: gzip'",
                     "/large.css", 2, 300000);
    }
    if (system("python3 -c 'import gzip' > /dev/null 2>&1") == 0)
        expect_saved(printed("python3 -c \"%s\"", python), "/large.css", 2,
                     300000);
}

TEST(the_first_of_the_order_is_made_for_who_takes_all)
{
    struct client *client = client_open(server);
    const char *coding = "identity";

    assert_true(eventually(
        strcmp(coding = coding_of(client_ask(client, "GET", "/style.css",
                                             accepts("gzip, br, zstd"))),
               "identity") != 0,
        MADE_MS));
    assert_string_equal(coding, "br");
}

/* The one that is expected of several has the fewest bytes of them. */
TEST(of_what_the_client_likes_the_same_the_fewest_bytes_are_sent)
{
    static const struct {
        const char *accept;
        const char *among; /* what is liked most */
    } cases[] = {{"gzip, deflate, br, zstd", "gzip br zstd"},
                 {"gzip, br", "gzip br"},
                 {"zstd, gzip", "zstd gzip"},
                 {"*", "gzip br zstd"},
                 {"x-gzip", "gzip"},
                 {"zstd;q=0.5, gzip;q=0.6", "gzip"},
                 {"zstd;q=0.5, gzip;q=0.6, br;q=0.6", "gzip br"},
                 {"zstd;q=0, *", "gzip br"},
                 {"identity;q=0, br", "br"},
                 {"identity, br;q=0.5", "identity"},
                 {"deflate", "identity"},
                 {"identity;q=0", "identity"},
                 {"", "identity"}};
    struct client *client = client_open(server);

    for (size_t page = 0; page < 2; page++) {
        const char *target = page ? "/page.html" : "/words.html";

        for (size_t i = 0; i < WAYS; i++)
            await_coded(client, target, ways[i].token);
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
            struct reply *reply = client_ask(client, "GET", target,
                                             accepts(cases[i].accept));
            size_t len = reply->body_len;

            going_on("%s, %s", target, cases[i].accept);
            assert_non_null(strstr(cases[i].among, coding_of(reply)));
            for (size_t k = 0; k < WAYS; k++)
                if (strstr(cases[i].among, ways[k].token))
                    assert_true(client_ask(client, "GET", target,
                                           accepts(ways[k].token))
                                    ->body_len >= len);
        }
    }
}

TEST(a_sibling_goes_first_whatever_else_is_there)
{
    struct client *client = client_open(server);

    await_coded(client, "/both.txt", "zstd");
    expect_body(client_ask(client, "GET", "/both.txt",
                           accepts("zstd, gzip;q=0.1")),
                "a sibling\n");
}

TEST(some_files_stay_as_they_are)
{
    static const char *const stay[] = {"/less.txt", "/photo.png", "/canary"};
    struct client *client = client_open(server);

    await_coded(client, "/least.txt", "gzip");
    for (size_t i = 0; i < 3; i++) {
        struct reply *reply = client_ask(client, "GET", stay[i],
                                         accepts("gzip"));

        expect_no_field(reply, "Content-Encoding");
        expect_no_field(reply, "Vary");
    }
}

TEST(head_says_what_get_would)
{
    struct client *client = client_open(server);
    struct reply *reply = await_coded(client, "/small.txt", "br");
    uint64_t length = reply->length;
    const char *etag = printed("%s", reply_field(reply, "ETag"));

    assert_true(client_say(client, "HEAD /small.txt HTTP/1.1\r\nHost: a\r\n"
                                   "Accept-Encoding: br\r\n\r\n"));
    reply = client_reply_to_head(client);
    expect_field(reply, "Content-Encoding", "br");
    expect_field(reply, "ETag", etag);
    assert_int_equal(reply->length, length);
}

/* --- Conditions and ranges ----------------------------------------------- */

TEST(a_variant_has_conditions_and_ranges_of_its_own)
{
    struct client *client = client_open(server);
    struct reply *reply = await_coded(client, "/large.css", "gzip");
    const char *etag = printed("%s", reply_field(reply, "ETag"));
    size_t len = reply->body_len;
    char *whole = scratch(len);

    assert_int_equal(etag[0], '"'); /* strong */
    memcpy(whole, reply->body, len);
    reply = client_ask(client, "GET", "/large.css",
                       printed("%sIf-None-Match: %s\r\n", accepts("gzip"),
                               etag));
    expect_status(reply, 304);
    expect_field(reply, "ETag", etag);
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    reply = client_ask(client, "GET", "/large.css",
                       printed("%sIf-Range: %s\r\nRange: bytes=100-199\r\n",
                               accepts("gzip"), etag));
    expect_status(reply, 206);
    expect_field(reply, "Content-Encoding", "gzip");
    expect_field(reply, "Content-Range", printed("bytes 100-199/%zu", len));
    assert_memory_equal(reply->body, whole + 100, 100);
    /* RFC 9110 13.2.2: 412 comes before 304. */
    reply = client_ask(client, "GET", "/large.css",
                       printed("%sIf-None-Match: %s\r\nIf-Unmodified-Since: "
                               "Sun, 06 Nov 1994 08:49:37 GMT\r\n",
                               accepts("gzip"), etag));
    expect_status(reply, 412);
}

/* Whoever began with the file itself goes on with it. */
TEST(who_names_the_etag_of_the_file_gets_the_file)
{
    struct client *client = client_open(server);
    const char *etag =
        printed("%s", reply_field(client_ask(client, "GET", "/large.css", NULL),
                                  "ETag"));
    struct reply *reply;

    await_coded(client, "/large.css", "zstd");
    reply = client_ask(client, "GET", "/large.css",
                       printed("%sIf-None-Match: %s\r\n", accepts("zstd"),
                               etag));
    expect_status(reply, 304);
    reply = client_ask(client, "GET", "/large.css",
                       printed("%sIf-Range: %s\r\nRange: bytes=5-\r\n",
                               accepts("zstd"), etag));
    expect_status(reply, 206);
    expect_no_field(reply, "Content-Encoding");
    expect_text(reply, text_of(2, 300000) + 5, 299995);
}

/* File and variants have one date: whoever has half of the one would get the
 * rest of another. */
TEST(a_date_joins_no_part_of_a_variant_to_what_may_be_the_file)
{
    struct client *client = client_open(server);
    struct reply *reply = client_ask(client, "GET", "/large.css", NULL);
    const char *part = printed("If-Range: %s\r\nRange: bytes=5-\r\n",
                               reply_field(reply, "Last-Modified"));

    await_coded(client, "/large.css", "gzip");
    reply = client_ask(client, "GET", "/large.css",
                       printed("%s%s", accepts("gzip"), part));
    expect_status(reply, 200);
    expect_field(reply, "Content-Encoding", "gzip");
    expect_text(reply, text_of(2, 300000), 300000);
    reply = client_ask(client, "GET", "/large.css", part);
    expect_status(reply, 206);
    expect_text(reply, text_of(2, 300000) + 5, 299995);
}

/* --- Options ------------------------------------------------------------- */

TEST(it_can_be_turned_off_and_chosen_by_place)
{
    static const char *const stay[] = {"/off/a.css", "/a.txt", "/long/a.css",
                                       "/long/c.css"};
    const char *coding = "identity";
    struct server *own;
    struct client *client;

    write_old("../www/a.css", 1, 3000);
    write_old("../www/a.txt", 1, 3000);
    write_old("../www/off/a.css", 1, 3000);
    write_old("../www/long/a.css", 1, 3000);
    write_old("../www/long/b.css", 1, 5000);
    write_old("../www/long/c.css", 1, 7000);
    own = start_configured("root = \"www\"\n"
                           "compress = {gzip, br}\n"
                           "compress-types = {\"text/css\"}\n"
                           "location /off {\n"
                           "  compress = off\n"
                           "}\n"
                           "location /long {\n"
                           "  compress-min = 4000\n"
                           "  compress-max = 6000\n"
                           "}\n");
    client = client_open(own);
    await_coded(client, "/long/b.css", "gzip");
    /* The order says which is made; zstd is not among them. */
    assert_true(eventually(
        strcmp(coding = coding_of(client_ask(client, "GET", "/a.css",
                                             accepts("zstd, br, gzip"))),
               "identity") != 0,
        MADE_MS));
    assert_string_equal(coding, "gzip");
    await_coded(client, "/a.css", "br");
    for (size_t i = 0; i < 4; i++)
        expect_no_field(client_ask(client, "GET", stay[i], accepts("gzip")),
                        "Vary");
}

TEST(nonsense_is_refused)
{
    static const char *const wrong[] = {
        "--compress=deflate", "--compress-types=html", "--compress-threads=0",
        "--compress-threads=17", "--compress-max=1T"};
    struct outcome outcome;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        RUN(&outcome, "-t", wrong[i]);
        going_on("%s", wrong[i]);
        assert_int_equal(outcome.status, 64);
    }
    RUN(&outcome, "-t", "--compress=off", "--compress=gzip");
    assert_int_not_equal(outcome.status, 0);
    RUN(&outcome, "-t", "--compress=gzip", "--compress=gzip");
    assert_int_not_equal(outcome.status, 0);
}

/* --- Files that change --------------------------------------------------- */

/* Each version has another length, and is told by it. */
static size_t changing_len(unsigned version)
{
    return 200000 + version * 7;
}

TEST(whatever_is_sent_is_of_one_version)
{
    struct server *own = START("--workers=2", "--compress-threads=2");
    struct client *clients[2] = {client_open(own), client_open(own)};
    unsigned coded = 0, version = 0;
    uint64_t until_ms = now_ms() + 6000;
    uint64_t limit_ms = until_ms + 90000; /* compressors wait for all others */

    write_old("changing.txt", 100, changing_len(0));
    for (unsigned i = 0;
         now_ms() < (coded > 5 && version > 2 ? until_ms : limit_ms); i++) {
        const char *coding = ways[i % WAYS].token;
        struct reply *reply = client_ask(clients[i % 2], "GET", "/changing.txt",
                                         accepts(coding));
        const char *date = reply_field(reply, "Last-Modified");
        unsigned seen;

        expect_status(reply, 200);
        assert_non_null(date);
        seen = (unsigned)(http_date(date) - LONG_AGO - 100);
        assert_true(seen <= version);
        if (strcmp(coding_of(reply), "identity") != 0)
            coded++;
        expect_text(reply, text_of(100 + seen, changing_len(seen)),
                    changing_len(seen));
        if (i % 16 == 15) {
            const char *text;

            /* The server looks at a file once more when all of it is sent, and
             * closes the connection if it is another by then. */
            pause_ms(100);
            version++;
            text = text_of(100 + version, changing_len(version));
            if (version % 2 == 0)
                site_replace("changing.txt", text, changing_len(version));
            else
                site_write("changing.txt", text, changing_len(version));
            site_date("changing.txt", LONG_AGO + 100 + (int64_t)version, 0);
            pause_ms(1100); /* seen, and no longer young */
        }
    }
    assert_true(coded > 5 && version > 2);
}

/* Its variant would not tell that the file is another by now: who gets the file
 * itself gets it as it is. */
TEST(a_file_that_changes_beside_its_variant_is_sent_as_it_is)
{
    struct server *own = START("--workers=1");
    struct client *client = client_open(own);

    write_old("beside.css", 90, 300000);
    await_coded(client, "/beside.css", "gzip");
    for (unsigned i = 1; i <= 6; i++) {
        size_t len = 300000 - 10000 * i;
        struct reply *reply;

        pause_ms(100); /* the server has looked at it once more */
        site_write("beside.css", text_of(90 + i, len), len); /* in place */
        reply = client_ask(client, "GET", "/beside.css",
                           accepts(i % 2 ? "identity" : "gzip;q=0, br;q=0"));
        expect_status(reply, 200);
        expect_no_field(reply, "Content-Encoding");
        expect_text(reply, text_of(90 + i, len), len);
        await_coded(client, "/beside.css", "gzip");
    }
}

/* --- Many ---------------------------------------------------------------- */

TEST(more_files_than_the_queue_has_room_for_are_served_at_once)
{
    enum { FILES = 10000, LEN = 1000 };
    struct server *own = START("--workers=1");
    struct client *client;
    const char *report;

    for (unsigned i = 0; i < FILES; i++)
        write_old(printed("many/%u.txt", i), i, LEN);
    pause_ms(200);
    client = client_open(own); /* it may have taken longer than a head may */
    for (unsigned i = 0; i < FILES; i++) {
        struct reply *reply = client_ask(client, "GET",
                                         printed("/many/%u.txt", i),
                                         accepts("br"));

        expect_status(reply, 200);
        expect_no_field(reply, "Content-Encoding");
        assert_int_equal(reply->body_len, LEN);
    }
    expect_text(await_coded(client, "/many/9999.txt", "br"), text_of(9999, LEN),
                LEN);
    report = report_ask(own);
    assert_true(report_number(report, "Compression", "made") > 0);
    assert_true(report_number(report, "Compression", "queued") <= 256);
}

TEST(what_is_saved_is_told)
{
    struct server *own = START("--workers=1", "--status=/_s");
    struct client *client = client_open(own);
    const char *report;
    struct reply *reply;

    await_coded(client, "/page.html", "zstd");
    pause_ms(1200); /* workers tell of it once a second */
    report = report_ask(own);
    assert_true(report_number(report, "Compression", "sent") >= 1);
    assert_true(report_number(report, "Compression", "bytes saved") > 1000);
    assert_int_equal(report_number(report, "Compression", "made"), 1);
    assert_int_equal(report_number(report, "Compression", "bytes in"), 5000);
    reply = client_ask(client, "GET", "/_s/metrics", NULL);
    assert_non_null(memmem(reply->body, reply->body_len,
                           "sprintd_compress_cpu_seconds", 28));
}

TEST(a_server_that_is_busy_compressing_stops_at_once)
{
    struct server *own = START("--workers=1", "--compress-max=64M");
    uint64_t began_ms;

    write_old("huge.txt", 9, 20 << 20);
    pause_ms(200);
    ask(own, "GET", "/huge.txt", accepts("br"));
    began_ms = now_ms();
    server_stop(own);
    assert_true(now_ms() - began_ms < patience(2000));
    site_remove("huge.txt");
}
