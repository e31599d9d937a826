/*
 * Bodies that are not whole yet: the connection waits for them without work,
 * until it is woken or its client goes away.
 */
#include "unit/engine/later_fixture.h"

/* --- Waiting ------------------------------------------------------------- */

TEST(what_waits_is_not_asked_again_and_again)
{
    struct client client;
    unsigned before;

    later_begin(&client);
    before = later.fills;
    for (int i = 0; i < 20; i++)
        turn();
    assert_int_equal(later.fills, before);
    assert_true(sched_is_empty(&set.shared.sched));
    client_close(&client);
}

TEST(woken_it_sends_what_there_is)
{
    struct client client;

    later_begin(&client);
    assert_string_equal(later_give(&client, "one"), "00000003\r\none\r\n");
    assert_string_equal(later_give(&client, "two"), "00000003\r\ntwo\r\n");
    assert_int_equal(only_conn()->state, CONN_WAITING);
    later.is_over = true;
    assert_string_equal(later_give(&client, ""), "0\r\n\r\n");
    assert_true(conn_is_idle(only_conn()));
    assert_answer(talk(&client, GET("/small")), 200, "small body");
    client_close(&client);
}

TEST(woken_for_nothing_it_waits_on)
{
    struct client client;
    unsigned before;

    later_begin(&client);
    before = later.fills;
    assert_string_equal(later_give(&client, ""), "");
    assert_int_equal(later.fills, before + 1);
    assert_int_equal(only_conn()->state, CONN_WAITING);
    client_close(&client);
}

TEST(no_time_is_too_long)
{
    struct client client;

    later_begin(&client);
    for (int i = 0; i < 100; i++)
        pass(60000);
    assert_string_equal(later_give(&client, "still"), "00000005\r\nstill\r\n");
    client_close(&client);
}

TEST(a_piece_that_fills_the_socket_is_sent_to_its_end)
{
    static char large[LARGE_BYTES + 1];
    struct client client;

    memcpy(large, large_bytes, LARGE_BYTES);
    later_begin(&client);
    later.given = bytes_of(large);
    conn_set_wake(&set);
    for (int i = 0; i < 100 && only_conn()->state != CONN_BLOCKED; i++)
        turn();
    assert_int_equal(only_conn()->state, CONN_BLOCKED);
    client.len = 0;
    settle(&client);
    assert_true(client.len > LARGE_BYTES);
    assert_int_equal(only_conn()->state, CONN_WAITING);
    assert_string_equal(later_give(&client, "x"), "00000001\r\nx\r\n");
    client_close(&client);
}

/* It has no bytes that a link could let through. */
TEST(an_end_that_comes_alone_waits_for_no_link)
{
    struct client client;

    link_shared_fini(&link_shared);
    assert_int_equal(link_shared_init(&link_shared, LINK_AUTO, 0, 1), 0);
    later.announced = 6;
    later_begin(&client);
    assert_string_equal(later_give(&client, "onetwo"), "onetwo");
    later.is_over = true;
    assert_string_equal(later_give(&client, ""), "");
    assert_true(conn_is_idle(only_conn()));
    assert_answer(talk(&client, GET("/small")), 200, "small body");
    client_close(&client);
}

TEST(to_http10_the_end_of_the_connection_ends_it)
{
    struct client client;

    client_open(&client);
    talk(&client, "GET /later HTTP/1.0\r\n\r\n");
    assert_string_equal(later_give(&client, "one"), "one");
    later.is_over = true;
    assert_string_equal(later_give(&client, "two"), "two");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(all_that_wait_are_woken_together)
{
    enum { CLIENTS = 100 };
    static struct client clients[CLIENTS];

    for (int i = 0; i < CLIENTS; i++) {
        client_open(&clients[i]);
        talk(&clients[i], GET("/later"));
    }
    later.is_over = true;
    conn_set_wake(&set);
    assert_true(list_is_empty(&set.shared.waiting));
    for (int i = 0; i < CLIENTS; i++) {
        settle(&clients[i]);
        assert_has(clients[i].text, "\r\n\r\n0\r\n\r\n");
        client_close(&clients[i]);
    }
}

/* --- Clients that do something meanwhile --------------------------------- */

TEST(a_client_that_goes_away_is_noticed)
{
    struct client client;

    later_begin(&client);
    client_leave(&client);
    assert_int_equal(later.open_sources, 0);
}

/* What it has not read makes its end a reset. */
TEST(a_client_that_breaks_off_is_noticed)
{
    struct client client;

    later_begin(&client);
    later.given = BYTES("unread");
    conn_set_wake(&set);
    turn();
    assert_int_equal(only_conn()->state, CONN_WAITING);
    client_leave(&client);
    assert_int_equal(later.open_sources, 0);
}

/* So libev says that the kernel will not watch it (epoll_ctl: ENOMEM, ENOSPC). */
TEST(one_that_is_not_watched_any_more_is_closed)
{
    struct client client;

    later_begin(&client);
    ev_io_stop(loop, &only_conn()->io);
    ev_feed_event(loop, &only_conn()->io, EV_ERROR | EV_READ | EV_WRITE);
    turn();
    assert_int_equal(set.count, 0);
    assert_int_equal(later.open_sources, 0);
    client_close(&client);
}

TEST(requests_behind_it_wait_without_work)
{
    struct client client;

    later_begin(&client);
    client_send(&client, GET("/small"));
    for (int i = 0; i < 4; i++)
        turn();
    assert_int_equal(only_conn()->state, CONN_WAITING);
    assert_false(ev_is_active(&only_conn()->io)); /* it would fire each turn */
    assert_string_equal(later_give(&client, "one"), "00000003\r\none\r\n");
    later.is_over = true;
    assert_has(later_give(&client, ""), "0\r\n\r\nHTTP/1.1 200 OK\r\n");
    assert_has(client.text, "\r\n\r\nsmall body");
    assert_answer(talk(&client, GET("/other")), 200, "other body");
    client_close(&client);
}

TEST(requests_that_came_with_it_are_answered_behind_it)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/small") GET("/later") GET("/other"));
    assert_int_equal(count_of(client.text, "HTTP/1.1 200 OK"), 2);
    assert_has_not(client.text, "other body");
    later.is_over = true;
    assert_has(later_give(&client, "now"),
               "00000003\r\nnow\r\n0\r\n\r\nHTTP/1.1 200");
    assert_has(client.text, "\r\n\r\nother body");
    client_close(&client);
}

