#include "harness.h"

#include <dirent.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "secure.h"
#include "server_priv.h"

enum {
    SERVERS_MAX = 8,
    ARGUMENTS_MAX = 48,
    START_MS = 10000,
    STOP_MS = 10000,
    NOBODY = 65534
};

static struct {
    char program[4096];
    struct server servers[SERVERS_MAX];
    unsigned started;
} all;

int servers_choose(const char *path)
{
    return realpath(path, all.program) ? 0 : -1;
}

int servers_begin(void)
{
    const char *name = getenv("SPRINTD");

    if (!name || !realpath(name, all.program)) {
        print_error("SPRINTD names no program: %s\n", name ? name : "unset");
        return -1;
    }
    return 0;
}

void servers_keep(void)
{
    for (size_t i = 0; i < SERVERS_MAX; i++)
        all.servers[i].kept = all.servers[i].pid != 0;
}

/* --- Starting ------------------------------------------------------------ */

/* As systemd does; closes what else is there by that number. */
static void hand_over(int listener, const char *name)
{
    char pid[16];

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "1", 1);
    setenv("LISTEN_FDNAMES", name ? name : "http", 1);
    if (listener == 3)
        fcntl(listener, F_SETFD, 0);
    else
        dup2(listener, 3);
}

static void become(const struct launch *launch, int out, int err)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct rlimit limit = {launch->descriptors, launch->descriptors};

    if (dup2(null, STDIN_FILENO) == -1 || dup2(out, STDOUT_FILENO) == -1 ||
        dup2(err, STDERR_FILENO) == -1 ||
        chdir(launch->folder ? launch->folder : folder()) == -1 ||
        (launch->descriptors && setrlimit(RLIMIT_NOFILE, &limit) == -1) ||
        (launch->netns && setns(launch->netns, CLONE_NEWNET) == -1))
        _exit(126);
    if (launch->as_nobody && geteuid() == 0 &&
        (setgroups(0, NULL) == -1 || setgid(NOBODY) == -1 ||
         setuid(NOBODY) == -1))
        _exit(126);
    if (launch->listener)
        hand_over(launch->listener, launch->listener_name);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whatever becomes of the test */
}

static const char *address_of(const struct launch *launch)
{
    return launch->address ? launch->address : "127.0.0.1";
}

/* What SPRINTD_ARGS says beside, one argument: "--sandbox=strict". Not to
 * commands that are no server, and not where it contradicts the others. */
static const char *extra_argument(const char *const arguments[])
{
    const char *extra = getenv("SPRINTD_ARGS");

    if (!extra || extra[0] == '\0' || (arguments[0] && arguments[0][0] != '-'))
        return NULL;
    for (; *arguments; arguments++)
        if (strcmp(*arguments, "--follow-symlinks") == 0 ||
            strncmp(*arguments, "--sandbox", 9) == 0)
            return NULL;
    return extra;
}

static bool is_by_tls(const struct launch *launch)
{
    return launch->is_tls || (!launch->is_bare && secure_is_wanted());
}

static void list_arguments(const struct launch *launch,
                           const char *const arguments[],
                           const char *argv[ARGUMENTS_MAX])
{
    size_t count = 0;

    argv[count++] = all.program;
    if (extra_argument(arguments))
        argv[count++] = extra_argument(arguments);
    if (is_by_tls(launch)) {
        argv[count++] = "--listen";
        argv[count++] = printed("https://%s:0", address_of(launch));
        argv[count++] = "--certificate";
        argv[count++] = secure_certificate();
    } else if (!launch->is_bare) {
        argv[count++] = "--bind";
        argv[count++] = address_of(launch);
        argv[count++] = "--port=0";
    }
    if (!launch->is_bare && secure_is_wanted_upstream() && arguments[0] &&
        arguments[0][0] == '-')
        argv[count++] = printed("--proxy-tls-ca=%s", secure_certificate());
    while (*arguments && count < ARGUMENTS_MAX - 2)
        argv[count++] = *arguments++;
    if (!launch->root || launch->root[0])
        argv[count++] = launch->root ? launch->root : site();
    argv[count] = NULL;
}

