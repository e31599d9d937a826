#include "process/companion/broker.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>

#include "io/listener.h"
#include "process/allowed_paths.h"
#include "suite.h"
#include "unit/confine/enclosed.h"
#include "unit/place.h"

static struct place place;
static struct broker broker;
static struct broker_path paths[4];
static char texts[4][128];
static unsigned fds_before;

static const char *text_of(size_t i, const char *name)
{
    snprintf(texts[i], sizeof(texts[i]), "%s", place_path(&place, name));
    return texts[i];
}

/* A configuration with any socket but that one. */
static bool is_configured(void *context, const char *path)
{
    return context == &place && !strstr(path, "stranger");
}

static int number_fd;

static int set_up(void **state)
{
    struct broker_options wanted = {.paths = paths,
                                    .count = 4,
                                    .is_configured = is_configured,
                                    .context = &place};
    int err;

    (void)state;
    broker = (struct broker){.fd = -1};
    fds_before = place_count_fds();
    if (place_open(&place) != 0 || mkdirat(place.fd, "run", 0755) != 0 ||
        place_write(&place, "conf", "conf") != 0 ||
        place_write(&place, "secret", "secret") != 0 ||
        place_write(&place, "run/pid", "1") != 0 ||
        place_write(&place, "run/beside", "text") != 0)
        return -1;
    paths[0] = (struct broker_path){FILE_READ, text_of(0, "conf")};
    paths[1] = (struct broker_path){FILE_APPEND, text_of(1, "log")};
    paths[2] = (struct broker_path){FILE_LISTEN, text_of(2, "run/control")};
    paths[3] = (struct broker_path){FILE_PID, text_of(3, "run/pid")};
    number_fd = openat(place.fd, "run/pid", O_RDWR | O_CLOEXEC);
    if (number_fd == -1)
        return -1;
    wanted.number_fd = number_fd;
    err = broker_open(&broker, &wanted);
    close(number_fd);
    return err;
}

static int tear_down(void **state)
{
    (void)state;
    broker_close(&broker);
    return place_close(&place) == 0 && place_count_fds() == fds_before &&
                   waitpid(-1, NULL, WNOHANG) == -1
               ? 0
               : -1;
}

/* As whoever is refused does. */
static int ask(enum file_need need, const char *name)
{
    return file_broker_ask(need, place_path(&place, name), -EACCES);
}

static void assert_opens(enum file_need need, const char *name)
{
    int fd = ask(need, name);

    assert_true(fd > STDERR_FILENO);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
}

/* --- What it does -------------------------------------------------------- */

TEST(files_on_the_list_are_opened_by_their_names)
{
    assert_opens(FILE_READ, "conf");
    assert_int_equal(renameat(place.fd, "secret", place.fd, "conf"), 0);
    assert_opens(FILE_READ, "conf"); /* whatever it is now */
    assert_opens(FILE_APPEND, "log");
    assert_int_equal(renameat(place.fd, "log", place.fd, "log.1"), 0);
    assert_opens(FILE_APPEND, "log");
    assert_int_equal(faccessat(place.fd, "log", F_OK, 0), 0);
}

TEST(sockets_come_and_go_beside_those_on_the_list)
{
    struct listener another;
    int fd;

    assert_opens(FILE_LISTEN, "run/control");
    fd = ask(FILE_LISTEN, "run/other");
    assert_true(fd >= 0);
    assert_int_equal(ask(FILE_LISTEN, "run/other"), -EADDRINUSE);
    close(fd);
    assert_int_equal(ask(FILE_LISTEN, "run/beside"), -EEXIST);
    assert_int_equal(ask(FILE_REMOVE, "run/control"), 0);
    assert_int_equal(ask(FILE_REMOVE, "run/other"), 0);
    assert_int_equal(listener_open_unix(&another,
                                        place_path(&place, "run/another")),
                     0);
    assert_int_equal(ask(FILE_REMOVE, "run/another"), -EACCES);
    listener_close(&another);
    assert_int_equal(ask(FILE_REMOVE, "run/pid"), 0);
    assert_int_equal(faccessat(place.fd, "run/pid", F_OK, 0), -1);
}

