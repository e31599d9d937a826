/*
 * HTTP/2: what a client can make the server keep in memory: heads, their
 * tables, answers that nobody takes.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "h2_client.h"
#include "origin.h"
#include "upstream.h"

enum { LARGE = 2 << 20, SEED = 3 };

static struct server *server;
static struct server *secure_server; /* of clients that come over TLS */

static int start(void **state)
{
    if (h2_begin(state) != 0)
        return -1;
    site_seeded("large", SEED, LARGE);
    server = H2_START("--workers=1", "--status=/_s");
    secure_server = server_start(&(struct launch){.is_tls = true},
                                 (const char *const[]){"--workers=1",
                                                       "--status=/_s", NULL});
    harness_keep();
    return 0;
}

/* --- Heads --------------------------------------------------------------- */

TEST(heads_have_their_limits)
{
    enum { ROOM = 16384, LONG = 4000 };
    struct h2 *h2 = h2_open(server);
    const char *many[2 * 130 + 1] = {NULL};
    char *value = memset(scratch(70000), 'x', 70000);

    for (size_t i = 0; i < 2 * 99; i++)
        many[i] = i % 2 ? "value" : "name";
    expect_h2(h2_get_with(h2, "/canary", many), 200);
    for (size_t i = 0; i < 2 * 130; i++)
        many[i] = i % 2 ? "c=1" : "cookie";
    going_on("130 cookies"); /* one field of HTTP/1.1 */
    expect_h2(h2_get_with(h2, "/canary", many), 200);
    for (size_t i = 0; i < 2 * 130; i++)
        many[i] = i % 2 ? "value" : "name";
    going_on("130 fields");
    expect_h2(h2_get_with(h2, "/canary", many), 431);
    value[ROOM - 400] = '\0';
    going_on("15 KiB");
    expect_h2(h2_get_with(h2, "/canary", H2_WITH("x", value)), 200);
    value[ROOM - 400] = 'x';
    value[ROOM + 1] = '\0';
    going_on("16 KiB and one byte");
    expect_h2(h2_get_with(h2, "/canary", H2_WITH("x", value)), 431);
    h2_expect_usable(h2);
}

/* One long field in the table, and a thousand times one byte that means it. */
TEST(hpack_bombs_do_not_go_off)
{
    enum { LONG = 3900, TIMES = 10000 };
    struct h2 *h2 = h2_open(server);
    char *value = memset(scratch(LONG + 1), 'v', LONG + 1);
    uint8_t *block = scratch(LONG + TIMES + 100);
    unsigned long before = h2_abuses(server, "headers");
    uint64_t bytes = server_memory(server);
    size_t len;

    value[LONG] = '\0';
    len = h2_encode(h2, H2_GET_OF(h2, "a", "/canary"), block, LONG);
    len += h2_encode(h2, H2_WITH("bomb", value), block + len, LONG + 100);
    memset(block + len, 0xbe, TIMES); /* the newest of the table */
    len += TIMES;
    h2_expect_stream(h2, 1);
    h2_frame(h2, NGHTTP2_HEADERS, 5, 1, block,
             len < H2_FRAME_MAX ? len : H2_FRAME_MAX);
    h2_expect_goaway(h2, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_true(h2_abuses(server, "headers") == before + 1);
    assert_true(is_sanitized() || server_memory(server) < bytes + (1 << 20));
}

/* --- Memory -------------------------------------------------------------- */

/* CVE-2019-9517 and 9511: much is asked for, and nothing taken. */
static void take_nothing(const struct server *of)
{
    enum { CLIENTS = 24, EACH = 256 << 10 };
    struct h2 *clients[CLIENTS];
    char *value = memset(scratch(3001), 'x', 3001);
    uint64_t bytes;

    value[3000] = '\0';
    h2_expect_usable(h2_open(of));
    bytes = server_memory(of);
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = h2_open_narrow(of, 4096);
        h2_say(clients[i], RAW(H2_PREFACE));
        h2_settings(clients[i],
                    &(struct h2_setting){NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                         i % 2 ? 1 : INT32_MAX},
                    1);
        h2_window(clients[i], 0, 1 << 30);
        for (int stream = 0; stream < 100; stream++)
            (void)h2_ask(clients[i], "GET", "/large", H2_WITH("x", value),
                         false);
        for (int ping = 0; ping < 50; ping++)
            h2_ping(clients[i]);
    }
    h2_expect_usable(h2_open(of));
    going_on("%llu bytes a connection",
             (unsigned long long)(server_memory(of) - bytes) / CLIENTS);
    assert_true(is_sanitized() || server_memory(of) < bytes + CLIENTS * EACH);
    h2_expect_usable(h2_open(of));
}