/* Leaves the read end of its standard output in server->out. */
static struct server *spawn(const struct launch *launch,
                            const char *const arguments[])
{
    struct server *server = all.servers;
    const char *argv[ARGUMENTS_MAX];
    int out[2];
    int err;

    while (server->pid != 0)
        if (++server == all.servers + SERVERS_MAX)
            flunk("too many servers");
    list_arguments(launch, arguments, argv);
    *server = (struct server){
        .pidfd = -1, .out = -1, .address = address_of(launch)};
    snprintf(server->errors, sizeof(server->errors), "%s/errors.%u", folder(),
             all.started++);
    err = open(server->errors, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (err == -1 || pipe2(out, O_CLOEXEC) == -1)
        flunk("pipe: %s", strerror(errno));
    server->pid = fork();
    if (server->pid == 0) {
        /* Who may not look into the folder it lies in can be given it. */
        int program = open(all.program, O_PATH | O_CLOEXEC);

        become(launch, out[1], err);
        if (launch->as_nobody)
            fexecve(program, (char *const *)(uintptr_t)argv, environ);
        execv(all.program, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(out[1]);
    close(err);
    if (server->pid == -1) {
        server->pid = 0;
        flunk("fork: %s", strerror(errno));
    }
    server->out = out[0];
    server->pidfd = (int)syscall(SYS_pidfd_open, server->pid, 0);
    if (server->pidfd == -1)
        flunk("pidfd_open: %s", strerror(errno));
    return server;
}

bool server_line(const struct server *server, char *line, size_t size)
{
    uint64_t until = now_ms() + patience(START_MS);
    size_t len = 0;

    while (len + 1 < size) {
        struct pollfd ready = {.fd = server->out, .events = POLLIN};
        uint64_t now = now_ms();

        if (now >= until || poll(&ready, 1, (int)(until - now)) != 1 ||
            read(server->out, line + len, 1) != 1)
            break;
        if (line[len] == '\n') {
            line[len] = '\0';
            return true;
        }
        len++;
    }
    line[len] = '\0';
    return false;
}

/* The digits between the last ':' and the '/' of its URL. */
static unsigned port_of(const char *banner)
{
    const char *url = strstr(banner, "://");
    const char *end = url ? strchr(url + 3, '/') : NULL;
    const char *colon = end ? memrchr(url, ':', (size_t)(end - url)) : NULL;

    return colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
}

struct server *server_start(const struct launch *launch,
                            const char *const arguments[])
{
    struct server *server = spawn(launch, arguments);

    if (!server_line(server, server->banner, sizeof(server->banner)))
        flunk("it did not start: '%s' %s", server->banner,
              read_text(server->errors, NULL));
    server->port = port_of(server->banner);
    server->is_tls = strstr(server->banner, "https://");
    if (server->port == 0 && !strstr(server->banner, "unix:"))
        flunk("no address in '%s'", server->banner);
    return server;
}

void server_run(const struct launch *launch, const char *const arguments[],
                struct outcome *outcome)
{
    struct server *server = spawn(launch, arguments);
    uint64_t until = now_ms() + patience(START_MS);
    size_t len = 0;
    ssize_t n = 1;

    while (n > 0 && len + 1 < sizeof(outcome->out)) {
        struct pollfd ready = {.fd = server->out, .events = POLLIN};
        uint64_t now = now_ms();

        if (now >= until || poll(&ready, 1, (int)(until - now)) != 1)
            flunk("it did not end; it printed '%.*s'", (int)len, outcome->out);
        n = read(server->out, outcome->out + len,
                 sizeof(outcome->out) - 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    outcome->out[len] = '\0';
    snprintf(outcome->err, sizeof(outcome->err), "%s",
             read_text(server->errors, NULL));
    outcome->status = server_wait(server, patience(STOP_MS));
}

/* --- Ending -------------------------------------------------------------- */

void server_signal(const struct server *server, int number)
{
    if (server->pid == 0 || kill(server->pid, number) == -1)
        flunk("it does not run any more");
}

int server_wait(struct server *server, uint64_t ms)
{
    struct pollfd ended = {.fd = server->pidfd, .events = POLLIN};
    int status;

    if (server->pid == 0 || poll(&ended, 1, (int)ms) != 1)
        return -1;
    waitpid(server->pid, &status, 0);
    server->pid = 0;
    close(server->pidfd);
    close(server->out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void server_stop(struct server *server)
{
    int status;

    server_signal(server, SIGTERM);
    status = server_wait(server, patience(STOP_MS));
    if (status != 0)
        flunk("after SIGTERM: status %d; %s", status,
              read_text(server->errors, NULL));
}

static int end_one(struct server *server)
{
    int status;

    kill(server->pid, SIGTERM);
    status = server_wait(server, patience(STOP_MS));
    if (status == 0)
        return 0;
    if (status == -1) {
        kill(server->pid, SIGKILL);
        server_wait(server, patience(STOP_MS));
    }
    print_error("the server ended with status %d, not 0: %s\n", status,
                read_text(server->errors, NULL));
    return -1;
}

int servers_end(bool with_kept)
{
    int result = 0;

    for (size_t i = 0; i < SERVERS_MAX; i++)
        if (all.servers[i].pid != 0 && (with_kept || !all.servers[i].kept) &&
            end_one(&all.servers[i]) != 0)
            result = -1;
    return result;
}

/* --- Looking at it ------------------------------------------------------- */

static char *read_proc(const struct server *server, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)server->pid, name);
    return read_text(path, NULL);
}

uint64_t server_cpu_ms(const struct server *server)
{
    char *text = read_proc(server, "stat");
    char *at = strrchr(text, ')');
    unsigned long user;
    unsigned long system;

    /* utime and stime are fields 14 and 15; the name in brackets is 2. */
    if (!at || sscanf(at + 2,
                      "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
                      "%lu %lu",
                      &user, &system) != 2)
        flunk("cannot read its CPU time");
    return (user + system) * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* The sum in "status" is off by up to 64 pages for each CPU. */
static uint64_t read_pages(const struct server *server, const char *name)
{
    const char *line = strstr(read_proc(server, "smaps_rollup"), name);

    return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

uint64_t server_memory(const struct server *server)
{
    return read_pages(server, "Rss:");
}

uint64_t server_own_memory(const struct server *server)
{
    return read_pages(server, "Anonymous:");
}

size_t server_descriptors(const struct server *server)
{
    char path[64];
    size_t count = 0;
    DIR *entries;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)server->pid);
    entries = opendir(path);
    if (!entries)
        flunk("open '%s': %s", path, strerror(errno));
    while (readdir(entries))
        count++;
    closedir(entries);
    return count - 2; /* . and .. */
}
