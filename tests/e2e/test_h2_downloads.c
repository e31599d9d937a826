/*
 * HTTP/2 in front of other servers: what these send for a client that does not
 * take it stays with them, beyond a little. None of it is lost, and a client
 * gets what it does take, whatever it leaves.
 */
#include "h2_client.h"
#include "origin.h"
#include "upstream.h"

enum {
    SEED = 7,
    MANY = 99,
    CLIENTS = 6,
    FEW = 40,      /* streams whose heads come whatever their windows */
    BYTES = 60000, /* the kernel takes them from whoever sends them */
    LONG = 1000000,
    /* As requests that have begun to be answered may hold (test_h2_memory.c).
     * With buffers for each it would be 7.5 MB. */
    CONNECTION_BYTES_MAX = 384 << 10,
    FEW_BYTES_MAX = 768 << 10,
    UNREAD_BYTES_MAX = 448 << 10 /* with what is framed, and was not sent */
};

static struct server *start_before(const char *at)
{
    return H2_START("--workers=1", printed("--proxy=/=%s", at));
}

/* What the seed stands for, in one chunk. */
static const char *make_reply(size_t *len_out)
{
    static const char head[] = OK "Connection: close\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\n";
    static const char end[] = "\r\n0\r\n\r\n";
    size_t size = sizeof(head) + BYTES + 32;
    char *reply = scratch(size);
    size_t len = (size_t)snprintf(reply, size, "%s%x\r\n", head, BYTES);

    seeded_fill(SEED, 0, reply + len, BYTES);
    len += BYTES;
    memcpy(reply + len, end, sizeof(end));
    *len_out = len + sizeof(end) - 1;
    return reply;
}

static struct client *peers[MANY]; /* of the upstream, as they have come */

/* All have asked before the first is answered. */
static struct h2 *ask_all(const struct server *server,
                          const struct upstream *upstream, int window,
                          size_t count)
{
    struct h2 *h2 = H2_OPEN_WITH(server, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                          (uint32_t)window});

    h2->is_stingy = true;
    h2_window(h2, 0, 1 << 30);
    for (size_t i = 0; i < count; i++)
        (void)h2_ask(h2, "GET", "/x", NULL, false);
    for (size_t i = 0; i < count; i++) {
        peers[i] = upstream_accept(upstream);
        (void)hear_head(peers[i]);
    }
    return h2;
}

static void answer_all(size_t count)
{
    size_t len;
    const char *reply = make_reply(&len);

    for (size_t i = 0; i < count; i++)
        assert_true(client_send(peers[i], reply, len));
}

static struct h2 *download(const struct server *server,
                           const struct upstream *upstream, int window,
                           size_t count)
{
    struct h2 *h2 = ask_all(server, upstream, window, count);

    answer_all(count);
    h2_settle(h2, patience(50));
    h2_sync(h2);
    return h2;
}

static uint32_t nth(size_t i)
{
    return (uint32_t)(2 * i + 1);
}

static void expect_all(struct h2 *h2, size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        going_on("stream %zu", i);
        expect_h2_seeded(h2_wait(h2, nth(i)), SEED, 0, bytes);
    }
}

static void open_all(struct h2 *h2)
{
    h2->is_stingy = false;
    h2_settings(h2,
                &(struct h2_setting){NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                     LONG},
                1);
}

/* --- What is not taken --------------------------------------------------- */

static void take_nothing(int window)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_before(upstream->at);
    struct h2 *h2 = NULL;
    uint64_t bytes = 0;

    for (int i = -1; i < CLIENTS; i++) {
        h2 = download(server, upstream, window, MANY);
        if (i == -1)
            bytes = server_memory(server);
    }
    bytes = (server_memory(server) - bytes) / CLIENTS;
    print_message("windows of %d: %llu bytes a connection\n", window,
                  (unsigned long long)bytes);
    assert_true(bytes < CONNECTION_BYTES_MAX || is_sanitized());
    open_all(h2);
    expect_all(h2, MANY, BYTES);
}

