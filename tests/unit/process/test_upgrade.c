/* link: -Wl,--wrap=execv */
#include "process/upgrade.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sysexits.h>

#include "base/now.h"
#include "process/pid_file.h"
#include "process/readiness.h"
#include "suite.h"

#include "unit/place.h"
#include "wrap.h"

/* The program that is started is this test program again, with one of these
 * words. */
#define SERVE "serve"   /* as a successor does; serves one connection */
#define REFUSE "refuse" /* says EX_CONFIG, and ends */
#define DIE "die"       /* ends without a word */
#define CRASH "crash"
#define HANG "hang"

enum { WAIT_MS = 60000, PATIENCE_MS = 60000, IMPATIENCE_MS = 100 };

WRAP(int, execv, const char *path, char *const arguments[])
{
    if (strcmp(arguments[1], "no exec") != 0)
        return __real_execv(path, arguments);
    errno = ENOEXEC;
    return -1;
}

/* --- The successor ------------------------------------------------------- */

/* What it tells its client. */
struct greeting {
    pid_t pid;
    bool has_other_sockets; /* but for those it took */
    bool is_confused;       /* something in its environment is wrong */
    char watchdog[24];
};

static int serve(const char *socket, const char *pid_path)
{
    struct greeting greeting = {.pid = getpid()};
    struct readiness readiness;
    struct activation activation;
    struct listener listener, other;
    struct pid_file pid_file = {.fd = -1};
    struct pollfd ready;
    struct address peer;
    pid_t holder;
    int fd;

    alarm(WAIT_MS / 1000);
    readiness_inherit(&readiness);
    if (activation_open(&activation) != EX_OK ||
        !activation_take_path(&activation, &listener, socket))
        return EX_SOFTWARE;
    if (*pid_path == '\0')
        pid_file_refuse();
    else if (pid_file_open(&pid_file, pid_path, &holder) != 0 ||
             pid_file_write(&pid_file) != 0)
        return EX_CANTCREAT;
    greeting.has_other_sockets = activation_take_next(&activation, &other);
    greeting.is_confused = !readiness.is_successor || getenv("LISTEN_FDS") ||
                           fcntl(STDERR_FILENO, F_GETFD) == -1;
    if (getenv("WATCHDOG_PID"))
        snprintf(greeting.watchdog, sizeof(greeting.watchdog), "%s",
                 getenv("WATCHDOG_PID"));
    readiness_tell(&readiness, EX_OK);
    ready = (struct pollfd){.fd = listener.fd, .events = POLLIN};
    if (poll(&ready, 1, WAIT_MS) != 1)
        return EX_IOERR;
    fd = listener_accept(&listener, &peer);
    if (send(fd, &greeting, sizeof(greeting), MSG_NOSIGNAL) != sizeof(greeting))
        return EX_IOERR;
    close(fd);
    listener_leave(&listener);
    return EX_OK;
}

static int succeed(char **arguments)
{
    struct readiness readiness;

    if (strcmp(arguments[1], SERVE) == 0)
        return serve(arguments[2], arguments[3]);
    if (strcmp(arguments[1], CRASH) == 0)
        raise(SIGKILL);
    while (strcmp(arguments[1], HANG) == 0)
        poll(NULL, 0, WAIT_MS);
    readiness_inherit(&readiness);
    if (strcmp(arguments[1], REFUSE) == 0)
        readiness_tell(&readiness, EX_CONFIG);
    return EX_CONFIG;
}

/* --- The server ---------------------------------------------------------- */

static struct place place;
static struct upgrade upgrade;
static struct listener listener;
static char socket_path[PATH_MAX];
static char program[PATH_MAX];
static unsigned fds_before;

