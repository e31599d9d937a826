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

E2E_SUITE(harness_begin);
