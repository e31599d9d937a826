/*
 * `ctl upgrade` and SIGUSR2: a new binary takes the sockets over, no request
 * fails, and when it cannot start, the old one stays.
 */
#include "client.h"
#include "crowd.h"
#include "operator.h"

#include <signal.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

enum { UPGRADES = 20, LARGE = 20 * 1048576, SEED = 11, QUICK_MS = 5000 };

static char real_program[4096];

static char *program_path(void)
{
    return printed("%s/sprintd", folder());
}

static char *config_path(void)
{
    return printed("%s/sprintd.conf", folder());
}

/* Puts a copy of it there, as a package manager does. */
static void install_program(void)
{
    char *path = printed("%s.new", program_path());
    int from = open(real_program, O_RDONLY | O_CLOEXEC);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

    while (sendfile(to, from, NULL, 1 << 20) > 0)
        continue;
    close(from);
    close(to);
    assert_int_equal(rename(path, program_path()), 0);
}

static void install_text(const char *path, const char *text, unsigned mode)
{
    char *new_path = printed("%s.new", path);
    FILE *file = fopen(new_path, "we");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(new_path, mode), 0);
    assert_int_equal(rename(new_path, path), 0);
}

static int start(void **state)
{
    if (!getenv("SPRINTD") || !realpath(getenv("SPRINTD"), real_program) ||
        harness_begin(state) != 0)
        return -1;
    operator_adopt();
    site_text("canary", "canary\n");
    site_seeded("large", SEED, LARGE);
    install_program();
    return servers_choose(program_path());
}

static struct server *start_one(void)
{
    return START("--control", control_path(), "--pid-file", pid_path());
}

/* Where it is: what runs there after an upgrade is another process. */
static const struct server *place_of(const struct server *server)
{
    struct server *place = scratch(sizeof(*place));

    *place = *server;
    return place;
}

/* The one that serves now, which is no child the harness knows. */
static void stop_last(void)
{
    pid_t pid = pid_in_file();

    ctl_ok("stop");
    assert_true(process_ends(pid));
}

/* --- It works ------------------------------------------------------------ */

TEST(a_new_process_serves_and_the_old_one_ends)
{
    struct server *one = start_one();
    const struct server *place = place_of(one);
    pid_t first = one->pid;

    install_program();
    assert_non_null(strstr(ctl_ok("upgrade"), "serves now"));
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    assert_int_not_equal(pid_in_file(), first);
    expect_status(get(place, "/canary"), 200);
    assert_non_null(strstr(ctl_ok("status"),
                           printed("process %d: serving", pid_in_file())));
    ctl_ok("reload");
    ctl_ok("upgrade");
    expect_status(get(place, "/canary"), 200);
    stop_last();
    assert_int_equal(access(pid_path(), F_OK), -1);
}

/* Upgrades once the client has begun to take the large file; the idle one has
 * had an answer. */
static void upgrade_while_sending(struct client *client, struct client *idle)
{
    client_expect_usable(idle);
    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 4096);
    ctl_ok("upgrade");
}

/* It is sending the large file still, ends with that, and the new one is told
 * to stop. */
static void expect_to_finish(struct server *one, struct client *client)
{
    assert_int_equal(server_wait(one, 100), -1);
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    client_close(client);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    stop_last();
}

TEST(the_old_one_finishes_what_it_is_sending)
{
    struct server *one = start_one();
    struct client *client = client_open_narrow(one, 65536);
    struct client *idle = client_open(one);

    upgrade_while_sending(client, idle);
    /* Its worker hears of it a moment later. */
    assert_true(eventually(reply_field(client_ask(idle, "GET", "/canary", ""),
                                       "Connection"),
                           5000));
    client_expect_orderly_end(idle);
    expect_to_finish(one, client);
}

/* A manager that stops a service tells all its processes, also one that leaves:
 * for that one it is the first signal, and no second one. */
TEST(a_stop_after_an_upgrade_lets_the_old_one_finish)
{
    struct server *one = start_one();
    struct client *client = client_open_narrow(one, 65536);
    struct client *idle = client_open(one);

    upgrade_while_sending(client, idle);
    server_signal(one, SIGTERM);
    client_expect_orderly_end(idle);
    expect_to_finish(one, client);
}

/* SIGQUIT knows no --drain-timeout, then as ever. */
TEST(a_quit_after_an_upgrade_gives_the_old_one_all_the_time)
{
    struct server *one = START("--control", control_path(), "--pid-file",
                               pid_path(), "--drain-timeout=1");
    struct client *client = client_open_narrow(one, 65536);

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 4096);
    ctl_ok("upgrade");
    server_signal(one, SIGQUIT);
    assert_int_equal(server_wait(one, 2000), -1);
    expect_to_finish(one, client);
}

TEST(a_second_signal_after_an_upgrade_ends_the_old_one_at_once)
{
    struct server *one = start_one();
    struct client *client = client_open_narrow(one, 65536);

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 4096);
    ctl_ok("upgrade");
    server_signal(one, SIGTERM);
    assert_int_equal(server_wait(one, 100), -1);
    server_signal(one, SIGTERM);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    stop_last();
}

TEST(unix_sockets_are_handed_over_too)
{
    char *path = printed("%s/socket", folder());
    const char *where = printed("--listen=unix:%s", path);
    struct launch launch = {.is_bare = true};
    const char *const arguments[] = {where,        "--control", control_path(),
                                     "--pid-file", pid_path(),  NULL};
    struct server *one = server_start(&launch, arguments);

    ctl_ok("upgrade");
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    client_expect_usable(client_open_unix(path));
    stop_last();
    assert_int_equal(access(path, F_OK), -1);
}

