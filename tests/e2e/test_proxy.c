/*
 * --proxy: which server answers what, what it is asked for, whose rules count,
 * and what becomes of it all when the configuration changes.
 */
#include "configured.h"
#include "operator.h"
#include "store.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { SEED = 11, LARGE = 3 * 1048576, HIDDEN = 262144 };

static pid_t python; /* 0: none runs */

E2E_BEGIN(start)
{
    operator_adopt();
    site_text("deep/er/page", "deep\n");
    site_seeded("large", SEED, LARGE);
    site_text("../other/canary", "other\n");
    site_text("../other/v1/page", "page of v1\n");
}

static int after_test(void **state)
{
    if (python > 0) {
        kill(python, SIGKILL);
        waitpid(python, NULL, 0);
    }
    python = 0;
    return operator_after_test(state);
}

/* Another server of ours to be asked, with a root of its own. */
static struct server *start_behind(const char *root)
{
    struct launch launch = {.root = printed("%s/%s", folder(), root)};

    return server_start(&launch, (const char *const[]){NULL});
}

/* "PREFIX=http://127.0.0.1:PORT" and what follows. */
static const char *to(const char *prefix, const struct server *behind,
                      const char *rest)
{
    return printed("%s=http://127.0.0.1:%u%s", prefix, behind->port, rest);
}

/* A port of 127.0.0.1 that is taken, and where nobody listens; *fd_out keeps it
 * so. */
static unsigned dead_port(int *fd_out)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(name);

    *fd_out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_not_equal(*fd_out, -1);
    assert_int_equal(bind(*fd_out, (struct sockaddr *)&name, len), 0);
    assert_int_equal(getsockname(*fd_out, (struct sockaddr *)&name, &len), 0);
    return ntohs(name.sin_port);
}

/* --- Python's ------------------------------------------------------------ */

