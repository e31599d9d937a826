/*
 * As many connections as there may be: those that wait for a request make room
 * for others, the longest waiting first; no address keeps the place of all.
 */
#include <sys/socket.h>

#include "h2_client.h"

enum { LARGE = 20 * 1048576, PAGE = 3000 };

#define CANARY "GET /canary HTTP/1.1\r\nHost: a\r\n\r\n"

E2E_BEGIN(start)
{
    site_seeded("large", 1, LARGE);
    site_seeded("page", 2, PAGE);
}

static bool is_served(struct client *client)
{
    struct reply *reply;

    client_say(client, CANARY);
    return client_try(client, false, &reply) == CLIENT_REPLY &&
           reply->status == 200;
}

static struct client *open_busy(const struct server *server)
{
    struct client *client = client_open_narrow(server, 4096);

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 1000);
    return client;
}

TEST(the_longest_idle_goes_first)
{
    enum { MAX = 10 };
    struct server *one = START("--max-connections=10", "--workers=1");
    struct client *clients[MAX];

    for (size_t i = 0; i < MAX; i++) {
        clients[i] = client_open(one);
        client_expect_usable(clients[i]);
        pause_ms(5);
    }
    client_expect_usable(clients[0]);
    client_expect_usable(clients[1]);
    for (size_t i = 2; i < 5; i++) {
        assert_true(is_served(client_open(one)));
        client_expect_orderly_end(clients[i]);
    }
    client_expect_usable(clients[0]);
    client_expect_usable(clients[1]);
    for (size_t i = 5; i < MAX; i++)
        client_expect_usable(clients[i]);
}

static void expect_goaway(struct h2 *h2, uint32_t last)
{
    struct h2_frame frame;

    while (h2_take(h2, &frame))
        continue;
    assert_int_equal(h2->goaways, 1);
    assert_int_equal(h2->goaway_code, NGHTTP2_NO_ERROR);
    assert_int_equal(h2->goaway_stream, last);
    client_expect_orderly_end(h2->client);
}

/* It may have asked for something meanwhile, and can ask elsewhere again. */
TEST(who_speaks_http2_is_told_what_was_taken)
{
    struct server *one = H2_START("--max-connections=2", "--workers=1");
    struct h2 *asked = h2_open(one);
    struct h2 *silent;

    h2_expect_usable(asked);
    h2_settle(asked, 20);
    silent = h2_open(one);
    h2_sync(silent);
    assert_true(is_served(client_open(one)));
    expect_goaway(asked, asked->next_stream - 2);
    assert_true(is_served(client_open(one)));
    expect_goaway(silent, 0);
}

/* Whoever says nothing, or not all, is no better than who is idle. */
TEST(who_has_not_asked_goes_too)
{
    enum { MAX = 20 };
    struct server *one = START("--max-connections=20", "--workers=4");

    for (size_t i = 0; i < MAX; i++) {
        struct client *client = client_open(one);

        if (i % 2)
            client_say(client, "GET / HTTP/1.1\r\n");
    }
    pause_ms(100);
    for (size_t i = 0; i < 2 * MAX; i++)
        assert_true(is_served(client_open(one)));
}

/* And gets its place back only from somebody who waits. */
TEST(a_request_that_is_answered_stays)
{
    enum { MAX = 6 };
    struct server *one = START("--max-connections=6", "--workers=2");
    struct client *busy[MAX];

    for (size_t i = 0; i < MAX - 1; i++)
        busy[i] = open_busy(one);
    for (size_t i = 0; i < 5; i++)
        assert_true(is_served(client_open(one)));
    busy[MAX - 1] = open_busy(one);
    assert_false(is_served(client_open(one)));
    for (size_t i = 0; i < MAX; i++)
        expect_seeded(client_reply(busy[i]), 1, 0, LARGE);
    assert_true(is_served(client_open(one)));
}

TEST(the_number_of_descriptors_stays)
{
    struct server *one = START("--max-connections=50", "--workers=2");
    size_t descriptors;

    for (size_t i = 0; i < 50; i++)
        client_expect_usable(client_open(one));
    descriptors = server_descriptors(one);
    for (size_t i = 0; i < 500; i++)
        assert_true(is_served(client_open(one)));
    assert_true(eventually(server_descriptors(one) <= descriptors + 2, 2000));
}

/* --- By address ---------------------------------------------------------- */

TEST(an_address_has_a_quarter_unless_it_is_alone)
{
    struct server *one = START("--max-connections=20", "--workers=2");
    struct client *crowd[8];
    struct client *other;

    for (size_t i = 0; i < 8; i++) {
        crowd[i] = client_open_from(one, "127.0.0.2");
        assert_true(is_served(crowd[i]));
    }
    other = client_open_from(one, "127.0.0.3");
    assert_true(is_served(other));
    assert_false(is_served(client_open_from(one, "127.0.0.2")));
    for (size_t i = 0; i < 8; i++) /* those that are there stay */
        client_expect_usable(crowd[i]);
    for (size_t i = 0; i < 4; i++)
        client_close(crowd[i]);
    assert_true(eventually(is_served(client_open_from(one, "127.0.0.2")),
                           5000));
    assert_false(is_served(client_open_from(one, "127.0.0.2")));
    client_close(other);
    assert_true(eventually(is_served(client_open_from(one, "127.0.0.2")),
                           5000));
}

