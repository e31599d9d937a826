/* An authority that does wrong: what it says is told, and what works stays. */
#include <signal.h>
#include <sys/wait.h>

#include "acme.h"
#include "child.h"
#include "make_certificate.h"

static pid_t authority;
static struct acme_place place;
static const char *log_path;

static int after(void **state)
{
    if (authority > 0) {
        kill(authority, SIGKILL);
        waitpid(authority, NULL, 0);
    }
    authority = 0;
    return acme_after(state);
}

static void write_file(const char *path, char *text)
{
    FILE *to = fopen(path, "we");

    if (!to || fputs(text, to) < 0 || fclose(to) != 0)
        flunk("cannot write '%s'", path);
    free(text);
}

static void start(const char *how)
{
    struct made made =
        make_certificate(&(struct making){.subject = "authority",
                                          .names = "DNS:localhost,IP:127.0.0.1",
                                          .is_authority = true});
    unsigned port = free_port();
    const char *certificate = printed("%s/authority-%u.crt", folder(), port);
    const char *key = printed("%s/authority-%u.key", folder(), port);

    write_file(certificate, made_text(&made));
    write_file(key, made_key(&made, NULL));
    made_free(&made);
    log_path = printed("%s/authority-%u.log", folder(), port);
    authority = child_fork();
    if (authority == 0) {
        if (freopen(log_path, "w", stdout))
            execlp("python3", "python3", "tests/e2e/authority.py",
                   printed("%u", port), certificate, key, how, ACME_NAMES,
                   (char *)NULL);
        _exit(127);
    }
    place = (struct acme_place){
        .directories = {printed("https://127.0.0.1:%u/dir", port)},
        .ca = certificate,
        .http = free_port(),
        .https = free_port()};
    if (!eventually(system(printed("curl -sf --noproxy '*' -m 1 --cacert '%s' "
                                   "-I https://127.0.0.1:%u/ >/dev/null",
                                   certificate, port)) == 0,
                    15000))
        flunk("the authority does not start");
}

/* What is said of one that does wrong so; nothing has come to live. */
static void expect_refused(const char *how, const char *words)
{
    struct server *server;

    start(how);
    going_on("%s", how);
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    if (!eventually(acme_has_said(server, words), 20000))
        flunk("'%s' is not said: %s", words, read_text(server->errors, NULL));
    assert_int_not_equal(access(acme_live(), F_OK), 0);
    server_stop(server);
}

TEST(one_that_does_right_is_believed)
{
    struct server *server;

    start("right");
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(eventually(acme_is_trusted(&place, "sprintd.example.net",
                                           place.ca),
                           15000));
    server_stop(server);
}

TEST(bodies_without_end_are_cut)
{
    expect_refused("endless", "it says more than any authority needs to");
}

TEST(what_is_no_json_is_told)
{
    expect_refused("words", "is no JSON that can be read");
}

TEST(json_without_measure_is_told)
{
    expect_refused("deep", "is no JSON that can be read");
}

TEST(redirects_are_not_followed)
{
    expect_refused("redirect", "it leads elsewhere");
}

TEST(certificates_for_another_key_are_refused)
{
    expect_refused("other-key", "the authority's certificate");
}

TEST(certificates_for_fewer_names_are_refused)
{
    expect_refused("fewer-names",
                   "the authority's certificate is not for sprintd.example");
}

TEST(certificates_that_have_ended_are_refused)
{
    expect_refused("expired", "has ended already");
}

TEST(certificates_that_are_empty_are_refused)
{
    expect_refused("no-text", "the authority's certificate is empty");
}

TEST(names_that_nobody_asked_for_are_not_shown)
{
    expect_refused("stranger",
                   "it is about other.example.net, which nobody asked for");
    assert_null(strstr(read_text(log_path, NULL), "/shown"));
}

TEST(tokens_that_lead_elsewhere_are_none)
{
    expect_refused("token", "the authority does not offer ");
    assert_null(strstr(read_text(log_path, NULL), "/shown"));
}

TEST(nothing_is_sent_in_clear_text)
{
    expect_refused("plain", "is no address of https");
    assert_null(strstr(read_text(log_path, NULL), "/finalize"));
}

TEST(an_authority_that_is_not_trusted_is_not_asked)
{
    struct server *server;

    start("right");
    place.ca = "/etc/ssl/certs/ca-certificates.crt";
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(eventually(acme_has_said(server, "no certificate for"), 15000));
    assert_null(strstr(read_text(log_path, NULL), "/account"));
    server_stop(server);
}

TEST(it_comes_again_when_it_may)
{
    struct server *server;

    start("limited");
    server = ACME_SERVE(&place, "--https", ACME_NAMES);
    assert_true(eventually(acme_has_said(server, "rateLimited: too many"),
                           15000));
    assert_true(eventually(acme_is_trusted(&place, "sprintd.example.net",
                                           place.ca),
                           15000));
    server_stop(server);
}

SUITE(.begin = acme_begin, .end = harness_end, .each_end = after);
