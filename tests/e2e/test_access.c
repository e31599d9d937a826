/*
 * Who may come, how often, and with how much: by the address of the client,
 * which trusted proxies may tell, and nobody else.
 */
#include "configured.h"

static const char access_conf[] =
    "root = www\n"
    "site all {\n"
    "    location /only { allow = {127.0.0.2, \"203.0.113.0/24\",\n"
    "        \"2001:db8::/32\"} }\n"
    "    location /but { deny = {127.0.0.2, \"203.0.113.0/24\"} }\n"
    "    location /both { allow = \"203.0.113.0/24\" deny = 203.0.113.9 }\n"
    "    location /seldom { rate-limit = 2/m rate-burst = 2 }\n"
    "    location /small { max-body = 10 }\n"
    "    location /small/any { max-body = 0 }\n"
    "}\n";

E2E_BEGIN(start)
{
    static const char *const places[] = {"only",         "but",
                                         "both",         "seldom",
                                         "seldom/often", "seldom/more",
                                         "small",        "small/any"};

    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        site_text(printed("../www/%s/f", places[i]), "in");
    site_text("../www/canary", "canary\n");
}

/* With a line more in the configuration. */
static struct server *start_with(const char *line)
{
    return start_configured(printed("%s%s", line, access_conf));
}

static unsigned status_from(const struct server *server, const char *address,
                            const char *target, const char *fields)
{
    struct client *client = client_open_from(server, address);
    unsigned status = client_ask(client, "GET", target, fields)->status;

    client_close(client);
    return status;
}

/* --- Addresses ------------------------------------------------------------ */

TEST(allowed_ones_come_and_denied_ones_do_not)
{
    struct server *one = start_with("");

    assert_int_equal(status_from(one, "127.0.0.1", "/only/f", NULL), 403);
    assert_int_equal(status_from(one, "127.0.0.2", "/only/f", NULL), 200);
    assert_int_equal(status_from(one, "127.0.0.1", "/but/f", NULL), 200);
    assert_int_equal(status_from(one, "127.0.0.2", "/but/f", NULL), 403);
    assert_int_equal(status_from(one, "127.0.0.2", "/but/lost", NULL), 403);
    assert_int_equal(status_from(one, "127.0.0.2", "/x/..//bu%74/f", NULL),
                     403);
    assert_int_equal(status_from(one, "127.0.0.2", "/canary", NULL), 200);
}

/* As nginx has it: allow some, deny all. */
TEST(all_are_whoever_is_not_named)
{
    static const struct {
        const char *target;
        unsigned first, second; /* status for 127.0.0.1, and 127.0.0.2 */
    } cases[] = {{"/f", 403, 403},
                 {"/some/f", 403, 200},
                 {"/open/f", 200, 200},
                 {"/open/but/f", 200, 403},
                 {"/open/empty/f", 200, 200}};
    struct server *one;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        site_text(printed("../www%s", cases[i].target), "in");
    one = start_configured(
        "root = www\ndeny = all\n"
        "location /some { allow = 127.0.0.2 deny = {all} }\n"
        "location /open { allow = all }\n"
        "location /open/but { allow = {all} deny = {127.0.0.2, all} }\n"
        "location /open/empty { deny = {} }\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("%s", cases[i].target);
        assert_int_equal(status_from(one, "127.0.0.1", cases[i].target, NULL),
                         cases[i].first);
        assert_int_equal(status_from(one, "127.0.0.2", cases[i].target, NULL),
                         cases[i].second);
    }
}

TEST(nobody_who_is_not_trusted_is_believed)
{
    static const char fields[] = "X-Forwarded-For: 203.0.113.1\r\n"
                                 "Forwarded: for=203.0.113.1\r\n";
    struct server *one = start_with("");

    assert_int_equal(status_from(one, "127.0.0.1", "/only/f", fields), 403);
    assert_int_equal(status_from(one, "127.0.0.1", "/but/f", fields), 200);
    server_stop(one);
    one = start_with("trusted-proxies = 127.0.0.3\n");
    assert_int_equal(status_from(one, "127.0.0.1", "/only/f", fields), 403);
    assert_int_equal(status_from(one, "127.0.0.3", "/only/f", fields), 200);
    assert_int_equal(status_from(one, "127.0.0.3", "/but/f", fields), 403);
    server_stop(one);
    one = start_with("trusted-proxies = 127.0.0.3\nclient-address = none\n");
    assert_int_equal(status_from(one, "127.0.0.3", "/only/f", fields), 403);
}