/* Starts `python3 -m http.server` for the site; its port. */
static unsigned start_python(void)
{
    char line[200] = "";
    const char *port;
    int out[2];
    FILE *says;

    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    python = fork();
    if (python == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        dup2(out[1], STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execlp("python3", "python3", "-u", "-m", "http.server", "0", "--bind",
               "127.0.0.1", "--directory", site(), (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    says = fdopen(out[0], "r");
    assert_non_null(says);
    if (!fgets(line, sizeof(line), says))
        flunk("python3 -m http.server does not start");
    fclose(says);
    port = strstr(line, "port ");
    assert_non_null(port);
    return (unsigned)strtoul(port + 5, NULL, 10);
}

TEST(what_python_serves_comes_through_whole)
{
    unsigned port = start_python();
    struct server *front = START("--workers=2", "--proxy",
                                 printed("/=http://127.0.0.1:%u", port),
                                 "--header-set",
                                 "X-Content-Type-Options: nosniff");
    struct client *client = client_open(front);

    expect_body(client_ask(client, "GET", "/canary", NULL), "canary\n");
    expect_seeded(client_ask(client, "GET", "/large", NULL), SEED, 0, LARGE);
    expect_status(client_ask(client, "GET", "/none", NULL), 404);
    assert_non_null(strstr(reply_field(client_ask(client, "GET", "/deep", NULL),
                                       "Location"),
                           "/deep/"));
    client_say(client, "HEAD /large HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_int_equal(client_reply_to_head(client)->length, LARGE);
    client_expect_usable(client);
}

/* --- Which server, which path -------------------------------------------- */

TEST(the_longest_prefix_answers)
{
    struct server *one = start_behind("site");
    struct server *two = start_behind("other");
    struct server *front = START("--proxy", to("/", one, ""), "--proxy",
                                 to("/two", two, "/"), "--status=/two/_s",
                                 "--proxy", to("/two/v1/x", one, "/deep/"));

    expect_body(get(front, "/canary"), "canary\n");
    expect_body(get(front, "/two/canary"), "other\n");
    expect_status(get(front, "/x/../two/canary"), 400);
    expect_body(get(front, "/two/v1/page"), "page of v1\n");
    expect_body(get(front, "/two/v1/x/er/page"), "deep\n");
    expect_status(get(front, "/twofold"), 404);
    expect_status(get(front, "/two/_s/health"), 200);
}

TEST(a_path_of_the_server_replaces_the_prefix)
{
    struct server *behind = start_behind("other");
    struct server *front = START("--proxy", to("/app", behind, "/v1"),
                                 "--proxy", to("/keep", behind, ""), "--proxy",
                                 to("/all", behind, "/"));

    expect_body(get(front, "/app/page"), "page of v1\n");
    expect_status(get(front, "/app/../app/page"), 400);
    expect_status(get(front, "/%61pp/page"), 400); /* is it below, or not? */
    expect_body(get(front, "/all/v1/page"), "page of v1\n");
    expect_status(get(front, "/all"), 403); /* no index there */
    expect_status(get(front, "/keep/canary"), 404);
    expect_body(get(front, "/canary"), "canary\n"); /* our own */
}

TEST(a_socket_or_a_name_is_as_good)
{
    const char *path = printed("%s/behind", folder());
    struct launch launch = {.is_bare = true};
    struct server *two = start_behind("other");
    struct server *front;

    (void)server_start(&launch,
                       (const char *const[]){"--listen",
                                             printed("unix:%s", path), NULL});
    front = START("--proxy", printed("/deep=unix:%s", path), "--proxy",
                  printed("/name=http://localhost:%u/", two->port));
    expect_body(get(front, "/deep/er/page"), "deep\n");
    expect_body(get(front, "/name/canary"), "other\n");
}

TEST(bodies_go_there_too)
{
    struct server *behind = START("--kv", printed("/kv=%s", store_folder()),
                                  "--kv-open-writes");
    struct server *front = START("--proxy", to("/kv", behind, ""));
    struct client *client = client_open(front);

    expect_status(store_ask(client, "PUT", "a", "", "some"), 201);
    store_holds(client, "a", "some");
    client_say(client, "PUT /kv/b HTTP/1.1\r\nHost: localhost\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n"
                       "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    expect_status(client_reply(client), 201);
    store_holds(client, "b", "abcde");
}

/* --- Who does not answer ------------------------------------------------- */

TEST(where_nobody_listens_is_502_and_says_so)
{
    int fd;
    unsigned port = dead_port(&fd);
    struct server *front = START("--proxy",
                                 printed("/=http://127.0.0.1:%u", port));
    struct client *client = client_open(front);

    expect_status(client_ask(client, "GET", "/canary", NULL), 502);
    expect_status(client_ask(client, "GET", "/canary", NULL), 502);
    assert_true(eventually(server_has_said(front, printed("%u", port)), 5000));
    close(fd);
}

TEST(another_server_is_tried_for_what_may_be_repeated)
{
    int fd;
    unsigned port = dead_port(&fd);
    struct server *behind = start_behind("site");
    struct server *front = START("--workers=1", "--proxy",
                                 printed("/=http://127.0.0.1:%u,"
                                         "http://127.0.0.1:%u",
                                         port, behind->port));

    for (unsigned i = 0; i < 8; i++)
        expect_body(get(front, "/canary"), "canary\n");
    close(fd);
}

/* The state that status.json of front tells of some server first. */
static bool is_state(const struct server *front, const char *wanted)
{
    const char *text = get(front, "/_s/status.json")->body;
    const char *upstreams = strstr(text, "\"upstreams\":[");
    const char *state = upstreams ? strstr(upstreams, "\"state\":\"") : NULL;

    assert_non_null(state);
    state += strlen("\"state\":\"");
    return strncmp(state, wanted, strlen(wanted)) == 0;
}

TEST(probes_say_who_is_down_and_who_is_up_again)
{
    struct server *behind = start_behind("site");
    struct server *front = START("--proxy", to("/", behind, ""), "--status=/_s",
                                 "--proxy-probe=/health?x",
                                 "--proxy-probe-interval=20ms",
                                 "--proxy-probe-status=200",
                                 "--proxy-probe-rise=1");

    assert_true(eventually(is_state(front, "down"), 5000));
    expect_status(get(front, "/canary"), 503);
    assert_non_null(reply_field(get(front, "/canary"), "Retry-After"));
    site_text("health", "well\n");
    assert_true(eventually(is_state(front, "up"), 5000));
    expect_body(get(front, "/canary"), "canary\n");
    site_remove("health");
}

TEST(statistics_tell_of_each_server)
{
    struct server *behind = start_behind("site");
    struct server *front = START("--proxy", to("/", behind, ";weight=2"),
                                 "--status=/_s", "--report=always");
    const char *labels = printed("{proxy=\"/\",server=\"127.0.0.1:%u\"}",
                                 behind->port);
    const char *metrics;

    for (unsigned i = 0; i < 3; i++)
        expect_body(get(front, "/canary"), "canary\n");
    metrics = get(front, "/_s/metrics")->body;
    assert_non_null(strstr(metrics,
                           printed("sprintd_upstream_up%s 1\n", labels)));
    assert_non_null(strstr(metrics,
                           printed("sprintd_upstream_requests_total%s 3\n",
                                   labels)));
    server_signal(front, SIGUSR2);
    assert_true(eventually(server_has_said(front, "Upstreams"), 5000));
}

/* --- Whose rules --------------------------------------------------------- */

TEST(rules_of_a_site_and_its_locations_count)
{
    struct server *behind = start_behind("site");
    struct server *front = start_configured(printed(
        "proxy = {\"%s\"}\n"
        "root = site\n"
        "site \"closed\" { hosts = {closed} deny = {\"127.0.0.0/8\"} }\n"
        "site \"open\" {\n"
        "    header-set = {\"X-Front: yes\"}\n"
        "    max-body = 10\n"
        "    location \"/deep\" { deny = {\"127.0.0.0/8\"} }\n"
        "    location \"/own\" { root = other strip-prefix = yes }\n"
        "    location \"/said\" { respond = said }\n"
        "    redirect = {\"/old /canary 302\"}\n"
        "}\n",
        to("/", behind, "")));
    struct client *client = client_open(front);

    expect_status(get_host(front, "closed", "/canary"), 403);
    expect_body(get_host(front, "open", "/canary"), "canary\n");
    assert_true(reply_says(get_host(front, "open", "/canary"), "X-Front",
                           "yes"));
    expect_status(get_host(front, "open", "/deep/er/page"), 403);
    expect_status(get_host(front, "open", "/x/..//deep/er/page"), 403);
    expect_body(get_host(front, "open", "/own/canary"), "other\n");
    expect_body(get_host(front, "open", "/said"), "said");
    expect_status(get_host(front, "open", "/old"), 302);
    client_say(client, "POST /canary HTTP/1.1\r\nHost: open\r\n"
                       "Content-Length: 11\r\n\r\n01234567890");
    expect_status(client_reply(client), 413);
}

TEST(a_body_of_chunks_has_an_end_too)
{
    struct server *behind = START("--kv", printed("/kv=%s", store_folder()));
    struct server *front = START("--proxy", to("/", behind, ""),
                                 "--max-body=10");
    struct client *client = client_open(front);

    client_say(client, "PUT /kv/c HTTP/1.1\r\nHost: localhost\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n"
                       "8\r\n01234567\r\n3\r\n890\r\n0\r\n\r\n");
    expect_status(client_reply(client), 413);
    client_expect_end(client);
    expect_status(get(front, "/kv/c"), 404);

    client = client_open(front); /* the size alone is enough */
    client_say(client, "PUT /kv/c HTTP/1.1\r\nHost: localhost\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n"
                       "8\r\n01234567\r\n7fffffffffffffff\r\n");
    expect_status(client_reply(client), 413);
    client_expect_end(client);
    expect_status(get(front, "/kv/c"), 404);
}

TEST(a_password_is_asked_for_before_a_server_is)
{
    struct server *behind = START("--kv", printed("/kv=%s", store_folder()));
    struct server *front;
    struct client *client;
    char *body = scratch(HIDDEN + 1);

    site_text("../users", "joe:$6$rounds=1000$salt$"
                          "GtkTLHpjGZxE7UbRqJ3FTYkBJ8xBfQWh6FJ0cTtKCmxb"
                          "FmvRrVbGwLxJ1qPvBNVYlVqmZbXyLkY9vWkCkW8p31\n");
    front = START("--proxy", to("/", behind, ""), "--auth-file",
                  printed("%s/users", folder()));
    expect_status(get(front, "/kv/secret"), 401);
    client = client_open(front);
    memset(body, 'x', HIDDEN);
    client_say(
        client,
        "PUT /kv/secret HTTP/1.1\r\nHost: localhost\r\nContent-Length: %u\r\n"
        "\r\n",
        HIDDEN);
    (void)client_send(client, body, HIDDEN);
    expect_status(client_reply(client), 401);
    client_close(client);
    expect_status(get(behind, "/kv/secret"), 404);
}

/* --- Changes ------------------------------------------------------------- */

static void configure(const char *text)
{
    (void)configuration(text);
}

static struct server *start_operated(const char *text)
{
    struct launch launch = {.is_bare = true, .root = ""};

    return server_start(&launch, (const char *const[]){
                                     "-c", configuration(text), "--control",
                                     control_path(), NULL});
}

static const char *listening(const char *proxies)
{
    return printed("listen = {\"127.0.0.1:0\"}\nroot = site\nstatus = /_s\n"
                   "%s\n",
                   proxies);
}

TEST(a_reload_leads_elsewhere)
{
    struct server *one = start_behind("site");
    struct server *two = start_behind("other");
    struct server *front = start_operated(listening(printed("proxy = {\"%s\"}",
                                                            to("/", one, ""))));
    struct client *client = client_open(front);
    const char *kept = to("/kept", one, "/");

    expect_body(client_ask(client, "GET", "/canary", ""), "canary\n");
    configure(listening(printed("proxy = {\"%s\", \"%s\"}", to("/", two, ""),
                                kept)));
    ctl_ok("reload");
    assert_true(eventually(
        strcmp(client_ask(client, "GET", "/canary", "")->body, "other\n") == 0,
        5000));
    expect_body(client_ask(client, "GET", "/kept/canary", ""), "canary\n");
    configure(listening(printed("proxy = {\"%s\"}", kept)));
    ctl_ok("reload");
    assert_true(eventually(
        strcmp(client_ask(client, "GET", "/canary", "")->body, "canary\n") == 0,
        5000)); /* our own file again */
    expect_body(client_ask(client, "GET", "/kept/canary", ""), "canary\n");
    assert_non_null(strstr(get(front, "/_s/metrics")->body,
                           printed("sprintd_upstream_requests_total{proxy="
                                   "\"/kept\",server=\"127.0.0.1:%u\"} 2\n",
                                   one->port)));
}

TEST(a_sandbox_without_connections_refuses_a_proxy)
{
    struct server *behind = start_behind("site");
    struct server *front = start_operated(listening(""));
    struct outcome outcome;

    configure(listening(printed("proxy = {\"%s\"}", to("/", behind, ""))));
    if (ctl("reload", &outcome) == 0) {
        expect_body(get(front, "/deep/er/page"), "deep\n");
        skip(); /* nothing holds it here: no Landlock, or a sanitizer */
    }
    assert_non_null(strstr(outcome.err, "connect to servers"));
    expect_body(get(front, "/canary"), "canary\n");
}

TEST(what_is_wrong_is_said_before_it_starts)
{
    static const struct {
        const char *first;
        const char *second;
        const char *words;
    } cases[] = {
        {"/=http://a", "/b=ftp://a", "https://"},
        {"/=http://a", "/b=http://a/x,http://b/y", "not the same"},
        {"/a=http://a", "/a/=http://b", "taken already"},
        {"/=http://a", "/_s=http://a", "taken already"},
    };
    struct outcome outcome;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("%s", cases[i].first);
        RUN(&outcome, site(), "--status=/_s", "--proxy", cases[i].first,
            "--proxy", cases[i].second);
        assert_int_not_equal(outcome.status, 0);
        assert_non_null(strstr(outcome.err, cases[i].words));
    }
    RUN(&outcome, "-t", "-c",
        configuration("root = site\n"
                      "proxy = {\"/a=http://a\", \"/a=http://b\"}\n"));
    assert_int_equal(outcome.status, 78);
    assert_non_null(strstr(outcome.err, "test.conf:2"));
    assert_non_null(strstr(outcome.err, "taken already"));
}

SUITE(.begin = start, .end = harness_end, .each_end = after_test);
