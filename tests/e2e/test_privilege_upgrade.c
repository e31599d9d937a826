/*
 * Started as root, for another user, who may order an upgrade: nothing of
 * root's becomes theirs by that. Run by root only.
 */
#include "client.h"
#include "privileged.h"

#include <grp.h>
#include <signal.h>
#include <sys/wait.h>

static const char *configure(const char *text)
{
    site_text("../roots/conf", printed("listen = {\"127.0.0.1:0\"}\n"
                                       "root = \"%s\"\nuser = nobody\n%s",
                                       site(), text));
    return at("roots/conf");
}

static void order(const struct server *server, int number)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (setgroups(0, NULL) == -1 || setgid(NOBODY) == -1 ||
            setuid(NOBODY) == -1)
            _exit(1);
        _exit(kill(server->pid, number) == 0 ? 0 : 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

TEST(an_upgrade_opens_no_log_through_a_new_link)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {
        "--config",
        configure(printed("access-log = \"%s\"\n", at("theirs/access.log"))),
        NULL};
    struct server *one;

    if (geteuid() != 0)
        skip();
    make_secret();
    unlink(at("theirs/access.log"));
    one = server_start(&launch, arguments);
    get(one, "/canary");
    lead("theirs/access.log", at("roots/secret"));
    order(one, SIGUSR1);
    assert_true(eventually(server_has_said(one, "going on with the old one"),
                           SOON_MS));
    order(one, SIGUSR2);
    assert_true(eventually(server_has_said(one, "not upgraded"), SOON_MS));
    expect_secret();
    expect_status(get(one, "/canary"), 200);
    server_stop(one);
}

/* The launcher starts this program with these arguments, and the successor is
 * who this server is: nothing else comes of an order. */
TEST(an_upgrade_is_the_same_program_as_the_same_user)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {"--config",   configure(""),
                                     "--control",  control_path(),
                                     "--pid-file", at("theirs/pid"),
                                     NULL};
    struct server *one;
    char *before, *after;
    size_t before_len, after_len;
    pid_t next = 0;
    FILE *file;

    if (geteuid() != 0)
        skip();
    one = server_start(&launch, arguments);
    before = read_text(printed("/proc/%d/cmdline", (int)one->pid), &before_len);
    order(one, SIGUSR2);
    assert_int_equal(server_wait(one, patience(SOON_MS)), 0);
    file = fopen(at("theirs/pid"), "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &next), 1);
    fclose(file);
    after = read_text(printed("/proc/%d/cmdline", (int)next), &after_len);
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, before_len);
    assert_non_null(strstr(read_text(printed("/proc/%d/status", (int)next),
                                     NULL),
                           "Uid:\t65534\t65534\t65534\t65534"));
    kill(next, SIGTERM);
    assert_true(process_ends(next));
}

TEST(the_number_in_roots_pid_file_is_of_who_serves)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *path = at("roots/pid");
    const char *const arguments[] = {
        "--config",
        configure(printed("access-log = \"%s\"\n", at("theirs/pid.log"))),
        "--pid-file", path, NULL};
    struct server *one;
    bool writes;
    pid_t next;

    if (geteuid() != 0)
        skip();
    unlink(at("theirs/pid.log"));
    one = server_start(&launch, arguments);
    assert_int_equal(number_in(path), one->pid);
    make_secret();
    lead("theirs/pid.log", at("roots/secret"));
    order(one, SIGUSR2);
    assert_true(eventually(server_has_said(one, "not upgraded"), SOON_MS));
    assert_int_equal(number_in(path), one->pid);
    assert_int_equal(unlink(at("theirs/pid.log")), 0);
    order(one, SIGUSR2);
    assert_int_equal(server_wait(one, patience(SOON_MS)), 0);
    next = number_in(path);
    assert_int_not_equal(next, 0);
    assert_int_not_equal(next, one->pid);
    assert_int_equal(count_open(next, path, &writes), 1);
    assert_false(writes);
    kill(next, SIGTERM);
    assert_true(process_ends(next));
    assert_string_equal(read_text(path, NULL), "");
    assert_int_equal(unlink(path), 0);
}

SUITE(.begin = privileged_begin, .end = harness_end,
      .each_end = operator_after_test);
