/*
 * Answers that are not there yet, or not whole: the connection waits for them
 * without work, until it is woken or its client goes away.
 */
#include "conn_place.h"

#include <stdlib.h>

/* --- A handler that has what a test gives it --------------------------------- */

static struct bytes given; /* to the next that asks */
static bool is_over;       /* nothing more will be given */
static uint64_t announced; /* bytes of it; 0: unknown */
static bool ends_by_drain; /* when the set drains, it is over too */
static unsigned fills;
static unsigned open_streams;

static int fill(struct stream *stream, struct buf *out)
{
    (void)stream;
    fills++;
    if (given.len > 0) {
        struct bytes piece = given;

        if (piece.len > RESPONSE_STREAM_BYTES)
            piece.len = RESPONSE_STREAM_BYTES;
        buf_put(out, piece);
        given.data += piece.len;
        given.len -= piece.len;
        return STREAM_MORE;
    }
    return is_over || (ends_by_drain && set.shared.context.is_draining)
               ? STREAM_END
               : STREAM_LATER;
}

static void destroy(struct stream *stream)
{
    open_streams--;
    free(stream);
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct response *response = &exchange->response;
    struct stream *stream = malloc(sizeof(*stream));

    assert_null(self);
    assert_non_null(stream);
    assert_int_equal(rest.len, 0);
    assert_int_equal(exchange->peer->family, ADDRESS_UNIX);
    *stream = (struct stream){.fill = fill, .destroy = destroy};
    open_streams++;
    if (announced > 0) {
        response->status = 200;
        head_begin(&response->head, 200, &set.shared.context.style);
        response_add_stream_of(response, stream, announced);
        return;
    }
    if (response->is_http10)
        response->persists = false;
    response->is_chunked = !response->is_http10;
    response->status = 200;
    head_begin(&response->head, 200, &set.shared.context.style);
    response_add_head(response);
    response->stream = stream;
}

/* An answer of which nothing is known before it is over. */
static struct response *late;

static int fill_late(struct stream *stream, struct buf *out)
{
    (void)out;
    if (!is_over)
        return STREAM_LATER;
    late->stream = NULL;
    destroy(stream);
    response_make_error(late, 404, BYTES(""), &set.shared.context.style);
    return STREAM_ANSWERED;
}

static void answer_late(void *self, struct exchange *exchange,
                        struct bytes rest)
{
    (void)self;
    (void)rest;
    late = &exchange->response;
    late->stream = malloc(sizeof(*late->stream));
    assert_non_null(late->stream);
    *late->stream = (struct stream){.fill = fill_late, .destroy = destroy};
    open_streams++;
}

static int set_up_later(void **state)
{
    given = BYTES("");
    is_over = ends_by_drain = false;
    fills = open_streams = 0;
    announced = 0;
    memset(&stats, 0, sizeof(stats));
    if (set_up(state) != 0)
        return -1;
    sites_options.mounts[0] = (struct mount){.prefix = BYTES("/later"),
                                             .handler = {.answer = answer}};
    sites_options.mounts[1] = (struct mount){
        .prefix = BYTES("/late"), .handler = {.answer = answer_late}};
    sites_options.mount_count = 2;
    conn_place_fini();
    return conn_place_init(SCHED_POLICY_SRPT);
}

static int tear_down_later(void **state)
{
    return tear_down(state) == 0 && open_streams == 0 ? 0 : -1;
}

/* Gives a text and wakes; what has come then. */
static const char *give(struct client *client, const char *text)
{
    given = bytes_of(text);
    client->len = 0;
    client->text[0] = '\0';
    conn_set_wake(&set);
    settle(client);
    return client->text;
}

/* Asks, and takes the head. */
static void begin(struct client *client)
{
    client_open(client);
    assert_has(talk(client, GET("/later")), "HTTP/1.1 200 OK\r\n");
    assert_int_equal(only_conn()->state, CONN_WAITING);
}

/* --- Waiting ------------------------------------------------------------------ */

static void what_waits_is_not_asked_again_and_again(void **state)
{
    struct client client;
    unsigned before;

    (void)state;
    begin(&client);
    before = fills;
    for (int i = 0; i < 20; i++)
        turn();
    assert_int_equal(fills, before);
    assert_true(sched_is_empty(&set.shared.sched));
    client_close(&client);
}

static void woken_it_sends_what_there_is(void **state)
{
    struct client client;

    (void)state;
    begin(&client);
    assert_string_equal(give(&client, "one"), "00000003\r\none\r\n");
    assert_string_equal(give(&client, "two"), "00000003\r\ntwo\r\n");
    assert_int_equal(only_conn()->state, CONN_WAITING);
    is_over = true;
    assert_string_equal(give(&client, ""), "0\r\n\r\n");
    assert_true(conn_is_idle(only_conn()));
    assert_answer(talk(&client, GET("/small")), 200, "small body");
    client_close(&client);
}