/* Who connects there has been let in by the file system. */
TEST(whoever_comes_by_a_unix_socket_is_trusted_if_anybody_is)
{
    static const char fields[] = "X-Forwarded-For: 203.0.113.1\r\n";
    const char *path = printed("%s/socket", folder());
    const char *listen = printed("--listen=unix:%s", path);
    const char *conf = printed("trusted-proxies = 127.0.0.3\n%s", access_conf);
    struct server *one = start_configured_at(NULL, conf, listen);

    assert_int_equal(client_status_unix(path, "/only/f", fields), 200);
    assert_int_equal(client_status_unix(path, "/but/f", fields), 403);
    assert_int_equal(
        client_status_unix(path, "/only/f",
                           "X-Forwarded-For: 203.0.113.1, 192.0.2.1\r\n"),
        403);
    assert_int_equal(
        client_status_unix(path, "/only/f",
                           "X-Forwarded-For: 203.0.113.1, 127.0.0.3\r\n"),
        200);
    assert_int_equal(client_status_unix(path, "/only/f", NULL), 403);
    assert_int_equal(client_status_unix(path, "/but/f", NULL), 403);
    server_stop(one);
    start_configured_at(NULL, access_conf, listen);
    assert_int_equal(client_status_unix(path, "/only/f", fields), 403);
    assert_int_equal(client_status_unix(path, "/but/f", fields), 200);
}

struct told_case {
    const char *fields; /* that tell who the client is */
    unsigned status;
};

static void check_told(const struct server *one, const char *target,
                       const struct told_case *cases, size_t count)
{
    struct client *client = client_open(one);

    for (size_t i = 0; i < count; i++) {
        going_on("%s", cases[i].fields);
        expect_status(client_ask(client, "GET", target, cases[i].fields),
                      cases[i].status);
    }
}

TEST(the_last_one_that_is_not_trusted_is_the_client)
{
    static const struct told_case cases[] = {
        {"", 403},
        {"X-Forwarded-For:\r\n", 403},
        {"X-Forwarded-For: 203.0.113.1\r\n", 200},
        {"X-Forwarded-For: 203.0.113.9\r\n", 403},
        {"X-Forwarded-For: 203.0.113.1:4711\r\n", 200},
        {"X-Forwarded-For: 203.0.113.1, 198.51.100.1\r\n", 403},
        {"X-Forwarded-For: 198.51.100.1, 203.0.113.1\r\n", 200},
        {"X-Forwarded-For: 203.0.113.1, 10.1.2.3, 10.3.2.1\r\n", 200},
        {"X-Forwarded-For: 203.0.113.1\r\nX-Forwarded-For: 10.1.1.1\r\n", 200},
        {"X-Forwarded-For: 203.0.113.1\r\nX-Forwarded-For: 192.0.2.1\r\n", 403},
        {"X-Forwarded-For: 203.0.113.1, unknown\r\n", 403},
        {"X-Forwarded-For: 203.0.113.1, \"\r\n", 403},
        {"Forwarded: for=203.0.113.1\r\n", 403}, /* the other field */
        {"X-Real-IP: 203.0.113.1\r\n", 403},
    };
    struct server *one =
        start_with("trusted-proxies = {127.0.0.1, \"10.0.0.0/8\"}\n");

    check_told(one, "/both/f", cases, sizeof(cases) / sizeof(*cases));
}

TEST(forwarded_is_read_when_it_is_chosen)
{
    static const struct told_case cases[] = {
        {"Forwarded: for=203.0.113.1\r\n", 200},
        {"Forwarded: For=\"203.0.113.1:80\";proto=https;by=_x\r\n", 200},
        {"Forwarded: for=\"[2001:db8::1]:80\"\r\n", 200},
        {"Forwarded: for=203.0.113.1, for=192.0.2.1\r\n", 403},
        {"Forwarded: for=192.0.2.1, for=203.0.113.1, for=10.1.1.1\r\n", 200},
        {"Forwarded: for=\", for=203.0.113.1\r\n", 200},
        {"Forwarded: for=203.0.113.1, for=unknown\r\n", 403},
        {"Forwarded: for=203.0.113.1, for=_hidden\r\n", 403},
        {"X-Forwarded-For: 203.0.113.1\r\n", 403},
    };
    struct server *one =
        start_with("trusted-proxies = {127.0.0.1, \"10.0.0.0/8\"}\n"
                   "client-address = forwarded\n");

    check_told(one, "/only/f", cases, sizeof(cases) / sizeof(*cases));
}