TEST(a_connection_that_takes_nothing_holds_little)
{
    take_nothing(server);
}

TEST(neither_does_it_over_tls)
{
    take_nothing(secure_server);
}

/* One that has freed nothing yet. */
static struct server *start_anew(void)
{
    static int count;

    return H2_START("--workers=1", "--autoindex",
                    printed("--kv=/kv=%s/kv%d", folder(), count++));
}

/* Answers of several connections, of which no more than `window` bytes each are
 * taken. */
static void expect_little_from(const struct server *of, const char *path,
                               uint32_t window, const char *method,
                               const char *const *fields)
{
    /* With what malloc() has between the blocks. */
    enum { CLIENTS = 12, STREAMS = 99, EACH = 288 << 10 };
    uint64_t bytes = 0;

    for (int i = -1; i < CLIENTS; i++) {
        struct h2 *h2 = H2_OPEN_WITH(of, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                          window});

        for (int stream = 0; stream < STREAMS; stream++)
            (void)h2_ask(h2, method, path, fields, false);
        h2_sync(h2);
        if (i == -1)
            bytes = server_memory(of);
    }
    bytes = (server_memory(of) - bytes) / CLIENTS;
    print_message("%llu bytes a connection\n", (unsigned long long)bytes);
    assert_true(is_sanitized() || bytes < EACH);
}

static void expect_little_of(const char *method, const char *const *fields)
{
    expect_little_from(start_anew(), "/large", 0, method, fields);
}

/* As many as one request may ask for: heads of parts, and a table of them. */
TEST(answers_of_many_ranges_hold_little)
{
    enum { RANGES = 32 };
    char *ranges = scratch(RANGES * 12);
    int len = snprintf(ranges, RANGES * 12, "bytes=0-0");

    for (int i = 1; i < RANGES; i++)
        len += snprintf(ranges + len, RANGES * 12 - (size_t)len, ",%d-%d",
                        2 * i, 2 * i);
    expect_h2(h2_get_with(h2_open(server), "/large", H2_WITH("range", ranges)),
              206);
    expect_little_of("GET", H2_WITH("range", ranges));
}

TEST(requests_of_many_fields_hold_little)
{
    static const char *many[2 * 99 + 1];

    for (size_t i = 0; i < 2 * 99; i++)
        many[i] = i % 2 ? "" : "x";
    expect_little_of("GET", many);
}

TEST(refusals_hold_little)
{
    struct h2 *h2 = h2_open(server);
    char *value = memset(scratch(801), 'x', 800);

    value[800] = '\0';
    expect_h2(h2_wait(h2, h2_ask(h2, "NOSUCH", "/large", NULL, false)), 501);
    expect_little_of("NOSUCH", H2_WITH("x", value));
}

/* They are made while they are sent, from names that are read for that. */
TEST(listings_hold_little)
{
    enum { NAMES = 60, LONG = 200 }; /* they are read at once */
    char *name = memset(scratch(LONG + 1), 'x', LONG + 1);

    name[LONG] = '\0';
    for (int i = 0; i < NAMES; i++) {
        name[0] = (char)('0' + i);
        site_text(printed("names/%s", name), "");
    }
    going_on("none is taken");
    expect_little_from(start_anew(), "/names/", 0, "GET", NULL);
    going_on("one byte is");
    expect_little_from(start_anew(), "/names/", 1, "GET", NULL);
}

