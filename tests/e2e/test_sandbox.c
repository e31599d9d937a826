/*
 * The sandbox, seen from outside: the server does all that it has to, and what
 * is in force is what was asked for.
 */
#include "client.h"
#include "operator.h"

#include <signal.h>
#include <sysexits.h>

enum { QUICK_MS = 2000 };

static struct server *start_controlled(void)
{
    return START("--control", control_path());
}

static bool has_sandbox(void)
{
    struct server *one = start_controlled();
    const char *text = ctl_ok("status");

    server_stop(one);
    return strstr(text, "sandbox: Landlock") && strstr(text, ", seccomp");
}

TEST(a_strict_server_does_all_it_has_to)
{
    char *log = printed("%s/access.log", folder());
    struct server *one;

    if (!has_sandbox())
        skip();
    one = START("--sandbox=strict", "--control", control_path(), "--access-log",
                log);
    expect_status(get(one, "/canary"), 200);
    assert_true(eventually(strstr(read_text(log, NULL), "/canary"), 5000));
    assert_int_equal(rename(log, printed("%s.1", log)), 0);
    ctl_ok("reopen");
    assert_true(eventually(access(log, F_OK) == 0, 5000));
    server_signal(one, SIGUSR1);
    ctl_ok("reload");
    server_signal(one, SIGHUP);
    ctl_ok("report");
    server_signal(one, SIGUSR2);
    assert_true(eventually(server_has_said(one, "Server Statistic"), 5000));
    expect_status(get(one, "/canary"), 200);
    assert_non_null(strstr(ctl_ok("status"), "strict"));
    ctl_ok("stop");
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
}

TEST(threads_of_a_server_are_filtered)
{
    struct server *one;
    char path[64];

    if (!has_sandbox())
        skip();
    one = START(NULL);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)one->pid);
    assert_non_null(strstr(read_text(path, NULL), "Seccomp:\t2"));
}

TEST(without_a_sandbox_there_is_none)
{
    struct server *one = START("--sandbox=off", "--control", control_path());

    assert_non_null(strstr(ctl_ok("status"), "sandbox: off"));
    expect_status(get(one, "/canary"), 200);
}

TEST(strict_does_not_go_with_links_that_lead_anywhere)
{
    struct outcome outcome;

    RUN(&outcome, "--sandbox=strict", "--follow-symlinks", "--port=0", site());
    assert_int_equal(outcome.status, EX_USAGE);
    assert_non_null(strstr(outcome.err, "--follow-symlinks"));
}

TEST(followed_links_lead_out_of_the_root)
{
    struct server *one = START("--follow-symlinks");

    site_link("outside", "/etc/passwd");
    expect_status(get(one, "/outside"), 200);
    site_remove("outside");
}

SUITE(.begin = operator_begin, .end = harness_end,
      .each_end = operator_after_test);
