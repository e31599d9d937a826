/*
 * Changes as they happen, of a store over Redis: told of where the engine tells
 * us, and of all machines of a cluster.
 */
#include "redis.h"
#include "sse.h"
#include "store.h"

enum { SOON_MS = 20000 };

static void allow_notices(const struct redis *redis, const char *flags)
{
    assert_string_equal(redis_ask(redis, "CONFIG SET notify-keyspace-events %s",
                                  flags),
                        "OK\n");
}

static struct server *serve(const struct redis *redis)
{
    struct server *one = START_STORE(printed("redis://127.0.0.1:%u",
                                             redis->port),
                                     "--workers=2");

    if (!eventually(store_ask_alone(one, "GET", "none", NULL, NULL)->status ==
                        404,
                    SOON_MS))
        flunk("the store is not there");
    return one;
}

TEST(an_engine_that_tells_nothing_gives_501)
{
    static const char *const flags[] = {"\"\"", "KEA", "K$lshzxe",
                                        "gxhe", "KA",  "Kghxe"};
    struct redis *redis = redis_make(NULL);
    struct server *one;

    redis_start(redis);
    one = serve(redis);
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        struct client *client = client_open(one);
        bool is_enough = strchr(flags[i], 'K') &&
                         (strchr(flags[i], 'A') || strchr(flags[i], 'g'));

        going_on("%s", flags[i]);
        allow_notices(redis, flags[i]);
        if (is_enough) {
            sse_open(client, "/kv/?watch=1", NULL);
            sse_expect(client, "reset", "{}");
        } else {
            expect_problem(store_ask(client, "GET", "?watch=1", NULL, NULL),
                           501, "changes");
            client_expect_usable(client);
        }
        client_close(client);
    }
    going_on("%s", "");
}

/* Without ids: nobody could go on from one. */
TEST(changes_are_told_whoever_makes_them)
{
    struct redis *redis = redis_make(NULL);
    struct server *one, *other;
    struct client *watcher, *client;
    struct sse_event event;

    redis_start(redis);
    allow_notices(redis, "Kghxe");
    one = serve(redis);
    other = serve(redis);
    watcher = client_open(one);
    client = client_open(other);
    sse_open(watcher, "/kv/?watch=1&prefix=w%2F&since=5",
             "Last-Event-ID: 7\r\n");
    assert_int_equal(sse_expect(watcher, "reset", "{}"), 0);
    store_put(client, "no", "x");
    store_put(client, "w/a", "one");
    event = sse_next(watcher);
    assert_string_equal(event.name, "put");
    assert_int_equal(event.id, 0);
    assert_non_null(strstr(event.data, "{\"key\":\"w/a\",\"size\":3,"));
    expect_status(store_ask(client, "POST", "w/n?op=add", NULL, NULL), 201);
    sse_expect(watcher, "put", "{\"key\":\"w/n\",\"size\":1,");
    expect_status(store_ask(client, "DELETE", "w/a", NULL, NULL), 204);
    sse_expect(watcher, "delete", "{\"key\":\"w/a\"}");
    store_put(client, "w/short?ttl=1", "x");
    sse_expect(watcher, "put", "{\"key\":\"w/short\"");
    sse_expect(watcher, "expire", "{\"key\":\"w/short\"}");
}

TEST(who_may_have_missed_something_is_reset)
{
    struct redis *redis = redis_make(NULL);
    struct client *watcher, *late;
    struct server *one;

    redis_start(redis);
    allow_notices(redis, "KA");
    one = serve(redis);
    watcher = client_open(one);
    sse_open(watcher, "/kv/?watch=1", NULL);
    sse_expect(watcher, "reset", "{}");
    going_on("%s", "a listener that is killed");
    redis_ask(redis, "CLIENT KILL TYPE pubsub");
    sse_expect(watcher, "reset", "{}");
    going_on("%s", "a listener that has come back");
    store_put(client_open(one), "a", "1");
    sse_expect(watcher, "put", "{\"key\":\"a\"");
    going_on("%s", "an engine that is killed");
    /* One that starts again tells nothing, unless it is told to. */
    redis_kill(redis);
    late = client_open(one);
    /* It is noticed a little later; HEAD has no stream in any case. */
    assert_true(eventually(store_ask(late, "HEAD", "?watch=1", NULL, NULL)
                                   ->status == 503,
                           SOON_MS));
    expect_problem(store_ask(late, "GET", "?watch=1", NULL, NULL), 503,
                   "reached");
    redis_start(redis);
    sse_expect_end(watcher);
    client_expect_usable(watcher);
    going_on("%s", "");
}

/* Many at once come in the order of each key, and the last is the truth. */
TEST(all_machines_of_a_cluster_are_heard)
{
    enum { KEYS = 60 };
    struct redis *nodes[REDIS_NODES];
    static bool seen[KEYS];
    struct client *watcher, *client;
    struct server *one;

    redis_make_cluster(nodes);
    for (size_t i = 0; i < REDIS_NODES; i++)
        allow_notices(nodes[i], "KA");
    one = serve(nodes[0]);
    watcher = client_open(one);
    client = client_open(one);
    sse_open(watcher, "/kv/?watch=1", NULL);
    sse_expect(watcher, "reset", "{}");
    for (unsigned i = 0; i < KEYS; i++)
        store_say(client, "PUT", printed("k/%u", i), NULL, "x");
    for (unsigned i = 0; i < KEYS; i++)
        expect_status(client_reply(client), 201);
    for (unsigned i = 0; i < KEYS; i++) {
        struct sse_event event = sse_next(watcher);
        unsigned number = KEYS;

        assert_string_equal(event.name, "put");
        assert_int_equal(sscanf(event.data, "{\"key\":\"k/%u\"", &number), 1);
        assert_true(number < KEYS && !seen[number]);
        seen[number] = true;
    }
    for (unsigned i = 0; i < KEYS; i++)
        assert_true(seen[i]);
}

SUITE(.begin = harness_begin_site, .end = redis_end,
      .each_end = redis_after_test);
