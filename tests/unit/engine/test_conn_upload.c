/*
 * Bodies that go on coming beside their answer, and tunnels, which are the same
 * without an end.
 */
#include "unit/engine/conn_fixture.h"

/* --- A handler that a test steers ---------------------------------------- */

static struct sink sink;
static struct exchange *asked; /* the last */
static char taken[1 << 17];
static size_t taken_len;
static bool has_ended;
static size_t refuses_from; /* bytes taken; 0: never */
static size_t full_from;    /* the same */
static size_t takes;
static size_t longest;     /* of what was taken at once */
static size_t at_once;     /* what the sink says that it takes so */
static struct bytes given; /* to who asks next */
static bool is_over;
static bool makes_tunnel;
static bool has_no_head;                  /* yet, and never will */
static unsigned open_sinks, open_sources; /* or what is pending of them */
static struct source source;
static struct pending pending;

static bool take(struct sink *self, struct bytes data)
{
    assert_ptr_equal(self, &sink);
    assert_true(taken_len + data.len < sizeof(taken));
    memcpy(taken + taken_len, data.data, data.len);
    taken_len += data.len;
    taken[taken_len] = '\0';
    takes++;
    longest = data.len > longest ? data.len : longest;
    self->takes_at_once = at_once;
    self->is_full = full_from > 0 && taken_len >= full_from;
    return refuses_from == 0 || taken_len < refuses_from;
}

static void end(struct sink *self)
{
    assert_false(has_ended);
    assert_ptr_equal(self, &sink);
    has_ended = true;
}

static void destroy_sink(struct sink *self)
{
    (void)self;
    open_sinks--;
}

static void make_tunnel(struct response *response)
{
    response_begin_relayed(response, 101, BYTES("Switching Protocols"));
    response_add_bare_head(response);
    response->source = &source;
    asked->is_tunnel = true;
    makes_tunnel = false;
}

static struct answer look(struct pending *self)
{
    struct sink *const to = &sink;

    assert_ptr_equal(self, &pending);
    if (!makes_tunnel)
        return (struct answer){.state = ANSWER_LATER};
    asked->pending = NULL;
    asked->sink = to;
    to->is_full = false;
    open_sinks++;
    make_tunnel(&asked->response);
    return (struct answer){.state = ANSWER_READY};
}

static void destroy_pending(struct pending *self)
{
    assert_ptr_equal(self, &pending);
    open_sources--;
}

static struct piece next(struct source *self, uint64_t at_most)
{
    struct bytes piece = given;

    assert_ptr_equal(self, &source);
    if (piece.len > at_most)
        piece.len = (size_t)at_most;
    given = bytes_between(piece.data + piece.len, given.data + given.len);
    return (struct piece){.state = piece.len > 0 ? PIECE_MORE
                                   : is_over     ? PIECE_END
                                                 : PIECE_LATER,
                          .part = part_of_memory(piece)};
}

static void destroy_source(struct source *self)
{
    assert_ptr_equal(self, &source);
    open_sources--;
}

static void begin(void *self, struct exchange *exchange, struct bytes rest)
{
    (void)self, (void)rest;
    sink = (struct sink){.take = take, .end = end, .destroy = destroy_sink};
    open_sinks++;
    exchange->sink = &sink;
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct response *response = &exchange->response;

    (void)self, (void)rest;
    asked = exchange;
    source = (struct source){.next = next, .destroy = destroy_source};
    pending = (struct pending){.look = look, .destroy = destroy_pending};
    open_sources++;
    if (makes_tunnel || has_no_head) {
        exchange->pending = &pending;
        return;
    }
    response_begin(response, 200, &set.shared.context.defaults);
    response_add_source(response, &source);
}

static int set_up_upload(void **state)
{
    taken_len = refuses_from = full_from = longest = at_once = 0;
    given = BYTES("");
    is_over = has_ended = makes_tunnel = has_no_head = false;
    open_sinks = open_sources = 0;
    memset(&stats, 0, sizeof(stats));
    if (set_up(state) != 0)
        return -1;
    sites_options.mounts[0] = (struct mount){
        .prefix = BYTES("/up"), .handler = {.answer = answer, .begin = begin}};
    sites_options.mount_count = 1;
    conn_fixture_fini();
    return conn_fixture_init(SCHED_POLICY_SRPT);
}