/* A server whose file may be another one later. */
static struct server *start_by_file(void)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {"--config",   config_path(),
                                     "--control",  control_path(),
                                     "--pid-file", pid_path(),
                                     NULL};

    install_text(config_path(),
                 printed("listen = {\"127.0.0.1:0\"}\nroot = \"%s\"\n", site()),
                 0644);
    return server_start(&launch, arguments);
}

TEST(sigusr2_upgrades_where_there_is_a_configuration)
{
    struct server *one = start_by_file();
    const struct server *place = place_of(one);

    server_signal(one, SIGUSR2);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    assert_true(server_has_said(place, "Server Statistic Report"));
    expect_status(get(place, "/canary"), 200);
    stop_last();
}

TEST(the_manager_is_told_who_serves)
{
    int manager = manager_open();
    struct server *one = start_one();
    char message[512];

    assert_true(manager_hears(manager, "READY=1", message, sizeof(message)));
    ctl_ok("upgrade");
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    assert_true(manager_hears(manager, printed("MAINPID=%d", pid_in_file()),
                              message, sizeof(message)));
    stop_last();
    assert_true(manager_hears(manager, "STOPPING=1", message, sizeof(message)));
    manager_close(manager);
}

/* --- It does not --------------------------------------------------------- */

static void expect_refusal(const struct server *one, const char *why)
{
    struct outcome outcome;

    assert_int_equal(ctl("upgrade", &outcome), EXIT_FAILURE);
    if (!strstr(outcome.err, why))
        flunk("it says: %s", outcome.err);
    assert_int_equal(pid_in_file(), one->pid);
    expect_status(get(one, "/canary"), 200);
}

TEST(a_program_that_fails_leaves_the_old_one)
{
    struct server *one = start_one();
    const struct server *place = place_of(one);

    install_text(program_path(), "#!/bin/sh\nexit 1\n", 0755);
    servers_choose(real_program);
    expect_refusal(one, "ended with status 1");
    install_text(program_path(), "no program at all", 0755);
    expect_refusal(one, "cannot be executed");
    install_text(program_path(), "", 0644);
    expect_refusal(one, "the program: Permission denied");
    install_program();
    servers_choose(program_path());
    ctl_ok("upgrade");
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    expect_status(get(place, "/canary"), 200);
    stop_last();
}

TEST(a_faulty_configuration_leaves_the_old_one)
{
    struct server *one = start_by_file();

    install_text(config_path(), "wrokers = 2\n", 0644);
    expect_refusal(one, "ended with status 78");
    assert_true(server_has_said(one, "wrokers"));
    /* As far as to its sockets: these must not go with it. */
    install_text(config_path(),
                 printed("listen = {\"127.0.0.1:%u\", \"192.0.2.1:80\"}\n"
                         "root = \"%s\"\n",
                         one->port, site()),
                 0644);
    expect_refusal(one, "ended with status 69");
    assert_int_equal(access(control_path(), F_OK), 0);
}

/* Writes its number into the file, and takes its time. */
static void install_slow_program(const char *number)
{
    install_text(program_path(),
                 printed("#!/bin/sh\necho $$ >%s.new\nmv %s.new %s\n"
                         "exec sleep 1000\n",
                         number, number, number),
                 0755);
    servers_choose(real_program);
}

/* Nothing else is begun in the meantime, and a stop ends all of it. */
TEST(there_is_one_upgrade_at_a_time_and_a_stop_ends_it)
{
    struct server *one = start_by_file();
    const char *number = printed("%s/trying", folder());
    struct outcome outcome;
    pid_t trying;

    install_slow_program(number);
    server_signal(one, SIGUSR2);
    assert_true(eventually(access(number, F_OK) == 0, QUICK_MS));
    trying = (pid_t)strtol(read_text(number, NULL), NULL, 10);
    expect_refusal(one, "one is under way");
    assert_int_equal(ctl("reload", &outcome), EXIT_FAILURE);
    assert_non_null(strstr(outcome.err, "an upgrade is under way"));
    server_signal(one, SIGUSR2);
    assert_int_equal(kill(trying, 0), 0);
    server_signal(one, SIGTERM);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    assert_true(eventually(kill(trying, 0) == -1, QUICK_MS));
    install_program();
    servers_choose(program_path());
}

/* --- Under load ---------------------------------------------------------- */

TEST(no_request_fails_under_twenty_upgrades)
{
    unsigned upgrades = slowness() > 1 ? UPGRADES / 4 : UPGRADES;
    struct crowd_options options = {
        .target = "/canary", .body = "canary\n", .clients = 64, .depth = 1};
    const struct crowd_counts *counts;
    struct server *one = start_one();

    counts = crowd_begin(one, &options);
    for (unsigned i = 0; i < upgrades; i++) {
        unsigned long seen = atomic_load(&counts->answered);

        ctl_ok("upgrade");
        assert_true(eventually(atomic_load(&counts->answered) > seen + 500 ||
                                   atomic_load(&counts->failed) > 0,
                               10000));
    }
    crowd_end(1000);
    assert_true(atomic_load(&counts->connected) > 2 * options.clients);
    assert_int_equal(server_wait(one, patience(QUICK_MS)), 0);
    stop_last();
}

SUITE(.begin = start, .end = harness_end, .each_end = operator_after_test);
