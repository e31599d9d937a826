/*
 * How a connection's story reads in the log: its number, what it asked for,
 * and why it ended.
 */
#include "unit/engine/conn_fixture.h"

static int set_up_events(void **state)
{
    if (set_up(state) != 0)
        return -1;
    conn_fixture_fini();
    log_options.format = "events";
    return conn_fixture_init(SCHED_POLICY_SRPT);
}

/* The whole log must be one connection's: accept, so many requests, close. */
static void assert_story(unsigned requests, const char *reason)
{
    const char *log = read_log();
    char close_line[100];

    snprintf(close_line, sizeof(close_line),
             "Z 1 close reason=%s requests=%u\n", reason, requests);
    assert_has(log, "Z 1 accept remote=unix: port=0 worker=0\n");
    assert_has(log, close_line);
    assert_int_equal(count_of(log, "Z 1 request n="), requests);
    assert_int_equal(count_of(log, "\n"), requests + 2);
    assert_string_equal(log + strlen(log) - strlen(close_line), close_line);
}

TEST(a_client_that_closes_is_the_reason)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/small") GET("/none") GET("/other"));
    client_close(&client);
    turn();
    assert_story(3, "client");
    assert_has(read_log(), " request n=1 status=200 bytes=10 ");
    assert_has(read_log(), " request n=2 status=404 ");
    assert_has(read_log(), " request n=3 status=200 ");
}

TEST(so_is_one_that_asks_for_the_end)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/small"));
    talk(&client,
         "GET /small HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    client_close(&client);
    turn();
    assert_story(2, "client");
}

TEST(one_that_speaks_http10_has_asked)
{
    struct client client;

    client_open(&client);
    talk(&client, "GET /small HTTP/1.0\r\n\r\n");
    client_close(&client);
    turn();
    assert_story(1, "client");
}

TEST(one_that_stays_silent_is_idle)
{
    struct client client;

    client_open(&client);
    pass(3200);
    settle(&client);
    client_close(&client);
    assert_story(0, "idle");
}

TEST(one_that_asks_no_more_is_idle)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/small"));
    pass(5200);
    client_close(&client);
    assert_story(1, "idle");
}

TEST(half_a_request_is_a_timeout)
{
    struct client client;

    client_open_with(&client, "GET /small HTT");
    pass(3200);
    settle(&client);
    assert_answer(client.text, 408, NULL);
    client_close(&client);
    turn();
    assert_story(1, "timeout");
    assert_has(read_log(), " request n=1 status=408 ");
    assert_has(read_log(), " complete=true \"-\"\n");
}

TEST(half_a_body_is_a_timeout)
{
    struct client client;

    client_open_with(&client, "POST /small HTTP/1.1\r\nHost: h\r\n"
                              "Content-Length: 5\r\n\r\nab");
    pass(4200);
    settle(&client);
    client_close(&client);
    turn();
    assert_story(1, "timeout");
}

TEST(a_response_that_is_not_taken_is_a_timeout)
{
    struct client client;

    client_open_with(&client, GET("/large"));
    for (int i = 0; i < 20; i++)
        turn();
    pass(2200);
    client_close(&client);
    assert_story(1, "timeout");
    assert_has(read_log(), " complete=false \"GET /large HTTP/1.1\"\n");
}

#define CLOSING_POST "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"

TEST(a_bad_request_is_an_error)
{
    static const char *const bad[] = {
        "GET /\x01 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        CLOSING_POST "Transfer-Encoding: chunked\r\n\r\nx\r\n"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct client client;

        client_open(&client);
        assert_answer(talk(&client, bad[i]), 400, NULL);
        client_close(&client);
        turn();
        assert_story(1, "error");
        assert_int_equal(tear_down(state), 0);
        assert_int_equal(set_up_events(state), 0);
    }
}

TEST(nothing_is_known_of_what_was_no_request)
{
    struct client clients[2];

    conn_fixture_fini();
    log_options.format = "json";
    assert_int_equal(conn_fixture_init(SCHED_POLICY_SRPT), 0);
    /* The second exchange lies where the first has been. */
    client_open_with(&clients[0], "GET /small?q HTTP/1.1\r\nHost: first\r\n"
                                  "User-Agent: u\r\nReferer: r\r\n\r\n");
    settle(&clients[0]);
    client_open_with(&clients[1], "GET /\x01 HTTP/1.1\r\n\r\n");
    settle(&clients[1]);
    client_close(&clients[0]);
    client_close(&clients[1]);
    turn();
    assert_has(read_log(), "\"request\":\"GET /small?q HTTP/1.1\","
                           "\"method\":\"GET\",\"path\":\"/small\","
                           "\"host\":\"first\",\"status\":200,\"bytes\":10,");
    assert_has(read_log(), "\"method\":\"\",\"path\":\"\",\"host\":\"\","
                           "\"status\":400,");
    assert_has(read_log(), "\"referer\":\"\",\"user_agent\":\"\",");
}

