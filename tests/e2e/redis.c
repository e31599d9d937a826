#include "redis.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SERVER "/usr/bin/redis-server"
#define CLI "/usr/bin/redis-cli"

enum {
    INSTANCES_MAX = 12,
    ARGUMENTS_MAX = 32,
    PORT_TRIES = 200,
    START_TRIES = 5,
    BUS_OFFSET = 10000, /* a cluster's nodes talk to each other there */
    PORT_MAX = 65535,
    START_MS = 10000,
    CLUSTER_MS = 30000,
    ANSWER_S = 10,
    NODE_SILENCE_MS = 2000 /* until a node counts as gone */
};

static struct redis instances[INSTANCES_MAX];
static unsigned folders;

bool redis_is_there(void)
{
    if (access(SERVER, X_OK) == 0 && access(CLI, X_OK) == 0)
        return true;
    print_message("skipped, not installed: " SERVER ", " CLI "\n");
    return false;
}

/* --- Ports --------------------------------------------------------------- */

/* A socket at a port of loopback, 0 for any; -1: somebody has it. */
static int bind_to(unsigned port, unsigned *port_out)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd == -1)
        return -1;
    if (bind(fd, (struct sockaddr *)&address, len) == -1 ||
        getsockname(fd, (struct sockaddr *)&address, &len) == -1) {
        close(fd);
        return -1;
    }
    *port_out = ntohs(address.sin_port);
    return fd;
}

/* Free, as is the one for a cluster's bus. */
unsigned redis_find_port(void)
{
    for (int i = 0; i < PORT_TRIES; i++) {
        unsigned port = 0, bus_port;
        int fd = bind_to(0, &port);
        int bus = -1;

        if (fd != -1 && port + BUS_OFFSET <= PORT_MAX)
            bus = bind_to(port + BUS_OFFSET, &bus_port);
        if (fd != -1)
            close(fd);
        if (bus == -1)
            continue;
        close(bus);
        return port;
    }
    flunk("no free ports");
}

/* --- Asking -------------------------------------------------------------- */

static FILE *connect_to(const struct redis *redis)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)redis->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patient = {.tv_sec = ANSWER_S * slowness()};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FILE *stream;

    if (fd == -1)
        return NULL;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patient, sizeof(patient));
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == -1 ||
        !(stream = fdopen(fd, "r+"))) {
        close(fd);
        return NULL;
    }
    return stream;
}

/* One value of RESP and, of an array, those in it; false: it ended early. */
static bool copy_value(FILE *from, FILE *to)
{
    char line[1024];
    long count;

    if (!fgets(line, sizeof(line), from))
        return false;
    line[strcspn(line, "\r\n")] = '\0';
    count = strtol(line + 1, NULL, 10);
    if (*line == '*') {
        for (; count > 0; count--)
            if (!copy_value(from, to))
                return false;
        return true;
    }
    if (*line != '$') {
        fprintf(to, "%s\n", *line == '-' ? line : line + 1);
        return true;
    }
    for (; count > 0; count--)
        fputc(fgetc(from), to);
    fputc('\n', to);
    /* "$-1" is nothing at all, and nothing follows. */
    return line[1] == '-' || (fgetc(from) == '\r' && fgetc(from) == '\n');
}

/* NULL: it does not answer. */
static const char *try_command(const struct redis *redis, const char *command)
{
    FILE *stream = connect_to(redis);
    const char *answer = NULL;
    char *text = NULL;
    size_t len = 0;
    FILE *copy = open_memstream(&text, &len);
    bool is_good = stream && copy;

    if (is_good && redis->password[0])
        is_good = fprintf(stream, "AUTH %s\r\n", redis->password) > 0 &&
                  fflush(stream) == 0 && copy_value(stream, copy);
    if (is_good) {
        rewind(copy);
        is_good = fprintf(stream, "%s\r\n", command) > 0 &&
                  fflush(stream) == 0 && copy_value(stream, copy);
    }
    if (copy)
        fclose(copy);
    if (is_good)
        answer = printed("%.*s", (int)len, text);
    if (stream)
        fclose(stream);
    free(text);
    return answer;
}

