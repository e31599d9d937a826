/*
 * Many requests in one go (RFC 9112 9.3.2): every one answered, in order,
 * however they come in.
 */
#include <sys/socket.h>

#include "client.h"

enum { FILES = 100, REQUESTS = 1000, LARGE = 5 * 1048576 };

static struct server *server;

E2E_BEGIN(start)
{
    for (unsigned i = 0; i < FILES; i++)
        site_text(printed("n/%u", i), printed("this is file %u\n", i));
    site_seeded("large", 3, LARGE);
    site_seeded("medium", 4, 100000);
    server = START(NULL);
}

struct script {
    char *data;
    size_t len;
    size_t cap;
};

__attribute__((format(printf, 2, 3))) static void add(struct script *script,
                                                      const char *format, ...)
{
    va_list list;
    int len;

    if (script->cap - script->len < 1024) {
        char *larger = scratch(2 * script->cap + 65536);

        if (script->len > 0)
            memcpy(larger, script->data, script->len);
        script->data = larger;
        script->cap = 2 * script->cap + 65536;
    }
    va_start(list, format);
    len = vsnprintf(script->data + script->len, script->cap - script->len,
                    format, list);
    va_end(list);
    if (len < 0 || (size_t)len >= script->cap - script->len)
        flunk("too much for a script");
    script->len += (size_t)len;
}

static struct script many_requests(void)
{
    struct script script = {0};

    for (unsigned i = 0; i < REQUESTS; i++)
        add(&script, "GET /n/%u HTTP/1.1\r\nHost: a\r\n\r\n", i * 7 % FILES);
    return script;
}

static void expect_many_replies(struct client *client)
{
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct reply *reply = client_reply(client);

        going_on("reply %u", i);
        expect_status(reply, 200);
        expect_body(reply, printed("this is file %u\n", i * 7 % FILES));
    }
    client_expect_usable(client);
}

TEST(a_thousand_requests_in_one_write_are_answered_in_order)
{
    struct script script = many_requests();
    struct client *client = client_open(server);

    assert_true(client_send(client, script.data, script.len));
    expect_many_replies(client);
}

TEST(a_thousand_requests_byte_by_byte_are_answered_in_order)
{
    struct script script = many_requests();
    struct client *client = client_open(server);

    assert_true(client_drip(client, script.data, script.len));
    expect_many_replies(client);
}

TEST(a_thousand_requests_in_odd_pieces_are_answered_in_order)
{
    static const size_t sizes[] = {7, 37, 39, 41, 1447, 16384, 20000};
    struct script script = many_requests();

    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        struct client *client = client_open(server);

        for (size_t at = 0; at < script.len; at += sizes[s]) {
            size_t left = script.len - at;

            client_send(client, script.data + at,
                        left < sizes[s] ? left : sizes[s]);
        }
        expect_many_replies(client);
    }
}

TEST(the_same_under_every_method_schedule_and_cache)
{
    static const char *const options[] = {
        "--send-method=mmap", "--send-method=sendfile", "--send-method=read",
        "--schedule=fifo",    "--schedule=fair",        "--cache-size=0",
        "--cache-entries=0",  "--cache-entries=3",      "--chunk-size=100",
        "--cache-policy=gdsf"};
    struct script script = many_requests();

    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        struct server *other = START(options[i]);
        struct client *client = client_open(other);

        going_on("%s", options[i]);
        client_send(client, script.data, script.len);
        expect_many_replies(client);
        server_stop(other);
    }
}