TEST(only_so_many_sockets_are_made)
{
    char name[16];
    int result = 0;
    int count = 0;

    for (; result >= 0; count++) {
        snprintf(name, sizeof(name), "run/%d", count);
        result = ask(FILE_LISTEN, name);
        if (result >= 0)
            close(result);
    }
    assert_int_equal(result, -ENOSPC);
    assert_int_equal(count, 17);
    assert_int_equal(ask(FILE_REMOVE, "run/3"), 0);
    assert_opens(FILE_LISTEN, "run/new");
}

TEST(a_socket_that_nobody_has_asked_for_is_not_made)
{
    assert_int_equal(ask(FILE_LISTEN, "run/stranger"), -EACCES);
    assert_int_equal(faccessat(place.fd, "run/stranger", F_OK, 0), -1);
}

/* Dead, and left by a server that ended suddenly; whose, its owner tells. */
static void leave_socket(const char *name, uid_t owner)
{
    struct listener dead;

    assert_int_equal(listener_open_unix(&dead, place_path(&place, name)), 0);
    close(dead.fd);
    assert_int_equal(fchownat(place.fd, name, owner, owner, 0), 0);
}

TEST(dead_sockets_of_others_stay)
{
    struct stat st;

    if (geteuid() != 0)
        skip();
    leave_socket("run/control", 0);
    assert_opens(FILE_LISTEN, "run/control");
    assert_int_equal(unlinkat(place.fd, "run/control", 0), 0);
    leave_socket("run/control", 12345);
    leave_socket("run/other", 12345);
    assert_int_equal(ask(FILE_LISTEN, "run/control"), -EACCES);
    assert_int_equal(ask(FILE_LISTEN, "run/other"), -EACCES);
    assert_int_equal(ask(FILE_REMOVE, "run/control"), -EACCES);
    assert_int_equal(fstatat(place.fd, "run/control", &st, 0), 0);
    assert_int_equal(st.st_uid, 12345);
    assert_int_equal(fstatat(place.fd, "run/other", &st, 0), 0);
    assert_int_equal(st.st_uid, 12345);
}

TEST(the_number_written_is_the_servers)
{
    char expected[24];
    char text[24] = "";
    int fd = openat(place.fd, "run/pid", O_RDONLY | O_CLOEXEC);

    assert_int_equal(ask(FILE_NUMBER, "run/pid"), 0);
    snprintf(expected, sizeof(expected), "%ld\n", (long)getpid());
    assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
    assert_string_equal(text, expected);
    close(fd);
}

TEST(faults_are_told)
{
    assert_int_equal(unlinkat(place.fd, "conf", 0), 0);
    assert_int_equal(ask(FILE_READ, "conf"), -ENOENT);
    assert_int_equal(mkdirat(place.fd, "log", 0755), 0);
    assert_int_equal(ask(FILE_APPEND, "log"), -EISDIR);
    assert_int_equal(ask(FILE_REMOVE, "run/control"), -ENOENT);
}

/* The answer then comes without the descriptor, and 0 would be another file. */
TEST(a_descriptor_without_room_is_told)
{
    struct rlimit before, now;
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int result;

    assert_true(next != -1);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    now = before;
    now.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    result = ask(FILE_READ, "conf");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(result, -EMFILE);
    assert_opens(FILE_READ, "conf");
}

/* --- What it does not ---------------------------------------------------- */

static const struct {
    uint32_t need;
    const char *name;
} forbidden[] = {
    {FILE_READ, "secret"},
    {FILE_READ, "log"},
    {FILE_READ, "./conf"},
    {FILE_APPEND, "conf"},
    {FILE_APPEND, "run/pid"},
    {FILE_PID, "run/pid"},
    {FILE_PRIVATE, "run/pid"},
    {FILE_LISTEN, "socket"},
    {FILE_LISTEN, "run/../socket"},
    {FILE_LISTEN, "run/a/b"},
    {FILE_LISTEN, "run/"},
    {FILE_NUMBER, "conf"},
    {FILE_NUMBER, "run/beside"},
    {FILE_LISTEN, "run/.."},
    {FILE_LISTEN_PRIVATE, "run/control"},
    {FILE_REMOVE, "run/beside"},
    {FILE_REMOVE, "conf"},
    {FILE_REMOVE, "log"},
    {FILE_REMOVE, "run/../conf"},
    {FILE_REMOVE + 1, "conf"},
    {UINT32_MAX, "conf"},
};

TEST(nothing_else_is_asked_for)
{
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++)
        assert_int_equal(ask((enum file_need)forbidden[i].need,
                             forbidden[i].name),
                         -EACCES);
    assert_int_equal(faccessat(place.fd, "run/beside", F_OK, 0), 0);
}