/* --- Rates ---------------------------------------------------------------- */

TEST(who_asks_too_often_is_told_when_to_come_back)
{
    struct server *one = start_with("");
    struct client *client = client_open(one);
    struct reply *reply;
    long wait;

    expect_status(client_ask(client, "GET", "/seldom/f", NULL), 200);
    expect_status(client_ask(client, "GET", "/seldom/lost", NULL), 404);
    reply = client_ask(client, "GET", "/seldom/f", NULL);
    expect_status(reply, 429);
    assert_non_null(reply_field(reply, "Retry-After"));
    wait = strtol(reply_field(reply, "Retry-After"), NULL, 10);
    assert_in_range(wait, 1, 30);
    client_expect_usable(client);
    /* Another connection, on whatever worker, is the same address. */
    for (int i = 0; i < 4; i++)
        expect_status(ask(one, "HEAD", "/seldom/f", NULL), 429);
    /* Others have their own. */
    assert_int_equal(status_from(one, "127.0.0.2", "/seldom/f", NULL), 200);
    assert_int_equal(status_from(one, "127.0.0.2", "/seldom/f", NULL), 200);
    assert_int_equal(status_from(one, "127.0.0.2", "/seldom/f", NULL), 429);
}

TEST(places_may_have_another_limit_or_none)
{
    struct server *one =
        start_configured("root = www\n"
                         "rate-limit = 2/m\n"
                         "rate-burst = 2\n"
                         "site all {\n"
                         "    location /seldom/often { rate-limit = off }\n"
                         "    location /seldom/more { rate-burst = 5 }\n"
                         "    location /but { }\n"
                         "}\n");

    for (int i = 0; i < 10; i++)
        expect_status(get(one, "/seldom/often/f"), 200);
    for (int i = 0; i < 5; i++)
        expect_status(get(one, "/seldom/more/f"), 200);
    expect_status(get(one, "/seldom/more/f"), 429);
    expect_status(get(one, "/seldom/f"), 200);
    expect_status(get(one, "/but/f"), 200); /* the same limit */
    expect_status(get(one, "/seldom/f"), 429);
    expect_status(get(one, "/but/f"), 429);
}

TEST(the_limit_is_that_of_the_client_behind_the_proxy)
{
    struct server *one = start_with("trusted-proxies = 127.0.0.1\n");
    struct client *client = client_open(one);

    for (unsigned i = 0; i < 10; i++) {
        const char *fields = printed("X-Forwarded-For: 198.51.100.%u\r\n", i);

        for (unsigned j = 0; j < 3; j++)
            expect_status(client_ask(client, "GET", "/seldom/f", fields),
                          j < 2 ? 200 : 429);
    }
    /* A /64 is one client (RFC 6177). */
    for (unsigned j = 0; j < 3; j++)
        expect_status(client_ask(client, "GET", "/seldom/f",
                                 printed("X-Forwarded-For: 2001:db8::%x:1\r\n",
                                         j)),
                      j < 2 ? 200 : 429);
    expect_status(client_ask(client, "GET", "/seldom/f",
                             "X-Forwarded-For: 2001:db8:0:1::1\r\n"),
                  200);
}

/* --- Bodies --------------------------------------------------------------- */

