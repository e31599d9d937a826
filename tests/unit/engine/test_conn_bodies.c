
#include "unit/engine/conn_fixture.h"

/* Bodies that somebody wants: a handler that gives back what it was sent. */

enum { KEPT_MAX = 2 << 20 };

struct kept {
    struct sink sink; /* first */
    struct exchange *exchange;
    size_t len;
    size_t most;
    char data[KEPT_MAX];
};

static unsigned open_sinks;
static unsigned begun;
static size_t most; /* bytes that are taken */

static bool take(struct sink *sink, struct bytes data)
{
    struct kept *kept = (struct kept *)sink;

    if (kept->len + data.len > kept->most) {
        response_make_error(&kept->exchange->response, 507, BYTES(""),
                            &set.shared.context.defaults);
        return false;
    }
    memcpy(kept->data + kept->len, data.data, data.len);
    kept->len += data.len;
    return true;
}

static void destroy(struct sink *sink)
{
    open_sinks--;
    free(sink);
}

static void begin(void *self, struct exchange *exchange, struct bytes rest)
{
    struct kept *kept;

    (void)self;
    begun++;
    assert_memory_equal(rest.data, "/", 1);
    if (bytes_eq(rest, BYTES("/no"))) {
        response_make_error(&exchange->response, 403, BYTES(""),
                            &set.shared.context.defaults);
        return;
    }
    if (bytes_eq(rest, BYTES("/away")))
        return;
    kept = malloc(sizeof(*kept));
    assert_non_null(kept);
    kept->sink = (struct sink){.take = take, .destroy = destroy};
    kept->exchange = exchange;
    kept->len = 0;
    kept->most = most;
    exchange->sink = &kept->sink;
    open_sinks++;
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct response *response = &exchange->response;
    const struct kept *kept = (struct kept *)exchange->sink;

    (void)self;
    (void)rest;
    response_begin(response, 200, &set.shared.context.defaults);
    head_number(&response->head, BYTES("Content-Length"), kept ? kept->len : 0);
    response_add_head(response);
    if (kept && kept->len > 0)
        response_add_memory(response, (struct bytes){kept->data, kept->len});
}

static int set_up_bodies(void **state)
{
    open_sinks = begun = 0;
    most = KEPT_MAX;
    if (set_up(state) != 0)
        return -1;
    set.shared.context.handler = (struct handler){.answer = answer,
                                                  .begin = begin};
    return 0;
}

/* However it ended, nothing is left over. */
static int tear_down_bodies(void **state)
{
    return tear_down(state) == 0 && open_sinks == 0 ? 0 : -1;
}

#define PUT_HEAD "PUT /x HTTP/1.1\r\nHost: h\r\n"

TEST(a_body_comes_in_any_pieces)
{
    static const char *const requests[] = {
        PUT_HEAD "Content-Length: 5\r\n\r\nhello",
        PUT_HEAD "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n"
                 "0\r\nTrailer: t\r\n\r\n"};

    for (size_t i = 0; i < 2; i++) {
        for (size_t at = 1; at <= strlen(requests[i]); at++) {
            struct client client;
            char first[300];

            snprintf(first, sizeof(first), "%.*s", (int)at, requests[i]);
            client_open_with(&client, first);
            turn();
            if (requests[i][at])
                client_send(&client, requests[i] + at);
            settle(&client);
            assert_answer(client.text, 200, "hello");
            client_close(&client);
            turn();
        }
    }
    assert_int_equal(open_sinks, 0);
}

TEST(what_follows_a_body_is_the_next_request)
{
    struct client client;

    client_open_with(&client, PUT_HEAD "Content-Length: 2\r\n\r\nab" PUT_HEAD
                                       "Content-Length: 2\r\n\r\ncd" PUT_HEAD
                                       "Content-Length: 0\r\n\r\n");
    settle(&client);
    assert_int_equal(count_of(client.text, "HTTP/1.1 200 "), 3);
    assert_has(client.text, "\r\n\r\nabHTTP/1.1");
    assert_has(client.text, "\r\n\r\ncdHTTP/1.1");
    assert_int_equal(begun, 2); /* an empty body is none */
    client_close(&client);
}

