/*
 * Answers of which nothing is there yet: the connection waits for them without
 * work, and is looked at when it is woken.
 */
#include "unit/engine/later_fixture.h"

static void begin_late(struct client *client)
{
    client_open(client);
    assert_string_equal(talk(client, GET("/late")), "");
    assert_int_equal(only_conn()->state, CONN_WAITING);
}

TEST(an_answer_to_come_is_looked_for_when_it_is_woken)
{
    struct client client;
    unsigned before;

    begin_late(&client);
    before = later.looks;
    for (int i = 0; i < 20; i++)
        turn();
    assert_int_equal(later.looks, before);
    assert_string_equal(later_give(&client, ""), ""); /* for nothing */
    assert_int_equal(later.looks, before + 1);
    later.is_over = true;
    later_give(&client, "");
    assert_answer(client.text, 404, NULL);
    assert_has(client.text, "\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n");
    assert_true(conn_is_idle(only_conn()));
    assert_answer(talk(&client, GET("/small")), 200, "small body");
    client_close(&client);
}

/* Whoever sends it must know its size before, and may put the time in. */
TEST(what_is_answered_late_is_not_sent_by_the_way)
{
    static char body[10000];
    struct client client;
    struct session *session;
    uint64_t sent;

    memset(body, 'b', sizeof(body));
    begin_late(&client);
    session = &only_conn()->session;
    assert_true(h1_candidate(session).is_stream);
    later.body = (struct bytes){body, sizeof(body)};
    later.is_over = true;
    conn_set_wake(&set);
    assert_int_equal(h1_candidate(session).bytes, 0); /* not looked for yet */
    assert_int_equal(h1_send(session, sizeof(body), &sent), SENDER_MORE);
    assert_int_equal(sent, 0);
    assert_true(h1_candidate(session).bytes > sizeof(body));
    assert_false(h1_candidate(session).is_stream);
    settle(&client);
    assert_has(client.text, "\r\nContent-Length: 10000\r\n");
    assert_true(client.len > sizeof(body));
    client_close(&client);
}

TEST(what_comes_before_an_answer_is_sent_before_it_is_there)
{
    struct client client;

    begin_late(&client);
    later.interim = "Link: </a>\r\n";
    assert_string_equal(later_give(&client, ""),
                        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
    assert_int_equal(only_conn()->state, CONN_WAITING);
    later.interim = "Link: </b>\r\n";
    later.is_over = true;
    assert_has(later_give(&client, ""),
               "HTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n"
               "HTTP/1.1 404 Not Found\r\n");
    assert_has_not(client.text, "</a>");
    assert_answer(talk(&client, GET("/small")), 200, "small body");
    client_close(&client);
}

/* Else its place would be behind all others. */
TEST(what_was_waited_for_before_an_answer_is_no_part_of_it)
{
    static char hints[1000] = "Link: </";
    struct client client;

    memset(hints + 8, 'a', sizeof(hints) - 12);
    memcpy(hints + sizeof(hints) - 4, ">\r\n", 4); /* longer than the answer */
    begin_late(&client);
    later.interim = hints;
    later_give(&client, "");
    assert_int_equal(only_conn()->state, CONN_WAITING);
    later.is_relayed = later.is_over = true;
    later.given = BYTES("body");
    conn_set_wake(&set);
    while (later.given.len > 0) {
        uint64_t sent;

        assert_true(h1_candidate(&only_conn()->session).bytes < 1000);
        assert_int_equal(h1_send(&only_conn()->session, 10, &sent),
                         SENDER_MORE);
    }
    settle(&client);
    assert_has(client.text, "\r\n\r\n00000004\r\nbody\r\n0\r\n\r\n");
    later_expect_counted(1, 1); /* which never waited */
    client_close(&client);
}

TEST(requests_behind_an_answer_to_come_wait_for_it)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/small") GET("/late") GET("/other"));
    assert_int_equal(count_of(client.text, "HTTP/1.1 "), 1);
    assert_has_not(client.text, "other body");
    later.is_over = true;
    assert_has(later_give(&client, ""), "HTTP/1.1 404 ");
    assert_has(client.text, "\r\n\r\nother body");
    client_close(&client);
}

TEST(a_client_that_goes_away_takes_an_answer_to_come_along)
{
    struct client client;

    begin_late(&client);
    client_leave(&client);
    assert_int_equal(later.open_sources, 0);
}

/* Whether it still listens nobody knows before something is sent. */
TEST(who_has_said_all_and_may_be_gone_is_not_waited_for)
{
    struct client client;

    begin_late(&client);
    shutdown(client.fd, SHUT_WR);
    settle(&client);
    assert_int_equal(set.count, 0);
    assert_int_equal(later.open_sources, 0);
    client_close(&client);
}

TEST(who_has_said_all_gets_an_answer_that_is_sure)
{
    struct client client;

    later.is_sure = true;
    begin_late(&client);
    shutdown(client.fd, SHUT_WR);
    settle(&client);
    pass(60000);
    assert_int_equal(only_conn()->state, CONN_WAITING);
    later.is_over = true;
    assert_answer(later_give(&client, ""), 404, NULL);
    assert_true(client.has_ended);
    assert_int_equal(set.count, 0);
    client_close(&client);
}

TEST(who_is_gone_takes_an_answer_that_is_sure_along)
{
    struct client client;

    later.is_sure = true;
    begin_late(&client);
    client_leave(&client);
    assert_int_equal(later.open_sources, 0);
}

LATER_SUITE;