static void woken_for_nothing_it_waits_on(void **state)
{
    struct client client;
    unsigned before;

    (void)state;
    begin(&client);
    before = fills;
    assert_string_equal(give(&client, ""), "");
    assert_int_equal(fills, before + 1);
    assert_int_equal(only_conn()->state, CONN_WAITING);
    client_close(&client);
}

static void no_time_is_too_long(void **state)
{
    struct client client;

    (void)state;
    begin(&client);
    for (int i = 0; i < 100; i++)
        pass(60000);
    assert_string_equal(give(&client, "still"), "00000005\r\nstill\r\n");
    client_close(&client);
}

static void a_piece_that_fills_the_socket_is_sent_to_its_end(void **state)
{
    static char large[LARGE_BYTES + 1];
    struct client client;

    (void)state;
    memcpy(large, large_bytes, LARGE_BYTES);
    begin(&client);
    given = bytes_of(large);
    conn_set_wake(&set);
    for (int i = 0; i < 100 && only_conn()->state != CONN_BLOCKED; i++)
        turn();
    assert_int_equal(only_conn()->state, CONN_BLOCKED);
    client.len = 0;
    settle(&client);
    assert_true(client.len > LARGE_BYTES);
    assert_int_equal(only_conn()->state, CONN_WAITING);
    assert_string_equal(give(&client, "x"), "00000001\r\nx\r\n");
    client_close(&client);
}

static void to_http10_the_end_of_the_connection_ends_it(void **state)
{
    struct client client;

    (void)state;
    client_open(&client);
    talk(&client, "GET /later HTTP/1.0\r\n\r\n");
    assert_string_equal(give(&client, "one"), "one");
    is_over = true;
    assert_string_equal(give(&client, "two"), "two");
    assert_true(client.has_ended);
    client_close(&client);
}

static void all_that_wait_are_woken_together(void **state)
{
    enum { CLIENTS = 100 };
    static struct client clients[CLIENTS];

    (void)state;
    for (int i = 0; i < CLIENTS; i++) {
        client_open(&clients[i]);
        talk(&clients[i], GET("/later"));
    }
    is_over = true;
    conn_set_wake(&set);
    assert_true(list_is_empty(&set.shared.waiting));
    for (int i = 0; i < CLIENTS; i++) {
        settle(&clients[i]);
        assert_has(clients[i].text, "\r\n\r\n0\r\n\r\n");
        client_close(&clients[i]);
    }
}

/* --- Clients that do something meanwhile ---------------------------------------- */

static void a_client_that_goes_away_is_noticed(void **state)
{
    struct client client;

    (void)state;
    begin(&client);
    client_close(&client);
    turn();
    assert_int_equal(set.count, 0);
    assert_int_equal(open_streams, 0);
}

/* What it has not read makes its end a reset. */
static void a_client_that_breaks_off_is_noticed(void **state)
{
    struct client client;

    (void)state;
    begin(&client);
    given = BYTES("unread");
    conn_set_wake(&set);
    turn();
    assert_int_equal(only_conn()->state, CONN_WAITING);
    client_close(&client);
    turn();
    assert_int_equal(set.count, 0);
    assert_int_equal(open_streams, 0);
}

static void requests_behind_it_wait_without_work(void **state)
{
    struct client client;

    (void)state;
    begin(&client);
    client_send(&client, GET("/small"));
    for (int i = 0; i < 4; i++)
        turn();
    assert_int_equal(only_conn()->state, CONN_WAITING);
    assert_false(ev_is_active(&only_conn()->io)); /* it would fire each turn */
    assert_string_equal(give(&client, "one"), "00000003\r\none\r\n");
    is_over = true;
    assert_has(give(&client, ""), "0\r\n\r\nHTTP/1.1 200 OK\r\n");
    assert_has(client.text, "\r\n\r\nsmall body");
    assert_answer(talk(&client, GET("/other")), 200, "other body");
    client_close(&client);
}

static void requests_that_came_with_it_are_answered_behind_it(void **state)
{
    struct client client;

    (void)state;
    client_open(&client);
    talk(&client, GET("/small") GET("/later") GET("/other"));
    assert_int_equal(count_of(client.text, "HTTP/1.1 200 OK"), 2);
    assert_has_not(client.text, "other body");
    is_over = true;
    assert_has(give(&client, "now"),
               "00000003\r\nnow\r\n0\r\n\r\nHTTP/1.1 200");
    assert_has(client.text, "\r\n\r\nother body");
    client_close(&client);
}

static void who_is_gone_behind_requests_is_noticed_by_the_next_piece(void **s)
{
    struct client client;

    (void)s;
    begin(&client);
    client_send(&client, GET("/small"));
    turn();
    client_close(&client);
    for (int i = 0; i < 2 && set.count > 0; i++) {
        given = BYTES("piece");
        conn_set_wake(&set);
        turn();
    }
    assert_int_equal(set.count, 0);
    assert_int_equal(open_streams, 0);
}

/* --- The end of the server -------------------------------------------------------- */

