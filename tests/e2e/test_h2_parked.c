/*
 * HTTP/2: streams that wait for a place, as so many others of their connection
 * have one; and what is left of those that are given up.
 */
#include "h2_client.h"
#include "store.h"
#include "upstream.h"

enum { PLACES = 40, LARGE = 2 << 20, MEDIUM = 16384, SEED = 3, LONG = 60000 };

static struct server *server;

static int start(void **state)
{
    if (h2_begin(state) != 0)
        return -1;
    site_seeded("large", SEED, LARGE);
    site_seeded("medium", SEED, MEDIUM);
    server = START_STORE(store_folder(), "--http2=all", "--workers=1",
                         "--status=/_s");
    harness_keep();
    return 0;
}

/* A connection all places of which are taken, by answers that have no window:
 * streams 1, 3, ... */
static struct h2 *open_full(const struct server *of)
{
    struct h2 *h2 = H2_OPEN_WITH(of, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0});

    for (int i = 0; i < PLACES; i++)
        expect_h2(h2_wait_head(h2, h2_ask(h2, "GET", "/large", NULL, false)),
                  200);
    return h2;
}

static void make_room(struct h2 *h2)
{
    for (uint32_t i = 0; i < PLACES; i++)
        h2_reset(h2, 2 * i + 1, NGHTTP2_CANCEL);
}

/* --- Bodies that come meanwhile ------------------------------------------ */

static uint32_t put(struct h2 *h2, const char *key, const char *length,
                    size_t len, bool more)
{
    char *value = scratch(len);
    uint32_t stream = h2_ask(h2, "PUT", key,
                             length ? H2_WITH("content-length", length) : NULL,
                             true);

    seeded_fill(SEED, 0, value, len);
    assert_true(h2_body(h2, stream, value, len, more));
    return stream;
}

TEST(a_body_that_came_while_its_stream_waited_is_kept)
{
    static const struct {
        const char *key;
        const char *length;
        size_t len;
    } puts[] = {{"/kv/short", "5", 5},
                {"/kv/unsaid", NULL, 5},
                {"/kv/long", "60000", LONG},
                {"/kv/long-unsaid", NULL, LONG}};
    enum { PUTS = sizeof(puts) / sizeof(*puts) };
    struct h2 *h2 = open_full(server);
    struct h2 *other = h2_open(server);
    uint32_t streams[PUTS];

    for (size_t i = 0; i < PUTS; i++)
        streams[i] = put(h2, puts[i].key, puts[i].length, puts[i].len, false);
    h2_sync(h2);
    for (size_t i = 0; i < PUTS; i++)
        assert_int_equal(h2_reply(h2, streams[i])->status, 0);
    make_room(h2);
    for (size_t i = 0; i < PUTS; i++) {
        going_on("%s", puts[i].key);
        expect_h2(h2_wait(h2, streams[i]), 201);
        expect_h2_seeded(h2_get(other, puts[i].key), SEED, 0, puts[i].len);
    }
}

TEST(half_a_body_that_came_meanwhile_goes_on)
{
    struct h2 *h2 = open_full(server);
    uint32_t stream = put(h2, "/kv/half", NULL, 5, true);
    char value[8];

    h2_sync(h2);
    make_room(h2);
    h2_sync(h2);
    seeded_fill(SEED, 5, value, 3);
    assert_true(h2_body(h2, stream, value, 3, false));
    expect_h2(h2_wait(h2, stream), 201);
    expect_h2_seeded(h2_get(h2_open(server), "/kv/half"), SEED, 0, 8);
}

/* A head that says a length, and no body behind it, would have the upstream take
 * the next request for one. */