/* A hundred long keys, of which each list has a page in memory. */
TEST(lists_of_keys_hold_little)
{
    enum { KEYS = 100, LONG = 200 };
    char *key = memset(scratch(LONG + 1), 'x', LONG + 1);
    struct server *one = start_anew();
    struct h2 *h2 = h2_open(one);

    key[LONG] = '\0';
    for (int i = 0; i < KEYS; i++) {
        key[0] = (char)('0' + i / 10);
        key[1] = (char)('0' + i % 10);
        expect_h2(h2_wait(h2, h2_ask(h2, "PUT", printed("/kv/%s", key), NULL,
                                     false)),
                  201);
    }
    expect_little_from(one, "/kv/", 1, "GET", NULL);
}

/* --- Bodies for others --------------------------------------------------- */

enum {
    UPLOADS = 40,
    PIECE = 4096,
    PIECES = 12,                  /* less than what is waited for */
    UPLOADS_BYTES_MAX = 768 << 10 /* 40 times a page, too */
};

/* An upstream that reads nothing, and lets in no more than so many. */
static int listen_deafly(int backlog, unsigned *port_out)
{
    struct sockaddr_in place = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(place);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd != -1 &&
                bind(fd, (struct sockaddr *)&place, sizeof(place)) == 0 &&
                listen(fd, backlog) == 0 &&
                getsockname(fd, (struct sockaddr *)&place, &len) == 0);
    *port_out = ntohs(place.sin_port);
    return fd;
}

static struct server *start_before(unsigned port)
{
    return H2_START("--workers=1", "--status=/_s", "--proxy-connect-timeout=60",
                    printed("--proxy=/up/=http://127.0.0.1:%u", port));
}

/* Of each upload a piece by turns, until no more is taken. */
static size_t upload_all(struct h2 *h2, const char *const *fields)
{
    static const char piece[PIECE];
    uint32_t streams[UPLOADS];
    size_t said = 0;

    for (size_t i = 0; i < UPLOADS; i++)
        streams[i] = h2_ask(h2, "POST", "/up/x", fields, true);
    for (size_t i = 0; i < PIECES * UPLOADS; i++) {
        if (h2->send_window < PIECE)
            h2_settle(h2, patience(100));
        if (h2->send_window < PIECE)
            break;
        assert_true(h2_body(h2, streams[i % UPLOADS], piece, PIECE, true));
        said += PIECE;
    }
    h2_sync(h2);
    return said;
}

/* Bytes that each of some connections has the server hold. */
static uint64_t measure_uploads(int backlog, size_t *said_out)
{
    enum { CLIENTS = 6 };
    static const char *const lengths[] = {"content-length", "1000000", NULL};
    unsigned port;
    int deaf = listen_deafly(backlog, &port);
    struct server *one = start_before(port);
    uint64_t bytes;

    upload_all(h2_open(one), lengths);
    bytes = server_memory(one);
    *said_out = 0;
    for (size_t i = 0; i < CLIENTS; i++)
        *said_out += upload_all(h2_open(one), i % 2 ? lengths : NULL) / CLIENTS;
    bytes = (server_memory(one) - bytes) / CLIENTS;
    print_message("%llu bytes of %zu a connection\n", (unsigned long long)bytes,
                  *said_out);
    close(deaf);
    return bytes;
}

/* What has come of them waits for more. */
TEST(uploads_of_a_connection_hold_little_in_all)
{
    size_t said;

    assert_true(measure_uploads(1024, &said) < UPLOADS_BYTES_MAX ||
                is_sanitized());
    assert_int_equal(said, UPLOADS * PIECES * PIECE); /* nobody stands still */
}

