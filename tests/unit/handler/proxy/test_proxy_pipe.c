/* link: -Wl,--wrap=splice */
#include "unit/handler/proxy/proxy_fixture.h"

#include <sys/stat.h>

#include "wrap.h"

enum { THRESHOLD = 65536 };

static size_t piped;      /* into pipes, by splice(2) */
static size_t piped_most; /* at a time; 0: any number */
static int fault;         /* what that fails with, 0: it does not */
static unsigned calls;    /* of it, and of those below */
static unsigned again;    /* that found nothing, or no room */

WRAP(ssize_t, splice, int from, off_t *from_at, int to, off_t *to_at,
     size_t count, unsigned flags)
{
    struct stat st;
    ssize_t n;

    assert_int_equal(fstat(to, &st), 0);
    if (!S_ISFIFO(st.st_mode))
        return __real_splice(from, from_at, to, to_at, count, flags);
    calls++;
    errno = fault;
    if (fault != 0)
        return -1;
    if (piped_most > 0 && count > piped_most)
        count = piped_most;
    n = __real_splice(from, from_at, to, to_at, count, flags);
    if (n > 0)
        piped += (size_t)n;
    again += n == -1;
    return n;
}

static int set_up_pipe(void **state)
{
    piped = piped_most = 0;
    fault = 0;
    calls = again = 0;
    return set_up_proxy(state);
}

/* Asks, and gets the head of a reply and as much of its body at once. */
static void begin_reply(struct client *client, const char *request, size_t len,
                        size_t first)
{
    char head[128];

    client_open_with(client, request);
    hear();
    snprintf(head, sizeof(head), OK("Content-Length: %zu\r\n", ""), len);
    say_bytes(head, strlen(head));
    if (first > 0)
        say_bytes(large_bytes, first);
    await(client);
}

static size_t body_len(const struct client *client)
{
    const char *body = strstr(client->text, "\r\n\r\n");

    return body ? client->len - (size_t)(body + 4 - client->text) : 0;
}

/* The server goes on, and the client takes what comes; its kernel may wait for
 * acknowledgements before it sends the last of it. */
static void go_on(struct client *client, size_t from, size_t to)
{
    for (size_t at = from; at < to; at += 65536) {
        say_bytes(large_bytes + at, to - at < 65536 ? to - at : 65536);
        settle(client);
    }
    for (int i = 0; i < 1000 && body_len(client) < to; i++)
        await(client);
}

static void assert_large(const struct client *client, size_t len)
{
    assert_int_equal(body_len(client), len);
    assert_memory_equal(client->text + client->len - len, large_bytes, len);
}

static size_t pipes_in_use(void)
{
    return pipes.open_count - pipes.kept_count;
}

/* --- Whole ones ---------------------------------------------------------- */

TEST(a_long_body_goes_through_a_pipe_to_its_exact_end)
{
    struct client client;

    begin_reply(&client, GET("/p/1"), LARGE_BYTES, 1000);
    go_on(&client, 1000, LARGE_BYTES);
    assert_large(&client, LARGE_BYTES);
    assert_int_equal(piped, LARGE_BYTES - 1000);
    assert_int_equal(server_counts.bytes_in,
                     LARGE_BYTES +
                         strlen(OK("Content-Length: 3145728\r\n", "")));
    assert_int_equal(pipes_in_use(), 0);
    /* Both connections go on. */
    forget(&client);
    client_send(&client, GET("/p/2"));
    assert_has(hear(), "GET /p/2 ");
    say(OK("Content-Length: 2\r\n", "ok"));
    assert_answer(await(&client), 200, "ok");
    assert_int_equal(server_counts.connects, 1);
    client_close(&client);
}

TEST(a_pipe_serves_one_body_after_the_other)
{
    struct client client;

    for (size_t len = 200000; len < 210000; len += 1000) {
        begin_reply(&client, GET("/p"), len, 0);
        go_on(&client, 0, len);
        assert_large(&client, len);
        client_close(&client);
    }
    assert_int_equal(pipes.open_count, 1);
    assert_int_equal(piped, 10 * 204500);
}