TEST(such_a_body_reaches_an_upstream_server)
{
    struct upstream *upstream = upstream_open();
    struct h2 *h2 = open_full(H2_START("--workers=1", printed("--proxy=/up/=%s",
                                                              upstream->at)));
    uint32_t streams[2];
    struct client *peer;

    streams[0] = h2_ask(h2, "POST", "/up/x", H2_WITH("content-length", "5"),
                        true);
    assert_true(h2_body(h2, streams[0], "hello", 5, false));
    h2_sync(h2);
    make_room(h2);
    peer = upstream_accept(upstream);
    if (!strcasestr(hear_head(peer), "\r\ncontent-length: 5\r\n"))
        flunk("no length");
    expect_hears(peer, "hello");
    client_say(peer, OK "Content-Length: 0\r\n\r\n");
    expect_h2(h2_wait(h2, streams[0]), 200);
    streams[1] = h2_ask(h2, "GET", "/up/next", NULL, false);
    if (!strstr(hear_head(peer), "/next HTTP/1.1\r\n"))
        flunk("something else is heard");
    client_say(peer, OK "Content-Length: 0\r\n\r\n");
    expect_h2(h2_wait(h2, streams[1]), 200);
}

/* --- What is refused ----------------------------------------------------- */

/* A refusal is an answer like others, and waits for its place. */
TEST(a_refusal_waits_for_its_place)
{
    struct h2 *h2 = open_full(server);
    char *body = memset(scratch(LONG), 'x', LONG);
    uint32_t streams[2];

    streams[0] = h2_ask(h2, "NOSUCH", "/canary", NULL, false);
    streams[1] = h2_ask(h2, "PUT", "/kv/a#b", NULL, true);
    assert_true(h2_body(h2, streams[1], body, LONG, false));
    h2_sync(h2);
    assert_int_equal(h2_reply(h2, streams[0])->status, 0);
    assert_int_equal(h2_reply(h2, streams[1])->status, 0);
    make_room(h2);
    expect_h2(h2_wait_head(h2, streams[0]), 501);
    expect_h2(h2_wait_head(h2, streams[1]), 400);
}

/* --- Long heads ---------------------------------------------------------- */

/* As of a client with long cookies, which asks for a page: it has had that. */
TEST(a_hundred_long_heads_are_no_fault_of_a_client_that_is_known)
{
    enum { STREAMS = 95, LONG_VALUE = 4000 };
    struct h2 *h2 = H2_OPEN_WITH(server,
                                 {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0});
    unsigned long before = h2_abuses(server, "memory");
    char *value = memset(scratch(LONG_VALUE + 1), 'x', LONG_VALUE + 1);
    uint32_t streams[STREAMS];

    value[LONG_VALUE] = '\0';
    expect_h2(h2_wait(h2, h2_ask(h2, "HEAD", "/canary", NULL, false)), 200);
    for (int i = 0; i < STREAMS; i++)
        streams[i] = h2_ask(h2, "GET", "/canary", H2_WITH("cookie", value),
                            false);
    h2_sync(h2);
    h2_settings(h2,
                &(struct h2_setting){NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                     65535},
                1);
    for (int i = 0; i < STREAMS; i++)
        expect_h2_body(h2_wait(h2, streams[i]), "canary\n");
    assert_true(h2_abuses(server, "memory") == before);
}

/* A client that is known, and takes none of its answers. */
static void ask_often(int times, const char *cookie)
{
    struct h2 *h2 = H2_OPEN_WITH(server,
                                 {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0});

    expect_h2(h2_wait(h2, h2_ask(h2, "HEAD", "/canary", NULL, false)), 200);
    for (int i = 0; i < times; i++)
        (void)h2_ask(h2, "GET", "/canary", H2_WITH("cookie", cookie), false);
    h2_sync(h2);
}

