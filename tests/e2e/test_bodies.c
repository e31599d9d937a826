/*
 * Bodies: large ones there, under every way of sending and every schedule;
 * unwanted ones here, drained or refused; Expect (RFC 9110 10.1.1).
 */
#include "client.h"

enum { SEED = 11, LARGE = 20 * 1048576 };

static const size_t sizes[] = {0,     1,     1023,   4096,   16383,  16384,
                               16385, 65536, 262143, 262144, 262145, 1048577};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

static struct server *server;

E2E_BEGIN(start)
{
    site_text("f", "file f\n");
    for (size_t i = 0; i < SIZES; i++)
        site_seeded(printed("sizes/%zu", sizes[i]), SEED, sizes[i]);
    site_seeded("large", SEED, LARGE);
    server = START(NULL);
}

/* --- From the server ----------------------------------------------------- */

/* Several clients at once, so that schedules have something to schedule. */
static void expect_all_sizes(const struct server *from)
{
    enum { CLIENTS = 3 };
    struct client *clients[CLIENTS];
    struct client *large = client_open(from);

    client_say(large, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    for (size_t i = 0; i < CLIENTS; i++)
        clients[i] = client_open(from);
    for (size_t round = 0; round < SIZES; round++) {
        for (size_t i = 0; i < CLIENTS; i++)
            client_say(clients[i], "GET /sizes/%zu HTTP/1.1\r\nHost: a\r\n\r\n",
                       sizes[(round + i) % SIZES]);
        for (size_t i = 0; i < CLIENTS; i++) {
            struct reply *reply = client_reply(clients[i]);

            expect_status(reply, 200);
            expect_seeded(reply, SEED, 0, sizes[(round + i) % SIZES]);
        }
    }
    expect_seeded(client_reply(large), SEED, 0, LARGE);
    client_expect_usable(large);
}

TEST(bodies_arrive_whole_however_they_are_sent)
{
    static const char *const methods[] = {"--send-method=auto",
                                          "--send-method=mmap",
                                          "--send-method=sendfile",
                                          "--send-method=read"};
    static const char *const schedules[] = {
        "--schedule=srpt", "--schedule=fifo", "--schedule=fair"};

    for (size_t m = 0; m < 4; m++)
        for (size_t s = 0; s < 3; s++) {
            struct server *other = START("--workers=1", methods[m],
                                         schedules[s]);

            going_on("%s %s", methods[m], schedules[s]);
            expect_all_sizes(other);
            clients_close();
            server_stop(other);
        }
}

TEST(the_same_in_small_pieces_and_without_a_cache)
{
    static const char *const options[][2] = {
        {"--chunk-size=4K", "--send-method=auto"},
        {"--chunk-size=4097", "--send-method=read"},
        {"--chunk-size=16M", "--send-method=mmap"},
        {"--cache-size=0", "--send-method=auto"},
        {"--cache-size=0", "--send-method=mmap"},
        {"--cache-entries=0", "--send-method=read"},
        {"--cache-size=100K", "--cache-policy=gdsf"},
        {"--cache-entries=2", "--cache-policy=sieve"},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        struct server *other = START(options[i][0], options[i][1]);

        going_on("%s %s", options[i][0], options[i][1]);
        expect_all_sizes(other);
        clients_close();
        server_stop(other);
    }
}

TEST(a_client_that_ended_its_side_still_gets_all)
{
    struct client *client = client_open_narrow(server, 65536);

    client_say(client, "GET /f HTTP/1.1\r\nHost: a\r\n\r\n"
                       "GET /large HTTP/1.1\r\nHost: a\r\n\r\n"
                       "GET /f HTTP/1.1\r\nHost: a\r\n\r\n");
    client_half_close(client);
    expect_body(client_reply(client), "file f\n");
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    expect_body(client_reply(client), "file f\n");
    client_expect_end(client);
}

/* --- To the server ------------------------------------------------------- */

/* So that it comes in two reads, the first of them of `first` bytes, if any. */
static void send_in_two(struct client *client, const char *body, size_t first,
                        size_t len)
{
    client_send(client, body, first);
    if (first > 0)
        pause_ms(5);
    client_send(client, body, len - first);
}

TEST(bodies_of_get_are_read_and_dropped)
{
    static const size_t lengths[] = {1, 100, 5000, 20000, 30000, 60000};
    struct client *client = client_open(server);
    char *body = scratch(65536);

    memset(body, 'G', 65536);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
        for (unsigned piece = 0; piece < 3; piece++) {
            size_t half = piece == 0 ? 0 : piece == 1 ? lengths[i] / 2 : 1;

            going_on("a body of %zu", lengths[i]);
            client_say(client,
                       "GET /f HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n"
                       "\r\n",
                       lengths[i]);
            send_in_two(client, body, half, lengths[i]);
            expect_body(client_reply(client), "file f\n");
            client_say(client,
                       "GET /f HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                       "chunked\r\n\r\n%zx\r\n",
                       lengths[i]);
            send_in_two(client, body, half, lengths[i]);
            client_say(client, "\r\n0\r\n\r\n");
            expect_body(client_reply(client), "file f\n");
        }
    client_expect_usable(client);
}

TEST(a_body_too_large_is_refused_so_that_it_is_seen)
{
    static const char *const heads[] = {
        "GET /f HTTP/1.1\r\nHost: a\r\nContent-Length: 8388608\r\n\r\n",
        "POST /f HTTP/1.1\r\nHost: a\r\nContent-Length: 8388608\r\n\r\n",
        "PUT /new HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "800000\r\n",
        "GET /f HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "800000\r\n"};
    char *body = scratch(8388608);

    memset(body, 'G', 8388608);
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
        struct client *client = client_open(server);
        struct reply *reply;

        going_on("%s", heads[i]);
        client_say(client, "%s", heads[i]);
        client_send(client, body, 8388608);
        client_say(client, "\r\n0\r\n\r\n"
                           "GET /canary HTTP/1.1\r\nHost: a\r\n\r\n");
        /* It reads what it has sent all of, though the server had enough. */
        reply = client_reply(client);
        assert_true(reply->status == 413 || reply->status == 405 ||
                    reply->status == 200);
        client_expect_orderly_end(client);
    }
}

TEST(a_chunk_too_large_is_refused_before_it_comes)
{
    static const char *const bodies[] = {"10001\r\n", "7fffffffffffffff\r\nx",
                                         "5\r\nhello\r\n1fffc\r\n", "fffff"};

    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
        struct client *client = client_open(server);

        going_on("%s", bodies[i]);
        client_say(client,
                   "GET /f HTTP/1.1\r\nHost: a\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n%s",
                   bodies[i]);
        expect_status(client_reply(client), 413);
        client_expect_end(client);
    }
}