TEST(what_is_left_decides)
{
    struct client client;

    begin_reply(&client, GET("/p"), THRESHOLD - 1, 0);
    go_on(&client, 0, THRESHOLD - 1);
    assert_large(&client, THRESHOLD - 1);
    client_close(&client);
    assert_int_equal(piped, 0);
    begin_reply(&client, GET("/p"), THRESHOLD, 0);
    go_on(&client, 0, THRESHOLD);
    assert_large(&client, THRESHOLD);
    client_close(&client);
    assert_int_equal(piped, THRESHOLD);
}

TEST(chunks_are_not_piped)
{
    struct client client;

    client_open_with(&client, GET("/p"));
    hear();
    say(OK("Transfer-Encoding: chunked\r\n", "40000\r\n"));
    say_bytes(large_bytes, 0x40000);
    say("\r\n0\r\n\r\n");
    assert_has(await(&client), "\r\n0\r\n\r\n");
    client_close(&client);
    client_open_with(&client, GET("/p"));
    hear();
    say(OK("", "to a client that is to know where it ends"));
    await(&client);
    say_bytes(large_bytes, 200000);
    hang_up();
    assert_has(await(&client), "\r\n0\r\n\r\n");
    client_close(&client);
    assert_int_equal(calls, 0);
}

TEST(a_body_until_the_close_is_piped_to_who_knows_no_chunks)
{
    struct client client;

    for (size_t first = 0; first <= 1000; first += 1000) {
        piped = 0;
        client_open_with(&client, "GET /p HTTP/1.0\r\n\r\n");
        hear();
        say(OK("", ""));
        say_bytes(large_bytes, first); /* what came with the head */
        await(&client);
        go_on(&client, first, 300000);
        hang_up();
        await(&client);
        assert_large(&client, 300000);
        assert_true(client.has_ended);
        assert_int_equal(piped, 300000 - first);
        client_close(&client);
    }
}

/* --- Who is slow --------------------------------------------------------- */

/* Whatever the sockets and the pipe take, until both have been full for longer
 * than an acknowledgement may be delayed. */
static size_t say_while_taken(void)
{
    size_t said = 0;
    size_t piped_before = 0;

    for (int quiet = 0; quiet < 200; quiet++) {
        ssize_t n = send(served, large_bytes + said, LARGE_BYTES - said,
                         MSG_NOSIGNAL);

        said += n > 0 ? (size_t)n : 0;
        turn();
        if (n > 0 || piped > piped_before)
            quiet = 0;
        else
            usleep(1000);
        piped_before = piped;
    }
    return said;
}

TEST(a_full_pipe_makes_the_server_wait)
{
    struct client client;
    size_t said;
    unsigned called;

    begin_reply(&client, GET("/p"), LARGE_BYTES, 0);
    said = say_while_taken(); /* and the client takes nothing */
    assert_true(piped > 0);
    /* What has left the pipe lies in the client's socket. */
    assert_true(piped < PIPE_BYTES + (1 << 20));
    assert_int_equal(pipes_in_use(), 1);
    called = calls;
    for (int i = 0; i < 50; i++)
        turn();
    assert_int_equal(calls, called); /* nobody asks while it is full */
    pass_there(2 * options.idle_ms); /* nor is the server blamed for it */
    settle(&client);
    go_on(&client, said, LARGE_BYTES);
    assert_large(&client, LARGE_BYTES);
    client_close(&client);
}

/* Each piece takes a place in the pipe, of which there are 64. */
TEST(a_pipe_may_be_full_of_little)
{
    struct client client;
    size_t said;
    unsigned called;

    piped_most = 1000;
    begin_reply(&client, GET("/p"), LARGE_BYTES, 0);
    said = say_while_taken();
    assert_int_equal(again, 1);
    called = calls;
    for (int i = 0; i < 50; i++)
        turn();
    assert_int_equal(calls, called);
    piped_most = 0;
    settle(&client);
    go_on(&client, said, LARGE_BYTES);
    assert_large(&client, LARGE_BYTES);
    client_close(&client);
}