static int tear_down_upload(void **state)
{
    return tear_down(state) == 0 && open_sources == 0 && open_sinks == 0 ? 0
                                                                         : -1;
}

#define HEAD(fields) "POST /up HTTP/1.1\r\nHost: h\r\n" fields "\r\n"

static const char *give(struct client *client, const char *text)
{
    given = bytes_of(text);
    client->len = 0;
    client->text[0] = '\0';
    exchange_wake(asked);
    settle(client);
    return client->text;
}

/* --- Uploads ------------------------------------------------------------- */

TEST(an_answer_goes_out_while_its_body_still_comes)
{
    struct client client;

    client_open(&client);
    assert_has(talk(&client, HEAD("Content-Length: 6\r\n") "abc"),
               "HTTP/1.1 200 OK\r\n");
    assert_string_equal(taken, "abc");
    assert_string_equal(give(&client, "first"), "00000005\r\nfirst\r\n");
    assert_false(has_ended);
    talk(&client, "def");
    assert_string_equal(taken, "abcdef");
    assert_true(has_ended);
    is_over = true;
    assert_string_equal(give(&client, ""), "0\r\n\r\n");
    assert_answer(talk(&client, GET("/small")), 200, "small body");
    client_close(&client);
}

TEST(a_chunked_body_and_what_follows_it_are_told_apart)
{
    struct client client;

    client_open(&client);
    talk(&client, HEAD("Transfer-Encoding: chunked\r\n") "3\r\nabc\r\n");
    talk(&client, "2\r\nde\r\n0\r\n\r\n" GET("/small"));
    assert_string_equal(taken, "abcde");
    assert_true(has_ended);
    is_over = true;
    assert_has(give(&client, ""), "0\r\n\r\nHTTP/1.1 200 OK\r\n");
    assert_has(client.text, "small body");
    client_close(&client);
}

/* Of one byte each: what takes them has no more to do than for one. */
TEST(short_chunks_are_taken_together)
{
    enum { CHUNKS = 500 };
    static char text[6 * CHUNKS + 1];
    struct client client;

    for (size_t i = 0; i < CHUNKS; i++)
        snprintf(text + 6 * i, 7, "1\r\n%c\r\n", (int)('a' + i % 26));
    client_open(&client);
    talk(&client, HEAD("Transfer-Encoding: chunked\r\n"));
    takes = 0;
    talk(&client, text);
    assert_int_equal(taken_len, CHUNKS);
    for (size_t i = 0; i < CHUNKS; i++)
        assert_int_equal(taken[i], 'a' + i % 26);
    assert_int_equal(takes, 1);
    talk(&client, "2\r\nyz\r\n0\r\n\r\n");
    assert_string_equal(taken + CHUNKS, "yz");
    assert_true(has_ended);
    client_close(&client);
}

TEST(a_full_sink_stops_reading_until_it_has_room)
{
    struct client client;
    char text[1000];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    full_from = 500;
    client_open(&client);
    talk(&client, HEAD("Content-Length: 1998\r\n"));
    talk(&client, text);
    assert_int_equal(taken_len, 999);
    talk(&client, text);
    assert_int_equal(taken_len, 999);
    pass(60000); /* that is not the client's fault */
    assert_int_equal(only_conn()->state, CONN_WAITING);
    sink.is_full = false;
    full_from = 0;
    exchange_wake(asked);
    settle(&client);
    assert_int_equal(taken_len, 1998);
    assert_true(has_ended);
    client_close(&client);
}

/* Text of a body, and the request that follows it at once. */
static const char *long_body_and_more(size_t len, const char *more)
{
    static char text[1 << 17];

    assert_true(len + strlen(more) < sizeof(text));
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + i % 23);
    memcpy(text + len, more, strlen(more) + 1);
    return text;
}

static void check_long_upload(size_t len)
{
    const char *text = long_body_and_more(len, GET("/small"));
    struct client client;
    char head[100];

    snprintf(head, sizeof(head), HEAD("Content-Length: %zu\r\n"), len);
    client_open(&client);
    talk(&client, head);
    talk(&client, text);
    assert_int_equal(taken_len, len);
    assert_memory_equal(taken, text, len);
    assert_true(has_ended);
    is_over = true;
    assert_has(give(&client, ""), "0\r\n\r\nHTTP/1.1 200 OK\r\n");
    assert_has(client.text, "small body");
    client_close(&client);
}