TEST(a_body_may_be_larger_than_any_buffer)
{
    enum { BYTES_SENT = 1 << 20 };
    struct client client;
    size_t at = 0;

    client_open_with(&client, PUT_HEAD "Content-Length: 1048576\r\n\r\n");
    while (at < BYTES_SENT) {
        ssize_t n = send(client.fd, large_bytes + at, BYTES_SENT - at,
                         MSG_NOSIGNAL);

        if (n > 0)
            at += (size_t)n;
        turn();
    }
    for (int i = 0; i < 100; i++)
        turn();
    settle(&client);
    assert_has(client.text, "HTTP/1.1 200 ");
    assert_memory_equal(client.text + client.len - BYTES_SENT, large_bytes,
                        BYTES_SENT);
    client_close(&client);
}

TEST(what_is_refused_before_is_not_read)
{
    struct client client;

    client_open_with(&client, "PUT /no HTTP/1.1\r\nHost: h\r\nContent-Length: "
                              "9\r\nExpect: 100-continue\r\n\r\n");
    settle(&client);
    assert_int_equal(count_of(client.text, "HTTP/1.1 100"), 0);
    assert_answer(client.text, 403, NULL);
    assert_has(client.text, "\r\nConnection: close\r\n");
    assert_true(client.has_ended);
    client_close(&client);
}

#define NO_HEAD "PUT /no HTTP/1.1\r\nHost: h\r\n"

TEST(a_short_body_that_was_refused_goes_before_the_answer)
{
    static const char both[] = NO_HEAD "Content-Length: 4\r\n\r\nGET " PUT_HEAD
                                       "Content-Length: 2\r\n\r\nab";

    for (size_t at = 1; at < sizeof(both); at++) {
        struct client client;
        char first[200];

        snprintf(first, sizeof(first), "%.*s", (int)at, both);
        client_open_with(&client, first);
        turn();
        if (at < strlen(both))
            client_send(&client, both + at);
        settle(&client);
        assert_int_equal(count_of(client.text, "HTTP/1.1 "), 2);
        assert_int_equal(strncmp(client.text, "HTTP/1.1 403 ", 13), 0);
        assert_has(client.text, "\r\n\r\nab");
        assert_int_equal(count_of(client.text, "Connection: close"), 0);
        assert_false(client.has_ended);
        client_close(&client);
        turn();
    }
}

TEST(a_refused_body_of_64_kib_is_short_and_a_longer_one_is_not)
{
    enum { BOUND = 65536 };

    for (size_t more = 0; more < 2; more++) {
        struct client client;
        char head[200];

        snprintf(head, sizeof(head), NO_HEAD "Content-Length: %zu\r\n\r\n",
                 BOUND + more);
        client_open_with(&client, head);
        for (size_t at = 0; at < BOUND;) {
            ssize_t n = send(client.fd, large_bytes + at, BOUND - at,
                             MSG_NOSIGNAL);

            if (n > 0)
                at += (size_t)n;
            turn();
        }
        settle(&client);
        assert_answer(client.text, 403, NULL);
        assert_int_equal(count_of(client.text, "Connection: close"), more);
        assert_int_equal(client.has_ended, more);
        client_close(&client);
        turn();
    }
}

