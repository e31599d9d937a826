/*
 * Long replies that go through pipes, and the same ones copied: the client sees
 * no difference.
 */
#include <dirent.h>
#include <signal.h>

#include "configured.h"
#include "origin.h"
#include "upstream.h"

enum {
    KB = 1024,
    MB = 1024 * KB,
    LARGE = 20 * MB,
    NARROW = 4 * KB, /* of a client's receive buffer */
    SLOW_CLIENTS = 60,
    FEW_DESCRIPTORS = 8 /* but connections and pipes of those that are slow */
};

/* Each test is run with both. */
static const char *const ways[] = {"--proxy-splice=on", "--proxy-splice=off"};

static struct server *start_before(const struct origin *origin, size_t way)
{
    going_on("%s", ways[way]);
    return START("--workers=1", printed("--proxy=/=%s", origin->at), ways[way]);
}

static void ask_for(struct client *client, const char *what, size_t seed,
                    size_t len)
{
    client_say(client, "GET /%s/%zu/%zu HTTP/1.1\r\nHost: a\r\n\r\n", what,
               seed, len);
}

TEST(a_long_body_comes_byte_for_byte)
{
    for (size_t way = 0; way < 2; way++) {
        struct origin *origin = origin_start("origin");
        struct server *server = start_before(origin, way);
        struct client *client = client_open(server);

        /* One after the other over the same connections. */
        for (size_t i = 0; i < 2; i++) {
            ask_for(client, "bytes", i, LARGE + i);
            expect_seeded(client_reply(client), i, 0, LARGE + i);
            ask_for(client, "bytes", i, 100 * i);
            expect_seeded(client_reply(client), i, 0, 100 * i);
        }
        assert_int_equal(atomic_load(&origin->counts->connected), 1);
        origin_check(origin);
    }
}

/* Around what is worth a pipe. */
TEST(bodies_of_any_length_come_whole)
{
    static const size_t lengths[] = {65535,  65536,  65537,  100000,
                                     131072, 262144, 262145, 600000};

    for (size_t way = 0; way < 2; way++) {
        struct origin *origin = origin_start("origin");
        struct client *client = client_open(start_before(origin, way));

        for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
            for (size_t kind = 0; kind < 3; kind++) {
                ask_for(client,
                        (const char *const[]){"bytes", "chunks", "close"}[kind],
                        i, lengths[i]);
                expect_seeded(client_reply(client), i, 0, lengths[i]);
            }
        }
        origin_check(origin);
    }
}

TEST(who_knows_no_chunks_gets_a_body_until_the_close)
{
    for (size_t way = 0; way < 2; way++) {
        struct origin *origin = origin_start("origin");
        struct client *client = client_open(start_before(origin, way));

        client_say(client, "GET /close/3/%d HTTP/1.0\r\nHost: a\r\n\r\n",
                   LARGE);
        expect_seeded(client_reply(client), 3, 0, LARGE);
        client_expect_end(client);
        origin_check(origin);
    }
}

/* They cost no memory, and descriptors only as long as they are there. */
TEST(slow_clients_cost_a_pipe_each)
{
    struct origin *origin = origin_start("origin");
    struct server *server = start_before(origin, 0);
    struct client *clients[SLOW_CLIENTS];
    size_t descriptors;
    uint64_t before;

    expect_status(get(server, "/f"), 200);
    before = server_memory(server);
    descriptors = server_descriptors(server);
    for (size_t i = 0; i < SLOW_CLIENTS; i++) {
        clients[i] = client_open_narrow(server, NARROW);
        ask_for(clients[i], "bytes", i, LARGE);
        client_take(clients[i], 300 * KB);
    }
    expect_status(get(server, "/f"), 200);
    assert_true(server_descriptors(server) <=
                descriptors + 4 * SLOW_CLIENTS + FEW_DESCRIPTORS);
    assert_true(server_memory(server) - before <
                (is_sanitized() ? 16u : 1u) * 16 * MB);
    for (size_t i = 0; i < SLOW_CLIENTS; i++) {
        if (i < 3)
            expect_seeded(client_reply(clients[i]), i, 0, LARGE);
        client_close(clients[i]);
    }
    assert_true(eventually(atomic_load(&origin->counts->open) <= 8, 10000));
    /* The pipes were not empty. */
    assert_true(eventually(server_descriptors(server) <=
                               descriptors + 2 * 8 + FEW_DESCRIPTORS,
                           10000));
    origin_check(origin);
}

