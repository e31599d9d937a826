/*
 * What --proxy-cache keeps, compressed on its way to those who like that.
 */
#include "unpacked.h"
#include "upstream.h"

static void expect_unpacks(const struct reply *reply, const char *coding,
                           const char *text)
{
    size_t len;
    const char *unpacked;

    expect_status(reply, 200);
    expect_field(reply, "Content-Encoding", coding);
    expect_field(reply, "ETag", "W/\"a\"");
    expect_no_field(reply, "Content-Length");
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    unpacked = unpack(reply, &len);
    assert_int_equal(len, strlen(text));
    assert_memory_equal(unpacked, text, len);
}

static struct reply *ask_more(struct client *client, const char *target,
                              const char *coding, const char *fields)
{
    return client_ask(client, "GET", target,
                      printed("Accept-Encoding: %s\r\n%s", coding, fields));
}

/* Who asks first reads along while it comes. */
static void fetch_coded_of(struct upstream *upstream, struct client *client,
                           const char *target, const char *coding,
                           const char *control, const char *text)
{
    struct client *peer;

    client_say(client,
               "GET %s HTTP/1.1\r\nHost: localhost\r\n"
               "Accept-Encoding: %s\r\n\r\n",
               target, coding);
    peer = upstream_accept(upstream);
    client_say(peer,
               "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
               "Cache-Control: %s\r\nETag: \"a\"\r\n"
               "Connection: close\r\nContent-Length: %zu\r\n\r\n%.700s",
               control, strlen(text), text);
    client_take(client, 200);
    assert_true(client_send(peer, text + 700, strlen(text + 700)));
    expect_unpacks(client_reply(client), coding, text);
    client_close(peer);
}

#define START_KEPT(upstream)                                               \
    START(printed("--proxy=/=%s", (upstream)->at), "--proxy-cache=memory", \
          "--compress-proxied", "--workers=1")

static void fetch_coded(struct upstream *upstream, struct client *client,
                        const char *target, const char *coding,
                        const char *text)
{
    fetch_coded_of(upstream, client, target, coding, "max-age=600", text);
}

/* What is kept, short in memory or long in a file, goes to each as he likes
 * it. */
TEST(what_a_cache_keeps_is_compressed_from_the_first_on)
{
    static const size_t lengths[] = {2000, 300000};
    struct upstream *upstream = upstream_open();
    struct server *server = START_KEPT(upstream);
    struct client *client = client_open(server);

    for (size_t i = 0; i < WAYS * 2; i++) {
        const char *coding = ways[i / 2].token;
        const char *target = printed("/%zu", i);
        const char *text = letters(lengths[i % 2]);
        struct reply *reply;

        going_on("%s in %s", target, coding);
        fetch_coded(upstream, client, target, coding, text);
        expect_unpacks(ask_more(client, target, coding, ""), coding, text);
        client_say(client,
                   "HEAD %s HTTP/1.1\r\nHost: localhost\r\n"
                   "Accept-Encoding: %s\r\n\r\n",
                   target, coding);
        reply = client_reply_to_head(client);
        expect_field(reply, "Content-Encoding", coding);
        expect_no_field(reply, "Content-Length");
        reply = client_ask(client, "GET", target, NULL);
        expect_body(reply, text);
        expect_field(reply, "ETag", "\"a\"");
        assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    }
}

/* What is not kept, short or so long that it goes by a pipe, and HEAD is told
 * the same. */
TEST(what_a_cache_passes_on_is_compressed_as_well)
{
    static const size_t lengths[] = {2000, 300000};
    struct upstream *upstream = upstream_open();
    struct server *server = START_KEPT(upstream);
    struct client *client = client_open(server);

    for (size_t i = 0; i < WAYS * 2; i++) {
        const char *coding = ways[i / 2].token;
        struct client *peer;
        struct reply *reply;

        going_on("%zu in %s", lengths[i % 2], coding);
        fetch_coded_of(upstream, client, "/x", coding, "no-store",
                       letters(lengths[i % 2]));
        client_say(client,
                   "HEAD /x HTTP/1.1\r\nHost: localhost\r\n"
                   "Accept-Encoding: %s\r\n\r\n",
                   coding);
        peer = upstream_accept(upstream);
        client_say(peer,
                   "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                   "Cache-Control: no-store\r\nETag: \"a\"\r\n"
                   "Connection: close\r\nContent-Length: %zu\r\n\r\n",
                   lengths[i % 2]);
        reply = client_reply_to_head(client);
        expect_field(reply, "Content-Encoding", coding);
        expect_field(reply, "ETag", "W/\"a\"");
        expect_no_field(reply, "Content-Length");
        client_close(peer);
    }
}