const char *redis_ask(const struct redis *redis, const char *format, ...)
{
    char command[4096];
    const char *answer;
    va_list list;

    va_start(list, format);
    vsnprintf(command, sizeof(command), format, list);
    va_end(list);
    answer = try_command(redis, command);
    if (!answer)
        flunk("redis at port %u does not answer '%s'", redis->port, command);
    return answer;
}

const char *redis_find(const char *text, const char *name)
{
    const char *at = strstr(text, printed("\n%s:", name));

    if (at)
        at += 1 + strlen(name) + 1;
    else if (strncmp(text, name, strlen(name)) == 0 &&
             text[strlen(name)] == ':')
        at = text + strlen(name) + 1;
    return at ? printed("%.*s", (int)strcspn(at, "\r\n"), at) : NULL;
}

/* --- Starting and ending ------------------------------------------------- */

struct redis *redis_make(const char *password)
{
    struct redis *redis = instances;

    if (!redis_is_there())
        skip();
    while (redis->port != 0)
        if (++redis == instances + INSTANCES_MAX)
            flunk("too many redis-servers");
    *redis = (struct redis){.port = redis_find_port()};
    snprintf(redis->password, sizeof(redis->password), "%s",
             password ? password : "");
    snprintf(redis->folder, sizeof(redis->folder), "%s/redis.%u", folder(),
             folders++);
    if (mkdir(redis->folder, 0700) == -1)
        flunk("mkdir '%s': %s", redis->folder, strerror(errno));
    return redis;
}

static const char *log_of(const struct redis *redis)
{
    return printed("%s/log", redis->folder);
}

static size_t put_tls(const struct redis *redis, const char *port,
                      const char *argv[ARGUMENTS_MAX], size_t count)
{
    argv[count++] = "--tls-port";
    argv[count++] = port;
    argv[count++] = "--tls-cert-file";
    argv[count++] = redis->certificate;
    argv[count++] = "--tls-key-file";
    argv[count++] = redis->certificate;
    argv[count++] = "--tls-ca-cert-file";
    argv[count++] = redis->client_ca ? redis->client_ca : redis->certificate;
    argv[count++] = "--tls-auth-clients";
    argv[count++] = redis->client_ca ? "yes" : "no";
    return count;
}

static void become(const struct redis *redis, const char *port,
                   const char *tls_port, const char *silence)
{
    const char *argv[ARGUMENTS_MAX] = {"redis-server",
                                       "--port",
                                       port,
                                       "--bind",
                                       "127.0.0.1",
                                       "--save",
                                       "",
                                       "--appendonly",
                                       "no",
                                       "--repl-diskless-sync-delay",
                                       "0"};
    size_t count = 11;
    int log = open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (redis->is_node) {
        argv[count++] = "--cluster-enabled";
        argv[count++] = "yes";
        argv[count++] = "--cluster-node-timeout";
        argv[count++] = silence;
    }
    if (redis->password[0]) {
        argv[count++] = "--requirepass";
        argv[count++] = redis->password;
    }
    if (redis->tls_port != 0)
        count = put_tls(redis, tls_port, argv, count);
    if (log == -1 || dup2(log, STDOUT_FILENO) == -1 ||
        dup2(log, STDERR_FILENO) == -1)
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whatever becomes of the test */
    execv(SERVER, (char *const *)(uintptr_t)argv);
    _exit(127);
}

static void spawn(struct redis *redis)
{
    const char *port = printed("%u", redis->port);
    const char *tls_port = printed("%u", redis->tls_port);
    const char *silence =
        printed("%llu", (unsigned long long)patience(NODE_SILENCE_MS));

    redis->pid = fork();
    if (redis->pid == 0) {
        if (chdir(redis->folder) == -1)
            _exit(126);
        become(redis, port, tls_port, silence);
    }
    if (redis->pid == -1) {
        redis->pid = 0;
        flunk("fork: %s", strerror(errno));
    }
}

