/*
 * A store with values kept in memory, seen from outside: whatever the policy
 * and the groups, answers are those of the store.
 */
#include "store.h"

#include <sysexits.h>

enum { CLIENTS = 12, ROUNDS = 40, READS = 200, KEYS = 60 };

static const char *const ways[][3] = {
    {"--kv-cache-size=0", "--kv-cache-policy=lru", "--kv-lock-groups=1"},
    {"--kv-cache-size=64K", "--kv-cache-policy=lru", "--kv-lock-groups=1"},
    {"--kv-cache-size=64K", "--kv-cache-policy=gdsf", "--kv-lock-groups=3"},
    {"--kv-cache-size=100K", "--kv-cache-policy=sieve", "--kv-lock-groups=1"},
    {"--kv-cache-size=4M", "--kv-cache-policy=sieve", "--kv-lock-groups=1024"}};

enum { WAYS = sizeof(ways) / sizeof(*ways) };

static struct server *start_way(unsigned way)
{
    return START_STORE(store_folder(), "--workers=4", "--kv-sync=off",
                       ways[way][0], ways[way][1], ways[way][2]);
}

TEST(a_write_is_seen_by_all_workers_at_once)
{
    for (unsigned way = 0; way < WAYS; way++) {
        struct server *one = start_way(way);
        struct client *clients[CLIENTS];

        for (unsigned i = 0; i < CLIENTS; i++)
            clients[i] = client_open(one);
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct client *writer = clients[round % CLIENTS];
            const char *text = printed("value %u", round);

            going_on("%s, round %u", ways[way][1], round);
            store_put(writer, "key", text);
            for (unsigned i = 0; i < 2 * CLIENTS; i++)
                store_holds(clients[i % CLIENTS], "key", text);
        }
        expect_status(store_ask(clients[0], "DELETE", "key", NULL, NULL), 204);
        for (unsigned i = 0; i < CLIENTS; i++)
            expect_status(store_ask(clients[i], "GET", "key", NULL, NULL), 404);
        clients_close();
        server_stop(one);
    }
}

/* Nobody waits for anybody: writes and reads are all under way. */
TEST(no_connection_sees_revisions_fall)
{
    for (unsigned way = 0; way < WAYS; way++) {
        struct server *one = start_way(way);
        struct client *writer = client_open(one);
        struct client *clients[CLIENTS];

        store_put(writer, "key", "first");
        for (unsigned i = 0; i < CLIENTS; i++)
            clients[i] = client_open(one);
        for (unsigned round = 0; round < READS; round++) {
            store_say(writer, "PUT", "key", NULL, printed("%u", round));
            for (unsigned i = 0; i < CLIENTS; i++)
                store_say(clients[i], "GET", "key", NULL, NULL);
        }
        for (unsigned i = 0; i < CLIENTS; i++) {
            uint64_t last = 0;

            for (unsigned round = 0; round < READS; round++) {
                struct reply *reply = client_reply(clients[i]);

                expect_status(reply, 200);
                assert_true(reply_revision(reply) >= last);
                last = reply_revision(reply);
            }
        }
        for (unsigned round = 0; round < READS; round++)
            expect_status(client_reply(writer), 204);
        clients_close();
        server_stop(one);
    }
}

TEST(values_are_whole_under_pressure)
{
    char *text = scratch(KEYS * 200);

    for (unsigned way = 0; way < WAYS; way++) {
        struct server *one = start_way(way);
        struct client *client = client_open(one);

        memset(text, 'v', KEYS * 200);
        for (unsigned i = 0; i < KEYS; i++)
            store_put(client, printed("key/%u", i),
                      printed("%u:%.*s", i, (int)(i * 199), text));
        for (unsigned i = 0; i < 10 * KEYS; i++) {
            unsigned key = i % 3 == 0 ? i * 7 % KEYS : i % 5;

            store_holds(client, printed("key/%u", key),
                        printed("%u:%.*s", key, (int)(key * 199), text));
        }
        clients_close();
        server_stop(one);
    }
}

/* The second time it comes from memory. */
TEST(what_is_kept_is_answered_in_every_form)
{
    struct server *one = start_way(2);
    struct client *client = client_open(one);
    struct reply *reply = store_ask(client, "PUT", "key?ttl=1000",
                                    "Content-Type: text/plain\r\n", "blue");
    uint64_t revision = reply_revision(reply);
    const char *match = printed("If-None-Match: \"%llu\"\r\n",
                                (unsigned long long)revision);

    expect_status(reply, 201);
    for (unsigned i = 0; i < 3; i++) {
        reply = store_ask(client, "GET", "key", NULL, NULL);
        expect_body(reply, "blue");
        expect_field(reply, "Content-Type", "text/plain");
        assert_non_null(reply_field(reply, "X-KV-Expires"));
        assert_true(reply_revision(reply) == revision);
        reply = store_ask(client, "HEAD", "key", NULL, NULL);
        expect_status(reply, 200);
        assert_int_equal(reply->length, 4);
        reply = store_ask(client, "GET", "key", "Range: bytes=1-2\r\n", NULL);
        expect_status(reply, 206);
        expect_body(reply, "lu");
        expect_status(store_ask(client, "GET", "key", match, NULL), 304);
    }
}

TEST(options_are_checked)
{
    static const char *const wrong[][2] = {
        {"--kv-cache-size=-1", "--kv-cache-size"},
        {"--kv-cache-size=2T", "--kv-cache-size"},
        {"--kv-cache-policy=random", "--kv-cache-policy"},
        {"--kv-lock-groups=0", "--kv-lock-groups"},
        {"--kv-lock-groups=1025", "--kv-lock-groups"}};
    const char *store = printed("/kv=%s", store_folder());
    struct outcome outcome;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        going_on("%s", wrong[i][0]);
        RUN(&outcome, "-t", "--kv", store, wrong[i][0], site());
        assert_int_equal(outcome.status, EX_USAGE);
        assert_non_null(strstr(outcome.err, wrong[i][1]));
    }
    RUN(&outcome, "-t", "--kv", store, "--kv-cache-size=64M",
        "--kv-cache-policy=gdsf", "--kv-lock-groups=1024", site());
    assert_int_equal(outcome.status, 0);
}

E2E_SUITE(harness_begin_site);