TEST(who_has_enough_pushes_nobody_out)
{
    struct server *one = START("--max-connections=8", "--workers=1",
                               "--max-connections-per-address=4");
    struct client *clients[8];

    for (size_t i = 0; i < 8; i++) {
        clients[i] = client_open_from(one, i < 4 ? "127.0.0.2" : "127.0.0.3");
        client_expect_usable(clients[i]);
    }
    for (size_t i = 0; i < 8; i++)
        assert_false(is_served(client_open_from(one, "127.0.0.3")));
    for (size_t i = 0; i < 8; i++)
        client_expect_usable(clients[i]);
    assert_true(is_served(client_open_from(one, "127.0.0.4")));
}

TEST(one_of_each_address_shuts_nobody_out)
{
    enum { MAX = 20 };
    struct server *one = START("--max-connections=20", "--workers=4");
    char from[sizeof("127.0.0.255")];

    for (unsigned i = 0; i < MAX; i++) {
        snprintf(from, sizeof(from), "127.0.0.%u", 2 + i);
        client_expect_usable(client_open_from(one, from));
    }
    for (unsigned i = 0; i < 2 * MAX; i++) {
        snprintf(from, sizeof(from), "127.0.0.%u", 100 + i);
        assert_true(is_served(client_open_from(one, from)));
    }
}

/* Half a request that has no limit of its own but the body's. */
static struct client *open_body(const struct server *server, const char *from)
{
    struct client *client = client_open_from(server, from);

    client_say(client, "POST /canary HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 500\r\n\r\nxx");
    return client;
}

TEST(who_has_all_with_bodies_gives_way_to_others)
{
    enum { MAX = 20 };
    struct server *one = START("--max-connections=20", "--workers=2");

    for (size_t i = 0; i < MAX; i++)
        open_body(one, "127.0.0.2");
    pause_ms(100);
    for (size_t i = 0; i < MAX; i++) {
        struct client *client = client_open_from(one, "127.0.0.9");

        assert_true(is_served(client));
        client_close(client);
        pause_ms(5);
        open_body(one, "127.0.0.2"); /* it fills up again */
    }
}

/* And nothing has come. */
static bool is_kept(const struct client *client)
{
    char byte;

    return recv(client_socket(client), &byte, 1, MSG_PEEK | MSG_DONTWAIT) ==
               -1 &&
           errno == EAGAIN;
}

/* Whatever it does with them, but not below its share. */
TEST(who_is_above_its_share_gives_back_down_to_that)
{
    enum { MAX = 20, SHARE = 5 };
    static const char *const others[] = {"127.0.0.2", "127.0.0.3", "127.0.0.4"};
    struct server *one = START("--max-connections=20", "--workers=1");
    struct client *busy[MAX];
    struct client *bodies[MAX - SHARE];

    for (size_t i = 0; i < MAX; i++)
        busy[i] = open_busy(one);
    assert_false(is_served(client_open(one))); /* not to itself */
    for (size_t i = 0; i < MAX - SHARE; i++)
        bodies[i] = open_body(one, others[i / SHARE]);
    pause_ms(100);
    for (size_t i = 0; i < MAX - SHARE; i++)
        assert_true(is_kept(bodies[i]));
    assert_false(is_served(client_open_from(one, "127.0.0.9")));
    for (size_t i = MAX - SHARE; i < MAX; i++)
        expect_seeded(client_reply(busy[i]), 1, 0, LARGE);
}

/* --- Memory -------------------------------------------------------------- */

/* With a head of so many fields more. */
static void send_much_and_read_nothing(struct client *client, size_t fields)
{
    char head[4000];
    size_t len = (size_t)snprintf(head, sizeof(head),
                                  "GET /page HTTP/1.1\r\nHost: a\r\n");

    for (size_t i = 0; i < fields; i++)
        len += (size_t)snprintf(head + len, sizeof(head) - len, "a:b\r\n");
    len += (size_t)snprintf(head + len, sizeof(head) - len, "\r\n");
    for (unsigned tries = 0; tries < 20;) {
        if (send(client_socket(client), head, len, MSG_NOSIGNAL) ==
            (ssize_t)len)
            continue;
        pause_ms(10);
        tries++;
    }
}

TEST(a_pipeline_that_is_not_read_holds_64_kib)
{
    enum { COUNT = 100, HELD_MAX = 64 * 1024 };

    if (is_sanitized())
        skip();
    for (size_t fields = 0; fields < 60; fields += 50) {
        struct server *one = START("--workers=1");
        uint64_t before;
        uint64_t grown;

        client_expect_usable(client_open(one));
        before = server_memory(one);
        for (size_t i = 0; i < COUNT; i++)
            send_much_and_read_nothing(client_open_narrow(one, 4096), fields);
        grown = server_memory(one) - before;
        going_on("%zu fields: %zu bytes each", fields, (size_t)grown / COUNT);
        if (grown / COUNT > HELD_MAX + HELD_MAX / 16)
            flunk("too much");
        clients_close();
        server_stop(one);
    }
}

E2E_SUITE(start);