/* What whoever has taken the server over says. */
static int say(const void *data, size_t len)
{
    int32_t result;

    assert_int_equal(send(broker.fd, data, len, 0), (ssize_t)len);
    assert_int_equal(recv(broker.fd, &result, sizeof(result), 0),
                     sizeof(result));
    return result;
}

TEST(nothing_else_is_done_for_who_asks_nevertheless)
{
    char request[4 + 256];

    for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
        int len;

        memcpy(request, &forbidden[i].need, 4);
        len = snprintf(request + 4, 256, "%s",
                       place_path(&place, forbidden[i].name));
        assert_int_equal(say(request, 4 + (size_t)len + 1), -EACCES);
    }
    assert_int_equal(faccessat(place.fd, "run/beside", F_OK, 0), 0);
    assert_int_equal(say("x", 1), -EPROTO);
    assert_int_equal(say("0123", 4), -EPROTO);
    memset(request, 0, 4);
    memset(request + 4, 'a', 256);
    assert_int_equal(say(request, sizeof(request)), -EPROTO);
    assert_opens(FILE_READ, "conf"); /* and it goes on */
}

TEST(once_it_is_gone_the_fault_is_that)
{
    assert_int_equal(kill(broker.pid, SIGKILL), 0);
    assert_true(ask(FILE_READ, "conf") < 0);
    assert_true(ask(FILE_READ, "conf") < 0);
}

TEST(without_a_list_there_is_no_process)
{
    struct broker none;

    broker_close(&broker);
    assert_int_equal(broker_open(&none, &(struct broker_options){.count = 0}),
                     0);
    assert_int_equal(none.fd, -1);
    assert_false(broker_serves(&none, FILE_READ, "conf"));
    broker_close(&none);
}

/* --- A server that has been taken over ----------------------------------- */

static struct options options;

static int try_open(const char *name, int flags)
{
    int fd = open(place_path(&place, name), flags | O_CLOEXEC, 0600);

    if (fd == -1)
        return errno;
    close(fd);
    return 0;
}

/* Enters what a server with these options enters. */
static bool enter(void)
{
    static struct sandbox sandbox;
    struct allowed_paths allowed;
    struct sandbox_options wanted = {.mode = SANDBOX_STRICT};
    struct broker_options brokered = {.number_fd = -1};

    if (!allowed_paths_open(&allowed, &options,
                            place_path(&place, "run/control")))
        return false;
    wanted.paths = allowed.paths;
    wanted.path_count = allowed.count;
    broker_close(&broker);
    brokered.paths = allowed.brokered;
    brokered.count = allowed.brokered_count;
    if (broker_open(&broker, &brokered) != 0)
        return false;
    return sandbox_enter(&sandbox, &wanted) == EX_OK && sandbox.has_landlock;
}

static int act_as_intruder(void)
{
    if (!enter())
        return 99;
    if (try_open("conf", O_RDONLY) != 0)
        return 1;
    if (try_open("conf", O_WRONLY) != EACCES ||
        try_open("conf", O_RDONLY | O_TRUNC) != EACCES)
        return 2;
    if (try_open("secret", O_RDONLY) != EACCES ||
        try_open("", O_RDONLY | O_DIRECTORY) != EACCES)
        return 3;
    if (try_open("new", O_WRONLY | O_CREAT) != EACCES ||
        try_open("run/new", O_WRONLY | O_CREAT) != EACCES)
        return 4;
    if (unlink(place_path(&place, "conf")) != -1 ||
        unlink(place_path(&place, "run/beside")) != -1 ||
        rename(place_path(&place, "log"), place_path(&place, "conf")) != -1)
        return 5;
    if (try_open("log", O_WRONLY | O_APPEND) != EACCES)
        return 6;
    return ask(FILE_APPEND, "log") >= 0 && ask(FILE_APPEND, "conf") < 0 ? 0 : 7;
}

TEST(the_configuration_and_what_lies_beside_stay_out_of_reach)
{
    int status;

    if (!sandbox_is_built_in())
        skip();
    options = (struct options){.config = texts[0],
                               .access_log = texts[1],
                               .pid_file = texts[3],
                               .location = {.root = "/usr"}};
    assert_int_equal(place_write(&place, "log", "line"), 0);
    status = enclosed(act_as_intruder);
    if (status == 99)
        skip();
    assert_int_equal(status, 0);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
