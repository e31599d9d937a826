/*
 * Several servers behind one prefix: who is asked, and who is left out.
 */
#include "client.h"
#include "crowd.h"
#include "origin.h"
#include "upstream.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

static unsigned long requests(const struct origin *origin)
{
    return atomic_load(&origin->counts->requests);
}

static unsigned long connected(const struct origin *origin)
{
    return atomic_load(&origin->counts->connected);
}

static const char *rule(const char *first, const char *second)
{
    return printed("--proxy=/=%s,%s", first, second);
}

/* So many requests, of which none may fail. */
static void ask_often(const struct server *server, unsigned count)
{
    struct client *client = client_open(server);

    for (unsigned i = 0; i < count; i++)
        expect_status(client_ask(client, "GET", "/f", NULL), 200);
    client_close(client);
}

/* --- Killed, and there again --------------------------------------------- */

enum { CROWD = 16 };
static const struct crowd_options crowd = {
    .target = "/f", .body = "file f\n", .clients = CROWD, .depth = 1};

/* Those that were under way, once. */
TEST(a_crash_costs_what_was_under_way)
{
    enum { CRASHES = 3 };
    struct origin *origin = origin_start("a");
    struct server *server = START(printed("--proxy=/=%s", origin->at),
                                  "--workers=2", "--proxy-fails=0");
    const struct crowd_counts *counts = crowd_begin(server, &crowd);

    for (int i = 0; i < CRASHES; i++) {
        unsigned long before = atomic_load(&counts->answered);

        assert_true(eventually(atomic_load(&counts->answered) >
                                   before + (unsigned long)10 * CROWD,
                               10000));
        origin_crash(origin);
        pause_ms(20);
        origin_again(origin);
    }
    crowd_end_despite(atomic_load(&counts->answered) + 1000,
                      (unsigned long)CRASHES * CROWD);
    origin_check(origin);
}

/* One goes for a while, and the other: they stand in for each other. */
TEST(one_of_two_is_killed_and_comes_back)
{
    struct origin *origins[2] = {origin_start("a"), origin_start("b")};
    struct server *server = START(rule(origins[0]->at, origins[1]->at),
                                  "--workers=2", "--proxy-fails=2",
                                  "--proxy-eject=200ms",
                                  "--proxy-eject-max=400ms");
    const struct crowd_counts *counts = crowd_begin(server, &crowd);

    for (int i = 0; i < 2; i++) {
        unsigned long before = requests(origins[0]) + requests(origins[1]);

        assert_true(eventually(requests(origins[0]) + requests(origins[1]) >
                                   before + 500,
                               10000));
        origin_kill(origins[i]);
        before = requests(origins[1 - i]);
        if (!eventually(requests(origins[1 - i]) > before + 500, 10000))
            flunk("the other one does not stand in for it");
        before = requests(origins[i]);
        origin_again(origins[i]);
        if (!eventually(requests(origins[i]) > before + 100, 10000))
            flunk("it is not asked any more");
    }
    /* What had been sent when the server went may be lost: that is no more
     * than each of the crowd once. */
    crowd_end_despite(atomic_load(&counts->answered) + 100,
                      (unsigned long)2 * CROWD);
    origin_check(origins[0]);
    origin_check(origins[1]);
}

/* --- Who is left out ----------------------------------------------------- */

TEST(who_fails_often_is_left_out_for_a_while)
{
    struct origin *origin = origin_start("well");
    struct upstream *ill = upstream_open();
    struct server *server = START("--workers=1", rule(ill->at, origin->at),
                                  "--proxy-fails=2", "--proxy-eject=60m",
                                  "--proxy-eject-max=60m");

    upstream_shut(ill);
    ask_often(server, 20);
    upstream_listen(ill);
    ask_often(server, 20);
    assert_false(upstream_hears(ill, 0));
    assert_true(requests(origin) == 40);
}

TEST(who_was_left_out_is_tried_again)
{
    struct origin *origins[2] = {origin_start("a"), origin_start("b")};
    struct server *server = START("--workers=1",
                                  rule(origins[0]->at, origins[1]->at),
                                  "--proxy-fails=1", "--proxy-eject=100ms",
                                  "--proxy-eject-max=200ms");
    struct client *client = client_open(server);
    unsigned long before;

    origin_kill(origins[0]);
    ask_often(server, 10);
    origin_again(origins[0]);
    before = requests(origins[0]);
    assert_true(eventually(client_ask(client, "GET", "/f", NULL)->status ==
                                   200 &&
                               requests(origins[0]) > before + 5,
                           10000));
}

TEST_WITH(when_all_have_failed_all_are_tried, NULL, harness_after_test)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-fails=1",
                                  "--proxy-eject=60m", "--proxy-eject-max=60m");
    struct client *client = client_open(server);
    struct client *peer;

    upstream_shut(upstream);
    for (int i = 0; i < 3; i++)
        expect_status(client_ask(client, "GET", "/", NULL), 502);
    upstream_listen(upstream);
    peer = upstream_asked(upstream, client, GET);
    expect_hi(peer, client);
}

/* --- Probes -------------------------------------------------------------- */

#define PROBES                                              \
    "--proxy-probe=/health", "--proxy-probe-interval=50ms", \
        "--proxy-probe-rise=2", "--proxy-probe-fall=2"

static bool is_left_out(const struct server *server,
                        const struct origin *origin)
{
    unsigned long before = requests(origin);

    ask_often(server, 10);
    return requests(origin) == before;
}

