/*
 * --proxy-cache, where sites and locations say what is theirs alone.
 */
#include "configured.h"
#include "upstream.h"

#include <time.h>

/* One asks there, the upstream answers something that is stale at once; then it
 * is gone. What comes of asking again. */
static struct reply *ask_twice(const struct server *server,
                               struct upstream *upstream, const char *host,
                               const char *path)
{
    struct client *client = client_open(server), *peer;
    char date[30];

    http_date_text(time(NULL) - 100, date);
    client_say(client, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, host);
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer,
               "HTTP/1.1 200 OK\r\nDate: %s\r\nCache-Control: max-age=50\r\n"
               "Content-Length: 3\r\nConnection: close\r\n\r\nold",
               date);
    expect_body(client_reply(client), "old");
    upstream_shut(upstream);
    return client_ask_host(client_open(server), "GET", host, path, NULL);
}

TEST(each_place_says_how_long_what_is_stale_may_serve)
{
    static const struct {
        const char *host, *path;
        unsigned status;
    } cases[] = {{"top.example", "/", 200},
                 {"site.example", "/", 502},
                 {"site.example", "/kept/a", 200},
                 {"site.example", "/briefly/a", 502}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct upstream *upstream = upstream_open();
        struct server *server = start_configured(
            printed("proxy-cache = memory\n"
                    "proxy-retries = 0\n"
                    "proxy-fails = 0\n"
                    "site one { hosts = {site.example} proxy = %s\n"
                    "    cache-stale = 0\n"
                    "    location /kept { proxy = %s cache-stale = 1h }\n"
                    "    location /briefly { proxy = %s cache-stale = 40s }\n"
                    "}\n"
                    "site rest { proxy = %s }\n",
                    upstream->at, upstream->at, upstream->at, upstream->at));

        going_on("case %zu", i);
        expect_status(ask_twice(server, upstream, cases[i].host, cases[i].path),
                      cases[i].status);
        server_stop(server);
    }
}

/* An upstream names what it has by its own paths, or its own host. */
TEST(what_a_write_names_goes_by_the_name_that_clients_have_for_it)
{
    for (unsigned i = 0; i < 3; i++) {
        struct upstream *upstream = upstream_open();
        const char *place = i == 0   ? "/v1/b"
                            : i == 1 ? printed("%s/v1/b", upstream->at)
                                     : "http://a/v1/b";
        struct server *server =
            START("--workers=1", printed("--proxy=/app=%s/v1", upstream->at),
                  "--proxy-cache=memory", "--proxy-retries=0",
                  "--proxy-fails=0");
        struct client *client = client_open(server), *peer;
        struct reply *reply;

        going_on("case %u", i);
        client_say(client, "GET /app/b HTTP/1.1\r\nHost: a\r\n\r\n");
        peer = upstream_accept(upstream);
        (void)hear_head(peer);
        client_say(peer, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
                         "Content-Length: 3\r\nConnection: close\r\n\r\nold");
        expect_body(client_reply(client), "old");
        client = client_open(server);
        client_say(client, "POST /app/a HTTP/1.1\r\nHost: a\r\n"
                           "Content-Length: 0\r\n\r\n");
        peer = upstream_accept(upstream);
        (void)hear_head(peer);
        client_say(peer,
                   "HTTP/1.1 201 Created\r\nLocation: %s\r\n"
                   "Content-Length: 0\r\nConnection: close\r\n\r\n",
                   place);
        reply = client_reply(client);
        expect_field(reply, "Location", i == 2 ? "http://a/app/b" : "/app/b");
        client = client_open(server);
        client_say(client, "GET /app/b HTTP/1.1\r\nHost: a\r\n"
                           "Cache-Control: only-if-cached\r\n\r\n");
        expect_status(client_reply(client), 504);
        server_stop(server);
    }
}

E2E_SUITE(harness_begin);