TEST(a_refused_body_of_unknown_length_ends_the_connection)
{
    struct client client;

    client_open_with(&client, NO_HEAD
                     "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n");
    settle(&client);
    assert_answer(client.text, 403, NULL);
    assert_has(client.text, "\r\nConnection: close\r\n");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(a_refused_body_that_does_not_come_is_answered_with_408)
{
    struct client client;

    client_open_with(&client, NO_HEAD "Content-Length: 9\r\n\r\nabc");
    settle(&client);
    assert_int_equal(client.len, 0);
    pass(60000);
    settle(&client);
    assert_answer(client.text, 408, NULL);
    assert_has(client.text, "\r\nConnection: close\r\n");
    assert_int_equal(count_of(client.text, "HTTP/1.1 "), 1);
    client_leave(&client);
}

TEST(who_leaves_a_refused_body_leaves_nothing_behind)
{
    struct client client;

    client_open_with(&client, NO_HEAD "Content-Length: 9\r\n\r\nabc");
    turn();
    client_leave(&client);
}

TEST(a_body_that_is_coming_when_it_leaves_is_the_last)
{
    struct client client;

    client_open_with(&client, PUT_HEAD "Content-Length: 4\r\n\r\nab");
    turn();
    conn_set_leave(&set);
    client_send(&client, "cd");
    settle(&client);
    assert_answer(client.text, 200, "abcd");
    assert_has(client.text, "\r\nConnection: close\r\n");
    client_close(&client);
}

TEST(who_waits_for_it_is_told_to_go_on)
{
    struct client client;

    client_open_with(&client, PUT_HEAD
                     "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n");
    settle(&client);
    assert_string_equal(client.text, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_has(talk(&client, "abc"), "\r\n\r\nabc");
    client_close(&client);
}

TEST(a_body_may_be_refused_on_the_way)
{
    static const char *const requests[] = {
        PUT_HEAD "Content-Length: 50\r\n\r\n1234",
        PUT_HEAD "Transfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n"};

    most = 6;
    for (size_t i = 0; i < 2; i++) {
        struct client client;

        client_open_with(&client, requests[i]);
        settle(&client);
        assert_int_equal(client.len, 0);
        client_send(&client, i == 0 ? "5678" : "4\r\n5678\r\n");
        settle(&client);
        assert_answer(client.text, 507, NULL);
        assert_has(client.text, "\r\nConnection: close\r\n");
        client_close(&client);
        turn();
    }
}

TEST(who_leaves_in_the_middle_leaves_nothing_behind)
{
    struct client client;

    client_open_with(&client, PUT_HEAD "Content-Length: 50\r\n\r\n1234");
    turn();
    assert_int_equal(open_sinks, 1);
    client_close(&client);
    turn();
    assert_int_equal(open_sinks, 0);
    assert_int_equal(set.count, 0);
}

TEST(a_broken_body_is_answered_with_400)
{
    struct client client;

    client_open_with(&client,
                     PUT_HEAD "Transfer-Encoding: chunked\r\n\r\n4\r\n12345");
    settle(&client);
    assert_answer(client.text, 400, NULL);
    client_close(&client);
    turn();
    assert_int_equal(open_sinks, 0);
}

TEST(what_nobody_wants_is_read_and_thrown_away)
{
    struct client client;

    client_open_with(&client,
                     "PUT /away HTTP/1.1\r\nHost: h\r\nContent-Length: "
                     "4\r\n\r\nGET " PUT_HEAD "Content-Length: 2\r\n\r\nab");
    settle(&client);
    assert_int_equal(count_of(client.text, "HTTP/1.1 200 "), 2);
    client_close(&client);
}

TEST(a_body_has_the_more_time_the_more_has_come)
{
    struct client client;

    set.shared.context.limits.send_rate_min =
        1; /* a byte a second; 4 s before */
    client_open_with(&client, PUT_HEAD "Content-Length: 5\r\n\r\n");
    turn();
    for (int i = 0; i < 4; i++) {
        pass(1400);
        client_send(&client, "x");
        turn();
    }
    assert_int_equal(open_sinks, 1);
    pass(2500); /* 8.1 s for four bytes is too slow */
    settle(&client);
    assert_answer(client.text, 408, NULL);
    client_close(&client);
    turn();
    assert_int_equal(open_sinks, 0);
}

SUITE(.each_begin = set_up_bodies, .each_end = tear_down_bodies);
