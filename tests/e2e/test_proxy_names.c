/*
 * What an upstream calls its own places, where a prefix is replaced: the
 * client is told the names that it can ask for.
 */

#include "upstream.h"

/* Asks www.example for target, and has the upstream say that line; what became
 * of its value, or NULL. */
static const char *told(const struct server *server,
                        const struct upstream *upstream, const char *target,
                        const char *line)
{
    struct client *client = client_open(server);
    const char *colon = strchr(line, ':');
    char name[40];
    struct client *peer;

    going_on("%s", line);
    client_say(client, "GET %s HTTP/1.1\r\nHost: www.example\r\n\r\n", target);
    peer = upstream_accept(upstream);
    hear_head(peer);
    client_say(peer,
               "HTTP/1.1 201 Created\r\n" DATE "%s\r\nContent-Length: 0\r\n"
               "Connection: close\r\n\r\n",
               line);
    snprintf(name, sizeof(name), "%.*s", (int)(colon - line), line);
    return reply_field(client_reply(client), name);
}

#define expect_told(server, upstream, line, wanted)                 \
    do {                                                            \
        const char *value = told(server, upstream, "/app/x", line); \
        if (!value || strcmp(value, wanted) != 0)                   \
            flunk("'%s' instead of '%s'", value, wanted);           \
    } while (0)

/* Of each line, and of what becomes of its value. */
#define EXPECT_ALL_TOLD(server, upstream, cases)                         \
    do {                                                                 \
        for (size_t i = 0; i < sizeof(cases) / sizeof(*(cases)); i++)    \
            expect_told(server, upstream, (cases)[i][0], (cases)[i][1]); \
    } while (0)

static struct server *start_with(const struct upstream *upstream,
                                 const char *prefix, const char *path,
                                 const char *option)
{
    return START("--workers=1",
                 printed("--proxy=%s=%s%s", prefix, upstream->at, path),
                 option);
}

/* "FIELD: http://127.0.0.1:PORT" and the rest. */
static const char *itself(const struct upstream *upstream, const char *field,
                          const char *rest)
{
    return printed("%s%s%s", field, upstream->at, rest);
}

