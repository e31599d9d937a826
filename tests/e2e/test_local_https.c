/* curl asks, since it is to trust what programs of the machine do. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness.h"

static char data[128];

E2E_BEGIN(set_up)
{
    snprintf(data, sizeof(data), "%s/data", folder());
    setenv("XDG_DATA_HOME", data, 1);
    unsetenv("STATE_DIRECTORY");
    site_text("index.html", "by this machine");
}

static int end(void **state)
{
    if (system(printed("rm -rf '%s'", data)) != 0)
        return -1;
    return harness_after_test(state);
}

/* The port of the second listener, which a server prints behind the first. */
static unsigned https_port(const struct server *server)
{
    unsigned port = 0;
    const char *colon;
    char line[1024];

    if (!server_line(server, line, sizeof(line)) ||
        !strstr(line, " at https://127.0.0.1:"))
        flunk("no line of https: %s", line);
    colon = strstr(line, "https://127.0.0.1:");
    sscanf(colon, "https://127.0.0.1:%u", &port);
    return port;
}

/* 0: curl trusts the certificate, and gets the page. */
static int ask(unsigned port, const char *host, const char *trusted)
{
    int status = system(
        printed("curl -fsS --noproxy '*' -m 10 --cacert '%s' --connect-to "
                "::127.0.0.1:%u https://%s:%u/ 2>/dev/null | "
                "grep -q '^by this machine$'",
                trusted, port, host, port));

    return WEXITSTATUS(status);
}

static const char *authority(void)
{
    return printed("%s/sprintd/tls/authority.crt", data);
}

TEST(it_needs_no_preparation)
{
    struct server *server = START("--https", "0");
    unsigned port = https_port(server);
    char line[1024];
    char host[65] = "";

    assert_true(server_line(server, line, sizeof(line)));
    assert_non_null(strstr(line, printed("sprintd tls trust '%s/sprintd/tls'",
                                         data)));
    assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
    assert_int_equal(ask(port, "localhost", authority()), 0);
    assert_int_equal(ask(port, "127.0.0.1", authority()), 0);
    assert_int_equal(ask(port, host, authority()), 0);
    assert_int_not_equal(ask(port, "example.org", authority()), 0);
    assert_int_not_equal(ask(port, "localhost",
                             "/etc/ssl/certs/ca-certificates.crt"),
                         0);
    assert_int_equal(access(authority(), F_OK), 0);
}

/* What was trusted once stays so. */
TEST(the_next_server_has_the_same_authority)
{
    struct server *server = START("--https", "0");
    char *copy = printed("%s/copy.crt", folder());

    assert_int_equal(system(printed("cp '%s' '%s'", authority(), copy)), 0);
    server_stop(server);
    server = START("--https", "0");
    assert_int_equal(ask(https_port(server), "localhost", copy), 0);
}

TEST(a_confined_server_has_it_over_a_reload)
{
    char *config = printed("%s/https.conf", folder());
    FILE *to = fopen(config, "w");
    struct server *server;
    unsigned port;

    assert_non_null(to);
    fprintf(to, "root = %s\nhttps = 0\nport = 0\nbind = 127.0.0.1\n", site());
    fclose(to);
    server = server_start(&(struct launch){.is_bare = true, .root = ""},
                          (const char *const[]){"--sandbox", "strict", "-c",
                                                config, NULL});
    port = https_port(server);
    assert_int_equal(ask(port, "localhost", authority()), 0);
    /* The leaf is gone; a new one is made, within the walls. */
    assert_int_equal(unlink(printed("%s/sprintd/tls/localhost.pem", data)), 0);
    server_signal(server, SIGHUP);
    assert_true(eventually(access(printed("%s/sprintd/tls/localhost.pem", data),
                                  F_OK) == 0,
                           5000));
    assert_int_equal(ask(port, "localhost", authority()), 0);
}

TEST(a_certificate_that_is_told_wins)
{
    struct server *server = START("--https", "0");
    char *own = printed("%s/own.pem", folder());
    char *made = printed("%s/sprintd/tls", data);

    assert_int_equal(
        system(printed("cp '%s/localhost.pem' '%s' && cp '%s/authority.crt' "
                       "'%s.crt'",
                       made, own, made, own)),
        0);
    server_stop(server);
    assert_int_equal(system(printed("rm -rf '%s'", data)), 0);
    server = START("--https", "0", "--certificate", own);
    assert_int_equal(ask(https_port(server), "localhost",
                         printed("%s.crt", own)),
                     0);
    assert_int_equal(access(data, F_OK), -1);
}

TEST(an_authority_that_is_damaged_is_told)
{
    struct outcome outcome;
    FILE *to;

    assert_int_equal(
        system(printed("mkdir -p '%s/sprintd/tls' && chmod -R 700 '%s'", data,
                       data)),
        0);
    to = fopen(printed("%s/sprintd/tls/authority.pem", data), "w");
    assert_non_null(to);
    fputs("no authority\n", to);
    fclose(to);
    RUN(&outcome, "--port", "0", "--https", "0", site());
    assert_int_equal(outcome.status, 65);
    assert_non_null(strstr(outcome.err, "there is no whole certificate in it"));
}

SUITE(.begin = set_up, .end = harness_end, .each_end = end);