/* Clients that fill all they may leave enough for the next. */
TEST(who_has_many_long_heads_leaves_room_for_those_of_others)
{
    enum { GREEDY = 8, STREAMS = 95, LONG_VALUE = 15000, USUAL_VALUE = 4000 };
    char *value = memset(scratch(LONG_VALUE + 1), 'x', LONG_VALUE + 1);
    unsigned long before;

    value[LONG_VALUE] = '\0';
    before = h2_abuses(server, "memory");
    for (int i = 0; i < GREEDY; i++)
        ask_often(STREAMS, value);
    assert_true(h2_abuses(server, "memory") > before);
    before = h2_abuses(server, "memory");
    value[USUAL_VALUE] = '\0';
    ask_often(STREAMS, value);
    assert_true(h2_abuses(server, "memory") == before);
}

/* --- What is given up ---------------------------------------------------- */

/* Of each a frame is held; all of them are more than the connection's window. */
TEST(what_is_held_of_a_stream_that_is_given_up_leaves_room_for_others)
{
    enum { ROUNDS = 60 };
    static const char piece[8192];
    struct h2 *h2 = open_full(server);

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t stream = h2_ask(h2, "PUT", "/kv/k", NULL, true);

        if (!h2_body(h2, stream, piece, sizeof(piece), i % 2))
            flunk("round %d", i);
        h2_reset(h2, stream, NGHTTP2_CANCEL);
    }
    make_room(h2);
    expect_h2(h2_wait(h2, put(h2, "/kv/given-up", NULL, LONG, false)), 201);
}

/* The socket is full of what was framed of them: they are streams no more all
 * the same. */
TEST(streams_that_are_given_up_leave_their_places_at_once)
{
    enum { STREAMS = 100 };
    struct h2 *h2 = h2_open_narrow(server, 4096);
    uint32_t stream;

    h2_say(h2, RAW(H2_PREFACE));
    h2_settings(h2,
                &(struct h2_setting){NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                     INT32_MAX},
                1);
    h2_window(h2, 0, 1 << 30);
    for (int i = 0; i < STREAMS; i++)
        (void)h2_ask(h2, "GET", "/medium", NULL, false);
    h2_expect_usable(h2_open(server));
    pause_ms(100);
    for (uint32_t i = 0; i < STREAMS; i++)
        h2_reset(h2, 2 * i + 1, NGHTTP2_CANCEL);
    for (int i = 0; i < STREAMS; i++)
        stream = h2_ask(h2, "GET", "/canary", NULL, false);
    for (uint32_t id = stream; id > 2 * STREAMS; id -= 2)
        expect_h2_body(h2_wait(h2, id), "canary\n");
}

/* --- Uploads to the store ------------------------------------------------ */

/* They wait for their clients: nobody else does for them. */
TEST(a_hundred_uploads_have_nobody_else_wait)
{
    enum { UPLOADS = 99 };
    struct h2 *h2 = h2_open(server);

    for (int i = 0; i < UPLOADS; i++)
        (void)h2_ask(h2, "PUT", "/kv/never", NULL, true);
    expect_h2_body(h2_get(h2, "/canary"), "canary\n");
}

/* By turns, and all of them are longer than what is held of those that wait. */
TEST(a_hundred_uploads_at_once_all_arrive)
{
    enum { UPLOADS = 100, PIECE = 2048, PIECES = 8 };
    struct h2 *h2 = h2_open(server);
    struct h2 *other = h2_open(server);
    char *value = scratch(PIECE * PIECES);
    uint32_t streams[UPLOADS];

    seeded_fill(SEED, 0, value, PIECE * PIECES);
    for (int i = 0; i < UPLOADS; i++)
        streams[i] = h2_ask(h2, "PUT", printed("/kv/u%d", i), NULL, true);
    for (size_t at = 0; at < PIECES; at++)
        for (int i = 0; i < UPLOADS; i++)
            assert_true(h2_body(h2, streams[i], value + at * PIECE, PIECE,
                                at + 1 < PIECES));
    for (int i = 0; i < UPLOADS; i++) {
        expect_h2(h2_wait(h2, streams[i]), 201);
        expect_h2_seeded(h2_get(other, printed("/kv/u%d", i)), SEED, 0,
                         PIECE * PIECES);
    }
}

E2E_SUITE(start);
