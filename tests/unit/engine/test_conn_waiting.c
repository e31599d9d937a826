/*
 * Answers that are not there yet, or not whole: the connection waits for them
 * without work, until it is woken or its client goes away.
 */
#include "unit/engine/conn_fixture.h"

/* --- A handler that has what a test gives it ----------------------------- */

static struct bytes given; /* to the next that asks */
static bool is_over;       /* nothing more will be given */
static uint64_t announced; /* bytes of it; 0: unknown */
static bool ends_by_drain; /* when the set drains, it is over too */
static bool is_relayed;    /* what is late is another server's, without end */
static unsigned fills;
static unsigned open_sources;

static enum piece_state fill(struct text_source *text, struct buf *out)
{
    (void)text;
    fills++;
    if (given.len > 0) {
        struct bytes piece = given;

        if (piece.len > text_source_room(out))
            piece.len = text_source_room(out);
        buf_put(out, piece);
        given.data += piece.len;
        given.len -= piece.len;
        return PIECE_MORE;
    }
    return is_over || (ends_by_drain && set.shared.context.is_draining)
               ? PIECE_END
               : PIECE_LATER;
}

static void destroy(struct text_source *text)
{
    open_sources--;
    free(text);
}

static struct source *open_source(void)
{
    struct text_source *text = malloc(sizeof(*text));

    assert_non_null(text);
    text_source_init(text, fill, destroy);
    open_sources++;
    return &text->source;
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct response *response = &exchange->response;

    assert_null(self);
    assert_int_equal(rest.len, 0);
    assert_int_equal(exchange->peer->family, ADDRESS_UNIX);
    response_begin(response, 200, &set.shared.context.defaults);
    if (announced > 0)
        response_add_source_of(response, open_source(), announced);
    else
        response_add_source(response, open_source());
}

/* Answers of which nothing is known before they are over, but what comes before
 * them. */
struct late {
    struct pending pending;
    struct exchange *exchange;
};

static const char *interim; /* fields of a 103 to whoever looks next */
static unsigned looks;
static struct bytes late_body; /* empty: the answer is a 404 */

static void destroy_late(struct pending *pending)
{
    open_sources--;
    free(OWNER_OF(pending, struct late, pending));
}

static struct answer look_late(struct pending *pending)
{
    struct exchange *exchange =
        OWNER_OF(pending, struct late, pending)->exchange;
    struct bytes fields = bytes_of(interim ? interim : "");

    looks++;
    if (interim) {
        interim = NULL;
        return (struct answer){.state = ANSWER_INTERIM,
                               .status = 103,
                               .phrase = BYTES("Early Hints"),
                               .fields = fields};
    }
    if (!is_over)
        return (struct answer){.state = ANSWER_LATER};
    exchange->pending = NULL;
    destroy_late(pending);
    if (is_relayed) {
        response_begin_relayed(&exchange->response, 200, BYTES("OK"));
        response_add_source(&exchange->response, open_source());
    } else if (late_body.len > 0) {
        response_make_short(&exchange->response, 200, BYTES(""), BYTES("a/b"),
                            late_body, &set.shared.context.defaults);
    } else {
        response_make_error(&exchange->response, 404, BYTES(""),
                            &set.shared.context.defaults);
    }
    return (struct answer){.state = ANSWER_READY};
}

static void answer_late(void *self, struct exchange *exchange,
                        struct bytes rest)
{
    struct late *late = malloc(sizeof(*late));

    (void)self;
    (void)rest;
    assert_non_null(late);
    *late = (struct late){.pending = {.look = look_late,
                                      .destroy = destroy_late},
                          .exchange = exchange};
    exchange->pending = &late->pending;
    open_sources++;
}

static int set_up_later(void **state)
{
    given = BYTES("");
    is_over = ends_by_drain = is_relayed = false;
    fills = looks = open_sources = 0;
    interim = NULL;
    late_body.len = 0;
    announced = 0;
    memset(&stats, 0, sizeof(stats));
    if (set_up(state) != 0)
        return -1;
    sites_options.mounts[0] = (struct mount){.prefix = BYTES("/later"),
                                             .handler = {.answer = answer}};
    sites_options.mounts[1] = (struct mount){
        .prefix = BYTES("/late"), .handler = {.answer = answer_late}};
    sites_options.mount_count = 2;
    conn_fixture_fini();
    return conn_fixture_init(SCHED_POLICY_SRPT);
}