/* Nothing goes on, and the client stands still before the server holds much. */
TEST(uploads_that_nobody_takes_stand_still)
{
    size_t said;

    assert_true(measure_uploads(0, &said) < UPLOADS_BYTES_MAX ||
                is_sanitized());
    assert_true(said < 256 << 10);
}

/* --- Waiting for others -------------------------------------------------- */

enum {
    WAITERS = 6,
    WAITING = 99,
    CONNECTION_BYTES_MAX = 256 << 10,
    /* With heads that are longer, and tables of fields on the way there. */
    LONGER_BYTES_MAX = 384 << 10
};

/* Of each connection, with what it takes itself. */
static void expect_little(const struct server *of, uint64_t before,
                          uint64_t most)
{
    uint64_t bytes = (server_memory(of) - before) / WAITERS;

    print_message("%llu bytes a connection, %llu a stream\n",
                  (unsigned long long)bytes,
                  (unsigned long long)bytes / WAITING);
    assert_true(bytes < most || is_sanitized());
}

static struct h2 *wait_for_upstream(const struct server *of,
                                    const char *const *fields)
{
    struct h2 *h2 = h2_open(of);

    for (int stream = 0; stream < WAITING; stream++)
        (void)h2_ask(h2, "GET", "/up/x", fields, false);
    h2_sync(h2);
    return h2;
}

/* A hundred on a connection, all of which have reached it. */
TEST(what_waits_for_an_upstream_holds_little)
{
    unsigned port;
    int deaf = listen_deafly(2 * WAITERS * WAITING, &port);
    struct server *one = start_before(port);
    uint64_t before = 0;

    for (int i = -1; i < WAITERS; i++) {
        struct h2 *h2 = wait_for_upstream(one, NULL);

        expect_h2(h2_get(h2, "/canary"), 200);
        if (i == -1)
            before = server_memory(one);
    }
    expect_little(one, before, CONNECTION_BYTES_MAX);
    close(deaf);
}

/* Fewer have reached it, if they are longer. */
static void wait_with(const char *const *fields)
{
    unsigned port;
    int deaf = listen_deafly(2 * WAITERS * WAITING, &port);
    struct server *one = start_before(port);
    uint64_t before;

    (void)wait_for_upstream(one, fields);
    before = server_memory(one);
    for (int i = 0; i < WAITERS; i++)
        (void)wait_for_upstream(one, fields);
    expect_little(one, before, LONGER_BYTES_MAX);
    close(deaf);
}

TEST(so_does_what_waits_with_many_fields)
{
    static const char *many[2 * 99 + 1];

    for (size_t i = 0; i < 2 * 99; i++)
        many[i] = i % 2 ? "" : "x";
    wait_with(many);
}

TEST(so_does_what_waits_with_long_fields)
{
    char *value = memset(scratch(16000), 'x', 16000);

    value[15999] = '\0';
    wait_with(H2_WITH("x", value));
    value[900] = '\0';
    wait_with(H2_WITH("x", value));
}

/* Each gets its head, and the beginning of a body without an end. */
static void begin_all(struct upstream *upstream, struct h2 *h2)
{
    for (int stream = 0; stream < WAITING; stream++) {
        struct client *peer = upstream_accept(upstream);

        (void)hear_head(peer);
        client_say(peer, OK "Transfer-Encoding: chunked\r\n\r\n"
                            "3\r\none\r\n");
    }
    for (uint32_t stream = 0; stream < WAITING; stream++)
        expect_h2(h2_wait_head(h2, 2 * stream + 1), 200);
    h2_sync(h2);
}

TEST(so_do_streams_without_an_end)
{
    struct upstream *upstream = upstream_open();
    struct server *one = start_before(upstream->port);
    uint64_t before = 0;

    for (int i = -1; i < WAITERS; i++) {
        struct h2 *h2 = wait_for_upstream(one, NULL);

        begin_all(upstream, h2);
        if (i == -1)
            before = server_memory(one);
    }
    expect_little(one, before, LONGER_BYTES_MAX);
}

