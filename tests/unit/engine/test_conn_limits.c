#include "unit/engine/conn_fixture.h"

/* --- Time ---------------------------------------------------------------- */

enum { TICK = DEADLINE_TICK_MS };

/* So much later and not before, the only connection is closed. */
static void assert_open_for(uint64_t ms)
{
    pass(ms - 1);
    assert_int_equal(set.count, 1);
    pass(1 + TICK);
    assert_int_equal(set.count, 0);
}

TEST(an_idle_connection_is_closed_in_silence)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/small"));
    client.len = 0;
    assert_open_for(set.shared.context.limits.keepalive_ms);
    settle(&client);
    assert_int_equal(client.len, 0);
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(a_request_that_comes_at_the_last_moment_is_answered)
{
    struct client client;

    client_open(&client);
    for (int i = 0; i < 2; i++) {
        assert_answer(talk(&client, GET("/small")), 200, "small body");
        client_send(&client, GET("/other"));
        client.len = 0;
        pass(set.shared.context.limits.keepalive_ms + TICK); /* and no turn */
        settle(&client);
        assert_answer(client.text, 200, "other body");
    }
    assert_open_for(set.shared.context.limits.keepalive_ms);
    client_close(&client);
}

TEST(a_client_that_never_says_a_word_is_closed_in_silence)
{
    struct client client;

    client_open(&client);
    assert_open_for(set.shared.context.limits.header_ms);
    settle(&client);
    assert_int_equal(client.len, 0);
    client_close(&client);
}

TEST(a_head_that_does_not_end_is_408)
{
    struct client client;

    client_open(&client);
    talk(&client, "GET / HTT");
    pass(set.shared.context.limits.header_ms - 1);
    settle(&client);
    assert_int_equal(client.len, 0);
    pass(1 + TICK);
    settle(&client);
    assert_answer(client.text, 408, NULL);
    assert_has(client.text, "\r\nConnection: close\r\n");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(a_head_that_trickles_gets_no_more_time)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/small"));
    pass(1000);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(talk(&client, "G")[0], '\0');
        pass(500);
    }
    pass(TICK);
    settle(&client);
    assert_answer(client.text, 408, NULL);
    client_close(&client);
}

TEST(a_body_that_does_not_end_is_408)
{
    struct client client;

    client_open(&client);
    talk(&client, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\n");
    for (int i = 0; i < 8; i++) {
        assert_int_equal(talk(&client, "x")[0], '\0');
        pass(set.shared.context.limits.body_ms / 8);
    }
    pass(TICK);
    settle(&client);
    assert_answer(client.text, 408, NULL);
    assert_true(client.has_ended);
    client_close(&client);
}

/* Lets the only connection run into a socket that takes no more. */
static void request_until_blocked(struct client *client)
{
    client_open(client);
    client_send(client, GET("/large"));
    for (int i = 0; i < 200 && only_conn()->state != CONN_BLOCKED; i++)
        turn();
    assert_int_equal(only_conn()->state, CONN_BLOCKED);
}

TEST(a_client_that_takes_nothing_is_closed)
{
    struct client client;

    request_until_blocked(&client);
    assert_open_for(set.shared.context.limits.send_ms);
    client_close(&client);
}

/* Takes what is in the socket and lets the server fill it again. */
static void take_some(struct client *client)
{
    assert_true(client_receive(client, RECEIVED_MAX) > 0);
    for (int i = 0; i < 10; i++)
        turn();
}

TEST(a_client_that_takes_a_little_may_go_on)
{
    struct client client;

    request_until_blocked(&client);
    for (int i = 0; i < 8; i++) {
        pass(set.shared.context.limits.send_ms - TICK);
        take_some(&client);
        assert_int_equal(set.count, 1);
    }
    client_close(&client);
}

TEST(a_client_slower_than_the_least_rate_is_closed)
{
    struct client client;

    set.shared.context.limits.send_rate_min =
        1000000; /* a socket holds much less */
    request_until_blocked(&client);
    for (int i = 0; i < 20 && set.count > 0; i++) {
        pass(set.shared.context.limits.send_ms - TICK);
        if (set.count > 0)
            take_some(&client);
    }
    assert_int_equal(set.count, 0);
    client_close(&client);
}

/* --- Lingering ----------------------------------------------------------- */

static const char bad[] = "no request at all\r\n\r\n";

TEST(after_an_error_the_rest_is_read_until_the_client_ends)
{
    struct client client;

    client_open(&client);
    assert_answer(talk(&client, bad), 400, NULL);
    assert_true(client.has_ended);
    assert_int_equal(only_conn()->state, CONN_LINGERING);
    assert_null(only_h1()->input);
    talk(&client, "more of it");
    assert_int_equal(set.count, 1);
    client_leave(&client);
}

TEST(lingering_ends_when_nothing_comes_for_a_while)
{
    struct client client;

    client_open(&client);
    talk(&client, bad);
    assert_open_for(2000);
    client_close(&client);
}

TEST(lingering_ends_though_something_keeps_coming)
{
    struct client client;

    client_open(&client);
    talk(&client, bad);
    for (int i = 0; i < 9; i++) {
        pass(1000);
        talk(&client, "x");
        assert_int_equal(set.count, 1);
    }
    pass(1000);
    talk(&client, "x");
    assert_int_equal(set.count, 0);
    client_close(&client);
}

/* --- Draining ------------------------------------------------------------ */

TEST(draining_closes_idle_connections_at_once)
{
    struct client clients[2];

    client_open(&clients[0]);
    client_open(&clients[1]);
    talk(&clients[0], GET("/small"));
    conn_set_drain(&set);
    assert_int_equal(set.count, 0);
    client_close(&clients[0]);
    client_close(&clients[1]);
}

TEST(draining_answers_what_has_begun_and_then_ends)
{
    struct client client;

    client_open(&client);
    talk(&client, "GET /small HT");
    conn_set_drain(&set);
    assert_int_equal(set.count, 1);
    talk(&client, "TP/1.1\r\nHost: h\r\n\r\n");
    assert_answer(client.text, 200, "small body");
    assert_has(client.text, "\r\nConnection: close\r\n");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(draining_finishes_what_is_being_sent_and_then_ends)
{
    struct client client;

    request_until_blocked(&client);
    conn_set_drain(&set);
    settle(&client);
    assert_true(client.len > LARGE_BYTES);
    assert_has_not(client.text, "Connection: close");
    assert_true(client.has_ended);
    client_leave(&client);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