/* Whether it has ended by itself: then somebody was faster at its port. */
static bool has_ended(struct redis *redis)
{
    if (waitpid(redis->pid, NULL, WNOHANG) != redis->pid)
        return false;
    redis->pid = 0;
    return true;
}

static bool answers(const struct redis *redis)
{
    const char *answer = try_command(redis, "PING");

    return answer && strcmp(answer, "PONG\n") == 0;
}

void redis_start(struct redis *redis)
{
    for (int i = 0; i < START_TRIES; i++) {
        spawn(redis);
        if (eventually(has_ended(redis) || answers(redis), START_MS) &&
            redis->pid != 0)
            return;
        if (redis->pid != 0)
            break;
        pause_ms(100);
    }
    flunk("redis-server did not start at port %u: %s", redis->port,
          read_text(log_of(redis), NULL));
}

void redis_kill(struct redis *redis)
{
    if (redis->pid != 0) {
        kill(redis->pid, SIGKILL);
        waitpid(redis->pid, NULL, 0);
    }
    redis->pid = 0;
}

void redis_freeze(const struct redis *redis)
{
    int status;

    if (kill(redis->pid, SIGSTOP) == -1 ||
        waitpid(redis->pid, &status, WUNTRACED) != redis->pid ||
        !WIFSTOPPED(status))
        flunk("redis-server does not stop");
}

void redis_thaw(const struct redis *redis)
{
    kill(redis->pid, SIGCONT);
}

static void end(bool with_kept)
{
    for (size_t i = 0; i < INSTANCES_MAX; i++)
        if (with_kept || !instances[i].is_kept) {
            redis_kill(&instances[i]);
            instances[i] = (struct redis){0};
        }
}

void redis_keep(void)
{
    for (size_t i = 0; i < INSTANCES_MAX; i++)
        instances[i].is_kept = instances[i].port != 0;
}

/* First: a server's end shall not depend on them, and a node that is still
 * there would write into a folder that is being removed. */
int redis_after_test(void **state)
{
    end(false);
    return harness_after_test(state);
}

int redis_end(void **state)
{
    end(true);
    return harness_end(state);
}

/* --- A cluster ----------------------------------------------------------- */

static void create_cluster(struct redis *const nodes[REDIS_NODES])
{
    const char *log = printed("%s/cluster.log", folder());
    const char *argv[REDIS_NODES + 8] = {"redis-cli", "--cluster", "create"};
    size_t count = 3;
    int status = 0;
    pid_t pid;

    for (size_t i = 0; i < REDIS_NODES; i++)
        argv[count++] = printed("127.0.0.1:%u", nodes[i]->port);
    argv[count++] = "--cluster-replicas";
    argv[count++] = "1";
    argv[count++] = "--cluster-yes";
    pid = fork();
    if (pid == 0) {
        int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (out != -1 && dup2(out, 1) != -1 && dup2(out, 2) != -1)
            execv(CLI, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    if (pid == -1 || waitpid(pid, &status, 0) != pid || status != 0)
        flunk("redis-cli --cluster create: %s", read_text(log, NULL));
}

/* All slots are served; it follows its master, or its replica follows. */
static bool is_settled(const struct redis *node)
{
    const char *replication = redis_ask(node, "INFO replication");

    return strstr(redis_ask(node, "CLUSTER INFO"), "cluster_state:ok") &&
           (strstr(replication, "state=online") ||
            strstr(replication, "master_link_status:up"));
}

static bool is_whole(struct redis *const nodes[REDIS_NODES])
{
    for (size_t i = 0; i < REDIS_NODES; i++)
        if (!is_settled(nodes[i]))
            return false;
    return true;
}

void redis_make_cluster(struct redis *nodes[REDIS_NODES])
{
    for (size_t i = 0; i < REDIS_NODES; i++) {
        nodes[i] = redis_make(NULL);
        nodes[i]->is_node = true;
        redis_start(nodes[i]);
    }
    create_cluster(nodes);
    if (!eventually(is_whole(nodes), CLUSTER_MS))
        flunk("the cluster does not settle: %s",
              redis_ask(nodes[0], "CLUSTER NODES"));
}