/* --- Switching over ------------------------------------------------------ */

/* Ends of pipes that the server has open. */
static size_t count_pipes(const struct server *server)
{
    DIR *entries = opendir(printed("/proc/%d/fd", (int)server->pid));
    const struct dirent *entry;
    size_t count = 0;
    char kind[5];

    assert_non_null(entries);
    while ((entry = readdir(entries)))
        count += readlinkat(dirfd(entries), entry->d_name, kind,
                            sizeof(kind)) == sizeof(kind) &&
                 memcmp(kind, "pipe:", sizeof(kind)) == 0;
    closedir(entries);
    return count;
}

/* Of a server whose name says which way it is. */
static const char *configured_by(const struct origin *origin, const char *way)
{
    return printed("root = site\nworkers = 1\nproxy = {\"/=%s\"}\n"
                   "proxy-splice = %s\nproxy-name = %s\n",
                   origin->at, way, way);
}

static void reload_by(const struct server *server, const struct origin *origin,
                      const char *way)
{
    const char *via = printed("1.1 %s", way);

    (void)configuration(configured_by(origin, way));
    server_signal(server, SIGHUP);
    assert_true(eventually(reply_says(get(server, "/f"), "Via", via), 5000));
}

/* Is in the middle of a long body. */
static struct client *begin(const struct server *server, size_t seed)
{
    struct client *client = client_open_narrow(server, NARROW);

    ask_for(client, "bytes", seed, LARGE);
    client_take(client, 300 * KB);
    return client;
}

TEST(a_reload_switches_over_what_is_asked_from_then_on)
{
    struct origin *origin = origin_start("origin");
    struct server *server = start_configured(configured_by(origin, "on"));
    size_t before = count_pipes(server);
    struct client *clients[3];

    clients[0] = begin(server, 0);
    assert_int_equal(count_pipes(server), before + 2);
    reload_by(server, origin, "off");
    clients[1] = begin(server, 1);
    assert_int_equal(count_pipes(server), before + 2);
    reload_by(server, origin, "on");
    clients[2] = begin(server, 2);
    assert_int_equal(count_pipes(server), before + 4);
    for (size_t i = 0; i < 3; i++)
        expect_seeded(client_reply(clients[i]), i, 0, LARGE);
    origin_check(origin);
}

/* --- Breaking off -------------------------------------------------------- */

TEST_WITH(an_upstream_that_breaks_off_breaks_the_answer_off, NULL,
          harness_after_test)
{
    static char block[MB];

    memset(block, 'x', sizeof(block));
    for (size_t way = 0; way < 4; way++) {
        struct upstream *upstream = upstream_open();
        struct server *server = PROXY(upstream, ways[way % 2]);
        struct client *client = client_open(server);
        struct reply *reply;
        struct client *peer;

        going_on("%s %s", ways[way % 2], way < 2 ? "closed" : "reset");
        peer = upstream_asked(upstream, client,
                              "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        client_say(peer, OK "Content-Length: %d\r\n\r\n", LARGE);
        client_send(peer, block, sizeof(block));
        assert_true(client_take(client, 512 * KB) >= 512 * KB);
        if (way < 2)
            client_close(peer);
        else
            client_reset(peer);
        assert_int_equal(client_try(client, false, &reply), CLIENT_BROKEN);
        /* That was its own fault alone. */
        client = client_open(server);
        peer = upstream_asked(upstream, client,
                              "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        client_say(peer, OK "Content-Length: 2\r\n\r\nhi");
        expect_body(client_reply(client), "hi");
    }
}

SUITE(.begin = harness_begin, .end = harness_end,
      .each_end = origins_after_test);