TEST(answers_of_all_kinds_keep_their_order)
{
    struct client *client = client_open(server);
    struct script script = {0};
    struct reply *reply;

    for (unsigned i = 0; i < 40; i++) {
        add(&script, "GET /n/%u HTTP/1.1\r\nHost: a\r\n\r\n", i);
        add(&script, "HEAD /large HTTP/1.1\r\nHost: a\r\n\r\n");
        add(&script, "GET /none HTTP/1.1\r\nHost: a\r\n\r\n");
        add(&script, "GET /medium HTTP/1.1\r\nHost: a\r\n\r\n");
        add(&script, "GET /n/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
                     "hello");
        add(&script, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
        add(&script, "GET /n/2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                     "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
        add(&script,
            "GET /n/3 HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n");
        add(&script, "GET /large HTTP/1.1\r\nHost: a\r\n"
                     "Range: bytes=1000000-1000099\r\n\r\n");
        add(&script, "POST /n/4 HTTP/1.1\r\nHost: a\r\n\r\n");
        add(&script, "\r\nGET /n/5 HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    client_send(client, script.data, script.len);
    for (unsigned i = 0; i < 40; i++) {
        going_on("round %u", i);
        reply = client_reply(client);
        expect_body(reply, printed("this is file %u\n", i));
        reply = client_reply_to_head(client);
        assert_int_equal(reply->length, LARGE);
        expect_status(client_reply(client), 404);
        expect_seeded(client_reply(client), 4, 0, 100000);
        expect_body(client_reply(client), "this is file 1\n");
        reply = client_reply(client);
        assert_true(reply->status == 200 || reply->status == 204);
        expect_body(client_reply(client), "this is file 2\n");
        expect_status(client_reply(client), 304);
        expect_seeded(client_reply(client), 3, 1000000, 100);
        expect_status(client_reply(client), 405);
        expect_body(client_reply(client), "this is file 5\n");
    }
    client_expect_usable(client);
}

TEST(large_answers_do_not_overtake_or_get_lost)
{
    struct client *client = client_open_narrow(server, 65536);
    struct script script = {0};

    for (unsigned i = 0; i < 4; i++) {
        add(&script, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
        add(&script, "GET /n/%u HTTP/1.1\r\nHost: a\r\n\r\n", i);
    }
    client_send(client, script.data, script.len);
    for (unsigned i = 0; i < 4; i++) {
        expect_seeded(client_reply(client), 3, 0, LARGE);
        expect_body(client_reply(client), printed("this is file %u\n", i));
    }
    client_expect_usable(client);
}

TEST(nothing_behind_an_error_or_close_is_answered)
{
    static const struct {
        const char *request;
        unsigned status;
    } last[] = {{"GET /n/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                 200},
                {"GET /n/1 HTTP/1.0\r\n\r\n", 200},
                {"GET /n/1 HTTP/1.1\r\n\r\n", 400},
                {"nonsense\r\n\r\n", 400},
                {"GET /n/1 HTTP/3.0\r\nHost: a\r\n\r\n", 505}};

    for (size_t i = 0; i < sizeof(last) / sizeof(*last); i++) {
        struct client *client = client_open(server);
        struct script script = {0};

        going_on("%s", last[i].request);
        for (unsigned j = 0; j < 50; j++)
            add(&script, "GET /n/%u HTTP/1.1\r\nHost: a\r\n\r\n", j);
        add(&script, "%s", last[i].request);
        for (unsigned j = 0; j < 5000; j++)
            add(&script, "GET /n/7 HTTP/1.1\r\nHost: a\r\n\r\n");
        client_send(client, script.data, script.len);
        for (unsigned j = 0; j < 50; j++)
            expect_body(client_reply(client), printed("this is file %u\n", j));
        expect_status(client_reply(client), last[i].status);
        client_expect_end(client);
    }
}

TEST(a_request_cut_in_two_waits_for_its_rest)
{
    struct client *client = client_open(server);
    struct script script = many_requests();

    client_send(client, script.data, script.len);
    client_say(client, "GET /n/8 HT");
    for (unsigned i = 0; i < REQUESTS; i++)
        expect_body(client_reply(client),
                    printed("this is file %u\n", i * 7 % FILES));
    assert_false(client_hears(client, 50));
    client_say(client, "TP/1.1\r\nHost: a\r\n\r\n");
    expect_body(client_reply(client), "this is file 8\n");
}

TEST(who_asks_without_reading_is_not_read_from)
{
    struct server *one = START("--workers=1");
    struct client *client = client_open_narrow(one, 4096);
    struct script script = {0};
    uint64_t before;
    size_t sent = 0;

    client_expect_usable(client_open(one));
    before = server_memory(one);
    for (unsigned i = 0; i < 500; i++)
        add(&script, "GET /medium HTTP/1.1\r\nHost: a\r\n\r\n");
    /* Not by client_send(), which would read. */
    for (ssize_t n = 1; n > 0 && sent<1u << 28; sent += n> 0 ? (size_t)n : 0) {
        n = send(client_socket(client), script.data, script.len,
                 MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n == -1) { /* give it the time to read on, if it would */
            pause_ms(20);
            n = send(client_socket(client), script.data, script.len,
                     MSG_NOSIGNAL | MSG_DONTWAIT);
        }
    }
    /* 64 MiB of requests would be 150 GB of replies. */
    assert_in_range(sent, 1, 64 * 1048576);
    client_expect_usable(client_open(one));
    if (!is_sanitized())
        assert_in_range(server_memory(one), 0, before + 16 * 1048576);
}

E2E_SUITE(start);