TEST(much_of_a_body_is_read_at_once_where_its_sink_takes_that)
{
    at_once = 40000;
    check_long_upload(70000);
    assert_true(longest > INPUT_BYTES && longest <= at_once);
}

TEST(no_more_of_a_body_is_read_at_once_than_its_sink_says)
{
    at_once = INPUT_BYTES / 4;
    check_long_upload(70000);
    assert_true(longest <= INPUT_BYTES);
}

TEST(of_any_length_a_body_ends_where_it_ends)
{
    at_once = SIZE_MAX;
    for (size_t len = INPUT_BYTES - 3; len < INPUT_BYTES + 3; len++) {
        taken_len = 0;
        is_over = has_ended = false;
        check_long_upload(len);
    }
}

/* Though its answer waits for a turn through many events of its socket. */
TEST(a_full_sink_stops_reading_while_its_answer_waits_for_a_turn)
{
    struct client client;

    full_from = 1;
    client_open(&client);
    talk(&client, HEAD("Content-Length: 6\r\n") "abc");
    given = (struct bytes){large_bytes, LARGE_BYTES};
    exchange_wake(asked);
    turn();
    assert_int_equal(only_conn()->state, CONN_BLOCKED);
    client_receive(&client, RECEIVED_MAX);
    for (int i = 0; i < 50; i++)
        ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(only_conn()->state, CONN_QUEUED);
    client_send(&client, "def");
    for (int i = 0; i < 50; i++)
        ev_run(loop, EVRUN_NOWAIT);
    assert_string_equal(taken, "abc");
    full_from = 0;
    sink.is_full = false;
    exchange_wake(asked);
    settle(&client);
    assert_string_equal(taken, "abcdef");
    assert_true(has_ended);
    client_close(&client);
}

TEST(who_stalls_in_a_body_gets_408_instead_of_an_answer)
{
    struct client client;

    has_no_head = true;
    client_open(&client);
    talk(&client, HEAD("Content-Length: 6\r\n") "abc");
    pass(5000);
    settle(&client);
    assert_answer(client.text, 408, NULL);
    assert_true(client.has_ended);
    assert_int_equal(open_sources, 0);
    client_close(&client);
}