TEST(downloads_that_nobody_takes_hold_little)
{
    take_nothing(0);
}

/* Of each a piece is taken, and the rest could be read. */
TEST(so_do_those_that_have_begun)
{
    take_nothing(600);
    take_nothing(5000);
}

/* The windows are open, and the client reads nothing. */
TEST(so_do_those_of_a_client_that_does_not_read)
{
    struct origin *origin = origin_start("a");
    struct server *server = start_before(origin->at);
    uint64_t bytes = 0;

    for (int i = -1; i < CLIENTS; i++) {
        struct h2 *h2 = h2_open_narrow(server, 4096);

        h2_say(h2, RAW(H2_PREFACE));
        h2_settings(h2,
                    &(struct h2_setting){NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                         INT32_MAX},
                    1);
        h2_window(h2, 0, 1 << 30);
        for (size_t stream = 0; stream < MANY; stream++)
            (void)h2_ask(h2, "GET", printed("/chunks/%d/%d", SEED, LONG), NULL,
                         false);
        (void)h2_get(h2_open(server), "/canary");
        pause_ms((unsigned)patience(200));
        if (i == -1)
            bytes = server_memory(server);
    }
    h2_expect_usable(h2_open(server));
    bytes = (server_memory(server) - bytes) / CLIENTS;
    print_message("%llu bytes a connection\n", (unsigned long long)bytes);
    assert_true(bytes < UNREAD_BYTES_MAX || is_sanitized());
}

/* --- What is taken beside it --------------------------------------------- */

/* As of films that stand still, while the page goes on. */
static void take_beside(const char *const *arguments, const char *const *fields)
{
    enum { HELD = 20, TAKEN = 300000 };
    static const char *const ways[] = {"bytes", "chunks", "close"};
    struct origin *origin = origin_start("a");
    struct server *server =
        server_start(&(struct launch){.root = NULL},
                     (const char *const[]){"--http2=all", "--workers=1",
                                           printed("--proxy=/=%s", origin->at),
                                           arguments[0], arguments[1], NULL});
    struct h2 *h2 = h2_open(server);

    h2->is_stingy = true;
    h2_window(h2, 0, 1 << 30);
    for (size_t i = 0; i < HELD; i++)
        (void)h2_ask(h2, "GET", printed("/%s/%d/%d", ways[i % 3], SEED, LONG),
                     fields, false);
    h2_settle(h2, patience(100));
    for (size_t i = 0; i < 6; i++) {
        const char *path = printed("/%s/%d/%d", ways[i % 3], SEED, TAKEN);
        uint32_t stream = h2_ask(h2, "GET", path, NULL, false);

        h2_window(h2, stream, 1 << 20);
        expect_h2_seeded(h2_wait(h2, stream), SEED, 0, TAKEN);
        expect_h2(h2_get(h2, "/canary"), 200);
    }
    for (size_t i = 0; i < HELD; i++)
        h2_window(h2, nth(i), 1 << 20);
    for (size_t i = 0; i < HELD; i++) {
        struct h2_reply *reply = h2_wait(h2, nth(i));

        going_on("stream %zu", i);
        if (fields)
            expect_h2(reply, 200);
        else
            expect_h2_seeded(reply, SEED, 0, LONG);
        assert_true(reply->has_ended);
    }
    h2_expect_usable(h2);
    origin_check(origin);
}

TEST(a_client_gets_what_it_takes_beside_what_it_does_not)
{
    take_beside((const char *const[]){NULL, NULL}, NULL);
}

TEST(so_it_does_when_the_rest_is_compressed)
{
    take_beside((const char *const[]){"--compress-proxied",
                                      "--compress-types=text/*"},
                H2_WITH("accept-encoding", "gzip"));
}

