#include "unit/handler/proxy/proxy_fixture.h"

static struct client client;

/* The upstream has heard the request when it returns. */
static void ask(const char *request)
{
    client_open_with(&client, request);
    hear();
}

/* A reply of one byte, which the client gets. */
#define SERVE(byte)                               \
    do {                                          \
        say(OK("Content-Length: 1\r\n", byte));   \
        assert_answer(await(&client), 200, byte); \
    } while (0)

/* The upstream has served once when it returns, and its connection is kept. */
static void serve_once(void)
{
    ask(GET("/p/1"));
    SERVE("1");
    forget(&client);
}

/* --- Requests and replies ------------------------------------------------ */

TEST(a_request_goes_on_and_its_reply_comes_back)
{
    client_open_with(&client, "GET /p/x?y HTTP/1.1\r\nHost: h\r\n"
                              "Connection: keep-alive, X-Mine\r\n"
                              "X-Mine: 1\r\nX-Other: 2\r\n\r\n");
    assert_has(hear(), "GET /p/x?y HTTP/1.1\r\n");
    assert_has(seen, "\r\nHost: h\r\n");
    assert_has(seen, "\r\nX-Other: 2\r\n");
    assert_has(seen, "\r\nVia: 1.1 sprintd\r\n");
    assert_has_not(seen, "X-Mine");
    say(OK("Content-Length: 5\r\nX-Reply: 3\r\n", "hello"));
    assert_answer(await(&client), 200, "hello");
    assert_has(client.text, "\r\nX-Reply: 3\r\n");
    assert_has(client.text, "\r\nVia: 1.1 sprintd\r\n");
    client_close(&client);
}

TEST(connections_are_used_again)
{
    serve_once();
    client_send(&client, GET("/p/2"));
    assert_has(hear(), "GET /p/2 ");
    SERVE("2");
    assert_int_equal(server_counts.connects, 1);
    assert_int_equal(server_counts.reuses, 1);
    client_close(&client);
}

TEST(a_kept_connection_that_was_closed_costs_no_request)
{
    serve_once();
    client_send(&client, GET("/p/2"));
    hang_up(); /* while the request is on its way */
    assert_has(hear(), "GET /p/2 ");
    SERVE("2");
    client_close(&client);
}

TEST(a_small_chunked_reply_gets_a_length)
{
    ask(GET("/p"));
    say(OK("Transfer-Encoding: chunked\r\n",
           "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"));
    assert_answer(await(&client), 200, "abcde");
    assert_has(client.text, "Content-Length: 5\r\n");
    client_close(&client);
}

TEST(a_chunked_reply_that_comes_by_and_by_stays_chunked)
{
    ask(GET("/p"));
    say(OK("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n"));
    assert_has(await(&client), "\r\n\r\n00000003\r\nabc\r\n");
    say("2\r\nde\r\n0\r\n\r\n");
    assert_has(await(&client), "00000002\r\nde\r\n0\r\n\r\n");
    client_close(&client);
}

TEST(a_reply_that_ends_with_its_connection_is_whole)
{
    ask(GET("/p"));
    say(OK("", "all there is"));
    await(&client);
    hang_up();
    assert_has(await(&client), "all there is\r\n0\r\n\r\n");
    client_close(&client);
}

TEST(a_reply_that_breaks_off_breaks_the_answer_off)
{
    ask(GET("/p"));
    say(OK("Content-Length: 100\r\n", "some"));
    assert_has(await(&client), "some");
    hang_up();
    await(&client);
    assert_int_equal(set.count, 0);
    client_close(&client);
}

TEST(a_reset_is_not_the_end_of_a_reply)
{
    ask(GET("/p"));
    say(OK("", "all there is?"));
    assert_has(await(&client), "all there is?");
    reset();
    assert_has_not(await(&client), "\r\n0\r\n");
    assert_int_equal(set.count, 0);
    client_close(&client);
}

