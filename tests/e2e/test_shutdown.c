/*
 * SIGTERM and SIGINT: no new connections, what is under way is finished in
 * time, the rest is cut, status 0.
 */
#include "client.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

enum { SEED = 5, LARGE = 20 * 1048576, QUICK_MS = 2000 };

E2E_BEGIN(start)
{
    site_seeded("large", SEED, LARGE);
}

static bool takes_connections(const struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct client *client = client_open_to((struct sockaddr *)&address,
                                           sizeof(address));

    if (client)
        client_close(client);
    return client != NULL;
}

static struct client *begin_large(const struct server *server)
{
    struct client *client = client_open_narrow(server, 65536);

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 4096);
    return client;
}

TEST(an_idle_server_ends_at_once)
{
    static const int numbers[] = {SIGTERM, SIGINT};

    for (size_t i = 0; i < 2; i++) {
        struct server *one = START(NULL);
        struct client *idle = client_open(one);
        struct client *silent = client_open(one);

        client_expect_usable(idle);
        server_signal(one, numbers[i]);
        assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
        client_expect_end(idle);
        client_close(silent);
        assert_false(takes_connections(one));
    }
}

TEST(what_is_being_sent_is_finished)
{
    static const char *const methods[] = {"--send-method=auto",
                                          "--send-method=mmap",
                                          "--send-method=sendfile",
                                          "--send-method=read"};

    for (size_t m = 0; m < 4; m++) {
        struct server *one = START(methods[m]);
        struct client *client = begin_large(one);
        struct client *idle = client_open(one);

        going_on("%s", methods[m]);
        client_expect_usable(idle);
        server_signal(one, SIGTERM);
        assert_true(eventually(!takes_connections(one), QUICK_MS));
        client_expect_end(idle);
        assert_int_equal(server_wait(one, 50), -1);
        expect_seeded(client_reply(client), SEED, 0, LARGE);
        client_expect_end(client);
        client_close(client);
        assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    }
}

TEST(what_was_asked_for_later_ends_the_connection)
{
    struct server *one = START(NULL);
    struct client *client = begin_large(one);
    struct reply *reply;
    enum client_event event;

    server_signal(one, SIGTERM);
    assert_true(eventually(!takes_connections(one), QUICK_MS));
    client_say(client, "GET /canary HTTP/1.1\r\nHost: a\r\n\r\n");
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    event = client_try(client, false, &reply);
    if (event == CLIENT_REPLY) {
        expect_body(reply, "canary\n");
        expect_field(reply, "Connection", "close");
        client_expect_end(client);
    } else {
        assert_true(event == CLIENT_CLOSED || event == CLIENT_RESET);
    }
    client_close(client);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
}

TEST(half_a_request_does_not_hold_it_up_for_long)
{
    struct server *one = START("--drain-timeout=1");
    struct client *client = client_open(one);
    struct reply *reply;

    client_expect_usable(client);
    client_say(client, "GET /canary HTTP/1.1\r\nHost: a\r\n");
    pause_ms(20);
    server_signal(one, SIGTERM);
    client_say(client, "\r\n");
    if (client_try(client, false, &reply) == CLIENT_REPLY) {
        assert_true(reply->status == 200 || reply->status == 408 ||
                    reply->status == 503);
        client_expect_end(client);
    }
    client_close(client);
    assert_int_equal(server_wait(one, 1000 + patience(QUICK_MS)), 0);
}

TEST(what_takes_too_long_is_cut)
{
    struct server *one = START("--drain-timeout=500ms");
    struct client *client = begin_large(one);
    uint64_t begin = now_ms();
    struct reply *reply;

    server_signal(one, SIGTERM);
    assert_int_equal(server_wait(one, 500 + patience(QUICK_MS)), 0);
    assert_in_range(now_ms() - begin, 450, 500 + patience(QUICK_MS));
    assert_int_equal(client_try(client, false, &reply), CLIENT_BROKEN);
}

TEST(a_second_signal_ends_it_at_once)
{
    static const int pairs[][2] = {
        {SIGTERM, SIGTERM}, {SIGINT, SIGINT}, {SIGTERM, SIGINT}};

    for (size_t i = 0; i < 3; i++) {
        struct server *one = START("--drain-timeout=60");

        begin_large(one);
        server_signal(one, pairs[i][0]);
        assert_true(eventually(!takes_connections(one), QUICK_MS));
        assert_int_equal(server_wait(one, 50), -1);
        server_signal(one, pairs[i][1]);
        assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
        /* In good order all the same: not by leaving the workers behind. */
        assert_null(strstr(read_text(one->errors, NULL), "leaving"));
        clients_close();
    }
}

TEST(a_signal_under_load_breaks_no_reply)
{
    enum { CLIENTS = 50 };
    struct server *one = START("--workers=2");
    struct client *clients[CLIENTS];

    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(one);
        client_expect_usable(clients[i]);
    }
    for (size_t i = 0; i < CLIENTS; i++)
        client_say(clients[i], "GET /canary HTTP/1.1\r\nHost: a\r\n\r\n");
    server_signal(one, SIGTERM);
    for (size_t i = 0; i < CLIENTS; i++)
        client_say(clients[i], "GET /canary HTTP/1.1\r\nHost: a\r\n\r\n");
    for (size_t i = 0; i < CLIENTS; i++) {
        enum client_event event;
        struct reply *reply;

        /* Any number of whole replies, then the end. */
        while ((event = client_try(clients[i], false, &reply)) == CLIENT_REPLY)
            expect_body(reply, "canary\n");
        assert_true(event == CLIENT_CLOSED || event == CLIENT_RESET);
        client_close(clients[i]);
    }
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
}

TEST(it_starts_again_on_the_same_port_at_once)
{
    struct server *one = START(NULL);
    struct client *client = client_open(one);
    unsigned port = one->port;
    struct server *again;

    client_expect_usable(client);
    server_stop(one); /* closes first: TIME_WAIT is on its side */
    again = START(printed("--port=%u", port));
    assert_int_equal(again->port, port);
    client_expect_usable(client_open(again));
}

E2E_SUITE(start);
