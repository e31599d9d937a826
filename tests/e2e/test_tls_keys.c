/*
 * Keys that are root's alone, of a server that is somebody else while it
 * serves: read at the start and by an upgrade, and not in between. Run by root
 * only.
 */
#include "certified.h"
#include "configured.h"
#include "privileged.h"
#include "secure.h"

#include <signal.h>
#include <sys/stat.h>

static const char *renew(const char *name, const char *subject)
{
    const char *path = certify(name,
                               &(struct making){.subject = subject,
                                                .names = "DNS:a.example"});

    assert_int_equal(chmod(path, 0600), 0);
    return path;
}

static const char *configure(const char *certificate)
{
    site_text("../roots/conf",
              printed("listen = \"https://127.0.0.1:0\"\nuser = nobody\n"
                      "control = \"%s\"\npid-file = \"%s\"\n"
                      "certificate = \"%s\"\ntls-ticket-file = \"%s\"\n"
                      "respond = a\n",
                      at("roots/control"), at("roots/pid"), certificate,
                      at("roots/keys")));
    return at("roots/conf");
}

static int control(const char *command, struct outcome *outcome)
{
    RUN(outcome, "ctl", "--control", at("roots/control"), command);
    return outcome->status;
}

static pid_t read_number(void)
{
    return (pid_t)strtol(read_text(at("roots/pid"), NULL), NULL, 10);
}

TEST(what_is_roots_alone_is_read_again_by_an_upgrade)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *path;
    struct server *server;
    struct server place;
    struct outcome outcome;
    pid_t next;

    if (geteuid() != 0)
        skip();
    path = renew("roots/cert", "first");
    site_text("../roots/keys", printed("%0107d=\n", 0)); /* 80 bytes */
    assert_int_equal(chmod(at("roots/keys"), 0600), 0);
    server = server_start(&launch, (const char *const[]){
                                       "--config", configure(path), NULL});
    place = *server;
    assert_string_equal(shown_to(server, "a.example"), "first");
    assert_true(eventually(server_has_said(server, "cannot be read with the "
                                                   "rights that are left"),
                           SOON_MS));
    renew("roots/cert", "second");
    assert_int_equal(control("reload", &outcome), 0);
    if (!strstr(outcome.out, "it stays as it was; 'sprintd ctl upgrade'"))
        flunk("out '%s' err '%s'", outcome.out, outcome.err);
    if (!strstr(outcome.out, "its keys stay as they were"))
        flunk("out '%s' err '%s'", outcome.out, outcome.err);
    assert_string_equal(shown_to(server, "a.example"), "first");
    if (control("upgrade", &outcome) != 0)
        flunk("out '%s' err '%s'", outcome.out, outcome.err);
    assert_int_equal(server_wait(server, patience(SOON_MS)), 0);
    assert_string_equal(shown_to(&place, "a.example"), "second");
    next = read_number();
    assert_non_null(strstr(read_text(printed("/proc/%d/status", (int)next),
                                     NULL),
                           "Uid:\t65534\t65534\t65534\t65534"));
    kill(next, SIGTERM);
    assert_true(process_ends(next));
}

TEST(the_user_leads_root_to_no_key)
{
    struct outcome outcome;

    if (geteuid() != 0)
        skip();
    lead("theirs/link", renew("private/cert", "secret"));
    RUN(&outcome, "--listen=https://127.0.0.1:0", "--user=nobody",
        printed("--certificate=%s", at("theirs/link")), site());
    assert_int_not_equal(outcome.status, 0);
    if (!strstr(outcome.err, "denied"))
        flunk("'%s'", outcome.err);
    RUN(&outcome, "-t", "--listen=https://127.0.0.1:0", "--certificate",
        at("private/cert"), site());
    assert_int_equal(outcome.status, 0); /* root may */
}

SUITE(.begin = privileged_begin, .end = harness_end,
      .each_end = operator_after_test);