/* All take turns. */
static void take_all(int window, size_t bytes)
{
    enum { COUNT = 40 };
    static const char *const ways[] = {"bytes", "chunks", "close"};
    struct origin *origin = origin_start("a");
    struct server *server = start_before(origin->at);
    struct h2 *h2 = H2_OPEN_WITH(server, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                          (uint32_t)window});

    for (size_t i = 0; i < COUNT; i++)
        (void)h2_ask(h2, "GET", printed("/%s/%d/%zu", ways[i % 3], SEED, bytes),
                     i % 2 ? H2_WITH("priority", "i") : NULL, false);
    expect_all(h2, COUNT, bytes);
    h2_expect_usable(h2);
    origin_check(origin);
}

TEST(downloads_at_once_all_arrive)
{
    take_all(H2_WINDOW, 500000);
    take_all(4 * H2_WINDOW, 150000);
    take_all(600, 9000);
}

/* --- What waits for room ------------------------------------------------- */

/* Of how many streams the head has come. Which of them are read first is
 * nobody's promise. */
static size_t count_begun(struct h2 *h2, size_t count)
{
    size_t begun = 0;

    h2_settle(h2, patience(100));
    for (size_t i = 0; i < count; i++)
        begun += h2_reply(h2, nth(i))->status != 0;
    return begun;
}

/* With so many streams no head comes that its window does not let come. */
TEST(heads_come_when_few_enough_streams_are_left)
{
    enum { COUNT = FEW + 1, GONE = 3 };
    struct upstream *upstream = upstream_open();
    struct server *server = start_before(upstream->at);
    struct h2 *h2 = download(server, upstream, 0, COUNT);

    assert_int_equal(count_begun(h2, COUNT), 0);
    h2_reset(h2, nth(GONE), NGHTTP2_CANCEL);
    assert_int_equal(count_begun(h2, COUNT), FEW);
    for (size_t i = COUNT; i-- > 0;) {
        if (i == GONE)
            continue;
        h2_window(h2, nth(i), 2 * BYTES);
        expect_h2_seeded(h2_wait(h2, nth(i)), SEED, 0, BYTES);
    }
}

/* A client may want to see all heads before it takes any body. */
TEST(heads_of_few_streams_wait_for_no_window)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_before(upstream->at);
    struct h2 *h2 = download(server, upstream, 0, FEW);
    uint64_t bytes = server_memory(server);

    for (int i = 0; i < CLIENTS; i++) {
        h2 = download(server, upstream, 0, FEW);
        assert_int_equal(count_begun(h2, FEW), FEW);
    }
    bytes = (server_memory(server) - bytes) / CLIENTS;
    print_message("%llu bytes a connection\n", (unsigned long long)bytes);
    assert_true(bytes < FEW_BYTES_MAX || is_sanitized());
    open_all(h2);
    expect_all(h2, FEW, BYTES);
}

/* Sends as much of a body as the server takes. */
static void fill(struct h2 *h2, uint32_t stream)
{
    static char data[H2_FRAME_MAX];
    struct h2_reply *reply = h2_reply(h2, stream);
    size_t step;

    do {
        h2_settle(h2, 20);
        step = sizeof(data);
        if (reply->send_window < (int64_t)step)
            step = reply->send_window > 0 ? (size_t)reply->send_window : 0;
        if (h2->send_window < (int64_t)step)
            step = h2->send_window > 0 ? (size_t)h2->send_window : 0;
        if (step > 0)
            h2_body(h2, stream, data, step, true);
    } while (step > 0 || h2_hears(h2, patience(200)));
}

/* The upstream has answered an upload that it does not take. Its reply waits
 * for the client, so the upstream is not the one that is slow. */
TEST(an_early_reply_that_waits_for_room_is_not_late)
{
    enum { COUNT = FEW - 1 };
    uint64_t idle_ms = patience(1000);
    struct upstream *upstream = upstream_open();
    struct server *server = H2_START("--workers=1",
                                     printed("--proxy=/=%s", upstream->at),
                                     printed("--proxy-idle-timeout=%llums",
                                             (unsigned long long)idle_ms));
    struct h2 *h2 = download(server, upstream, 0, COUNT);
    uint32_t stream = h2_ask(h2, "POST", "/upload", NULL, true);
    struct client *peer;

    fill(h2, stream);
    peer = upstream_accept(upstream);
    (void)h2_ask(h2, "GET", "/parked", NULL, false); /* one stream too many */
    h2_sync(h2);
    client_say(peer, "HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nnone");
    h2_settle(h2, 2 * idle_ms);
    assert_int_equal(h2_reply(h2, stream)->status, 0);
    h2_window(h2, stream, BYTES);
    expect_h2(h2_wait_head(h2, stream), 403);
}