TEST(locations_get_the_prefix_back)
{
    static const char *const cases[][2] = {
        {"Location: /login?next=/v1/x#top", "/app/login?next=/v1/x#top"},
        {"Location: /", "/app/"},
        {"Location: /app/login", "/app/login"}, /* it knows the prefix */
        {"Location: /apple", "/app/apple"},
        {"Location: login", "login"},
        {"Location: ?page=2", "?page=2"},
        {"Location: //other.example/x", "//other.example/x"},
        {"Location: https://other.example/x", "https://other.example/x"},
        {"Location: mailto:a@b.example", "mailto:a@b.example"},
        {"Location: http://www.example/x", "http://www.example/app/x"},
        {"Location: HTTPS://WWW.example:443/x",
         "HTTPS://WWW.example:443/app/x"},
        {"Location: http://www.example", "http://www.example/app"},
        {"Location: http://user@www.example/x", "http://user@www.example/x"},
        {"Content-Location: /x", "/app/x"},
        {"Refresh: 5; url=/x", "5; url=/app/x"},
        {"Refresh: 0;URL='/x'", "0;URL='/app/x'"},
        {"Refresh: 5", "5"},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = start_with(upstream, "/app", "/", NULL);

    EXPECT_ALL_TOLD(server, upstream, cases);
    expect_told(server, upstream, itself(upstream, "Location: ", "/x"),
                "/app/x");
    expect_told(server, upstream, itself(upstream, "Location: ", ""), "/app");
    expect_told(server, upstream, itself(upstream, "Location: ", "?a"),
                "/app?a");
    expect_told(server, upstream,
                itself(upstream, "Refresh: 3, url=\"", "/x\""),
                "3, url=\"/app/x\"");
}

TEST(cookies_get_the_prefix_back)
{
    static const char *const cases[][2] = {
        {"Set-Cookie: a=b; Path=/; HttpOnly", "a=b; Path=/app/; HttpOnly"},
        {"Set-Cookie: a=b;path=/x", "a=b;path=/app/x"},
        {"Set-Cookie: a=/; Path=/app", "a=/; Path=/app"},
        {"Set-Cookie: a=b", "a=b"},
        {"Set-Cookie: __Host-a=b; Secure; Path=/",
         "__Host-a=b; Secure; Path=/"},
        {"Set-Cookie: a=b; Domain=127.0.0.1; Secure", "a=b; Secure"},
        {"Set-Cookie: a=b; domain=.127.0.0.1", "a=b"},
        {"Set-Cookie: a=b; Domain=www.example", "a=b; Domain=www.example"},
        {"Set-Cookie: a=b; Domain=example", "a=b; Domain=example"},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = start_with(upstream, "/app", "/", NULL);

    EXPECT_ALL_TOLD(server, upstream, cases);
}

TEST(a_path_of_the_upstream_gives_way)
{
    static const char *const cases[][2] = {
        {"Location: /app/v1/x", "/app/x"},
        {"Location: /app/v1", "/app"},
        {"Location: /app/v11", "/app/v11"},
        {"Location: /elsewhere", "/elsewhere"},
        {"Set-Cookie: a=b; Path=/app/v1/", "a=b; Path=/app/"},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = start_with(upstream, "/app", "/app/v1/", NULL);

    EXPECT_ALL_TOLD(server, upstream, cases);
}

/* "//evil.example" would be another host. */
TEST(no_name_of_a_host_is_made_of_a_path)
{
    static const char *const cases[][2] = {
        {"Location: /v1/x", "/x"},
        {"Location: /v1", "/"},
        {"Location: /v1//evil.example/", "/v1//evil.example/"},
        {"Location: /v1/\\evil.example/", "/v1/\\evil.example/"},
        {"Location: /v1/\t/evil.example/", "/v1/\t/evil.example/"},
        {"Location: /v1/\t\t\\evil.example/", "/v1/\t\t\\evil.example/"},
        {"Location: /v1/\tx", "/\tx"},
        {"Location: http://a\\evil.example/", "http://a\\evil.example/"},
        {"Refresh: 1; url=/v1/\t/evil.example/", "1; url=/v1/\t/evil.example/"},
        {"Set-Cookie: a=b; Path=/v1", "a=b; Path=/"},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = start_with(upstream, "/", "/v1", NULL);
    const char *evil[] = {itself(upstream, "Location: ", "/v1//evil.example/"),
                          itself(upstream, "Location: ", "\\evil.example/"),
                          itself(upstream, "Location: ", "\\/evil.example/")};

    EXPECT_ALL_TOLD(server, upstream, cases);
    for (size_t i = 0; i < sizeof(evil) / sizeof(*evil); i++)
        expect_told(server, upstream, evil[i], evil[i] + strlen("Location: "));
}

TEST(without_a_replacement_only_its_own_name_goes)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_with(upstream, "/app", "", NULL);

    expect_told(server, upstream, itself(upstream, "Location: ", "/app/y"),
                "/app/y");
    expect_told(server, upstream, "Location: /other", "/other");
    expect_told(server, upstream, "Set-Cookie: a=b; Path=/", "a=b; Path=/");
}

TEST(off_leaves_all_as_it_is)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_with(upstream, "/app", "/",
                                       "--proxy-redirect=off");
    const char *line = itself(upstream, "Location: ", "/x");

    expect_told(server, upstream, "Location: /x", "/x");
    expect_told(server, upstream, line, line + strlen("Location: "));
    expect_told(server, upstream, "Set-Cookie: a=b; Path=/; Domain=127.0.0.1",
                "a=b; Path=/; Domain=127.0.0.1");
}

/* --- X-Forwarded-Prefix -------------------------------------------------- */

static const char *heard(const struct server *server,
                         const struct upstream *upstream, const char *fields)
{
    struct client *client = client_open(server);

    client_say(client, "GET /app/x HTTP/1.1\r\nHost: a\r\n%s\r\n", fields);
    return hear_head(upstream_accept(upstream));
}

static void expect_prefix(const char *head, const char *wanted)
{
    const char *line = strstr(head, "X-Forwarded-Prefix: ");

    if (!line || strncmp(line + 20, wanted, strlen(wanted)) != 0 ||
        strncmp(line + 20 + strlen(wanted), "\r\n", 2) != 0 ||
        strstr(line + 20, "Forwarded-Prefix"))
        flunk("'%s' is not the only prefix in '%s'", wanted, head);
}

TEST(the_prefix_that_goes_is_told)
{
    struct upstream *upstream = upstream_open();
    struct server *server = start_with(upstream, "/app", "/", NULL);
    struct server *plain = start_with(upstream, "/app", "", NULL);
    struct server *trusting = start_with(upstream, "/app", "/",
                                         "--trusted-proxies=127.0.0.1");

    expect_prefix(heard(server, upstream, ""), "/app");
    expect_prefix(heard(server, upstream, "X-Forwarded-Prefix: /evil\r\n"),
                  "/app");
    expect_prefix(heard(trusting, upstream, "X-Forwarded-Prefix: /out/\r\n"),
                  "/out/app");
    assert_null(strstr(heard(plain, upstream, ""), "Forwarded-Prefix"));
}

E2E_SUITE(harness_begin_site);
