/*
 * `sprintd acme` run by root on what a server of another user keeps: that user,
 * and whoever can write on the way, leads root nowhere. Run by root only.
 */
#include "privileged.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "acme.h"

enum { HELD = 9 }; /* what a shell has open besides */

static int ask(const char *command, const char *folder, struct outcome *outcome)
{
    RUN(outcome, "acme", command, "--state-directory", at(folder), "--listen",
        "https://127.0.0.1:1", "--https", "www.sprintd.example.com");
    return outcome->status;
}

static size_t count_entries(const char *name)
{
    DIR *all = opendir(at(name));
    size_t count = 0;

    assert_non_null(all);
    while (readdir(all))
        count++;
    closedir(all);
    return count - 2;
}

static uid_t owner_of(const char *name)
{
    struct stat st;

    assert_int_equal(lstat(at(name), &st), 0);
    return st.st_uid;
}

static void drop(const char *name)
{
    assert_int_equal(system(printed("rm -rf '%s'", at(name))), 0);
}

/* It would be root's, and the server could never write there. */
TEST(root_makes_no_folder_that_the_server_has_to)
{
    struct outcome outcome;

    if (geteuid() != 0)
        skip();
    assert_int_equal(ask("status", "theirs", &outcome), EX_NOINPUT);
    assert_non_null(strstr(outcome.err, "the server makes it"));
    assert_int_equal(ask("rollover", "theirs", &outcome), EX_NOINPUT);
    assert_int_equal(count_entries("theirs"), 0);
}

TEST(links_on_the_way_lead_root_nowhere)
{
    struct outcome outcome;

    if (geteuid() != 0)
        skip();
    make_folder("roots/place", 0);
    lead("theirs/state", at("roots/place"));
    assert_int_equal(ask("status", "theirs/state", &outcome), EX_NOINPUT);
    assert_int_equal(count_entries("roots/place"), 0);
    /* Neither with the rights of root nor with those of a third. */
    make_folder("roots/place/acme", 0);
    assert_int_equal(chmod(at("roots/place/acme"), 0700), 0);
    assert_int_equal(ask("status", "theirs/state", &outcome), EX_NOPERM);
    assert_int_equal(chown(at("roots/place/acme"), OTHER, OTHER), 0);
    assert_int_equal(ask("status", "theirs/state", &outcome), EX_NOPERM);
    assert_non_null(strstr(outcome.err, "lead root elsewhere"));
    assert_int_equal(count_entries("roots/place/acme"), 0);
    drop("theirs/state");
    drop("roots/place");
}

TEST(root_asks_as_the_folders_owner)
{
    struct outcome outcome;

    if (geteuid() != 0)
        skip();
    make_folder("theirs/acme", NOBODY);
    assert_int_equal(chmod(at("theirs/acme"), 0700), 0);
    assert_int_equal(ask("status", "theirs", &outcome), EX_TEMPFAIL);
    assert_non_null(strstr(outcome.out, "none yet"));
    assert_int_equal(owner_of("theirs/acme/orders"), NOBODY);
    drop("theirs/acme");
}

/* What that user has written for a terminal of root's. */
TEST(what_is_kept_gives_no_orders_to_roots_terminal)
{
    struct outcome outcome;

    if (geteuid() != 0)
        skip();
    make_folder("theirs/acme", NOBODY);
    make_folder("theirs/acme/orders", NOBODY);
    assert_int_equal(chmod(at("theirs/acme"), 0700), 0);
    site_text("../theirs/acme/orders/www.sprintd.example.com",
              "failures 1\nerror \x1b]0;x\a\x9b and no more\nlook 1\n");
    assert_int_equal(chown(at("theirs/acme/orders/www.sprintd.example.com"),
                           NOBODY, NOBODY),
                     0);
    ask("status", "theirs", &outcome);
    assert_non_null(strstr(outcome.out, "and no more"));
    assert_null(strpbrk(outcome.out, "\x1b\a\x9b"));
    drop("theirs/acme");
}

/* What lies in /var/lib is hidden from this process and its children. */
static void hide_state(void)
{
    if (unshare(CLONE_NEWNS) == -1 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 ||
        mount("tmpfs", "/var/lib", "tmpfs", 0, "mode=0755") == -1) {
        print_message("skipped: there is no mount namespace to be had\n");
        skip();
    }
}

static bool is_at_work(void)
{
    return access("/var/lib/sprintd/acme/lock", F_OK) == 0;
}