TEST(bad_framing_is_400_while_nothing_was_answered)
{
    struct client client;

    has_no_head = true;
    client_open(&client);
    talk(&client, HEAD("Transfer-Encoding: chunked\r\n") "3\r\nabc\r\n");
    assert_answer(talk(&client, "zz\r\n"), 400, NULL);
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(what_is_longer_than_a_body_may_be_is_413)
{
    struct client client;

    has_no_head = true;
    client_open(&client);
    talk(&client, HEAD("Transfer-Encoding: chunked\r\n") "3\r\nabc\r\n");
    asked->body_max = 5;
    talk(&client, "2\r\nde\r\n");
    assert_int_equal(taken_len, 5);
    assert_answer(talk(&client, "1\r\nf\r\n"), 413, NULL);
    assert_true(client.has_ended);
    assert_int_equal(taken_len, 5);
    client_close(&client);
}

TEST(who_stalls_beside_an_answer_gets_no_more_of_it)
{
    struct client client;

    client_open(&client);
    talk(&client, HEAD("Content-Length: 6\r\n") "abc");
    pass(5000); /* the head has gone out: it can only be broken off */
    settle(&client);
    assert_true(set.count == 0);
    assert_int_equal(open_sources, 0);
    client_close(&client);
}

TEST(bad_framing_breaks_an_answer_off)
{
    struct client client;

    client_open(&client);
    talk(&client, HEAD("Transfer-Encoding: chunked\r\n") "3\r\nabc\r\n");
    talk(&client, "zz\r\n");
    assert_int_equal(set.count, 0);
    client_close(&client);
}

TEST(a_client_that_leaves_in_its_body_takes_the_answer_along)
{
    struct client client;

    client_open(&client);
    talk(&client, HEAD("Content-Length: 6\r\n") "abc");
    client_close(&client);
    turn();
    turn();
    assert_int_equal(set.count, 0);
    assert_int_equal(open_sources, 0);
    assert_int_equal(open_sinks, 0);
}

TEST(a_refused_rest_ends_the_connection_behind_the_answer)
{
    struct client client;

    refuses_from = 4;
    client_open(&client);
    talk(&client, HEAD("Content-Length: 100\r\n") "abc");
    talk(&client, "def");
    assert_int_equal(taken_len, 6);
    talk(&client, "ghi");
    assert_int_equal(taken_len, 6);
    is_over = true;
    assert_string_equal(give(&client, "all"), "00000003\r\nall\r\n0\r\n\r\n");
    assert_true(client.has_ended);
    assert_false(has_ended);
    client_close(&client);
}

TEST(an_answer_that_ends_first_ends_the_connection)
{
    struct client client;

    client_open(&client);
    talk(&client, HEAD("Content-Length: 100\r\n") "abc");
    is_over = true;
    assert_string_equal(give(&client, "no"), "00000002\r\nno\r\n0\r\n\r\n");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(no_100_is_sent_but_by_who_answers)
{
    struct client client;

    client_open(&client);
    assert_has_not(talk(&client, HEAD("Content-Length: 3\r\n"
                                      "Expect: 100-continue\r\n")),
                   "100 Continue");
    client_close(&client);
}

/* --- Tunnels ------------------------------------------------------------- */

static void open_tunnel(struct client *client)
{
    makes_tunnel = true;
    client_open(client);
    assert_has(talk(client, GET("/up") "early"),
               "HTTP/1.1 101 Switching Protocols\r\n");
    assert_string_equal(taken, "early");
}

TEST(a_tunnel_passes_both_ways_without_framing)
{
    struct client client;

    open_tunnel(&client);
    talk(&client, GET("/small"));
    assert_has(taken, "earlyGET /small HTTP/1.1");
    assert_string_equal(give(&client, "back"), "back");
    pass(600000); /* for how long is not the connection's to say */
    assert_string_equal(give(&client, "again"), "again");
    is_over = true;
    give(&client, "");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(a_tunnel_outlives_the_end_of_what_its_client_sends)
{
    struct client client;

    open_tunnel(&client);
    shutdown(client.fd, SHUT_WR);
    settle(&client);
    assert_true(has_ended);
    assert_string_equal(give(&client, "still"), "still");
    assert_int_equal(only_conn()->state, CONN_WAITING);
    is_over = true;
    give(&client, "");
    assert_true(client.has_ended);
    client_close(&client);
}

/* Nothing of it is read any more. */
TEST(who_has_said_all_and_goes_is_noticed_within_a_second)
{
    struct client client;

    open_tunnel(&client);
    shutdown(client.fd, SHUT_WR);
    settle(&client);
    pass(60000);
    assert_int_equal(only_conn()->state, CONN_WAITING);
    client_close(&client);
    pass(1000 + DEADLINE_TICK_MS);
    assert_int_equal(set.count, 0);
}

TEST(who_breaks_off_before_a_full_sink_is_noticed_too)
{
    struct client client;

    full_from = 1;
    open_tunnel(&client);
    client_send(&client, "last words");
    given = BYTES("unread, so that the end is a reset");
    exchange_wake(asked);
    turn();
    pass(60000);
    assert_int_equal(only_conn()->state, CONN_WAITING);
    client_close(&client);
    pass(1000 + DEADLINE_TICK_MS);
    assert_int_equal(set.count, 0);
}

/* What it has said last is read when there is room. */
TEST(who_closes_before_a_full_sink_is_heard_to_the_end)
{
    struct client client;

    full_from = 1;
    open_tunnel(&client);
    client_send(&client, ", last words");
    client_close(&client);
    pass(60000);
    full_from = 0;
    sink.is_full = false;
    exchange_wake(asked);
    for (int i = 0; i < 3; i++)
        turn();
    assert_string_equal(taken, "early, last words");
    assert_true(has_ended);
    pass(1000 + DEADLINE_TICK_MS);
    assert_int_equal(set.count, 0);
}

SUITE(.each_begin = set_up_upload, .each_end = tear_down_upload);
