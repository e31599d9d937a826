/*
 * How servers behind fare, as the statistics tell: left out, coming back by and
 * by, asked again no more often than the budget allows; and one that has hardly
 * room for anybody.
 */
#include <sys/socket.h>

#include "client.h"
#include "origin.h"
#include "upstream.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
#define BYE OK "Content-Length: 2\r\nConnection: close\r\n\r\nhi"

static unsigned long requests(const struct origin *origin)
{
    return atomic_load(&origin->counts->requests);
}

static void ask_often(const struct server *server, unsigned count)
{
    struct client *client = client_open(server);

    for (unsigned i = 0; i < count; i++)
        expect_status(client_ask(client, "GET", "/f", NULL), 200);
    client_close(client);
}

/* --- What is told of a server --------------------------------------------- */

/* What status.json says of it from its state on. */
static const char *told_of(const struct server *server, unsigned port)
{
    const char *text = get(server, "/_s/status.json")->body;
    const char *name = strstr(text, printed("\"server\":\"127.0.0.1:%u\","
                                            "\"state\":",
                                            port));

    if (!name)
        flunk("nothing is told of port %u: %s", port, text);
    return strstr(name, "\"state\":");
}

static bool is_state(const struct server *server, unsigned port,
                     const char *wanted)
{
    const char *said = printed("\"state\":\"%s\"", wanted);

    return strncmp(told_of(server, port), said, strlen(said)) == 0;
}

static unsigned long number(const struct server *server, unsigned port,
                            const char *name)
{
    const char *wanted = printed("\"%s\":", name);
    const char *at = strstr(told_of(server, port), wanted);

    assert_non_null(at);
    return strtoul(at + strlen(wanted), NULL, 10);
}

/* What metrics say in a gauge. */
static bool is_gauge(const struct server *server, const char *name,
                     unsigned port, unsigned wanted)
{
    return strstr(get(server, "/_s/metrics")->body,
                  printed("sprintd_upstream_%s{proxy=\"/\",server=\"127.0.0.1:"
                          "%u\"} %u\n",
                          name, port, wanted)) != NULL;
}

/* --- Left out, and back --------------------------------------------------- */

struct two {
    struct origin *frail;
    struct origin *sound;
    struct server *server;
};

/* One of them is left out for a moment, and is there again. */
static struct two start_with_one_back(const char *slow_start)
{
    struct two two = {.frail = origin_start("frail"),
                      .sound = origin_start("sound")};

    two.server = START("--workers=1", "--status=/_s", "--proxy-fails=1",
                       "--proxy-eject=300ms", "--proxy-eject-max=300ms",
                       printed("--proxy=/=%s,%s", two.frail->at, two.sound->at),
                       slow_start);
    assert_true(is_state(two.server, two.frail->port, "up"));
    assert_true(is_gauge(two.server, "up", two.frail->port, 1));
    origin_kill(two.frail);
    ask_often(two.server, 4); /* the other one answers */
    origin_again(two.frail);
    return two;
}

TEST(a_server_that_fails_is_told_to_be_ejected_until_it_is_back)
{
    struct two two = {.frail = origin_start("frail"),
                      .sound = origin_start("sound")};
    unsigned frail = two.frail->port;

    two.server = START("--workers=1", "--status=/_s", "--proxy-fails=1",
                       "--proxy-eject=60m", "--proxy-eject-max=60m",
                       printed("--proxy=/=%s,%s", two.frail->at,
                               two.sound->at));
    origin_kill(two.frail);
    ask_often(two.server, 4);
    assert_true(is_state(two.server, frail, "ejected"));
    assert_true(is_gauge(two.server, "up", frail, 0));
    assert_int_equal(number(two.server, frail, "failures"), 1);
    assert_int_equal(number(two.server, frail, "retries"), 1);
    assert_true(is_state(two.server, two.sound->port, "up"));
    assert_int_equal(number(two.server, two.sound->port, "failures"), 0);
    assert_int_equal(number(two.server, two.sound->port, "requests"), 4);
    two = start_with_one_back(NULL);
    assert_true(eventually(is_state(two.server, two.frail->port, "up"), 5000));
    assert_true(is_gauge(two.server, "up", two.frail->port, 1));
    ask_often(two.server, 8);
    assert_in_range(requests(two.frail), 3, 5);
}

/* A tenth of its share to begin with; ten minutes later it would have all. */
TEST(who_is_back_gets_little_at_first)
{
    struct two two = start_with_one_back("--proxy-slow-start=10m");

    assert_true(eventually(is_state(two.server, two.frail->port, "slow"),
                           5000));
    assert_true(is_gauge(two.server, "up", two.frail->port, 1));
    ask_often(two.server, 66);
    assert_in_range(requests(two.frail), 4, 16);
}

TEST(and_its_share_when_the_slow_start_is_over)
{
    struct two two = start_with_one_back("--proxy-slow-start=500ms");

    assert_true(eventually(is_state(two.server, two.frail->port, "up"), 5000));
    ask_often(two.server, 40);
    assert_in_range(requests(two.frail), 18, 22);
}

/* --- Asked again ---------------------------------------------------------- */

/* A fifth of them and three, of each ten seconds: see retry_budget.h. */
TEST_WITH(failures_are_tried_again_as_often_as_the_budget_allows, NULL,
          harness_after_test)
{
    enum { ASKED = 100, FREE = 3, SHARE = 5, WINDOW_MS = 10000 };
    struct upstream *gone[2] = {upstream_open(), upstream_open()};
    struct server *server =
        START("--workers=1", "--status=/_s", "--proxy-fails=0",
              printed("--proxy=/=%s,%s", gone[0]->at, gone[1]->at));
    struct client *client = client_open(server);
    uint64_t since_ms = now_ms();
    unsigned long asked = 0;
    unsigned long retries = 0;

    for (int i = 0; i < 2; i++)
        upstream_shut(gone[i]);
    for (int i = 0; i < ASKED; i++)
        expect_status(client_ask(client, "GET", "/", NULL), 502);
    for (int i = 0; i < 2; i++) {
        asked += number(server, gone[i]->port, "requests");
        retries += number(server, gone[i]->port, "retries");
    }
    assert_int_equal(asked, ASKED + retries);
    assert_in_range(retries, ASKED / SHARE,
                    ASKED / SHARE +
                        FREE * (1 + (now_ms() - since_ms) / WINDOW_MS));
}

/* --- Hardly any room ----------------------------------------------------- */

/* As Python's http.server, and worse: one waits to be accepted, and the kernel
 * drops what the others say. */
TEST_WITH(nobody_is_lost_before_a_server_with_a_short_backlog, NULL,
          harness_after_test)
{
    enum { CROWD = 40 };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-connect-timeout=15s");
    struct client *clients[CROWD];

    assert_int_equal(listen(client_socket(upstream->listener), 0), 0);
    for (int i = 0; i < CROWD; i++) {
        clients[i] = client_open(server);
        client_say(clients[i], GET);
    }
    for (int i = 0; i < CROWD; i++) {
        struct client *peer = upstream_accept(upstream);

        hear_head(peer);
        client_say(peer, BYE);
        client_close(peer);
    }
    for (int i = 0; i < CROWD; i++)
        expect_body(client_reply(clients[i]), "hi");
}

SUITE(.begin = harness_begin, .end = harness_end,
      .each_end = origins_after_test);
