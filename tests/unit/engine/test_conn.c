#include "unit/engine/conn_fixture.h"

/* --- Keeping alive and closing ------------------------------------------- */

TEST(requests_on_one_connection_are_answered_in_turn)
{
    struct client client;

    client_open(&client);
    for (int i = 0; i < 3; i++) {
        assert_answer(talk(&client, GET("/small")), 200, "small body");
        assert_answer(talk(&client, GET("/none")), 404, NULL);
        assert_answer(talk(&client, GET("/other")), 200, "other body");
    }
    assert_false(client.has_ended);
    assert_true(conn_is_idle(only_conn()));
    client_leave(&client);
    assert_int_equal(conn_set_closed(&set), 1);
}

TEST(a_request_that_is_there_at_the_start_is_answered)
{
    struct client client;

    client_open_with(&client, GET("/small"));
    client_receive(&client, RECEIVED_MAX); /* within no turn at all */
    assert_answer(client.text, 200, "small body");
    client_close(&client);
}

TEST(connection_close_ends_the_connection_after_the_answer)
{
    struct client client;

    client_open(&client);
    talk(&client,
         "GET /small HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert_answer(client.text, 200, "small body");
    assert_has(client.text, "\r\nConnection: close\r\n");
    assert_true(client.has_ended);
    assert_int_equal(set.count, 0);
    client_close(&client);
}

TEST(http10_ends_unless_it_asks_to_be_kept_alive)
{
    struct client client;

    client_open(&client);
    talk(&client, "GET /small HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_answer(client.text, 200, "small body");
    assert_has(client.text, "\r\nConnection: keep-alive\r\n");
    assert_false(client.has_ended);
    assert_answer(talk(&client, "GET /small HTTP/1.0\r\n\r\n"), 200,
                  "small body");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(the_last_request_allowed_says_so_and_ends)
{
    struct client client;

    set.shared.context.limits.requests_max = 3;
    client_open(&client);
    assert_has_not(talk(&client, GET("/small")), "Connection");
    assert_has_not(talk(&client, GET("/small")), "Connection");
    assert_has(talk(&client, GET("/small")), "\r\nConnection: close\r\n");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(a_client_that_has_said_all_is_still_answered)
{
    struct client client;

    client_open(&client);
    client_send(&client, GET("/large"));
    shutdown(client.fd, SHUT_WR);
    settle(&client);
    assert_int_equal(count_of(client.text, "HTTP/1.1 200 OK"), 1);
    assert_true(client.len > LARGE_BYTES);
    assert_true(client.has_ended);
    assert_int_equal(set.count, 0);
    client_close(&client);
}

TEST(a_client_that_goes_away_in_the_middle_is_closed)
{
    struct client client;

    client_open(&client);
    client_send(&client, GET("/large"));
    for (int i = 0; i < 4; i++)
        turn();
    assert_int_equal(set.count, 1);
    client_close(&client);
    for (int i = 0; i < 4; i++)
        turn();
    assert_int_equal(set.count, 0);
}

/* --- Pipelining ---------------------------------------------------------- */

TEST(pipelined_requests_are_answered_in_order)
{
    struct client client;
    const char *answers;

    client_open(&client);
    answers = talk(&client, GET("/small") GET("/large") GET("/other"));
    assert_int_equal(count_of(answers, "HTTP/1.1 200 OK"), 3);
    assert_true(strstr(answers, "small body") < strstr(answers, "abcdef"));
    assert_true(strstr(answers, "abcdef") < strstr(answers, "other body"));
    assert_string_equal(answers + client.len - 10, "other body");
    client_close(&client);
}

TEST(many_pipelined_requests_are_all_answered)
{
    static const char once[] = GET("/small");
    static char all[2000 * (sizeof(once) - 1) + 1];
    struct client client;

    for (size_t i = 0; i < 2000; i++)
        memcpy(all + i * (sizeof(once) - 1), once, sizeof(once));
    client_open(&client);
    assert_int_equal(count_of(talk(&client, all), "\r\n\r\nsmall body"), 2000);
    assert_false(client.has_ended);
    client_close(&client);
}

/* Though all of them came in one read. */
TEST(a_long_pipeline_is_answered_by_turns)
{
    enum { COUNT = 600, AT_ONCE = 128 };
    static const char once[] = GET("/small");
    static char all[COUNT * (sizeof(once) - 1) + 1];
    const struct session *session;
    struct client client;

    for (size_t i = 0; i < COUNT; i++)
        memcpy(all + i * (sizeof(once) - 1), once, sizeof(once));
    client_open(&client);
    session = &only_conn()->session;
    client_send(&client, all);
    for (int turns = 0; session->finished < COUNT; turns++) {
        uint32_t before = session->requests;

        assert_true(turns < COUNT);
        turn();
        (void)client_receive(&client, RECEIVED_MAX);
        assert_in_range(session->requests - before, 0, AT_ONCE);
    }
    assert_int_equal(count_of(client.text, "\r\n\r\nsmall body"), COUNT);
    client_close(&client);
}

static const char dialogue[] = GET("/small") "\r\n" GET(
    "/middle") "HEAD /other"
               " HTTP/1.1\r\nHost: h\r\n\r\nPOST /small HTTP/1.1\r\nHost: h\r\n"
               "Content-Length: 5\r\n\r\nhello" GET(
                   "/other") "POST / HTTP/1.1\r\n"
                             "Host: h\r\nTransfer-Encoding: "
                             "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" GET(
                                 "/other?x") "GET /none HTTP/1.1\r\nHost: "
                                             "h\r\nConnection: close\r\n\r\n";

/* The dialogue, with a turn after the first bytes, and after each step. */
static char *answers_when_split(size_t first, size_t step)
{
    struct client client;
    size_t at = first;

    client_open(&client);
    assert_int_equal(send(client.fd, dialogue, first, 0), first);
    turn();
    for (; at < sizeof(dialogue) - 1; at += step) {
        size_t len = sizeof(dialogue) - 1 - at;

        if (len > step)
            len = step;
        assert_int_equal(send(client.fd, dialogue + at, len, 0), len);
        turn();
    }
    settle(&client);
    assert_true(client.has_ended);
    close(client.fd);
    return client.text;
}

TEST(the_answers_do_not_depend_on_how_bytes_come_in)
{
    char *expected = answers_when_split(sizeof(dialogue) - 1, 1);

    assert_int_equal(count_of(expected, "HTTP/1.1 "), 8);
    for (size_t first = 0; first < sizeof(dialogue); first++) {
        char *answers = answers_when_split(first, sizeof(dialogue));

        assert_string_equal(answers, expected);
        test_free(answers);
    }
    for (size_t step = 1; step < 10; step++) {
        char *answers = answers_when_split(0, step);

        assert_string_equal(answers, expected);
        test_free(answers);
    }
    test_free(expected);
}

/* --- What is wrong ------------------------------------------------------- */

TEST(a_bad_request_is_answered_last)
{
    struct client client;
    const char *answers;

    client_open(&client);
    answers = talk(&client, GET("/small") "GET /small\r\n\r\n" GET("/other"));
    assert_int_equal(count_of(answers, "HTTP/1.1 "), 2);
    assert_has(answers, "HTTP/1.1 400 Bad Request\r\n");
    assert_has(answers, "\r\nConnection: close\r\n");
    assert_has_not(answers, "other body");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(an_expectation_nobody_knows_is_417)
{
    struct client client;

    client_open(&client);
    talk(&client, "GET /small HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n");
    assert_answer(client.text, 417, NULL);
    assert_answer(talk(&client, GET("/small")), 200, "small body");
    client_close(&client);
}

TEST(an_expectation_nobody_knows_is_417_before_the_body)
{
    static const char *const lengths[] = {"Content-Length: 5",
                                          "Transfer-Encoding: chunked"};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        char request[200];
        struct client client;

        snprintf(request, sizeof(request),
                 "POST /small HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n%s\r\n\r\n",
                 lengths[i]);
        client_open(&client);
        assert_answer(talk(&client, request), 417, NULL);
        assert_non_null(strstr(client.text, "Connection: close"));
        client_close(&client);
    }
}

/* --- Bodies of requests -------------------------------------------------- */

#define POST_HEAD(fields) "POST /small HTTP/1.1\r\nHost: h\r\n" fields "\r\n"

static void send_filler(const struct client *client, size_t bytes)
{
    static const char filler[1000] = {'x'};

    for (size_t step; bytes > 0; bytes -= step) {
        step = bytes < sizeof(filler) ? bytes : sizeof(filler);
        assert_int_equal(send(client->fd, filler, step, 0), step);
        turn();
    }
}

TEST(a_body_nobody_wants_is_read_and_dropped)
{
    struct client client;

    client_open(&client);
    client_send(&client, POST_HEAD("Content-Length: 65536\r\n"));
    send_filler(&client, 65536);
    assert_answer(talk(&client, ""), 405, NULL);
    assert_answer(talk(&client, GET("/small")), 200, "small body");
    client_close(&client);
}

/* Requests of so many bytes in all, and then one with a body to come. */
static void send_requests_before(const struct client *client, size_t bytes,
                                 const char *post)
{
    static const char small[] = GET("/small");
    char text[INPUT_BYTES + 1];
    size_t at = 0;

    for (; bytes - at > 2000; at += sizeof(small) - 1)
        memcpy(text + at, small, sizeof(small) - 1);
    snprintf(text + at, sizeof(text) - at, GET("/%0*d") "%s",
             (int)(bytes - at - (sizeof(GET("/")) - 1)), 0, post);
    client_send(client, text);
}

TEST(a_body_behind_a_full_buffer_finds_room)
{
    static const char post[] = POST_HEAD("Content-Length: 5\r\n");
    static const size_t bounds[] = {INPUT_SMALL_BYTES, INPUT_BYTES};

    for (size_t i = 0; i < 16; i++) {
        size_t bytes = bounds[i % 2] - i / 2;
        struct client client;

        client_open(&client);
        send_requests_before(&client, bytes - (sizeof(post) - 1), post);
        settle(&client);
        assert_has(client.text, "HTTP/1.1 404 ");
        assert_has_not(client.text, "HTTP/1.1 405 ");
        assert_false(client.has_ended);
        talk(&client, "hello" GET("/other"));
        assert_int_equal(count_of(client.text, "HTTP/1.1 405 "), 1);
        assert_string_equal(client.text + client.len - 10, "other body");
        client_close(&client);
    }
}

/* Each of them alone, and with another one behind it. */
TEST(heads_about_as_long_as_a_small_buffer_are_read)
{
    for (int bytes = INPUT_SMALL_BYTES - 70; bytes < INPUT_SMALL_BYTES + 8;
         bytes++) {
        char text[INPUT_SMALL_BYTES + 64];
        int around = snprintf(text, sizeof(text),
                              "GET /small HTTP/1.1\r\nHost: h\r\nX: \r\n\r\n");
        struct client client;

        snprintf(text, sizeof(text),
                 "GET /small HTTP/1.1\r\nHost: h\r\nX: %0*d\r\n\r\n",
                 bytes - around, 0);
        client_open(&client);
        assert_answer(talk(&client, text), 200, "small body");
        client_send(&client, text);
        talk(&client, GET("/other"));
        assert_string_equal(client.text + client.len - 10, "other body");
        client_close(&client);
        turn();
    }
}

/* Whether it has room in a small buffer, or is given more; in one piece with
 * its head, and behind it. */
TEST(bodies_about_as_long_as_a_small_buffer_are_read)
{
    for (int bytes = INPUT_SMALL_BYTES - 80; bytes < INPUT_SMALL_BYTES + 8;
         bytes++) {
        for (int part = 0; part < 2; part++) {
            char text[2 * INPUT_SMALL_BYTES];
            struct client client;
            int head = snprintf(text, sizeof(text),
                                POST_HEAD("Content-Length: %d\r\n"), bytes);

            memset(text + head, 'b', (size_t)bytes);
            text[head + bytes] = '\0';
            client_open(&client);
            if (part) {
                char rest[INPUT_SMALL_BYTES + 8];

                memcpy(rest, text + head, (size_t)bytes + 1);
                text[head] = '\0';
                client_send(&client, text);
                settle(&client);
                client_send(&client, rest);
            } else {
                client_send(&client, text);
            }
            talk(&client, GET("/other"));
            assert_has(client.text, "HTTP/1.1 405 ");
            assert_string_equal(client.text + client.len - 10, "other body");
            client_close(&client);
            turn();
        }
    }
}

TEST(a_body_too_long_to_drop_ends_the_connection)
{
    static const char *const heads[] = {
        POST_HEAD("Content-Length: 65537\r\n"),
        "GET /small HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\n\r\n"};
    static const unsigned statuses[] = {405, 413};

    for (int i = 0; i < 2; i++) {
        struct client client;

        client_open(&client);
        assert_answer(talk(&client, heads[i]), statuses[i], NULL);
        assert_has(client.text, "\r\nConnection: close\r\n");
        assert_true(client.has_ended);
        client_close(&client);
    }
}

TEST(chunks_are_dropped_up_to_a_limit)
{
    struct client client;

    client_open(&client);
    client_send(&client,
                POST_HEAD("Transfer-Encoding: chunked\r\n") "10000\r\n");
    send_filler(&client, 65536);
    assert_int_equal(talk(&client, "\r\n")[0], '\0');
    assert_answer(talk(&client, "1\r\nx\r\n0\r\n\r\n"), 413, NULL);
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(bad_chunks_are_400_and_the_end)
{
    struct client client;

    client_open(&client);
    talk(&client, POST_HEAD("Transfer-Encoding: chunked\r\n") "zz\r\n");
    assert_answer(client.text, 400, NULL);
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(a_client_that_goes_away_within_a_body_is_closed)
{
    struct client client;

    client_open(&client);
    talk(&client, POST_HEAD("Content-Length: 5\r\n") "ab");
    assert_true(only_h1()->has_body);
    client_leave(&client);
}

TEST(a_body_that_waits_for_leave_gets_it)
{
    struct client client;

    client_open(&client);
    talk(&client, "GET /small HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n"
                  "Expect: 100-continue\r\n\r\n");
    assert_string_equal(client.text, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_answer(talk(&client, "ab"), 200, "small body");
    client_close(&client);
}

TEST(a_body_that_will_be_refused_gets_no_leave)
{
    struct client client;

    client_open(&client);
    talk(&client, POST_HEAD("Content-Length: 2\r\nExpect: 100-continue\r\n"));
    assert_answer(client.text, 405, NULL);
    assert_true(client.has_ended);
    client_close(&client);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
