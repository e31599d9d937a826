/*
 * Where the access log goes, and what becomes of it when files are moved, the
 * disk is full, or a syslog daemon comes and goes: no line is torn or there
 * twice, and what is lost is said.
 */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "log_load.h"

enum { SOON_MS = 5000, CANNOT_CREATE = 73 };

/* --- Files that are moved ------------------------------------------------ */

TEST(no_line_is_lost_by_rotation)
{
    enum { TIMES = 20 };
    char *log_path = log_new_path();
    struct server *one = START(printed("--access-log=%s", log_path),
                               "--log-overflow=wait", "--workers=2");
    struct load *load = load_open(one);
    unsigned count = 0;

    for (int i = 1; i <= TIMES; i++) {
        load_send(load);
        if (rename(log_path, printed("%s-%d", log_path, i)) == -1)
            flunk("rename: %s", strerror(errno));
        server_signal(one, SIGUSR1);
        load_receive(load);
        while (access(log_path, F_OK) == -1)
            load_turn(load);
    }
    load_turn(load);
    server_stop(one);
    for (int i = 1; i <= TIMES; i++)
        count += load_count(load,
                            read_text(printed("%s-%d", log_path, i), NULL));
    count += load_count(load, read_text(log_path, NULL));
    assert_int_equal(count, load->sent);
    assert_string_equal(read_text(one->errors, NULL), "");
}

TEST(a_log_that_cannot_be_reopened_goes_on)
{
    char *log_path = log_new_path();
    struct server *one = START(printed("--access-log=%s", log_path),
                               "--log-level=info");
    struct load *load = load_open(one);
    const char *moved = printed("%s-moved", log_path);

    load_turn(load);
    assert_int_equal(rename(log_path, moved), 0);
    assert_int_equal(mkdir(log_path, 0700), 0);
    server_signal(one, SIGUSR1);
    assert_true(eventually(server_says(one, "going on with the old one"),
                           SOON_MS));
    load_turn(load);
    assert_int_equal(rmdir(log_path), 0);
    server_signal(one, SIGUSR1);
    assert_true(eventually(server_says(one, "reopened"), SOON_MS));
    server_stop(one);
    assert_int_equal(load_count(load, read_text(moved, NULL)) +
                         load_count(load, read_text(log_path, NULL)),
                     load->sent);
}

TEST(without_a_log_the_signal_changes_nothing)
{
    struct server *one = START(NULL);

    server_signal(one, SIGUSR1);
    client_expect_usable(client_open(one));
    server_signal(one, SIGUSR1);
    server_stop(one);
}

/* --- Disks that are full ------------------------------------------------- */

/* A disk of a few pages, that nobody else sees; false: not allowed. */
static bool mount_small(const char *path)
{
    return mkdir(path, 0755) == 0 && unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("small", path, "tmpfs", 0, "size=3m,mode=0755") == 0;
}

static void put_ballast(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd == -1 || fallocate(fd, 0, 0, (3 << 20) - (100 << 10)) == -1)
        flunk("ballast '%s': %s", path, strerror(errno));
    close(fd);
}

/* 100 KiB for the log, then nothing; the memory for lines overflows, too. */
static void use_up(struct load *load, const struct server *server)
{
    uint64_t cpu_ms;

    while (!server_says(server, "No space left on device") || load->sent < 2000)
        load_turn(load);
    assert_true(eventually(server_says(server, "lines dropped"), SOON_MS));
    cpu_ms = server_cpu_ms(server);
    pause_ms(500);
    assert_true(server_cpu_ms(server) - cpu_ms < 250); /* it does not spin */
}

TEST(a_full_disk_is_said_once_and_lines_flow_again)
{
    const char *disk = printed("%s/disk", folder());
    const char *ballast = printed("%s/ballast", disk);
    const char *log_path = printed("%s/log", disk);
    unsigned count;
    struct server *one;
    struct load *load;

    if (!mount_small(disk)) {
        print_message("no tmpfs without root: skipped\n");
        skip();
    }
    put_ballast(ballast);
    one = START(printed("--access-log=%s", log_path), "--workers=1");
    load = load_open(one);
    use_up(load, one);
    assert_int_equal(unlink(ballast), 0);
    assert_true(eventually(server_says(one, "works again"), SOON_MS));
    load_turn(load);
    server_stop(one);
    count = load_count(load, read_text(log_path, NULL));
    assert_int_equal(count + log_lost(one), load->sent);
    assert_true(count > LOAD_TURN && log_lost(one) > 0);
    for (unsigned i = load->sent - LOAD_TURN; i < load->sent; i++)
        assert_true(load->seen[i]); /* after it */
    assert_int_equal(server_says_times(one, "No space left"), 1);
    assert_int_equal(umount2(disk, MNT_DETACH), 0);
}

