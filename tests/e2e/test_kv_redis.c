/*
 * A store that lives in a Redis of its own: which is not there yet, is killed,
 * falls silent, has too much to do, wants a password, is shared by several
 * servers, loses all, is meddled with.
 */
#include "redis.h"
#include "store.h"

enum { SOON_MS = 15000, CLIENTS = 8 };

static const char *url_of(const struct redis *redis)
{
    return printed("redis://127.0.0.1:%u", redis->port);
}

/* What is said while the engine cannot be asked. */
static void expect_unreachable(struct reply *reply)
{
    expect_problem(reply, 503, "reached");
    assert_non_null(reply_field(reply, "Retry-After"));
}

static bool is_put(struct client *client, const char *key, const char *value)
{
    unsigned status = store_ask(client, "PUT", key, NULL, value)->status;

    if (status != 201 && status != 204 && status != 503 && status != 504)
        flunk("PUT %s: %u", key, status);
    return status == 201 || status == 204;
}

/* --- Not there ----------------------------------------------------------- */

TEST(an_engine_that_is_not_there_is_waited_for)
{
    struct redis *redis = redis_make(NULL);
    struct server *one = START_STORE(url_of(redis), NULL);
    struct client *client = client_open(one);

    expect_unreachable(store_ask(client, "GET", "a", NULL, NULL));
    expect_unreachable(store_ask(client, "PUT", "a", NULL, "x"));
    expect_unreachable(store_ask(client, "DELETE", "a", NULL, NULL));
    expect_unreachable(store_ask(client, "GET", "?prefix=a", NULL, NULL));
    client_expect_usable(client);
    redis_start(redis);
    assert_true(eventually(is_put(client, "a", "here"), SOON_MS));
    store_holds(client, "a", "here");
}

/* A name often has an address more than a server listens at. */
TEST(one_address_of_several_is_enough_and_no_reason_to_warn)
{
    struct redis *nobody = redis_make(NULL);
    struct redis *redis = redis_make(NULL);
    struct server *one;

    redis_start(redis);
    one = START_STORE(printed("redis://127.0.0.1:%u,127.0.0.1:%u", nobody->port,
                              redis->port),
                      "--workers=1");
    store_await(one);
    (void)store_put(client_open(one), "a", "here");
    assert_null(strstr(read_text(one->errors, NULL), "cannot be reached"));
    redis_kill(redis);
    assert_true(eventually(strstr(read_text(one->errors, NULL),
                                  "cannot be reached"),
                           SOON_MS));
}

/* --- Killed -------------------------------------------------------------- */

/* A write and a read of each, all under way at once; how many were done. What
 * is done is done: a value that was put is there until the engine dies. */
static unsigned load_turn(struct client *const clients[CLIENTS],
                          struct redis *to_kill)
{
    static unsigned number;
    unsigned done = 0;

    number++;
    for (unsigned i = 0; i < CLIENTS; i++) {
        store_say(clients[i], "PUT", printed("load/%u", i), NULL,
                  printed("%u", number));
        store_say(clients[i], "GET", printed("load/%u", i), NULL, NULL);
    }
    if (to_kill)
        redis_kill(to_kill);
    for (unsigned i = 0; i < CLIENTS; i++) {
        unsigned put = client_reply(clients[i])->status;
        struct reply *reply = client_reply(clients[i]);
        bool is_done = put == 201 || put == 204;

        if (!is_done && put != 503 && put != 504)
            flunk("a write got %u", put);
        if (reply->status != 200 && reply->status != 404 &&
            reply->status != 503 && reply->status != 504)
            flunk("a read got %u", reply->status);
        if (is_done && reply->status == 404)
            flunk("a write that was done is not seen");
        if (is_done && reply->status == 200)
            expect_body(reply, printed("%u", number));
        done += is_done;
    }
    return done;
}

TEST(a_killed_engine_is_told_of_and_found_again)
{
    enum { TURNS = 20, KILLS = 3 };
    struct redis *redis = redis_make(NULL);
    struct client *clients[CLIENTS];
    struct server *one;

    redis_start(redis);
    one = START_STORE(url_of(redis), "--workers=2");
    for (unsigned i = 0; i < CLIENTS; i++)
        clients[i] = client_open(one);
    assert_true(eventually(load_turn(clients, NULL) == CLIENTS, SOON_MS));
    for (int kill = 0; kill < KILLS; kill++) {
        for (int turn = 0; turn < TURNS; turn++)
            assert_int_equal(load_turn(clients, NULL), CLIENTS);
        load_turn(clients, redis);
        assert_int_equal(load_turn(clients, NULL), 0);
        expect_unreachable(store_ask(clients[0], "GET", "a", NULL, NULL));
        client_expect_usable(clients[0]);
        redis_start(redis);
        assert_true(eventually(load_turn(clients, NULL) == CLIENTS, SOON_MS));
    }
}