TEST(bodies_that_never_come_end_with_the_connection)
{
    struct client *client = client_open(server);
    struct reply *reply;

    client_say(client,
               "GET /f HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n"
               "hell");
    client_half_close(client);
    if (client_try(client, false, &reply) == CLIENT_REPLY) {
        assert_true(reply->status == 400 || reply->status == 408);
        client_expect_end(client);
    }
}

/* --- Expect -------------------------------------------------------------- */

TEST(who_expects_to_continue_is_told_to)
{
    static const char *const expects[] = {
        "100-continue", "100-Continue", "  100-continue  ", ", 100-continue,,"};
    struct client *client = client_open(server);

    for (size_t i = 0; i < 4; i++) {
        struct reply *reply;

        client_say(client,
                   "GET /f HTTP/1.1\r\nHost: a\r\nExpect: %s\r\n"
                   "Content-Length: 5\r\n\r\n",
                   expects[i]);
        reply = client_reply(client);
        if (reply->status == 200) { /* it needs no body to answer that */
            client_expect_end(client);
            return;
        }
        expect_status(reply, 100);
        client_say(client, "hello");
        expect_body(client_reply(client), "file f\n");
        client_say(client,
                   "GET /f HTTP/1.1\r\nHost: a\r\nExpect: %s\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n",
                   expects[i]);
        expect_status(client_reply(client), 100);
        client_say(client, "5\r\nhello\r\n0\r\n\r\n");
        expect_body(client_reply(client), "file f\n");
    }
    client_expect_usable(client);
}

TEST(who_does_not_wait_need_not_be_told)
{
    struct client *client = client_open(server);
    struct reply *reply;

    client_say(client, "GET /f HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                       "Content-Length: 5\r\n\r\nhello");
    reply = client_reply(client);
    if (reply->status == 100)
        reply = client_reply(client);
    expect_body(reply, "file f\n");
    /* Without a body there is nothing to wait for. */
    reply = client_ask(client, "GET", "/f", "Expect: 100-continue\r\n");
    if (reply->status == 100)
        reply = client_reply(client);
    expect_body(reply, "file f\n");
    client_expect_usable(client);
}

TEST(the_answer_comes_instead_where_no_body_is_wanted)
{
    static const char *const heads[] = {
        "POST /f HTTP/1.1\r\nContent-Length: 5\r\n",
        "PUT /f HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
        "GET /f HTTP/1.1\r\nContent-Length: 1000000000\r\n"};
    static const unsigned statuses[] = {405, 405, 413};

    for (size_t i = 0; i < 3; i++) {
        struct client *client = client_open(server);
        struct reply *reply;

        going_on("%s", heads[i]);
        client_say(client, "%sHost: a\r\nExpect: 100-continue\r\n\r\n",
                   heads[i]);
        reply = client_reply(client);
        if (reply->status == 100 && i < 2)
            continue; /* a detour, but allowed */
        expect_status(reply, statuses[i]);
        /* The client may or may not send the body now: only the end of the
         * connection is safe, unless the body is waited for. */
        client_expect_end(client);
    }
}

TEST(http_1_0_expects_nothing)
{
    struct client *client = client_open(server);

    client_say(client, "GET /f HTTP/1.0\r\nExpect: 100-continue\r\n"
                       "Content-Length: 5\r\n\r\n");
    assert_false(client_hears(client, 50)); /* no 100, which it cannot read */
    client_say(client, "hello");
    expect_body(client_reply(client), "file f\n");
    client_expect_end(client);
}

TEST(other_expectations_fail)
{
    struct client *client = client_open(server);
    unsigned status =
        client_ask(client, "GET", "/f", "Expect: a-miracle\r\n")->status;

    /* RFC 9110 10.1.1: MAY. */
    assert_true(status == 417 || status == 200);
    client_expect_usable(client);
}

E2E_SUITE(start);