TEST(who_is_gone_behind_requests_is_noticed_by_the_next_piece)
{
    struct client client;

    later_begin(&client);
    client_send(&client, GET("/small"));
    turn();
    client_close(&client);
    for (int i = 0; i < 2 && set.count > 0; i++) {
        later.given = BYTES("piece");
        conn_set_wake(&set);
        turn();
    }
    assert_int_equal(set.count, 0);
    assert_int_equal(later.open_sources, 0);
}

/* --- The end of the server ----------------------------------------------- */

TEST(draining_ends_what_may_end)
{
    struct client client;

    later.ends_by_drain = true;
    later_begin(&client);
    client.len = 0;
    conn_set_drain(&set);
    settle(&client);
    assert_string_equal(client.text, "0\r\n\r\n");
    assert_true(client.has_ended);
    client_leave(&client);
}

TEST(draining_waits_for_what_is_not_over)
{
    struct client client;

    later_begin(&client);
    conn_set_drain(&set);
    turn();
    assert_int_equal(only_conn()->state, CONN_WAITING);
    assert_string_equal(later_give(&client, "one"), "00000003\r\none\r\n");
    later.is_over = true;
    assert_string_equal(later_give(&client, "two"),
                        "00000003\r\ntwo\r\n0\r\n\r\n");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(who_is_not_answered_yet_is_told_that_it_leaves)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/late"));
    assert_int_equal(only_conn()->state, CONN_WAITING);
    conn_set_leave(&set);
    later.is_over = true;
    assert_has(later_give(&client, ""), "HTTP/1.1 404 ");
    assert_has(client.text, "\r\nConnection: close\r\n");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(closing_all_closes_what_waits)
{
    struct client client;

    later_begin(&client);
    conn_set_close_all(&set);
    assert_int_equal(later.open_sources, 0);
    assert_true(list_is_empty(&set.shared.waiting));
    client_receive(&client, RECEIVED_MAX);
    client_close(&client);
}

/* --- What is counted of it ----------------------------------------------- */

TEST(whoever_ends_what_waited_it_is_neither_incomplete_nor_timed)
{
    struct client client;

    later_begin(&client);
    client_close(&client); /* by an orderly end */
    turn();
    assert_int_equal(set.count, 0);
    later_expect_counted(1, 0);
    later_begin(&client);
    later.given = BYTES("unread");
    conn_set_wake(&set);
    turn();
    client_close(&client); /* by a reset */
    turn();
    assert_int_equal(set.count, 0);
    later_expect_counted(2, 0);
    later.ends_by_drain = true;
    later_begin(&client);
    conn_set_drain(&set);
    settle(&client);
    assert_true(client.has_ended);
    client_close(&client);
    turn();
    later_expect_counted(3, 0);
}

TEST(of_known_length_it_is_timed_or_incomplete)
{
    static struct distribution service;
    struct client client;

    later.announced = 6;
    later_begin(&client);
    assert_string_equal(later_give(&client, "one"), "one");
    later.is_over = true;
    assert_string_equal(later_give(&client, "two"), "two");
    later_expect_counted(1, 1);
    later.is_over = false;
    assert_has(talk(&client, GET("/later")), "Content-Length: 6\r\n");
    assert_string_equal(later_give(&client, "one"), "one");
    client_close(&client);
    turn();
    histogram_add_to(&stats.service, &service);
    assert_int_equal(service.count, 1);
    assert_int_equal(counter_read(&stats.incomplete), 1);
}

TEST(what_never_waited_is_timed)
{
    struct client client;

    later.given = BYTES("one");
    later.is_over = true;
    client_open(&client);
    assert_has(talk(&client, GET("/later")), "one\r\n0\r\n\r\n");
    later_expect_counted(1, 1);
    client_close(&client);
}

LATER_SUITE;