static int tear_down_later(void **state)
{
    return tear_down(state) == 0 && open_sources == 0 ? 0 : -1;
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

static void expect_counted(uint64_t requests, uint64_t timed)
{
    static struct distribution service;

    service = (struct distribution){0};
    histogram_add_to(&stats.service, &service);
    assert_int_equal(counter_read(&stats.methods[METHOD_GET]), requests);
    assert_int_equal(counter_read(&stats.incomplete), 0);
    assert_int_equal(service.count, timed);
}

/* --- Waiting ------------------------------------------------------------- */

TEST(what_waits_is_not_asked_again_and_again)
{
    struct client client;
    unsigned before;

    begin(&client);
    before = fills;
    for (int i = 0; i < 20; i++)
        turn();
    assert_int_equal(fills, before);
    assert_true(sched_is_empty(&set.shared.sched));
    client_close(&client);
}

TEST(woken_it_sends_what_there_is)
{
    struct client client;

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

TEST(woken_for_nothing_it_waits_on)
{
    struct client client;
    unsigned before;

    begin(&client);
    before = fills;
    assert_string_equal(give(&client, ""), "");
    assert_int_equal(fills, before + 1);
    assert_int_equal(only_conn()->state, CONN_WAITING);
    client_close(&client);
}

TEST(no_time_is_too_long)
{
    struct client client;

    begin(&client);
    for (int i = 0; i < 100; i++)
        pass(60000);
    assert_string_equal(give(&client, "still"), "00000005\r\nstill\r\n");
    client_close(&client);
}

TEST(a_piece_that_fills_the_socket_is_sent_to_its_end)
{
    static char large[LARGE_BYTES + 1];
    struct client client;

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

TEST(to_http10_the_end_of_the_connection_ends_it)
{
    struct client client;

    client_open(&client);
    talk(&client, "GET /later HTTP/1.0\r\n\r\n");
    assert_string_equal(give(&client, "one"), "one");
    is_over = true;
    assert_string_equal(give(&client, "two"), "two");
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
    is_over = true;
    conn_set_wake(&set);
    assert_true(list_is_empty(&set.shared.waiting));
    for (int i = 0; i < CLIENTS; i++) {
        settle(&clients[i]);
        assert_has(clients[i].text, "\r\n\r\n0\r\n\r\n");
        client_close(&clients[i]);
    }
}

/* --- Answers of which nothing is there yet ------------------------------- */

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
    before = looks;
    for (int i = 0; i < 20; i++)
        turn();
    assert_int_equal(looks, before);
    assert_string_equal(give(&client, ""), ""); /* for nothing */
    assert_int_equal(looks, before + 1);
    is_over = true;
    give(&client, "");
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
    late_body = (struct bytes){body, sizeof(body)};
    is_over = true;
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
    interim = "Link: </a>\r\n";
    assert_string_equal(give(&client, ""),
                        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
    assert_int_equal(only_conn()->state, CONN_WAITING);
    interim = "Link: </b>\r\n";
    is_over = true;
    assert_has(give(&client, ""),
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
    interim = hints;
    give(&client, "");
    assert_int_equal(only_conn()->state, CONN_WAITING);
    is_relayed = is_over = true;
    given = BYTES("body");
    conn_set_wake(&set);
    while (given.len > 0) {
        uint64_t sent;

        assert_true(h1_candidate(&only_conn()->session).bytes < 1000);
        assert_int_equal(h1_send(&only_conn()->session, 10, &sent),
                         SENDER_MORE);
    }
    settle(&client);
    assert_has(client.text, "\r\n\r\n00000004\r\nbody\r\n0\r\n\r\n");
    expect_counted(1, 1); /* which never waited */
    client_close(&client);
}

TEST(requests_behind_an_answer_to_come_wait_for_it)
{
    struct client client;

    client_open(&client);
    talk(&client, GET("/small") GET("/late") GET("/other"));
    assert_int_equal(count_of(client.text, "HTTP/1.1 "), 1);
    assert_has_not(client.text, "other body");
    is_over = true;
    assert_has(give(&client, ""), "HTTP/1.1 404 ");
    assert_has(client.text, "\r\n\r\nother body");
    client_close(&client);
}

TEST(a_client_that_goes_away_takes_an_answer_to_come_along)
{
    struct client client;

    begin_late(&client);
    client_close(&client);
    turn();
    assert_int_equal(set.count, 0);
    assert_int_equal(open_sources, 0);
}

/* --- Clients that do something meanwhile --------------------------------- */

TEST(a_client_that_goes_away_is_noticed)
{
    struct client client;

    begin(&client);
    client_close(&client);
    turn();
    assert_int_equal(set.count, 0);
    assert_int_equal(open_sources, 0);
}

/* What it has not read makes its end a reset. */
TEST(a_client_that_breaks_off_is_noticed)
{
    struct client client;

    begin(&client);
    given = BYTES("unread");
    conn_set_wake(&set);
    turn();
    assert_int_equal(only_conn()->state, CONN_WAITING);
    client_close(&client);
    turn();
    assert_int_equal(set.count, 0);
    assert_int_equal(open_sources, 0);
}

TEST(requests_behind_it_wait_without_work)
{
    struct client client;

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

TEST(requests_that_came_with_it_are_answered_behind_it)
{
    struct client client;

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

TEST(who_is_gone_behind_requests_is_noticed_by_the_next_piece)
{
    struct client client;

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
    assert_int_equal(open_sources, 0);
}

/* --- The end of the server ----------------------------------------------- */

TEST(draining_ends_what_may_end)
{
    struct client client;

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

TEST(draining_waits_for_what_is_not_over)
{
    struct client client;

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

TEST(who_is_not_answered_yet_is_told_that_it_leaves)
{
    struct client client;

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

TEST(closing_all_closes_what_waits)
{
    struct client client;

    begin(&client);
    conn_set_close_all(&set);
    assert_int_equal(open_sources, 0);
    assert_true(list_is_empty(&set.shared.waiting));
    client_receive(&client, RECEIVED_MAX);
    client_close(&client);
}

/* --- What is counted of it ----------------------------------------------- */

TEST(whoever_ends_what_waited_it_is_neither_incomplete_nor_timed)
{
    struct client client;

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

TEST(of_known_length_it_is_timed_or_incomplete)
{
    static struct distribution service;
    struct client client;

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

TEST(what_never_waited_is_timed)
{
    struct client client;

    given = BYTES("one");
    is_over = true;
    client_open(&client);
    assert_has(talk(&client, GET("/later")), "one\r\n0\r\n\r\n");
    expect_counted(1, 1);
    client_close(&client);
}

SUITE(.each_begin = set_up_later, .each_end = tear_down_later);
