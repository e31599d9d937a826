/*
 * What a site says itself, before an upstream that says something else of the
 * same: hsts and cors-origin, over HTTP/1.1 and HTTP/2.
 */
#include "caching.h"
#include "configured.h"
#include "h2_client.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))
#define APP "https://app.example"
#define OTHER "https://other.example"

static const char answer_text[] =
    REPLY(KEEP LEN(2) "Strict-Transport-Security: max-age=1\r\n"
                      "strict-transport-security: max-age=2\r\n"
                      "Access-Control-Allow-Origin: " OTHER "\r\n"
                      "Access-Control-Allow-Credentials: true\r\n"
                      "Access-Control-Expose-Headers: X-Theirs\r\n",
          "hi");

static struct server *start_before(const struct upstream *upstream)
{
    const char *path = configuration(
        printed("proxy-cache = memory\n"
                "proxy-retries = 0\n"
                "hsts = \"max-age=7\"\n"
                "proxy = %s\n"
                "site all {\n"
                "    cache = off\n"
                "    location /plain { hsts = off }\n"
                "    location /any { cors-origin = \"*\" }\n"
                "    location /one { cors-origin = \"" APP "\" }\n"
                "    location /secret { cors-origin = \"" APP "\"\n"
                "        cors-credentials = yes cors-expose = X-Own }\n"
                "    location /kept { cors-origin = \"" APP "\" cache = on }\n"
                "}\n",
                upstream->at));

    return server_start(&(struct launch){.root = "", .is_tls = true},
                        (const char *const[]){"-c", path, NULL});
}

/* The values of all lines of each field, joined by '|'. */
struct said {
    const char *hsts;
    const char *origin;
    const char *credentials;
    const char *exposed;
};

static void hear_field(struct said *said, const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **values;
    } fields[] = {{"Strict-Transport-Security", &said->hsts},
                  {"Access-Control-Allow-Origin", &said->origin},
                  {"Access-Control-Allow-Credentials", &said->credentials},
                  {"Access-Control-Expose-Headers", &said->exposed}};

    for (size_t i = 0; i < COUNT(fields); i++)
        if (strcasecmp(fields[i].name, name) == 0)
            *fields[i].values = **fields[i].values
                                    ? printed("%s|%s", *fields[i].values, value)
                                    : value;
}

/* Asks for a path as a page of that origin does. The upstream answers, unless
 * it is NULL. */
static struct said ask_http1(const struct server *server,
                             const struct upstream *upstream, const char *path,
                             const char *origin)
{
    struct client *client = client_open(server);
    struct said said = {"", "", "", ""};
    struct reply *reply;

    client_say(client,
               "GET %s HTTP/1.1\r\nHost: localhost\r\nOrigin: %s\r\n\r\n", path,
               origin);
    if (upstream)
        (void)answer(upstream_accept(upstream), answer_text);
    reply = client_reply(client);
    expect_body(reply, "hi");
    for (size_t i = 0; i < reply->field_count; i++)
        hear_field(&said, reply->fields[i].name, reply->fields[i].value);
    return said;
}

static struct said ask_http2(const struct server *server,
                             const struct upstream *upstream, const char *path,
                             const char *origin)
{
    struct h2 *h2 = h2_open(server);
    uint32_t stream = h2_ask(h2, "GET", path, H2_WITH("origin", origin), false);
    struct said said = {"", "", "", ""};
    const struct h2_reply *reply;

    if (upstream)
        (void)answer(upstream_accept(upstream), answer_text);
    reply = h2_wait(h2, stream);
    expect_h2_body(reply, "hi");
    for (size_t i = 0; i < reply->fields.count; i++)
        hear_field(&said, reply->fields.list[i].name,
                   reply->fields.list[i].value);
    return said;
}

static void expect_said(struct said said, struct said wanted)
{
    assert_string_equal(said.hsts, wanted.hsts);
    assert_string_equal(said.origin, wanted.origin);
    assert_string_equal(said.credentials, wanted.credentials);
    assert_string_equal(said.exposed, wanted.exposed);
}

TEST(what_the_site_says_is_said_once)
{
    static const struct {
        const char *path, *origin;
        struct said said;
    } cases[] = {
        {"/one", APP, {"max-age=7", APP, "", "X-Theirs"}},
        {"/one", OTHER, {"max-age=7", "", "", "X-Theirs"}},
        {"/any", OTHER, {"max-age=7", "*", "", "X-Theirs"}},
        {"/secret", APP, {"max-age=7", APP, "true", "X-Theirs|X-Own"}},
        {"/plain", APP, {"max-age=1|max-age=2", OTHER, "true", "X-Theirs"}},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = start_before(upstream);

    for (size_t i = 0; i < COUNT(cases); i++) {
        going_on("%s for a page of %s", cases[i].path, cases[i].origin);
        expect_said(ask_http1(server, upstream, cases[i].path, cases[i].origin),
                    cases[i].said);
        expect_said(ask_http2(server, upstream, cases[i].path, cases[i].origin),
                    cases[i].said);
    }
}

TEST(so_it_is_of_what_the_cache_keeps)
{
    static const struct said own = {"max-age=7", APP, "", "X-Theirs"};
    struct upstream *upstream = upstream_open();
    struct server *server = start_before(upstream);

    expect_said(ask_http1(server, upstream, "/kept", APP), own);
    expect_said(ask_http1(server, NULL, "/kept", APP), own);
    expect_said(ask_http2(server, NULL, "/kept", APP), own);
    assert_false(upstream_hears(upstream, 20));
}

E2E_SUITE(h2_begin);