static int set_up(void **state)
{
    (void)state;
    upgrade = (struct upgrade){.fd = -1};
    fds_before = place_count_fds();
    unsetenv("WATCHDOG_PID");
    if (place_open(&place) != 0)
        return -1;
    snprintf(socket_path, sizeof(socket_path), "%s",
             place_path(&place, "socket"));
    /* What the launcher leaves behind shall come back to us. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return listener_open_unix(&listener, socket_path);
}

static int tear_down(void **state)
{
    (void)state;
    upgrade_destroy(&upgrade);
    listener_close(&listener);
    while (wait(NULL) != -1 || errno == EINTR)
        ;
    return place_close(&place) == 0 && place_count_fds() == fds_before ? 0 : -1;
}

static void create(const char *word, const char *pid_path, int ready_ms)
{
    char *arguments[] = {program, (char *)(uintptr_t)word, socket_path,
                         (char *)(uintptr_t)pid_path, NULL};

    assert_int_equal(upgrade_create_for(&upgrade, program, arguments, ready_ms),
                     0);
}

static int begin(int pid_file_fd)
{
    return upgrade_begin(&upgrade,
                         &(struct upgrade_legacy){.listener_fds = &listener.fd,
                                                  .count = 1,
                                                  .pid_file_fd = pid_file_fd,
                                                  .tickets_fd = -1});
}

static enum upgrade_result wait_for_news(struct launcher_news *news)
{
    struct pollfd ready = {.fd = upgrade.fd, .events = POLLIN};

    assert_int_equal(poll(&ready, 1, WAIT_MS), 1);
    return upgrade_handle(&upgrade, news);
}

static int fetch(struct greeting *greeting)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ssize_t got;

    memcpy(un.sun_path, socket_path, strlen(socket_path));
    if (connect(fd, (const struct sockaddr *)&un, sizeof(un)) == -1) {
        close(fd);
        return -1;
    }
    got = recv(fd, greeting, sizeof(*greeting), MSG_WAITALL);
    close(fd);
    return got == sizeof(*greeting) ? 0 : -1;
}

/* The successor of a pid ends well. */
static void assert_ends(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void assert_fails(const char *why)
{
    struct launcher_news news;

    assert_int_equal(begin(-1), 0);
    assert_int_equal(wait_for_news(&news), UPGRADE_FAILED);
    assert_non_null(strstr(news.why, why));
    assert_int_equal(news.pid, 0);
}

static void assert_succeeds(int pid_file_fd, struct launcher_news *news)
{
    assert_int_equal(begin(pid_file_fd), 0);
    assert_int_equal(wait_for_news(news), UPGRADE_DONE);
}

/* --- Upgrades that work -------------------------------------------------- */

TEST(the_successor_serves_on_the_same_socket)
{
    struct launcher_news news;
    struct greeting greeting;

    create(SERVE, "", PATIENCE_MS);
    assert_succeeds(-1, &news);
    listener_leave(&listener);
    assert_int_equal(fetch(&greeting), 0);
    assert_int_equal(greeting.pid, news.pid);
    assert_false(greeting.has_other_sockets);
    assert_false(greeting.is_confused);
    assert_string_equal(greeting.watchdog, "");
    assert_ends(news.pid);
}

TEST(once_it_serves_the_launcher_is_gone)
{
    struct launcher_news news;
    struct greeting greeting;

    create(SERVE, "", PATIENCE_MS);
    assert_succeeds(-1, &news);
    assert_int_equal(upgrade.fd, -1);
    assert_int_equal(begin(-1), -ENOTCONN);
    assert_int_equal(upgrade_handle(&upgrade, &news), UPGRADE_PENDING);
    assert_int_equal(fetch(&greeting), 0);
    /* Only the successor is left, and it is ours now. */
    assert_ends(greeting.pid);
    assert_int_equal(wait(NULL), -1);
}

TEST(clients_that_wait_are_the_successors)
{
    struct launcher_news news;
    struct greeting greeting;
    pid_t client;

    client = fork();
    if (client == 0)
        _exit(fetch(&greeting) == 0 ? 0 : 1);
    create(SERVE, "", PATIENCE_MS);
    assert_succeeds(-1, &news);
    listener_leave(&listener);
    assert_ends(client);
    assert_ends(news.pid);
}

TEST(the_pid_file_goes_along)
{
    const char *path = place_path(&place, "pid");
    struct launcher_news news;
    struct greeting greeting;
    struct pid_file file;
    char text[24] = "";
    pid_t holder;
    int fd;

    assert_int_equal(pid_file_open(&file, path, &holder), 0);
    assert_int_equal(pid_file_write(&file), 0);
    create(SERVE, path, PATIENCE_MS);
    assert_succeeds(file.fd, &news);
    pid_file_close(&file);
    assert_int_equal(pid_file_open(&file, path, &holder), -EWOULDBLOCK);
    assert_int_equal(holder, news.pid);
    fd = open(path, O_RDONLY);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    close(fd);
    assert_int_equal(strtol(text, NULL, 10), news.pid);
    assert_int_equal(fetch(&greeting), 0);
    assert_ends(news.pid);
}

TEST(the_watchdog_goes_on_with_the_successor)
{
    struct launcher_news news;
    struct greeting greeting;

    setenv("WATCHDOG_PID", "1", 1);
    setenv("LISTEN_FDS", "3", 1);
    create(SERVE, "", PATIENCE_MS);
    unsetenv("WATCHDOG_PID");
    unsetenv("LISTEN_FDS");
    assert_succeeds(-1, &news);
    assert_int_equal(fetch(&greeting), 0);
    assert_int_equal(strtol(greeting.watchdog, NULL, 10), news.pid);
    assert_false(greeting.is_confused);
    assert_ends(news.pid);
}

TEST(the_program_is_known_by_its_path)
{
    char *arguments[] = {program, (char *)(uintptr_t)SERVE, socket_path,
                         (char *)(uintptr_t) "", NULL};
    struct launcher_news news;
    struct greeting greeting;

    assert_int_equal(upgrade_create(&upgrade, arguments), 0);
    assert_succeeds(-1, &news);
    assert_int_equal(fetch(&greeting), 0);
    assert_ends(news.pid);
}

/* --- Upgrades that fail -------------------------------------------------- */

TEST(a_successor_that_refuses_is_only_a_try)
{
    create(REFUSE, "", PATIENCE_MS);
    for (int i = 0; i < 3; i++)
        assert_fails("ended with status 78");
    assert_int_equal(access(socket_path, F_OK), 0);
}

TEST(a_successor_that_dies_is_only_a_try)
{
    create(DIE, "", PATIENCE_MS);
    for (int i = 0; i < 3; i++)
        assert_fails("ended with status 78");
    upgrade_destroy(&upgrade);
    create(CRASH, "", PATIENCE_MS);
    assert_fails("killed by signal 9");
}

TEST(a_successor_that_takes_too_long_is_killed)
{
    create(HANG, "", IMPATIENCE_MS);
    for (int i = 0; i < 2; i++)
        assert_fails("did not serve within 100 ms");
    upgrade_destroy(&upgrade);
    assert_int_equal(wait(NULL), -1); /* nobody has been left behind */
}

TEST(a_program_that_is_gone_is_said)
{
    snprintf(program + strlen(program), 8, ".gone");
    create(SERVE, "", PATIENCE_MS);
    program[strlen(program) - 5] = '\0';
    assert_fails("No such file");
}

TEST(a_program_that_is_none_is_said)
{
    create("no exec", "", PATIENCE_MS);
    assert_fails("cannot be executed");
}

TEST(one_upgrade_at_a_time)
{
    struct launcher_news news;

    create(HANG, "", PATIENCE_MS);
    assert_int_equal(begin(-1), 0);
    assert_int_equal(begin(-1), -EALREADY);
    assert_int_equal(upgrade_handle(&upgrade, &news), UPGRADE_PENDING);
}

TEST(a_server_that_ends_takes_a_try_with_it)
{
    create(HANG, "", PATIENCE_MS);
    assert_int_equal(begin(-1), 0);
    upgrade_destroy(&upgrade);
    assert_int_equal(wait(NULL), -1);
}

TEST(more_sockets_than_can_be_handed_over_are_refused)
{
    int fds[ACTIVATION_MAX + 1];
    struct upgrade_legacy legacy = {
        .count = ACTIVATION_MAX + 1, .pid_file_fd = -1, .tickets_fd = -1};

    create(DIE, "", PATIENCE_MS);
    for (size_t i = 0; i <= ACTIVATION_MAX; i++)
        fds[i] = listener.fd;
    legacy.listener_fds = fds;
    assert_int_equal(upgrade_begin(&upgrade, &legacy), -E2BIG);
    legacy.count--;
    legacy.pid_file_fd = legacy.tickets_fd = listener.fd;
    assert_int_equal(upgrade_begin(&upgrade, &legacy), 0);
}

/* --- The launcher -------------------------------------------------------- */

TEST(a_launcher_that_was_killed_is_noticed)
{
    struct launcher_news news;

    create(SERVE, "", PATIENCE_MS);
    kill(upgrade.launcher, SIGKILL);
    assert_int_equal(wait_for_news(&news), UPGRADE_FAILED);
    assert_string_equal(news.why, "the launcher has died");
    assert_int_equal(upgrade.fd, -1);
    assert_int_equal(begin(-1), -ENOTCONN);
}

TEST(the_launcher_minds_no_signal_that_means_the_server)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};

    create(REFUSE, "", PATIENCE_MS);
    assert_fails("ended"); /* so it has begun to ignore them */
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        kill(upgrade.launcher, numbers[i]);
    assert_fails("ended");
}

