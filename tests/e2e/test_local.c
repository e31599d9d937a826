/*
 * What counts as this machine: not whom a proxy does not name, not what one
 * here passes on, not what a browser here is led to by a name of somebody's.
 */
#include "configured.h"

#include <signal.h>

#include "json.h"
#include "store.h"

static const char conf[] = "status = /_s\n"
                           "status-allow = {\"0.0.0.0/0\", \"::/0\"}\n"
                           "root = www\n"
                           "site all {\n"
                           "    hosts = {\"*.site.example\"}\n"
                           "    location /only { allow = {\"0.0.0.0/0\"} }\n"
                           "    location /but { deny = 192.0.2.1 }\n"
                           "    location /seldom { rate-limit = 2/m\n"
                           "        rate-burst = 2 }\n"
                           "}\n";

E2E_BEGIN(start)
{
    static const char *const places[] = {"only", "but", "seldom"};

    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        site_text(printed("../www/%s/f", places[i]), "in");
    site_text("../www/canary", "canary\n");
}

/* --- Clients of whom nothing is known ------------------------------------ */

static const char *const nobodies[] = {
    "",
    "X-Forwarded-For: unknown\r\n",
    "X-Forwarded-For: _hidden\r\n",
    "X-Forwarded-For: fe80::1%lo\r\n",
    "X-Forwarded-For: 203.0.113.1, unknown\r\n",
    "X-Forwarded-For: 203.0.113.1, \"\r\n",
    "X-Forwarded-For: , ,\r\n",
    "Forwarded: for=203.0.113.1\r\n", /* the other field */
};

TEST(an_unknown_client_is_allowed_by_nothing)
{
    struct server *one = start_configured(
        printed("trusted-proxies = {127.0.0.1, \"10.0.0.0/8\"}\n"
                "kv = \"/kv=%s/store\"\n%s",
                folder(), conf));
    struct client *client = client_open(one);

    for (size_t i = 0; i < sizeof(nobodies) / sizeof(*nobodies); i++) {
        const char *fields = nobodies[i];

        going_on("'%s'", fields);
        expect_status(client_ask(client, "GET", "/only/f", fields), 403);
        expect_status(client_ask(client, "GET", "/but/f", fields), 403);
        expect_status(client_ask(client, "GET", "/canary", fields), 200);
        expect_status(client_ask(client, "GET", "/_s/status.json", fields),
                      403);
        expect_status(client_ask(client, "POST", "/kv/", fields), 403);
    }
    expect_status(client_ask(client, "GET", "/only/f",
                             "X-Forwarded-For: 203.0.113.1\r\n"),
                  200);
}

TEST(unknown_clients_have_one_rate_together)
{
    struct server *one =
        start_configured(printed("trusted-proxies = 127.0.0.1\n%s", conf));
    struct client *client = client_open(one);

    for (size_t i = 0; i < sizeof(nobodies) / sizeof(*nobodies); i++)
        expect_status(client_ask(client, "GET", "/seldom/f", nobodies[i]),
                      i < 2 ? 200 : 429);
    expect_status(client_ask(client, "GET", "/seldom/f",
                             "X-Forwarded-For: 203.0.113.1\r\n"),
                  200);
}

/* One in front that listens on a socket has nobody to name. */
TEST(a_chain_does_not_make_somebody_of_nobody)
{
    const char *path = printed("%s/front", folder());
    struct server *behind =
        start_configured(printed("trusted-proxies = 127.0.0.1\n%s", conf));

    START("--listen", printed("unix:%s", path), "--proxy",
          printed("/=http://127.0.0.1:%u", behind->port));
    assert_int_equal(client_status_unix(path, "/canary", NULL), 200);
    assert_int_equal(client_status_unix(path, "/_s/status.json", NULL), 403);
    assert_int_equal(client_status_unix(path, "/_s/status.json",
                                        "X-Forwarded-For: 127.0.0.1\r\n"),
                     403);
    assert_int_equal(client_status_unix(path, "/but/f", NULL), 403);
}

/* It introduces its client by the PROXY protocol. */
TEST(who_is_introduced_is_not_of_this_machine)
{
    static const char *const lines[] = {
        "PROXY UNKNOWN\r\n", "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n"};
    struct server *one = START("--status=/_s", "--trusted-proxies=127.0.0.1",
                               "--client-address=proxy-protocol");

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct client *client = client_open(one);

        client_say(client, "%s", lines[i]);
        expect_status(client_ask(client, "GET", "/canary", NULL), 200);
        expect_status(client_ask(client, "GET", "/_s/status.json", NULL), 403);
        client_close(client);
    }
}

/* --- What a proxy here passes on ----------------------------------------- */

TEST(what_a_proxy_here_passes_on_is_not_of_here)
{
    static const char *const cases[] = {
        "Via: 1.1 p\r\n",
        "Forwarded: for=127.0.0.1\r\n",
        "X-Forwarded-For: 127.0.0.1\r\n",
        "X-Forwarded-Server: h\r\n",
        "X-Real-IP: 127.0.0.1\r\n",
    };
    struct server *one = START("--status=/_s", "--kv",
                               printed("/kv=%s/store", folder()));
    struct client *client = client_open(one);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("%s", cases[i]);
        expect_status(client_ask(client, "GET", "/_s/metrics", cases[i]), 403);
        expect_status(client_ask(client, "POST", "/kv/", cases[i]), 403);
        expect_status(client_ask(client, "GET", "/kv/", cases[i]), 200);
    }
    expect_status(client_ask(client, "GET", "/_s/metrics", NULL), 200);
    expect_status(client_ask(client, "POST", "/kv/", NULL), 201);
}