/* --- Silent -------------------------------------------------------------- */

TEST(an_engine_that_is_silent_costs_time_only)
{
    struct redis *redis = redis_make(NULL);
    struct server *one;
    struct client *client, *other;
    struct reply *reply;

    redis_start(redis);
    one = START_STORE(url_of(redis), NULL);
    client = client_open(one);
    other = client_open(one);
    assert_true(eventually(is_put(client, "a", "old"), SOON_MS));
    /* Its worker may be another one, with a connection of its own. */
    assert_true(eventually(is_put(other, "a", "old"), SOON_MS));
    redis_freeze(redis);
    store_say(other, "PUT", "a", NULL, "new");
    reply = store_ask(client, "GET", "a", NULL, NULL);
    expect_problem(reply, 504, "504");
    expect_no_field(reply, "ETag");
    expect_problem(client_reply(other), 504, "may");
    client_expect_usable(client);
    redis_thaw(redis);
    assert_true(eventually(store_ask(client, "GET", "a", NULL, NULL)->status ==
                               200,
                           SOON_MS));
    reply = store_ask(client, "GET", "a", NULL, NULL);
    if (memcmp(reply->body, "new", 3) != 0)
        expect_body(reply, "old");
    assert_true(eventually(is_put(client, "a", "newer"), SOON_MS));
    store_holds(client, "a", "newer");
}

/* A list asks a lot at once: more of it than a worker may have under way. */
TEST(too_much_under_way_is_refused)
{
    enum { READERS = 400 };
    struct redis *redis = redis_make(NULL);
    struct client *clients[READERS];
    unsigned refused = 0, late = 0;
    struct server *one;

    redis_start(redis);
    one = START_STORE(url_of(redis), "--workers=1");
    for (unsigned i = 0; i < READERS; i++)
        clients[i] = client_open(one);
    assert_true(eventually(is_put(clients[0], "a", "x"), SOON_MS));
    redis_freeze(redis);
    for (unsigned i = 0; i < READERS; i++)
        store_say(clients[i], "GET", "?limit=10", NULL, NULL);
    for (unsigned i = 0; i < READERS; i++) {
        struct reply *reply = client_reply(clients[i]);

        if (reply->status == 503) {
            expect_problem(reply, 503, "busy");
            assert_non_null(reply_field(reply, "Retry-After"));
            refused++;
        } else {
            expect_problem(reply, 504, "in time");
            late++;
        }
    }
    assert_true(refused > 0 && late > 0);
    redis_thaw(redis);
    assert_true(eventually(store_ask(clients[0], "GET", "?limit=10", NULL, NULL)
                                   ->status == 200,
                           SOON_MS));
}

/* --- Who may, and who else ----------------------------------------------- */

TEST(a_password_is_used_and_never_told)
{
    struct redis *redis = redis_make("open-sesame");
    struct server *one, *wrong;

    redis_start(redis);
    one = START_STORE(printed("redis://:open-sesame@127.0.0.1:%u", redis->port),
                      NULL);
    assert_true(eventually(is_put(client_open(one), "a", "x"), SOON_MS));
    wrong = START_STORE(printed("redis://:open-barley@127.0.0.1:%u",
                                redis->port),
                        NULL);
    expect_unreachable(store_ask(client_open(wrong), "GET", "a", NULL, NULL));
    assert_null(strstr(read_text(one->errors, NULL), "sesame"));
    assert_null(strstr(read_text(wrong->errors, NULL), "barley"));
}

/* Puts a value where the key has that revision yet. */
static struct reply *put_if(struct client *client, uint64_t revision,
                            const char *value)
{
    return store_ask(client, "PUT", "a",
                     printed("If-Match: \"%llu\"\r\n",
                             (unsigned long long)revision),
                     value);
}

TEST(servers_share_what_is_there)
{
    struct redis *redis = redis_make(NULL);
    struct client *one, *other, *apart;
    uint64_t revision;

    redis_start(redis);
    one = client_open(START_STORE(url_of(redis), NULL));
    other = client_open(START_STORE(url_of(redis), NULL));
    apart = client_open(START_STORE(printed("%s?name=apart", url_of(redis)),
                                    NULL));
    assert_true(eventually(is_put(one, "a", "old"), SOON_MS));
    assert_true(eventually(is_put(other, "b", "b"), SOON_MS));
    revision = store_put(other, "a", "new");
    store_holds(one, "a", "new");
    expect_status(put_if(one, revision, "newer"), 204);
    expect_status(put_if(other, revision, "lost"), 412);
    store_holds(other, "a", "newer");
    assert_true(eventually(is_put(apart, "c", "c"), SOON_MS));
    expect_status(store_ask(apart, "GET", "a", NULL, NULL), 404);
    expect_status(store_ask(one, "GET", "c", NULL, NULL), 404);
}