TEST(the_launcher_holds_nothing_of_the_servers)
{
    struct pollfd ready;
    int ends[2];
    char byte;

    assert_int_equal(pipe(ends), 0);
    create(DIE, "", PATIENCE_MS);
    close(ends[1]);
    ready = (struct pollfd){.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&ready, 1, WAIT_MS), 1);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

TEST(the_launcher_dies_with_a_server_that_is_killed)
{
    pid_t server = fork();

    if (server == 0) {
        create(SERVE, "", PATIENCE_MS);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(server, NULL, 0), server);
    /* It is ours now; the tear-down would wait for it for ever. */
    while (wait(NULL) != -1)
        ;
}

/* With one descriptor more than there is room for, which the space that control
 * data is padded to would have let in. */
static void send_too_many(void)
{
    enum { COUNT = LAUNCHER_FDS_MAX + 1 };
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(COUNT * sizeof(int))];
    } rights = {.room = {0}};
    struct launcher_order order = {.listener_count = 0};
    struct iovec data = {&order, sizeof(order)};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = rights.room,
                             .msg_controllen = CMSG_SPACE(COUNT * sizeof(int))};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(COUNT * sizeof(int));
    memset(CMSG_DATA(header), 0, COUNT * sizeof(int)); /* standard input */
    assert_int_equal(sendmsg(upgrade.fd, &message, MSG_NOSIGNAL),
                     sizeof(order));
}