/* What is not sent compressed, or not at all, says that others may get it so,
 * and names what the client has as that was called. */
TEST(parts_and_what_is_known_depend_on_the_coding_too)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_KEPT(upstream);
    struct client *client = client_open(server);
    const char *text = letters(2000);
    struct reply *reply;

    fetch_coded(upstream, client, "/x", "gzip", text);
    reply = ask_more(client, "/x", "gzip", "Range: bytes=5-9\r\n");
    expect_status(reply, 206);
    expect_no_field(reply, "Content-Encoding");
    expect_field(reply, "Content-Range", "bytes 5-9/2000");
    assert_memory_equal(reply->body, text + 5, 5);
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    /* A weak ETag joins no parts. */
    reply = ask_more(client, "/x", "gzip",
                     "Range: bytes=5-9\r\nIf-Range: W/\"a\"\r\n");
    expect_unpacks(reply, "gzip", text);
    reply = ask_more(client, "/x", "gzip", "If-None-Match: \"b\", W/\"a\"\r\n");
    expect_status(reply, 304);
    expect_field(reply, "ETag", "W/\"a\"");
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    reply = client_ask(client, "GET", "/x", "If-None-Match: \"a\"\r\n");
    expect_status(reply, 304);
    expect_field(reply, "ETag", "\"a\"");
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    /* Who asks for no transformation gets none. */
    reply = ask_more(client, "/x", "gzip",
                     "Cache-Control: max-age=60, no-transform\r\n");
    expect_no_field(reply, "Content-Encoding");
    expect_body(reply, text);
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
}

/* What is kept and what it becomes for some have one date: whoever has half of
 * the one would get the rest of the other. */
TEST(a_date_joins_no_part_to_what_may_have_been_compressed)
{
    static const struct {
        const char *type;
        unsigned status;
    } cases[] = {{"text/plain", 200}, {"image/png", 206}};
    static const char part[] =
        "Range: bytes=5-\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    struct upstream *upstream = upstream_open();
    struct server *server = START_KEPT(upstream);
    struct client *client = client_open(server);
    const char *text = letters(2000);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *target = printed("/%zu", i);
        struct client *peer;

        going_on("%s", cases[i].type);
        client_say(client, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                   target);
        peer = upstream_accept(upstream);
        client_say(peer,
                   "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n"
                   "Cache-Control: max-age=600\r\n"
                   "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                   "Connection: close\r\nContent-Length: 2000\r\n\r\n%s",
                   cases[i].type, text);
        expect_body(client_reply(client), text);
        client_close(peer);
        expect_status(client_ask(client, "GET", target, part), cases[i].status);
        expect_status(ask_more(client, target, "gzip", part), cases[i].status);
    }
}

/* Word that comes for one client alone is about what it has, too: of what was
 * kept for all, until that was purged. */
TEST(what_a_cache_passes_on_is_called_as_the_client_does)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_KEPT(upstream);
    struct client *client = client_open(server), *peer;
    struct reply *reply;

    fetch_coded(upstream, client, "/x", "gzip", letters(2000));
    expect_status(client_ask(client, "PURGE", "/x", NULL), 200);
    client_say(client, "GET /x HTTP/1.1\r\nHost: localhost\r\n"
                       "Accept-Encoding: gzip\r\n"
                       "If-None-Match: W/\"a\"\r\n\r\n");
    peer = upstream_accept(upstream);
    client_say(peer, "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n"
                     "Connection: close\r\n\r\n");
    reply = client_reply(client);
    expect_status(reply, 304);
    expect_field(reply, "ETag", "W/\"a\"");
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
    client_close(peer);
    client_say(client, "GET /y HTTP/1.1\r\nHost: localhost\r\n"
                       "Accept-Encoding: gzip\r\nRange: bytes=0-1\r\n\r\n");
    peer = upstream_accept(upstream);
    client_say(peer, "HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\n"
                     "Cache-Control: no-store\r\nContent-Type: text/plain\r\n"
                     "Content-Range: bytes 0-1/2000\r\nContent-Length: 2\r\n"
                     "Connection: close\r\n\r\nab");
    reply = client_reply(client);
    expect_status(reply, 206);
    expect_body(reply, "ab");
    expect_field(reply, "ETag", "\"a\"");
    assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
}

E2E_SUITE(harness_begin);