TEST(a_disk_that_stays_full_stops_nobody)
{
    struct server *one = START("--access-log=/dev/full");
    struct load *load = load_open(one);

    load_turn(load);
    assert_true(eventually(server_says(one, "No space left on device"),
                           SOON_MS));
    load_turn(load);
    server_stop(one);
    assert_int_equal(server_says_times(one, "No space left"), 1);
    assert_int_equal(log_lost(one), load->sent);
}

TEST(a_limit_on_the_size_of_files_ends_nobody)
{
    const char *log_path = log_new_path();
    struct server *one = START(printed("--access-log=%s", log_path));
    struct rlimit whole, little = {.rlim_cur = 6000};
    struct load *load = load_open(one);

    assert_int_equal(prlimit(one->pid, RLIMIT_FSIZE, NULL, &whole), 0);
    little.rlim_max = whole.rlim_max;
    assert_int_equal(prlimit(one->pid, RLIMIT_FSIZE, &little, NULL), 0);
    load_turn(load);
    assert_true(eventually(server_says(one, "File too large"), SOON_MS));
    assert_int_equal(prlimit(one->pid, RLIMIT_FSIZE, &whole, NULL), 0);
    load_turn(load);
    server_stop(one);
    assert_int_equal(server_says_times(one, "File too large"), 1);
    assert_int_equal(load_count(load, read_text(log_path, NULL)), load->sent);
}

/* --- Syslog -------------------------------------------------------------- */

static int open_daemon(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    uint64_t ms = patience(SOON_MS);
    struct timeval limit = {.tv_sec = (time_t)(ms / 1000)};

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    unlink(path);
    if (fd == -1 ||
        bind(fd, (const struct sockaddr *)&address, sizeof(address)) == -1 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == -1)
        flunk("socket '%s': %s", path, strerror(errno));
    return fd;
}

/* The next line that comes, with a NUL for the newline it does not have. */
static const char *receive_line(int daemon, const struct server *server)
{
    static char text[8192];
    const char *tag = printed(" sprintd[%d]: ", (int)server->pid);
    ssize_t n = recv(daemon, text, sizeof(text) - 1, 0);
    const char *line;

    if (n <= 0)
        flunk("nothing came: %s", strerror(errno));
    text[n] = '\0';
    line = strstr(text, tag);
    if (strncmp(text, "<134>", 5) != 0 || line != text + 5 + 15)
        flunk("not as RFC 3164 has it: '%s'", text);
    assert_null(strchr(text, '\n'));
    return line + strlen(tag);
}

TEST(a_daemon_is_told_line_by_line)
{
    const char *path = printed("%s/daemon", folder());
    int daemon = open_daemon(path);
    struct server *one = START(printed("--access-log=syslog:%s", path),
                               "--log-format=%{status} %{request}",
                               "--workers=1");

    get(one, "/canary?1");
    get(one, "/none");
    assert_string_equal(receive_line(daemon, one),
                        "200 GET /canary?1 HTTP/1.1");
    assert_string_equal(receive_line(daemon, one), "404 GET /none HTTP/1.1");
    close(daemon);
    get(one, "/canary?2"); /* it is kept until somebody listens again */
    assert_true(eventually(server_says(one, "Connection refused"), SOON_MS));
    daemon = open_daemon(path);
    assert_string_equal(receive_line(daemon, one),
                        "200 GET /canary?2 HTTP/1.1");
    assert_true(eventually(server_says(one, "works again"), SOON_MS));
    for (int i = 0; i < 300; i++)
        get(one, printed("/canary?%d", i));
    for (int i = 0; i < 300; i++)
        assert_string_equal(receive_line(daemon, one),
                            printed("200 GET /canary?%d HTTP/1.1", i));
    get(one, "/canary?last");
    server_stop(one);
    close(daemon);
}

TEST(no_daemon_is_a_complaint_at_start)
{
    struct outcome outcome;

    RUN(&outcome, "--port=0", "--access-log=syslog:/nowhere/log", site());
    assert_int_equal(outcome.status, CANNOT_CREATE);
    assert_non_null(strstr(outcome.err, "--access-log 'syslog:/nowhere/log': "
                                        "No such file or directory"));
}

E2E_SUITE(harness_begin_site);
