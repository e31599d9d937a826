/*
 * What becomes of certificates in time: files that change, reloads, upgrades,
 * and what is told of their end.
 */
#include "certified.h"
#include "configured.h"
#include "operator.h"
#include "secure.h"

#include <netinet/in.h>
#include <sys/socket.h>

#define LISTEN "listen = https://127.0.0.1:0\n"

/* --- Files that change --------------------------------------------------- */

enum { RENEWED_MS = 40000, LOADED_MS = 60000 };

static const char one_site[] = LISTEN
    "certificate = main\nworkers = 2\n"
    "site a { hosts = {a.example} certificate = a respond = a }\n"
    "site main { respond = main }\n";

/* A common name tells which one it is. */
static void renew(const char *name, const char *subject)
{
    certify(name,
            &(struct making){.subject = subject, .names = "DNS:a.example"});
}

static struct server *serve_controlled(const char *text)
{
    return serve_certified(printed("control = \"%s\"\npid-file = \"%s\"\n%s",
                                   control_path(), pid_path(), text),
                           NULL);
}

/* Whether a handshake and a request succeed; what was shown. */
static const char *visit(const struct server *server)
{
    struct client *client = come_as(server, "a.example");
    const char *shown;

    if (!client)
        flunk("no handshake: %s", secure_fault());
    shown = secure_shown(client_secured(client));
    client_say(client, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    expect_body(client_reply(client), "a");
    client_close(client);
    return shown;
}

/* Whatever is shown meanwhile, no visit may fail. */
static unsigned visit_until(const struct server *server, const char *shown)
{
    uint64_t until_ms = now_ms() + patience(RENEWED_MS);
    unsigned visits = 1;

    while (strcmp(visit(server), shown) != 0) {
        if (now_ms() > until_ms)
            flunk("'%s' is not shown", shown);
        visits++;
    }
    return visits;
}

TEST(files_that_change_count_by_themselves)
{
    struct server *server;

    renew("main", "main");
    renew("a", "first");
    server = serve_certified(one_site, NULL);
    assert_string_equal(visit(server), "first");
    renew("a", "second");
    assert_true(visit_until(server, "second") > 10);
    assert_true(eventually(server_has_said(server, "read again"), 5000));
}

TEST(a_reload_reads_them_at_once)
{
    struct server *server;
    struct client *old;

    renew("main", "main");
    renew("a", "first");
    server = serve_controlled(one_site);
    assert_string_equal(visit(server), "first");
    old = come_as(server, "a.example");
    assert_non_null(old);
    renew("a", "second");
    ctl_ok("reload");
    assert_string_equal(visit(server), "second");
    client_say(old, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    expect_body(client_reply(old), "a");
}

/* Somebody who stays, and somebody new each time, in turns, so many a second; a
 * reload that takes its time is made up for. */
TEST(renewals_cost_no_request_of_200_a_second)
{
    enum { PER_S = 200, SECONDS = 5, RENEWED_EVERY = 150 };
    struct server *server;
    struct client *stays;
    uint64_t from_ms;
    unsigned renewed = 0;

    renew("main", "main");
    renew("a", "0");
    server = serve_controlled(one_site);
    stays = come_as(server, "a.example");
    assert_non_null(stays);
    from_ms = now_ms();
    for (unsigned i = 1; i <= SECONDS * PER_S; i++) {
        uint64_t due_ms = from_ms + (uint64_t)i * 1000 / PER_S;

        if (i % RENEWED_EVERY == 0) {
            renew("a", printed("%u", ++renewed));
            ctl_ok("reload");
            assert_string_equal(visit(server), printed("%u", renewed));
        } else if (i % 2 == 0) {
            (void)visit(server);
        } else {
            client_say(stays, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
            expect_body(client_reply(stays), "a");
        }
        if (now_ms() < due_ms)
            pause_ms((unsigned)(due_ms - now_ms()));
    }
    assert_true(renewed >= 6);
}

TEST(faulty_ones_change_nothing)
{
    struct server *server;
    struct outcome outcome;

    renew("main", "main");
    renew("a", "first");
    server = serve_controlled(one_site);
    site_text("../a", "no certificate\n");
    assert_int_not_equal(ctl("reload", &outcome), 0);
    if (!strstr(outcome.err, "/a'"))
        flunk("out '%s' err '%s'", outcome.out, outcome.err);
    assert_string_equal(visit(server), "first");
    assert_true(eventually(server_has_said(server, "at fault"), RENEWED_MS));
    assert_string_equal(visit(server), "first");
    renew("a", "second");
    assert_true(visit_until(server, "second") > 0);
}

/* --- What is told of terms ----------------------------------------------- */

TEST(the_end_of_certificates_is_told)
{
    struct server *server;
    struct reply *reply;
    const char *at;

    certify("main", &(struct making){.subject = "main",
                                     .names = "DNS:a.example",
                                     .begins_s = -86400,
                                     .ends_s = 3 * 86400 + 600});
    certify("a", &(struct making){
                     .subject = "a", .begins_s = -2 * 86400, .ends_s = -86400});
    server =
        serve_certified(printed("status = /_s\nstatus-host = localhost\n%s",
                                one_site),
                        NULL);
    reply = ask_as(server, "", "localhost", "/_s/metrics");
    expect_status(reply, 200);
    assert_non_null(strstr(
        reply->body, "sprintd_certificate_expiry_seconds{site=\"a\"} 0\n"));
    at = strstr(reply->body,
                "sprintd_certificate_expiry_seconds{site=\"main\"} 259");
    assert_non_null(at);
    reply = ask_as(server, "", "localhost", "/_s/status.json");
    expect_status(reply, 200);
    assert_non_null(strstr(reply->body, "\"certificates\":[{\"site\":\"a\","
                                        "\"expiry_s\":0"));
    assert_true(eventually(server_has_said(server, "expires in 3 days"), 5000));
    assert_true(server_has_said(server, "has expired"));
}

/* --- What systemd opens -------------------------------------------------- */

TEST(sockets_that_systemd_calls_https_speak_tls_after_an_upgrade_too)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct launch launch = {.root = "",
                            .is_bare = true,
                            .listener = socket(AF_INET, SOCK_STREAM, 0),
                            .listener_name = "https"};
    struct server *server;
    struct server place;
    pid_t pid;

    assert_int_equal(bind(launch.listener, (struct sockaddr *)&address,
                          sizeof(address)),
                     0);
    assert_int_equal(listen(launch.listener, 16), 0);
    renew("a", "first");
    server =
        server_start(&launch,
                     (const char *const[]){
                         "-c",
                         configuration(printed("control = \"%s\"\n"
                                               "pid-file = \"%s\"\n"
                                               "certificate = a\nrespond = a\n",
                                               control_path(), pid_path())),
                         NULL});
    close(launch.listener);
    place = *server;
    assert_string_equal(visit(server), "first");
    ctl_ok("upgrade");
    assert_int_equal(server_wait(server, patience(LOADED_MS)), 0);
    assert_string_equal(visit(&place), "first");
    pid = pid_in_file();
    ctl_ok("stop");
    assert_true(process_ends(pid));
}

static int start(void **state)
{
    operator_adopt();
    return harness_begin(state);
}

SUITE(.begin = start, .end = harness_end, .each_end = operator_after_test);
