/*
 * --proxy-cache-policy: who goes when the cache is full.
 */
#include "origin.h"
#include "upstream.h"

enum { OTHERS = 1800, SLOW_MS = 200 };

/* Whether what took long to have is still there after so much that did not. */
static bool keeps_what_is_slow(const char *policy)
{
    struct upstream *upstream = upstream_open();
    struct origin *origin = origin_start("a");
    struct server *server =
        START("--workers=1", printed("--proxy=/slow=%s", upstream->at),
              printed("--proxy=/=%s", origin->at), "--proxy-cache=memory",
              "--proxy-cache-size=1M", "--cache-default=1h",
              printed("--proxy-cache-policy=%s", policy), NULL);
    struct client *client = client_open(server), *peer;
    struct reply *reply;

    client_say(client, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    pause_ms(SLOW_MS);
    client_say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow");
    expect_body(client_reply(client), "slow");
    for (int i = 0; i < OTHERS; i++)
        expect_seeded(client_ask_host(client, "GET", "a",
                                      printed("/bytes/%d/1000", i), NULL),
                      (uint64_t)i, 0, 1000);
    reply = client_ask_host(client, "GET", "a", "/slow",
                            "Cache-Control: only-if-cached\r\n");
    server_stop(server);
    return reply->status == 200;
}

TEST(saved_keeps_what_takes_long_to_have_and_sieve_does_not)
{
    assert_true(keeps_what_is_slow("saved"));
    assert_false(keeps_what_is_slow("sieve"));
}

SUITE(.begin = harness_begin, .end = harness_end,
      .each_end = origins_after_test);