/* --- Without ------------------------------------------------------------- */

/* But for so many attempts to do otherwise. */
static void expect_copied(unsigned attempts)
{
    struct client client;

    begin_reply(&client, GET("/p"), LARGE_BYTES, 0);
    go_on(&client, 0, LARGE_BYTES);
    assert_large(&client, LARGE_BYTES);
    client_close(&client);
    assert_int_equal(calls, attempts);
}

TEST(without_a_pipe_all_is_copied)
{
    pipes_fini(&pipes);
    pipes_init(&pipes, 0);
    expect_copied(0);
}

TEST(where_it_is_switched_off_all_is_copied)
{
    stop_proxy();
    options.pipes = NULL;
    assert_int_equal(start_proxy(), 0);
    expect_copied(0);
    assert_int_equal(pipes.open_count, 0);
}

TEST(from_a_socket_that_cannot_all_is_copied)
{
    fault = EINVAL;
    expect_copied(1);
}

/* --- Faults -------------------------------------------------------------- */

TEST(a_server_that_breaks_off_breaks_the_answer_off)
{
    struct client client;

    begin_reply(&client, GET("/p"), LARGE_BYTES, 0);
    go_on(&client, 0, 200000);
    hang_up();
    await(&client);
    assert_large(&client, 200000);
    assert_true(client.has_ended);
    assert_int_equal(set.count, 0);
    assert_int_equal(pipes_in_use(), 0);
    assert_int_equal(server_counts.failures, 1);
    client_close(&client);
}

TEST(a_read_that_fails_breaks_the_answer_off)
{
    struct client client;

    begin_reply(&client, GET("/p"), LARGE_BYTES, 0);
    go_on(&client, 0, 200000);
    fault = ECONNRESET;
    say_bytes(large_bytes, 100);
    await(&client);
    assert_large(&client, 200000);
    assert_true(client.has_ended);
    assert_int_equal(pipes_in_use(), 0);
    client_close(&client);
}

TEST(interrupted_reads_are_made_again)
{
    struct client client;

    begin_reply(&client, GET("/p"), 200000, 0);
    fault = EINTR;
    say_bytes(large_bytes, 1000);
    await(&client);
    assert_int_equal(body_len(&client), 0);
    fault = EAGAIN; /* woken for nothing */
    turn();
    fault = 0;
    go_on(&client, 1000, 200000);
    assert_large(&client, 200000);
    client_close(&client);
}

TEST(who_leaves_has_its_pipe_closed)
{
    struct client client;

    begin_reply(&client, GET("/p"), LARGE_BYTES, 0);
    say_while_taken();
    assert_int_equal(pipes_in_use(), 1);
    client_close(&client);
    for (int i = 0; i < 20; i++) {
        turn();
        usleep(500);
    }
    assert_int_equal(pipes.open_count, 0);
    assert_int_equal(server_shared.active, 0);
}

TEST(what_stands_behind_a_body_is_nobodys_reply)
{
    struct client client;

    begin_reply(&client, GET("/p/1"), 200000, 0);
    say_bytes(large_bytes, 199999);
    say_bytes("x" OK("Content-Length: 4\r\n", "evil"),
              strlen("x" OK("Content-Length: 4\r\n", "evil")));
    await(&client);
    assert_has_not(client.text, "evil");
    forget(&client);
    client_send(&client, GET("/p/2"));
    assert_has(hear(), "GET /p/2 ");
    say(OK("Content-Length: 2\r\n", "ok"));
    assert_answer(await(&client), 200, "ok");
    assert_int_equal(server_counts.connects, 2);
    client_close(&client);
}

#undef TEST

SUITE(.each_begin = set_up_pipe, .each_end = tear_down_proxy);