/* By default it lies where only root makes folders; and who has become another
 * user has another home. */
TEST(a_server_for_another_user_has_one_place_for_what_it_keeps)
{
    struct launch launch = {.is_bare = true, .root = ""};
    const char *const arguments[] = {"--config", at("roots/conf"), "--control",
                                     control_path(), NULL};
    struct server *one;
    struct stat st;

    if (geteuid() != 0)
        skip();
    hide_state();
    unsetenv("XDG_DATA_HOME");
    unsetenv("STATE_DIRECTORY");
    site_text("../roots/conf",
              printed("listen = {\"https://127.0.0.1:0\"}\n"
                      "user = nobody\n"
                      "acme-directory = \"https://127.0.0.1:1/none\"\n"
                      "site a { root = \"%s\"\n"
                      "    hosts = www.sprintd.example.com }\n",
                      site()));
    one = server_start(&launch, arguments);
    assert_int_equal(stat("/var/lib/sprintd", &st), 0);
    assert_int_equal(st.st_uid, NOBODY);
    assert_true(eventually(is_at_work(), SOON_MS));
    ctl_ok("reload");
    assert_true(server_has_said(one, "reloaded"));
}

/* --- At a terminal ------------------------------------------------------- */

/* As a shell does, which leads the session of its terminal: runs the program,
 * which gets what else the shell has open, too. */
static _Noreturn void be_shell(const char *terminal,
                               const char *const *arguments)
{
    int tty = setsid() == -1 ? -1 : open(terminal, O_RDWR | O_CLOEXEC);
    pid_t pid = fork();

    if (pid == 0 && dup2(tty, 0) != -1 && dup2(tty, 1) != -1 &&
        dup2(tty, 2) != -1 &&
        dup2(open(make_secret(), O_RDWR | O_CLOEXEC), HELD) == HELD)
        execv(getenv("SPRINTD"), (char *const *)(uintptr_t)arguments);
    if (pid <= 0)
        _exit(1);
    for (;;)
        pause();
}

static pid_t start_shell(int *terminal_out, const char *const *arguments)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    pid_t shell;

    assert_true(terminal != -1 && grantpt(terminal) == 0 &&
                unlockpt(terminal) == 0);
    shell = fork();
    if (shell == 0) {
        const char *name = printed("%s", ptsname(terminal));

        close(terminal);
        be_shell(name, arguments);
    }
    assert_int_not_equal(shell, -1);
    *terminal_out = terminal;
    return shell;
}

static bool has_started(const struct server *server)
{
    return acme_program(server) > 0;
}

/* What the program, or who has taken it over, says to the terminal. */
static void expect_no_orders(int terminal, pid_t program, const char *heard_so)
{
    static const char orders[] = "\x1b]0;mine\a\x9b and no more\n";
    int said = open(printed("/proc/%d/fd/2", (int)program),
                    O_WRONLY | O_NOCTTY | O_CLOEXEC);
    char heard[16384] = "";
    size_t len = 0;

    assert_true(said != -1);
    assert_false(isatty(said));
    assert_int_equal(write(said, orders, sizeof(orders) - 1),
                     sizeof(orders) - 1);
    close(said);
    while (!strstr(heard, "and no more") && len < sizeof(heard) - 1) {
        ssize_t got = read(terminal, heard + len, sizeof(heard) - 1 - len);

        assert_true(got > 0);
        len += (size_t)got;
        heard[len] = '\0';
    }
    assert_non_null(strstr(heard, heard_so));
    assert_null(strpbrk(heard, "\x1b\a\x9b"));
}

/* Others of that user can get at what runs as it, and would read what root
 * types, or type for root. */