static void wait_bytes(struct h2 *h2, uint32_t stream, size_t bytes)
{
    struct h2_frame frame;

    while (h2_reply(h2, stream)->body_len < bytes)
        assert_true(h2_take(h2, &frame));
}

TEST(events_come_beside_what_is_not_taken)
{
    enum { HELD = 3, BEGUN = 20000 };
    struct upstream *upstream = upstream_open();
    struct server *server = start_before(upstream->at);
    struct h2 *h2 = download(server, upstream, BEGUN, HELD);
    uint32_t stream;
    struct client *peer;

    stream = h2_ask(h2, "GET", "/events", NULL, false);
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer, OK "Transfer-Encoding: chunked\r\n\r\n");
    expect_h2(h2_wait_head(h2, stream), 200);
    for (size_t i = 1; i <= 20; i++) {
        client_say(peer, "5\r\nevent\r\n");
        wait_bytes(h2, stream, 5 * i);
    }
    client_say(peer, "0\r\n\r\n");
    assert_true(h2_wait(h2, stream)->has_ended);
}

/* Behind a reply there must be nothing, wherever a read has ended. */
TEST(bytes_behind_a_reply_are_no_other_reply)
{
    enum { WINDOW = 5000 };
    static const char head[] = OK "Content-Length: 5000\r\n\r\n";
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = download(start_before(upstream->at), upstream, 0, 4);
    uint32_t stream = h2_ask(h2, "GET", "/y", NULL, false);
    struct client *peer = upstream_accept(upstream);
    char body[WINDOW];

    (void)hear_head(peer);
    seeded_fill(SEED, 0, body, WINDOW);
    assert_true(client_send(peer, head, sizeof(head) - 1) &&
                client_send(peer, body, WINDOW) &&
                client_send(peer, HI, sizeof(HI) - 1));
    h2_sync(h2);
    /* The first read leaves as many bytes of the body as the head has, and the
     * second has room for no more than these. */
    h2_window(h2, stream, WINDOW);
    expect_h2_seeded(h2_wait(h2, stream), SEED, 0, WINDOW);
    stream = h2_ask(h2, "GET", "/z", NULL, false);
    h2_window(h2, stream, WINDOW);
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer, OK "Content-Length: 3\r\n\r\nyes");
    expect_h2_body(h2_wait(h2, stream), "yes");
}

/* While a reply waits, its server may end a connection that it takes for idle.
 * A request that takes the stream's place does not get that connection. */
TEST(a_connection_that_ended_while_its_reply_waited_is_not_used_again)
{
    enum { COUNT = FEW }; /* so many are answered at once */
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = ask_all(start_before(upstream->at), upstream, 0, COUNT);
    uint32_t stream;
    struct client *peer;
    size_t len;
    const char *reply = make_reply(&len);

    for (size_t i = 1; i < COUNT; i++)
        assert_true(client_send(peers[i], reply, len));
    h2_settle(h2, patience(50));
    stream = h2_ask(h2, "POST", "/", H2_WITH("content-length", "2"), true);
    h2_body(h2, stream, "hi", 2, false);
    h2_window(h2, stream, BYTES);
    h2_sync(h2);
    client_say(peers[0], OK "Content-Length: 5\r\n\r\nhello");
    client_close(peers[0]);
    h2_settle(h2, patience(50));
    h2_window(h2, nth(0), BYTES);
    expect_h2_body(h2_wait(h2, nth(0)), "hello");
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer, HI);
    expect_h2(h2_wait(h2, stream), 200);
}

SUITE(.begin = h2_begin, .end = harness_end, .each_end = origins_after_test);