/* Many a proxy adds nothing, and says Host: localhost; then it is trusted, and
 * tells no client. */
TEST(a_trusted_proxy_that_says_nothing_is_not_of_here)
{
    static const char *const addresses[] = {"x-forwarded-for", "forwarded",
                                            "none"};

    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
        struct server *one = START("--status=/_s", "--kv",
                                   printed("/kv=%s/store", folder()),
                                   "--trusted-proxies=127.0.0.1",
                                   "--client-address", addresses[i]);
        struct client *client = client_open(one);

        going_on("%s", addresses[i]);
        expect_status(client_ask(client, "GET", "/_s/metrics", NULL), 403);
        expect_status(client_ask(client, "POST", "/kv/", NULL), 403);
        server_stop(one);
    }
}

/* Probes and an ingress may come from one block, as in Kubernetes. */
TEST(an_allowed_address_that_passes_on_lets_nobody_look)
{
    static const char *const marks[] = {"X-Forwarded-For: 203.0.113.9\r\n",
                                        "Via: 1.1 p\r\n",
                                        "X-Forwarded-Proto: https\r\n"};
    const char *allowed = "--status-allow=127.0.0.0/8";
    struct server *one = START("--status=/_s", allowed);
    struct client *client = client_open(one);

    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
        going_on("%s", marks[i]);
        expect_status(client_ask(client, "GET", "/_s/metrics", marks[i]), 403);
    }
    expect_status(client_ask(client, "GET", "/_s/metrics", NULL), 200);
    server_stop(one);
    one = START("--status=/_s", "--status-allow=203.0.113.0/24",
                "--trusted-proxies=127.0.0.1");
    client = client_open(one);
    expect_status(client_ask(client, "GET", "/_s/metrics", marks[0]), 200);
    expect_status(client_ask(client, "GET", "/_s/metrics",
                             "X-Forwarded-For: 198.51.100.1\r\n"),
                  403);
}

/* A page whose name leads here may have its browser add such fields. */
TEST(the_marks_of_proxies_let_no_page_read_keys)
{
    static const char *const fields[] = {"", "X-Forwarded-Foo: 1\r\n",
                                         "X-Forwarded-For: 192.0.2.1\r\n",
                                         "Via: 1.1 p\r\n"};
    static const char *const targets[] = {"/kv/a", "/kv/", "/kv/?watch=1"};
    const char *store = printed("/kv=%s/store", folder());
    struct server *one = START("--kv", store);

    expect_status(store_ask_alone(one, "PUT", "a", NULL, "x"), 201);
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        for (size_t j = 0; j < sizeof(targets) / sizeof(*targets); j++) {
            going_on("%s with '%s'", targets[j], fields[i]);
            expect_status(ask_host(one, "GET", "evil.example", targets[j],
                                   fields[i]),
                          403);
        }
    server_stop(one);
    one = START("--kv", store, "--trusted-proxies=127.0.0.1");
    expect_status(ask_host(one, "GET", "www.example", "/kv/a", fields[2]), 200);
    server_stop(one);
    one = START("--kv", store, "--status-host=www.example");
    expect_status(ask_host(one, "GET", "www.example", "/kv/a", fields[2]), 200);
}

/* --- By which name ------------------------------------------------------- */

TEST(statistics_are_told_by_names_of_this_machine_only)
{
    static const char *const targets[] = {"/_s/", "/_s/status.json",
                                          "/_s/metrics", "/_s/health"};
    static const struct {
        const char *host;
        unsigned status;
    } cases[] = {
        {"localhost", 200},
        {"127.0.0.1:8080", 200},
        {"[::1]", 200},
        {"a.site.example", 200},
        {"Extra.Example.:80", 200},
        {"b.more.example", 200},
        {"evil.example", 403},
        {"localhost.evil.example", 403},
        {"site.example", 403},
    };
    struct server *one = start_configured(
        printed("status-host = {Extra.example, \"*.more.example\"}\n%s", conf));

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (size_t j = 0; j < sizeof(targets) / sizeof(*targets); j++) {
            going_on("%s of %s", targets[j], cases[i].host);
            expect_status(get_host(one, cases[i].host, targets[j]),
                          cases[i].status);
        }
    expect_status(get_host(one, "evil.example", "/canary"), 200);
}

TEST(names_follow_a_reload)
{
    struct server *one = start_configured(conf);

    expect_status(get_host(one, "extra.example", "/_s/health"), 403);
    configuration(printed("status-host = extra.example\n%s", conf));
    assert_int_equal(kill(one->pid, SIGHUP), 0);
    assert_true(eventually(
        get_host(one, "extra.example", "/_s/health")->status == 200, 5000));
}

/* --- What is told -------------------------------------------------------- */

TEST(the_slowest_are_told_without_their_queries)
{
    struct server *one = START("--status=/_s", "--workers=1");
    struct client *client = client_open(one);
    struct reply *reply;

    expect_status(client_ask(client, "GET", "/canary?token=secret", NULL), 200);
    reply = client_ask(client, "GET", "/_s/status.json", NULL);
    expect_status(reply, 200);
    expect_json(reply->body, reply->body_len);
    assert_non_null(memmem(reply->body, reply->body_len, "\"/canary\"", 9));
    assert_null(memmem(reply->body, reply->body_len, "secret", 6));
}

E2E_SUITE(start);