/* Fewer begin at first, as their heads are long, and none of these ever ends:
 * the others do not wait for that. */
TEST(streams_without_an_end_have_no_others_wait)
{
    struct upstream *upstream = upstream_open();
    struct server *one = start_before(upstream->port);
    char *value = memset(scratch(901), 'x', 900);
    struct h2 *h2;

    value[900] = '\0';
    h2 = wait_for_upstream(one, H2_WITH("x", value));
    begin_all(upstream, h2);
    expect_h2(h2_get(h2, "/canary"), 200);
}

/* --- Uploads that share -------------------------------------------------- */

/* What stands still goes on when others have made room. */
TEST(uploads_that_share_what_room_there_is_all_arrive)
{
    enum { PARTS = 50, BYTES = PARTS * PIECE };
    struct origin *origin = origin_start("a");
    struct server *one = H2_START("--workers=1",
                                  printed("--proxy=/=%s", origin->at));
    struct h2 *h2 = h2_open(one);
    char *body = scratch(BYTES);
    const char *length = printed("%d", BYTES);
    uint32_t streams[UPLOADS];

    seeded_fill(SEED, 0, body, BYTES);
    for (size_t i = 0; i < UPLOADS; i++)
        streams[i] = h2_ask(h2, "POST", "/echo",
                            i % 2 ? H2_WITH("content-length", length) : NULL,
                            true);
    for (size_t part = 0; part < PARTS; part++)
        for (size_t i = 0; i < UPLOADS; i++)
            assert_true(h2_body(h2, streams[i], body + part * PIECE, PIECE,
                                part < PARTS - 1));
    for (size_t i = 0; i < UPLOADS; i++)
        expect_h2_seeded(h2_wait(h2, streams[i]), SEED, 0, BYTES);
    h2_expect_usable(h2);
    origin_check(origin);
}

/* Frames that want an answer, which is never read. */
TEST(answers_that_nobody_reads_are_not_gathered)
{
    enum { PINGS = 200000 };
    static const char pings[] = "\0\0\x8\6\0\0\0\0\0"
                                "12345678";
    struct h2 *h2 = h2_open_narrow(server, 4096);
    uint64_t bytes = server_memory(server);
    size_t said = 0;

    if (client_secured(h2->client))
        skip(); /* what is said below is said to the socket */
    h2_say(h2, RAW(H2_PREFACE));
    h2_settings(h2, NULL, 0);
    while (said < PINGS && send(client_socket(h2->client), pings,
                                sizeof(pings) - 1, MSG_NOSIGNAL) > 0)
        said++;
    h2_expect_usable(h2_open(server));
    assert_true(h2_abuses(server, "pings") + h2_abuses(server, "unread") > 0);
    assert_true(is_sanitized() || server_memory(server) < bytes + (1 << 20));
}

/* Windows of one byte over a hundred large streams. */
TEST(windows_of_one_byte_come_to_an_end)
{
    struct h2 *h2 = H2_OPEN_WITH(server,
                                 {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1});
    struct h2 *other = h2_open(server);
    struct h2_frame frame;
    unsigned rounds = 0;

    h2->is_stingy = true;
    for (int i = 0; i < 100; i++)
        (void)h2_ask(h2, "GET", "/large", NULL, false);
    while (h2->goaways == 0 && !h2->has_ended && rounds++ < 5000)
        for (uint32_t stream = 1; stream < 201 && h2->goaways == 0;
             stream += 2) {
            h2_window(h2, stream, 1);
            while (h2_hears(h2, 0) && h2_take(h2, &frame))
                ;
        }
    h2_expect_usable(other);
    h2_expect_goaway(h2, NGHTTP2_ENHANCE_YOUR_CALM);
}

SUITE(.begin = start, .end = harness_end, .each_end = origins_after_test);