static void draining_ends_what_may_end(void **state)
{
    struct client client;

    (void)state;
    ends_by_drain = true;
    begin(&client);
    client.len = 0;
    conn_set_drain(&set);
    settle(&client);
    assert_string_equal(client.text, "0\r\n\r\n");
    assert_true(client.has_ended);
    client_close(&client);
    turn();
    assert_int_equal(set.count, 0);
}

static void draining_waits_for_what_is_not_over(void **state)
{
    struct client client;

    (void)state;
    begin(&client);
    conn_set_drain(&set);
    turn();
    assert_int_equal(only_conn()->state, CONN_WAITING);
    assert_string_equal(give(&client, "one"), "00000003\r\none\r\n");
    is_over = true;
    assert_string_equal(give(&client, "two"), "00000003\r\ntwo\r\n0\r\n\r\n");
    assert_true(client.has_ended);
    client_close(&client);
}

static void who_is_not_answered_yet_is_told_that_it_leaves(void **state)
{
    struct client client;

    (void)state;
    client_open(&client);
    talk(&client, GET("/late"));
    assert_int_equal(only_conn()->state, CONN_WAITING);
    conn_set_leave(&set);
    is_over = true;
    assert_has(give(&client, ""), "HTTP/1.1 404 ");
    assert_has(client.text, "\r\nConnection: close\r\n");
    assert_true(client.has_ended);
    client_close(&client);
}

static void closing_all_closes_what_waits(void **state)
{
    struct client client;

    (void)state;
    begin(&client);
    conn_set_close_all(&set);
    assert_int_equal(open_streams, 0);
    assert_true(list_is_empty(&set.shared.waiting));
    client_receive(&client, RECEIVED_MAX);
    client_close(&client);
}

/* --- What is counted of it -------------------------------------------------------- */

static void expect_counted(uint64_t requests, uint64_t timed)
{
    static struct distribution service;

    service = (struct distribution){0};
    histogram_add_to(&stats.service, &service);
    assert_int_equal(counter_read(&stats.methods[METHOD_GET]), requests);
    assert_int_equal(counter_read(&stats.incomplete), 0);
    assert_int_equal(service.count, timed);
}

static void whoever_ends_what_waited_it_is_neither_incomplete_nor_timed(
    void **state)
{
    struct client client;

    (void)state;
    begin(&client);
    client_close(&client); /* by an orderly end */
    turn();
    assert_int_equal(set.count, 0);
    expect_counted(1, 0);
    begin(&client);
    given = BYTES("unread");
    conn_set_wake(&set);
    turn();
    client_close(&client); /* by a reset */
    turn();
    assert_int_equal(set.count, 0);
    expect_counted(2, 0);
    ends_by_drain = true;
    begin(&client);
    conn_set_drain(&set);
    settle(&client);
    assert_true(client.has_ended);
    client_close(&client);
    turn();
    expect_counted(3, 0);
}

static void of_known_length_it_is_timed_or_incomplete(void **state)
{
    static struct distribution service;
    struct client client;

    (void)state;
    announced = 6;
    begin(&client);
    assert_string_equal(give(&client, "one"), "one");
    is_over = true;
    assert_string_equal(give(&client, "two"), "two");
    expect_counted(1, 1);
    is_over = false;
    assert_has(talk(&client, GET("/later")), "Content-Length: 6\r\n");
    assert_string_equal(give(&client, "one"), "one");
    client_close(&client);
    turn();
    histogram_add_to(&stats.service, &service);
    assert_int_equal(service.count, 1);
    assert_int_equal(counter_read(&stats.incomplete), 1);
}

static void what_never_waited_is_timed(void **state)
{
    struct client client;

    (void)state;
    given = BYTES("one");
    is_over = true;
    client_open(&client);
    assert_has(talk(&client, GET("/later")), "one\r\n0\r\n\r\n");
    expect_counted(1, 1);
    client_close(&client);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up_later, tear_down_later)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_waits_is_not_asked_again_and_again),
        TEST(woken_it_sends_what_there_is),
        TEST(woken_for_nothing_it_waits_on),
        TEST(no_time_is_too_long),
        TEST(a_piece_that_fills_the_socket_is_sent_to_its_end),
        TEST(to_http10_the_end_of_the_connection_ends_it),
        TEST(all_that_wait_are_woken_together),
        TEST(a_client_that_goes_away_is_noticed),
        TEST(a_client_that_breaks_off_is_noticed),
        TEST(requests_behind_it_wait_without_work),
        TEST(requests_that_came_with_it_are_answered_behind_it),
        TEST(who_is_gone_behind_requests_is_noticed_by_the_next_piece),
        TEST(draining_ends_what_may_end),
        TEST(draining_waits_for_what_is_not_over),
        TEST(who_is_not_answered_yet_is_told_that_it_leaves),
        TEST(closing_all_closes_what_waits),
        TEST(whoever_ends_what_waited_it_is_neither_incomplete_nor_timed),
        TEST(of_known_length_it_is_timed_or_incomplete),
        TEST(what_never_waited_is_timed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