TEST(one_of_many_creators_wins)
{
    enum { RACES = 100 };
    struct redis *redis = redis_make(NULL);
    struct client *clients[CLIENTS];
    struct server *servers[2];

    redis_start(redis);
    for (unsigned i = 0; i < 2; i++)
        servers[i] = START_STORE(url_of(redis), "--workers=2");
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(servers[i % 2]);
        assert_true(eventually(is_put(clients[i], "ready", "x"), SOON_MS));
    }
    for (unsigned race = 0; race < RACES; race++) {
        unsigned winner = CLIENTS;

        for (unsigned i = 0; i < CLIENTS; i++)
            store_say(clients[i], "PUT", printed("race/%u", race),
                      "If-None-Match: *\r\n", printed("%u", i));
        for (unsigned i = 0; i < CLIENTS; i++) {
            unsigned status = client_reply(clients[i])->status;

            if (status == 412)
                continue;
            assert_int_equal(status, 201);
            assert_int_equal(winner, CLIENTS);
            winner = i;
        }
        assert_true(winner < CLIENTS);
        store_holds(clients[0], printed("race/%u", race),
                    printed("%u", winner));
    }
}

/* --- Meddled with -------------------------------------------------------- */

TEST(an_engine_that_has_lost_all_gives_no_revision_again)
{
    struct redis *redis = redis_make(NULL);
    struct client *client;
    uint64_t revision;

    redis_start(redis);
    client = client_open(START_STORE(url_of(redis), NULL));
    assert_true(eventually(is_put(client, "a", "old"), SOON_MS));
    revision = store_put(client, "a", "old");
    redis_ask(redis, "FLUSHALL");
    expect_status(store_ask(client, "GET", "a", NULL, NULL), 404);
    assert_true(store_put(client, "a", "new") > revision);
    expect_status(put_if(client, revision, "lost"), 412);
    store_holds(client, "a", "new");
}

/* {tag}, so that both keys have the same index. */
TEST(what_others_left_in_its_place_stops_a_write_as_a_whole)
{
    static const char *const places[] = {"r", "i", "e"};
    struct redis *redis = redis_make(NULL);
    struct client *client;

    redis_start(redis);
    client = client_open(START_STORE(url_of(redis), NULL));
    assert_true(eventually(is_put(client, "{tag}", "here"), SOON_MS));
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        const char *text = redis_ask(redis, "KEYS *:r");
        const char *colon = strrchr(text, ':');
        const char *place;

        assert_non_null(colon);
        place = printed("%.*s:%s", (int)(colon - text), text, places[i]);
        redis_ask(redis, "RENAME %s kept", place);
        redis_ask(redis, "HSET %s a b", place);
        expect_status(store_ask(client, "PUT", "{tag}?ttl=60", NULL, "x"), 500);
        expect_status(store_ask(client, "PUT", "{tag}/new", NULL, "x"), 500);
        expect_status(store_ask(client, "DELETE", "{tag}", NULL, NULL), 500);
        redis_ask(redis, "DEL %s", place);
        redis_ask(redis, "RENAME kept %s", place);
        store_holds(client, "{tag}", "here");
        expect_status(store_ask(client, "GET", "{tag}/new", NULL, NULL), 404);
    }
    store_put(client, "{tag}/new", "x");
    store_holds(client, "{tag}/new", "x");
}

/* The type of a value is sent as it is: two lines would be two fields. */
TEST(what_others_wrote_adds_no_field_to_a_reply)
{
    struct redis *redis = redis_make(NULL);
    struct client *client;
    const char *place;

    redis_start(redis);
    client = client_open(START_STORE(url_of(redis), NULL));
    assert_true(eventually(is_put(client, "a", "here"), SOON_MS));
    place = redis_ask(redis, "KEYS *:k:a");
    redis_ask(redis, "HSET %.*s t \"x/y\\r\\nX-Theirs: yes\"",
              (int)strcspn(place, "\n"), place);
    for (unsigned i = 0; i < 2; i++) {
        struct reply *reply = store_ask(client, i == 0 ? "GET" : "HEAD", "a",
                                        NULL, NULL);

        expect_status(reply, 500);
        assert_null(reply_field(reply, "X-Theirs"));
    }
    store_put(client, "a", "ours again");
    store_holds(client, "a", "ours again");
}

SUITE(.begin = harness_begin_site, .end = redis_end,
      .each_end = redis_after_test);