TEST(bodies_over_the_limit_are_refused)
{
    static const struct {
        const char *target;
        const char *body; /* with what frames it */
        unsigned status;
    } cases[] = {
        {"/small/f", "Content-Length: 0\r\n\r\n", 405},
        {"/small/f", "Content-Length: 10\r\n\r\n0123456789", 405},
        {"/small/f", "Content-Length: 11\r\n\r\n0123456789a", 413},
        {"/small/f",
         "Transfer-Encoding: chunked\r\n\r\n"
         "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n",
         405},
        {"/small/f",
         "Transfer-Encoding: chunked\r\n\r\n"
         "5\r\n01234\r\n6\r\n56789a\r\n0\r\n\r\n",
         413},
        {"/small/any/f", "Content-Length: 11\r\n\r\n0123456789a", 405},
        {"/canary", "Content-Length: 11\r\n\r\n0123456789a", 405},
    };
    struct server *one = start_with("");
    struct client *client = client_open(one);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("%s %s", cases[i].target, cases[i].body);
        client_say(client, "POST %s HTTP/1.1\r\nHost: a\r\n%s", cases[i].target,
                   cases[i].body);
        expect_status(client_reply(client), cases[i].status);
        client_expect_usable(client);
    }
    client_say(client, "GET /small/f HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 11\r\n\r\n0123456789a");
    expect_status(client_reply(client), 413);
    /* One that waits to be asked for its body is told before it sends it. */
    client_say(client, "PUT /small/f HTTP/1.1\r\nHost: a\r\n"
                       "Expect: 100-continue\r\nContent-Length: 11\r\n\r\n");
    expect_status(client_reply(client), 413);
    client_expect_end(client);
}

/* --- The log -------------------------------------------------------------- */

static void expect_lines(const char *path, const char *expected)
{
    if (!eventually(strlen(read_text(path, NULL)) >= strlen(expected), 10000))
        flunk("only: %s", read_text(path, NULL));
    assert_string_equal(read_text(path, NULL), expected);
}

TEST(the_log_has_the_address_of_the_client)
{
    const char *path = printed("%s/access.log", folder());
    struct server *one =
        start_with(printed("workers = 1\naccess-log = \"%s\"\n"
                           "log-format = \"%%{remote} %%{status}\"\n"
                           "trusted-proxies = 127.0.0.3\n",
                           path));
    struct client *client = client_open_from(one, "127.0.0.3");

    client_ask(client, "GET", "/canary", "X-Forwarded-For: 203.0.113.1\r\n");
    client_ask(client, "GET", "/canary", NULL);
    client_ask(client, "GET", "/only/f", "X-Forwarded-For: 192.0.2.1\r\n");
    client_ask(client, "GET", "/canary", "X-Forwarded-For: 2001:db8::5\r\n");
    /* Of a request that cannot be read, nobody knows who has sent it: it counts
     * neither as the proxy's nor as that of an address in it. */
    client_say(client, "GET /canary HTTP/1.1\r\nHost: a\r\n"
                       "X-Forwarded-For: 203.0.113.1\r\nbad line\r\n\r\n");
    expect_status(client_reply(client), 400);
    /* This one can be read, and is refused before anything is looked at. */
    assert_int_equal(
        status_from(one, "127.0.0.3", "/canary",
                    "X-Forwarded-For: 203.0.113.7\r\nExpect: x\r\n"),
        417);
    client = client_open_from(one, "127.0.0.2");
    client_say(client, "GET /canary HTTP/1.1\r\nbad line\r\n\r\n");
    expect_status(client_reply(client), 400);
    status_from(one, "127.0.0.2", "/canary",
                "X-Forwarded-For: 203.0.113.1\r\n");
    server_stop(one);
    expect_lines(path, "203.0.113.1 200\nunknown 200\n192.0.2.1 403\n"
                       "2001:db8::5 200\nunknown 400\n203.0.113.7 417\n"
                       "127.0.0.2 400\n127.0.0.2 200\n");
}

TEST(statistics_have_the_address_of_the_client)
{
    struct server *one = start_with("workers = 1\nstatus = /_s\n"
                                    "trusted-proxies = 127.0.0.3\n");
    struct reply *reply;

    status_from(one, "127.0.0.3", "/canary",
                "X-Forwarded-For: 203.0.113.77\r\n");
    /* The status itself is for this machine, whoever carried the question. */
    assert_int_equal(status_from(one, "127.0.0.3", "/_s/status.json",
                                 "X-Forwarded-For: 203.0.113.77\r\n"),
                     403);
    reply = get(one, "/_s/status.json");
    expect_status(reply, 200);
    assert_non_null(memmem(reply->body, reply->body_len, "203.0.113.77", 12));
    assert_null(memmem(reply->body, reply->body_len, "127.0.0.3", 9));
}

E2E_SUITE(start);