TEST(who_gets_certificates_for_roots_server_has_not_roots_terminal)
{
    const char *const arguments[] = {"sprintd",
                                     "--user",
                                     "65534:65534",
                                     "--state-directory",
                                     at("theirs"),
                                     "--listen",
                                     "https://127.0.0.1:0",
                                     "--https",
                                     "www.sprintd.example.com",
                                     "--acme-directory",
                                     "https://127.0.0.1:1/none",
                                     site(),
                                     NULL};
    struct server server = {.pid = 0};
    char said[256];
    pid_t shell, program;
    int terminal;

    if (geteuid() != 0)
        skip();
    shell = start_shell(&terminal, arguments);
    assert_true(read(terminal, said, sizeof(said)) > 0); /* its address */
    server.pid = child_of(shell, "sprintd");
    assert_true(server.pid > 0);
    for (int fd = 1; fd <= 2; fd++)
        assert_int_equal(access_of(server.pid, fd), O_WRONLY);
    assert_int_equal(access_of(server.pid, 0), O_RDONLY);
    assert_true(eventually(has_started(&server), SOON_MS));
    program = acme_program(&server);
    assert_int_not_equal(terminal_of(shell), 0);
    assert_int_equal(terminal_of(server.pid), 0);
    assert_int_equal(terminal_of(program), 0);
    expect_no_orders(terminal, program, "acme: ?]0;mine?? and no more");
    expect_no_orders(terminal, server.pid, "?]0;mine?? and no more");
    kill(shell, SIGKILL);
    assert_int_equal(waitpid(shell, NULL, 0), shell);
    kill(server.pid, SIGTERM);
    assert_true(process_ends(server.pid));
    close(terminal);
    drop("theirs/acme");
}

static bool is_of_nobody(pid_t pid)
{
    return strstr(read_text(printed("/proc/%d/status", (int)pid), NULL),
                  "Uid:\t65534\t65534\t65534\t65534") != NULL;
}

/* The program opens files of its own, whose numbers may be the same. */
static bool holds_secret(pid_t pid, int fd)
{
    struct stat secret, held;

    assert_int_equal(stat(at("roots/secret"), &secret), 0);
    return stat(printed("/proc/%d/fd/%d", (int)pid, fd), &held) == 0 &&
           held.st_dev == secret.st_dev && held.st_ino == secret.st_ino;
}

/* Where everybody gets in, and nobody an answer. */
static int listen_silently(unsigned *port_out)
{
    struct sockaddr_in at_any = {.sin_family = AF_INET,
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at_any);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd != -1 &&
                bind(fd, (struct sockaddr *)&at_any, sizeof(at_any)) == 0 &&
                listen(fd, 8) == 0 &&
                getsockname(fd, (struct sockaddr *)&at_any, &len) == 0);
    *port_out = ntohs(at_any.sin_port);
    return fd;
}

/* What it reads may take it over, and root sits there. */
TEST(who_asks_for_root_has_not_what_roots_shell_has)
{
    unsigned port;
    int authority = listen_silently(&port);
    const char *const arguments[] = {"sprintd",
                                     "acme",
                                     "revoke",
                                     "www.sprintd.example.com",
                                     "--state-directory",
                                     at("theirs/asked"),
                                     "--listen",
                                     "https://127.0.0.1:1",
                                     "--https",
                                     "www.sprintd.example.com",
                                     "--acme-directory",
                                     printed("https://127.0.0.1:%u/none", port),
                                     NULL};
    pid_t shell, program = 0;
    int terminal;

    if (geteuid() != 0)
        skip();
    make_folder("theirs/asked", NOBODY);
    make_folder("theirs/asked/acme", NOBODY);
    assert_int_equal(chmod(at("theirs/asked/acme"), 0700), 0);
    shell = start_shell(&terminal, arguments);
    assert_true(eventually((program = child_of(shell, "sprintd-acme")) > 0,
                           SOON_MS));
    assert_true(eventually(is_of_nobody(program), SOON_MS));
    assert_int_equal(terminal_of(program), 0);
    assert_int_equal(access_of(program, 0), O_RDONLY);
    assert_int_equal(access_of(program, 1), O_WRONLY);
    assert_int_equal(access_of(program, 2), O_WRONLY);
    assert_false(holds_secret(program, HELD));
    kill(shell, SIGKILL);
    assert_int_equal(waitpid(shell, NULL, 0), shell);
    kill(program, SIGKILL);
    assert_int_equal(waitpid(program, NULL, 0), program);
    close(terminal);
    close(authority);
    drop("theirs/asked");
}

/* The checkout may lie where nobody else goes: in root's home. */
static int begin(void **state)
{
    const char *program = getenv("SPRINTD");

    if (privileged_begin(state) != 0)
        return -1;
    if (geteuid() != 0)
        return 0;
    make_folder("bin", 0);
    if (!program || system(printed("cp '%s' '%s-acme' '%s'", program, program,
                                   at("bin"))) != 0)
        return -1;
    return setenv("SPRINTD", at("bin/sprintd"), 1) == 0
               ? servers_choose(at("bin/sprintd"))
               : -1;
}

SUITE(.begin = begin, .end = harness_end, .each_end = operator_after_test);