TEST(who_feels_ill_is_not_asked)
{
    struct origin *origins[2] = {origin_start("a"), origin_start("b")};
    struct server *server = START("--workers=2", PROBES,
                                  rule(origins[0]->at, origins[1]->at));

    for (int i = 0; i < 2; i++) {
        struct origin *ill = origins[i];

        atomic_store(&ill->counts->is_ill, true);
        assert_true(eventually(is_left_out(server, ill), 10000));
        atomic_store(&ill->counts->is_ill, false);
        assert_true(eventually(!is_left_out(server, ill), 10000));
    }
    assert_true(atomic_load(&origins[0]->counts->probes) > 2);
    origin_check(origins[0]);
}

TEST(when_all_feel_ill_nobody_is_asked)
{
    struct origin *origin = origin_start("a");
    struct server *server = START("--workers=2", PROBES,
                                  printed("--proxy=/=%s", origin->at));
    struct client *client = client_open(server);
    struct reply *reply = NULL;
    unsigned long before;

    ask_often(server, 1);
    atomic_store(&origin->counts->is_ill, true);
    assert_true(eventually(
        (reply = client_ask(client, "GET", "/f", NULL))->status == 503, 10000));
    assert_non_null(reply_field(reply, "Retry-After"));
    assert_true(strtoul(reply_field(reply, "Retry-After"), NULL, 10) >= 1);
    before = requests(origin);
    expect_status(client_ask(client, "GET", "/f", NULL), 503);
    assert_true(requests(origin) == before);
    atomic_store(&origin->counts->is_ill, false);
    assert_true(eventually(client_ask(client, "GET", "/f", NULL)->status == 200,
                           10000));
}

/* --- How many, and which ------------------------------------------------- */

TEST(backups_are_asked_when_nobody_else_is_left)
{
    struct origin *first = origin_start("first");
    struct origin *backup = origin_start("backup");
    struct server *server = START("--workers=1", "--proxy-fails=1",
                                  "--proxy-eject=60m", "--proxy-eject-max=60m",
                                  printed("--proxy=/=%s,%s;backup", first->at,
                                          backup->at));

    ask_often(server, 20);
    assert_true(requests(first) == 20 && requests(backup) == 0);
    origin_kill(first);
    ask_often(server, 20);
    assert_true(requests(backup) == 20);
}

TEST_WITH(no_server_is_asked_for_more_than_it_takes, NULL, harness_after_test)
{
    struct upstream *upstream = upstream_open();
    struct server *server =
        START("--workers=2", printed("--proxy=/=%s;max-conns=2", upstream->at));
    struct client *clients[2];
    struct client *peers[2];
    struct reply *reply;

    for (int i = 0; i < 2; i++) {
        clients[i] = client_open(server);
        client_say(clients[i], GET);
        peers[i] = upstream_accept(upstream);
        hear_head(peers[i]);
    }
    for (int i = 0; i < 8; i++) { /* on either worker */
        reply = get(server, "/");
        expect_status(reply, 503);
        assert_non_null(reply_field(reply, "Retry-After"));
    }
    client_say(peers[0], HI);
    expect_body(client_reply(clients[0]), "hi");
    client_say(clients[0], GET);
    hear_head(peers[0]);
    client_say(peers[0], HI);
    expect_body(client_reply(clients[0]), "hi");
}

TEST(requests_are_shared_out_by_weight)
{
    struct origin *light = origin_start("light");
    struct origin *heavy = origin_start("heavy");
    struct server *server = START("--workers=1",
                                  printed("--proxy=/=%s,%s;weight=3", light->at,
                                          heavy->at));

    ask_often(server, 40);
    assert_true(requests(light) == 10 && requests(heavy) == 30);
}

TEST(the_same_is_asked_of_the_same)
{
    struct origin *a = origin_start("a");
    struct origin *b = origin_start("b");
    struct server *server = START("--workers=2", rule(a->at, b->at),
                                  "--proxy-balance=hash:X-User");

    for (int user = 0; user < 16; user++) {
        const char *field = printed("X-User: %d\r\n", user);
        char first = ask(server, "GET", "/name", field)->body[0];

        for (int i = 0; i < 4; i++)
            assert_int_equal(ask(server, "GET", "/name", field)->body[0],
                             first);
    }
    assert_true(requests(a) > 0 && requests(b) > 0);
}

TEST(connections_are_kept_no_longer_than_told)
{
    struct origin *origin = origin_start("a");
    struct server *server = START("--workers=1",
                                  printed("--proxy=/=%s", origin->at),
                                  "--proxy-keepalive-requests=5",
                                  "--proxy-keepalive-timeout=100ms");

    ask_often(server, 20);
    assert_in_range(connected(origin), 4, 20);
    assert_true(eventually(atomic_load(&origin->counts->open) == 0, 5000));
    ask_often(server, 1);
}

/* --- Where they are ------------------------------------------------------ */

TEST_WITH(an_upstream_may_be_at_a_unix_socket, NULL, harness_after_test)
{
    struct upstream *upstream = upstream_open_unix();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;

    client_say(client, GET);
    peer = upstream_accept(upstream);
    expect_hears(peer, "GET / HTTP/1.1\r\nHost: a\r\n" ASKER "\r\n");
    expect_hi(peer, client);
}

/* There may be two addresses of that name, of which one refuses. */
TEST_WITH(an_upstream_may_have_a_name, NULL, harness_after_test)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START("--workers=1",
                                  printed("--proxy=/=http://localhost:%u",
                                          upstream->port));
    struct client *client = client_open(server);
    struct client *peer;

    peer = upstream_asked(upstream, client, GET);
    expect_hi(peer, client);
}

SUITE(.begin = harness_begin, .end = harness_end,
      .each_end = origins_after_test);
