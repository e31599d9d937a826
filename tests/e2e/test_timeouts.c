/*
 * Deadlines: for a head, a body, the next request, and for clients that do
 * not take what they asked for. Each is short here; what must not happen
 * earlier is as much a part of it as what must happen.
 */
#include "client.h"

enum { LARGE = 32 * 1048576, SHORT_MS = 400 };

E2E_BEGIN(start)
{
    site_text("f", "file f\n");
    site_seeded("large", 1, LARGE);
}

/* The deadline under test: 400 ms, longer on a slow machine. */
static char *limit(const char *option)
{
    return printed("%s=%llums", option, (unsigned long long)patience(SHORT_MS));
}

/* It ends, by 408 or without a word, not before the limit and not long after.
 * begin is when the limit began. */
static void expect_expired(struct client *client, uint64_t begin)
{
    struct reply *reply;
    enum client_event event = client_try(client, false, &reply);
    uint64_t took = now_ms() - begin;

    if (event == CLIENT_TIMEOUT)
        flunk("it never ends");
    if (event == CLIENT_REPLY) {
        expect_status(reply, 408);
        expect_field(reply, "Connection", "close");
        client_expect_end(client);
    }
    assert_in_range(took, patience(SHORT_MS) * 8 / 10,
                    patience(SHORT_MS) * 3 + patience(1500));
}

TEST(a_head_must_come_in_time)
{
    struct server *one = START(limit("--header-timeout"), "--workers=1");
    struct client *half = client_open(one);
    struct client *trickle = client_open(one);
    struct client *second = client_open(one);
    uint64_t begin;

    client_expect_usable(second);
    begin = now_ms();
    client_say(half, "GET /f HTTP/1.1\r\nHost: a\r\n");
    client_say(second, "GET /f");
    client_say(trickle, "GET /f HTTP/1.1\r\n");
    /* Bytes that trickle in do not buy time. */
    for (unsigned i = 0; i < 200 && !client_hears(trickle, 20 * slowness());
         i++)
        client_say(trickle, "X");
    expect_expired(trickle, begin);
    expect_expired(half, begin);
    expect_expired(second, begin);
    client_expect_usable(client_open(one));
}

TEST(who_connects_and_says_nothing_is_let_go)
{
    struct server *one = START(limit("--header-timeout"), "--workers=1");
    struct client *client = client_open(one);
    struct reply *reply;
    enum client_event event;

    /* The kernel may hold it back for a second or more before. */
    event = client_try(client, false, &reply);
    if (event == CLIENT_REPLY)
        expect_status(reply, 408);
    else
        assert_true(event == CLIENT_CLOSED || event == CLIENT_RESET);
}

TEST(a_body_must_come_in_time)
{
    struct server *one = START(limit("--body-timeout"), "--workers=1");
    struct client *half = client_open(one);
    struct client *chunked = client_open(one);
    struct client *trickle = client_open(one);
    uint64_t begin = now_ms();

    client_say(half, "GET /f HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n"
                     "hello");
    client_say(chunked, "GET /f HTTP/1.1\r\nHost: a\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n5\r\nhel");
    client_say(trickle, "GET /f HTTP/1.1\r\nHost: a\r\n"
                        "Content-Length: 10000\r\n\r\n");
    for (unsigned i = 0; i < 200 && !client_hears(trickle, 20 * slowness());
         i++)
        client_say(trickle, "X");
    expect_expired(trickle, begin);
    expect_expired(half, begin);
    expect_expired(chunked, begin);
}

TEST(a_kept_connection_is_kept_so_long)
{
    struct server *one = START(limit("--keepalive-timeout"), "--workers=1");
    struct client *idle = client_open(one);
    struct client *busy = client_open(one);
    uint64_t begin;

    client_expect_usable(idle);
    begin = now_ms();
    while (!client_hears(idle, patience(SHORT_MS) / 4)) {
        client_expect_usable(busy); /* begins anew with every request */
        assert_true(now_ms() < begin + patience(10000));
    }
    assert_true(now_ms() - begin >= patience(SHORT_MS) * 8 / 10);
    client_expect_end(idle); /* no 408: it asked for nothing */
    client_expect_usable(busy);
}

/* A client that asks for something large and takes only the beginning. */
static struct client *stop_reading(const struct server *server)
{
    struct client *client = client_open_narrow(server, 16384);

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 1000);
    return client;
}

/* Whether the server has let go of it: a socket less than before. */
static bool has_let_go(const struct server *server, size_t descriptors)
{
    return server_descriptors(server) < descriptors;
}

TEST(who_stops_reading_is_let_go)
{
    struct server *one = START(limit("--send-timeout"), "--workers=1");
    struct client *stopped = stop_reading(one);
    uint64_t begin = now_ms();
    size_t descriptors = server_descriptors(one);
    struct reply *reply;

    assert_true(eventually(has_let_go(one, descriptors), 5000));
    assert_in_range(now_ms() - begin, patience(SHORT_MS) * 8 / 10,
                    patience(SHORT_MS) * 3 + patience(1500));
    /* What then comes of it is no whole reply. */
    assert_int_equal(client_try(stopped, false, &reply), CLIENT_BROKEN);
}

TEST(who_reads_slowly_but_steadily_is_not)
{
    struct server *one = START(limit("--send-timeout"), "--workers=1",
                               "--send-rate-min=1000");
    struct client *slow = client_open_narrow(one, 16384);
    struct reply *reply;
    uint64_t until = now_ms() + 3 * patience(SHORT_MS);
    size_t len = 0;

    client_say(slow, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    while (now_ms() < until) {
        len = client_take(slow, len + 100000);
        pause_ms(10 * slowness());
    }
    reply = client_reply(slow);
    expect_seeded(reply, 1, 0, LARGE);
}

TEST(who_reads_too_slowly_is_let_go)
{
    /* A tenth of the rate asked for: always some progress, but too little. */
    struct server *one = START(limit("--send-timeout"), "--workers=1",
                               "--send-rate-min=100M");
    struct client *slow = stop_reading(one);
    size_t descriptors = server_descriptors(one);
    uint64_t until = now_ms() + patience(15000);
    size_t len = 0;

    while (!has_let_go(one, descriptors)) {
        if (now_ms() > until || len >= LARGE)
            flunk("it got %zu bytes", len);
        len = client_take(slow, len + 16384);
        pause_ms(20);
    }
    assert_in_range(len, 0, LARGE - 1);
}

TEST(times_are_understood_in_all_units)
{
    static const char *const options[] = {"--keepalive-timeout=0.3",
                                          "--keepalive-timeout=300ms",
                                          "--keepalive-timeout=0.3s",
                                          "--keepalive-timeout=0.005m"};
    struct client *clients[4];
    uint64_t begin = now_ms();

    for (size_t i = 0; i < 4; i++) {
        clients[i] = client_open(START(options[i]));
        client_expect_usable(clients[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        going_on("%s", options[i]);
        client_expect_end(clients[i]);
        assert_in_range(now_ms() - begin, 240, 2000 + patience(2000));
    }
}

E2E_SUITE(start);