TEST(a_client_that_resets_is_an_error)
{
    struct client client;

    client_open_with(&client, GET("/large"));
    for (int i = 0; i < 4; i++)
        turn();
    client_close(&client); /* with bytes unread */
    for (int i = 0; i < 4; i++)
        turn();
    assert_story(1, "error");
    assert_has(read_log(), " complete=false ");
}

TEST(asked_for_or_not_a_broken_end_is_an_error)
{
    struct client client;

    client_open_with(&client, "GET /large HTTP/1.1\r\nHost: h\r\n"
                              "Connection: close\r\n\r\n");
    for (int i = 0; i < 4; i++)
        turn();
    client_close(&client);
    for (int i = 0; i < 4; i++)
        turn();
    assert_story(1, "error");
}

TEST(the_last_request_allowed_is_a_limit)
{
    struct client client;

    set.shared.context.limits.requests_max = 2;
    client_open(&client);
    talk(&client, GET("/small"));
    talk(&client, GET("/small"));
    client_close(&client);
    turn();
    assert_story(2, "limit");
    assert_has(read_log(), " n=2 ");
}

TEST(an_idle_connection_is_drained)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/small"));
    conn_set_drain(&set);
    client_close(&client);
    assert_story(1, "drain");
}

TEST(a_request_that_is_already_there_is_answered_first)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/small"));
    client_send(&client, GET("/small"));
    conn_set_drain(&set);
    settle(&client);
    assert_has(client.text, "Connection: close");
    client_close(&client);
    turn();
    assert_story(2, "drain");
}

TEST(who_is_left_may_ask_once_more)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/small"));
    conn_set_leave(&set);
    settle(&client);
    assert_int_equal(set.count, 1);
    assert_has(talk(&client, GET("/small")), "Connection: close");
    client_leave(&client);
    assert_story(2, "drain");
}

/* Its head said that the connection stays, so another request may be on the
 * way. */
TEST(who_is_being_answered_when_it_leaves_may_ask_once_more)
{
    struct client client;

    client_open_with(&client, GET("/large"));
    turn();
    conn_set_leave(&set);
    settle(&client);
    assert_true(client.len > LARGE_BYTES);
    assert_false(client.has_ended);
    assert_int_equal(set.count, 1);
    assert_has(talk(&client, GET("/small")), "Connection: close");
    client_leave(&client);
    assert_story(2, "drain");
}

TEST(one_that_is_being_answered_is_drained_after_it)
{
    struct client client;

    client_open_with(&client, GET("/large"));
    turn();
    conn_set_drain(&set);
    settle(&client);
    assert_true(client.len > LARGE_BYTES);
    client_close(&client);
    turn();
    assert_story(1, "drain");
    assert_has(read_log(), " complete=true ");
}

TEST(connections_are_numbered_and_their_requests_too)
{
    struct client clients[3];
    const char *log;

    for (int i = 0; i < 3; i++) {
        client_open(&clients[i]);
        talk(&clients[i], GET("/small"));
    }
    talk(&clients[1], GET("/other") GET("/none"));
    for (int i = 0; i < 3; i++)
        client_close(&clients[i]);
    turn();
    log = read_log();
    assert_has(log, "Z 2 request n=3 status=404 ");
    assert_has(log, "Z 3 request n=1 status=200 ");
    assert_has(log, "Z 2 close reason=client requests=3\n");
    assert_has(log, "Z 3 close reason=client requests=1\n");
    assert_int_equal(count_of(log, " accept "), 3);
}

TEST(workers_share_the_numbers)
{
    struct link_shared four;
    struct client client;

    assert_int_equal(link_shared_init(&four, LINK_OFF, 0, 4), 0);
    conn_set_fini(&set);
    assert_int_equal(conn_set_init(&set, SCHED_POLICY_SRPT,
                                   (struct sched_bounds){256, 2}, &four, 2),
                     0);
    for (uint64_t i = 0; i < 3; i++) {
        client_open(&client);
        assert_int_equal(only_conn()->session.number, 3 + 4 * i);
        client_close(&client);
        turn();
    }
    conn_set_fini(&set);
    link_shared_fini(&four);
    assert_int_equal(conn_fixture_init_set(SCHED_POLICY_SRPT), 0);
}

TEST(other_formats_tell_of_requests_only)
{
    struct client client;

    conn_fixture_fini();
    log_options.format = "common";
    assert_int_equal(conn_fixture_init(SCHED_POLICY_SRPT), 0);
    client_open(&client);
    talk(&client, GET("/small"));
    client_close(&client);
    turn();
    assert_int_equal(count_of(read_log(), "\n"), 1);
}

SUITE(.each_begin = set_up_events, .each_end = tear_down);