TEST(head_has_no_body)
{
    client_open_with(&client, "HEAD /p HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_has(hear(), "HEAD /p HTTP/1.1\r\n");
    say(OK("Content-Length: 100\r\n", ""));
    assert_answer(await(&client), 200, "");
    assert_has(client.text, "Content-Length: 100\r\n");
    forget(&client);
    client_send(&client, GET("/p/2"));
    assert_has(hear(), "GET /p/2");
    say("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n");
    assert_answer(await(&client), 304, "");
    client_close(&client);
}

TEST(heads_in_between_are_passed_on)
{
    ask(GET("/p"));
    say("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
    assert_has(await(&client), "HTTP/1.1 103 Early Hints\r\n");
    forget(&client);
    say("HTTP/1.1 103 Early Hints\r\nLink: </y>\r\n\r\n" OK(
        "Content-Length: 2\r\n", "ok"));
    assert_has(await(&client), "Link: </y>\r\n");
    assert_has(client.text, "HTTP/1.1 200 OK\r\n");
    assert_has(client.text, "\r\n\r\nok");
    client_close(&client);
}

TEST(heads_in_between_take_no_room_from_the_reply)
{
    enum { HEADS = 8 };
    char head[(65536 + PROXY_REPLY_BYTES) / HEADS + 1];
    int len = snprintf(head, sizeof(head), "HTTP/1.1 103 Early Hints\r\nX: ");

    memset(head + len, 'x', sizeof(head) - 5 - (size_t)len);
    memcpy(head + sizeof(head) - 5, "\r\n\r\n", 5);
    ask(GET("/p"));
    for (int i = 0; i < HEADS; i++) {
        say(head);
        await(&client);
    }
    say(OK("Content-Length: 2\r\n", "ok"));
    assert_has(await(&client), "\r\n\r\nok");
    client_close(&client);
}

/* --- Bodies -------------------------------------------------------------- */

TEST(a_body_goes_on_with_its_length)
{
    client_open_with(&client, "POST /p HTTP/1.1\r\nHost: h\r\n"
                              "Content-Length: 6\r\n\r\nabc");
    assert_has(hear(), "Content-Length: 6\r\n");
    assert_has(seen, "\r\n\r\nabc");
    client_send(&client, "def");
    hear();
    assert_has(seen, "abcdef");
    say("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
    assert_answer(await(&client), 201, "");
    forget(&client);
    client_send(&client, GET("/small"));
    assert_answer(await(&client), 200, "small body");
    client_close(&client);
}

TEST(a_chunked_body_is_framed_anew)
{
    client_open_with(&client, "PUT /p HTTP/1.1\r\nHost: h\r\n"
                              "Transfer-Encoding: chunked\r\n\r\n"
                              "3;ext=1\r\nabc\r\n0\r\nX-T: 1\r\n\r\n");
    assert_has(hear(), "Transfer-Encoding: chunked\r\n");
    assert_has(seen, "\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    say("HTTP/1.1 204 No Content\r\n\r\n");
    assert_answer(await(&client), 204, "");
    client_close(&client);
}

TEST(a_reply_before_the_end_of_a_body_ends_both)
{
    ask("POST /p HTTP/1.1\r\nHost: h\r\n"
        "Content-Length: 600\r\n\r\nabc");
    say("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
    assert_answer(await(&client), 413, "no");
    assert_true(client.has_ended);
    client_close(&client);
}

TEST(an_expected_100_is_the_upstreams)
{
    client_open_with(&client, "POST /p HTTP/1.1\r\nHost: h\r\n"
                              "Expect: 100-continue\r\n"
                              "Content-Length: 3\r\n\r\n");
    assert_has(hear(), "Expect: 100-continue\r\n");
    assert_string_equal(await(&client), "");
    say("HTTP/1.1 100 Continue\r\n\r\n");
    assert_has(await(&client), "HTTP/1.1 100 Continue\r\n");
    forget(&client);
    client_send(&client, "abc");
    assert_string_equal(hear(), "abc");
    say(OK("Content-Length: 2\r\n", "ok"));
    assert_answer(await(&client), 200, "ok");
    client_close(&client);
}

TEST(a_bad_body_is_told_of_after_a_100)
{
    ask("POST /p HTTP/1.1\r\nHost: h\r\n"
        "Expect: 100-continue\r\n"
        "Transfer-Encoding: chunked\r\n\r\n");
    say("HTTP/1.1 100 Continue\r\n\r\n");
    assert_has(await(&client), "HTTP/1.1 100 Continue\r\n");
    forget(&client);
    client_send(&client, "1\r\nx\r\nno size\r\n");
    assert_answer(await(&client), 400, NULL);
    assert_true(client.has_ended);
    client_close(&client);
}

enum { UPLOAD_BYTES = 16 * LARGE_BYTES }; /* more than sockets take */

/* What the socket takes of the upload. */
static size_t send_more(size_t sent)
{
    size_t at = sent % LARGE_BYTES;
    size_t len = LARGE_BYTES - at;
    ssize_t n = sent < UPLOAD_BYTES
                    ? send(client.fd, large_bytes + at, len, MSG_NOSIGNAL)
                    : 0;

    return n > 0 ? (size_t)n : 0;
}

TEST(a_slow_server_makes_its_client_wait)
{
    size_t sent = 0, heard = 0;

    client_open_with(&client, "POST /p HTTP/1.1\r\nHost: h\r\n"
                              "Content-Length: 50331648\r\n\r\n");
    assert_has(hear(), "Content-Length: 50331648\r\n");
    for (int quiet = 0; quiet < 20; quiet++) { /* nobody reads */
        size_t n = send_more(sent);

        sent += n;
        quiet = n > 0 ? 0 : quiet;
        turn();
    }
    assert_true(sent < UPLOAD_BYTES / 2);
    while (heard < UPLOAD_BYTES) {
        sent += send_more(sent);
        seen_len = 0;
        hear();
        heard += seen_len;
    }
    say(OK("Content-Length: 2\r\n", "ok"));
    assert_answer(await(&client), 200, "ok");
    client_close(&client);
}

/* Whoever stands before the proxy might not have offered it. */
TEST(a_body_that_was_not_offered_is_not_announced)
{
    static struct exchange exchange;
    const struct handler *handler = &sites_options.mounts[0].handler;
    const struct exchange_side side = {.peer = &client_peer};

    exchange.request = (struct request){.method = METHOD_GET,
                                        .minor = 1,
                                        .path = BYTES("/p"),
                                        .content_length = 5};
    exchange_init(&exchange, &side);
    handler->answer(handler->self, &exchange, BYTES(""));
    assert_int_equal(exchange.response.status, 413);
    assert_null(exchange.pending);
    exchange_fini(&exchange);
}

/* --- Faults -------------------------------------------------------------- */

TEST(nobody_there_is_502)
{
    close(listener);
    listener = -1;
    client_open_with(&client, GET("/p"));
    assert_answer(await(&client), 502, NULL);
    assert_has(client.text, "Proxy-Status: sprintd; error=connection_refused");
    client_close(&client);
}

TEST(nonsense_is_502)
{
    static const char *const cases[] = {
        "nonsense\r\n\r\n", "HTTP/1.1 99 No\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n"
         "Connection: upgrade\r\n\r\n")};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        client_open_with(&client, GET("/p"));
        hear();
        say(cases[i]);
        assert_answer(await(&client), 502, NULL);
        client_close(&client);
        turn();
        turn();
    }
}

TEST(only_what_may_be_repeated_is_tried_again)
{
    ask("POST /p HTTP/1.1\r\nHost: h\r\n"
        "Content-Length: 1\r\n\r\nx");
    hang_up();
    assert_answer(await(&client), 502, NULL);
    client_close(&client);
}

/* Begins a body over a connection that is used for the second time. */
static void begin_over_kept(void)
{
    serve_once();
    client_send(&client, "PUT /p HTTP/1.1\r\nHost: h\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n"
                         "3\r\nabc\r\n");
    assert_has(hear(), "\r\n\r\n3\r\nabc\r\n");
    seen_len = 0;
}

TEST(a_body_that_ends_on_a_dead_connection_is_repeated_whole)
{
    begin_over_kept();
    reset();
    client_send(&client, "3\r\ndef\r\n0\r\n\r\n");
    assert_has(hear(), "\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n");
    say(OK("Content-Length: 2\r\n", "ok"));
    assert_answer(await(&client), 200, "ok");
    client_close(&client);
}

TEST(a_body_of_which_something_is_lost_is_not_repeated)
{
    struct sink *sink;

    begin_over_kept();
    reset();
    sink = only_h1()->current->sink;
    /* As frames of HTTP/2 come that one read has brought: after the first, which
     * finds out that the connection is dead, nothing is sent any more. */
    for (int i = 0; i < 3; i++)
        (void)sink->take(sink, BYTES("d"));
    assert_answer(await(&client), 502, NULL);
    assert_true(client.has_ended);
    client_close(&client);
}

enum { FILLERS = 2 }; /* the kernel takes one more than it is told to */

/* Whoever connects from now on has to wait until some of them are accepted. */
static void fill_backlog(int fds[FILLERS])
{
    struct sockaddr_in at;
    socklen_t len = sizeof(at);

    assert_int_equal(listen(listener, FILLERS - 1), 0);
    assert_int_equal(getsockname(listener, (void *)&at, &len), 0);
    for (int i = 0; i < FILLERS; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(fds[i], (void *)&at, len), 0);
    }
}

TEST(what_comes_while_connecting_anew_takes_no_place)
{
    static char last[2048]; /* more than there is room left for */
    int fillers[FILLERS];

    begin_over_kept();
    client_send(&client, "9c40\r\n"); /* 40000 */
    for (size_t sent = 0; sent < 40000; hear())
        sent += (size_t)send(client.fd, large_bytes + sent, 40000 - sent,
                             MSG_NOSIGNAL);
    fill_backlog(fillers);
    hang_up();
    for (int i = 0; i < 1000 && server_counts.retries == 0; i++) {
        turn();
        usleep(500);
    }
    assert_int_equal(server_counts.retries, 1);
    snprintf(last, sizeof(last), "\r\n7d0\r\n%.2000s\r\n0\r\n\r\n",
             large_bytes);
    client_send(&client, last);
    assert_string_equal(await(&client), "");
    seen_len = 0;
    for (int i = 0; i < 300 && !strstr(hear(), "\r\n0\r\n\r\n"); i++)
        continue;
    assert_has(seen, "PUT /p HTTP/1.1\r\n");
    assert_has(seen, "\r\n\r\n3\r\nabc\r\n");
    assert_has(seen, "\r\n0\r\n\r\n");
    assert_true(seen_len > 42000);
    say(OK("Content-Length: 2\r\n", "ok"));
    assert_answer(await(&client), 200, "ok");
    for (int i = 0; i < FILLERS; i++)
        close(fillers[i]);
    client_close(&client);
}

TEST(who_leaves_takes_the_request_back)
{
    char byte;

    ask(GET("/p"));
    client_close(&client);
    for (int i = 0; i < 20; i++) {
        turn();
        usleep(500);
    }
    assert_int_equal(recv(served, &byte, 1, 0), 0);
    assert_int_equal(server_shared.active, 0);
}

/* --- Tunnels ------------------------------------------------------------- */

TEST(a_websocket_is_a_tunnel)
{
    client_open_with(&client, "GET /p HTTP/1.1\r\nHost: h\r\n"
                              "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                              "Sec-WebSocket-Key: x\r\n\r\n");
    assert_has(hear(), "Upgrade: websocket\r\n");
    say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\n\r\nfirst");
    assert_has(await(&client), "HTTP/1.1 101 Switching Protocols\r\n");
    assert_has(client.text, "\r\n\r\nfirst");
    client_send(&client, "GET / HTTP/1.1\r\n\r\n");
    assert_string_equal(hear(), "GET / HTTP/1.1\r\n\r\n");
    forget(&client);
    say("back");
    assert_string_equal(await(&client), "back");
    shutdown(client.fd, SHUT_WR);
    await(&client);
    say("last");
    assert_string_equal(await(&client), "backlast");
    hang_up();
    await(&client);
    assert_true(client.has_ended);
    client_close(&client);
}

SUITE(.each_begin = set_up_proxy, .each_end = tear_down_proxy);