TEST(an_order_that_is_none_is_refused)
{
    struct launcher_order order = {.listener_count = 5};
    struct launcher_news news;
    int fds[] = {0, 1, 2};

    create(SERVE, "", PATIENCE_MS);
    assert_int_equal(send(upgrade.fd, "x", 1, MSG_NOSIGNAL), 1);
    assert_int_equal(wait_for_news(&news), UPGRADE_FAILED);
    assert_int_equal(launcher_send(upgrade.fd, &order, fds, 3), 1);
    assert_int_equal(wait_for_news(&news), UPGRADE_FAILED);
    order.listener_count = UINT32_MAX - 2;
    assert_int_equal(launcher_send(upgrade.fd, &order, fds, 1), 1);
    assert_int_equal(wait_for_news(&news), UPGRADE_FAILED);
    assert_non_null(strstr(news.why, "does not understand"));
    send_too_many();
    assert_int_equal(wait_for_news(&news), UPGRADE_FAILED);
    assert_non_null(strstr(news.why, "does not understand"));
    assert_int_equal(launcher_send(upgrade.fd, &order, fds,
                                   LAUNCHER_FDS_MAX + 1),
                     -E2BIG);
}

SUITE(.each_begin = set_up, .each_end = tear_down);

int main(int argc, char **argv)
{
    if (argc > 1)
        _exit(succeed(argv));
    if (readlink("/proc/self/exe", program, sizeof(program) - 16) == -1)
        return 1;
    return suite_run();
}
