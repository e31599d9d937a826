#include "pebble.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "child.h"
#include "make_certificate.h"

enum { START_MS = 15000, WORDS_MAX = 24 };

static const char *find_program(void)
{
    static char path[512];
    const char *told = getenv("PEBBLE");
    const char *home = getenv("HOME");

    if (told)
        snprintf(path, sizeof(path), "%s", told);
    else if (home)
        snprintf(path, sizeof(path), "%s/go/bin/pebble", home);
    if (access(path, X_OK) != 0 && !told)
        snprintf(path, sizeof(path), "/usr/bin/pebble");
    return path;
}

bool pebble_is_there(void)
{
    const char *program = find_program();

    if (access(program, X_OK) == 0 &&
        access(printed("%s-challtestsrv", program), X_OK) == 0)
        return true;
    print_message("skipped, not installed: pebble\n");
    return false;
}

unsigned free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd == -1 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) == -1 ||
        getsockname(fd, (struct sockaddr *)&address, &len) == -1)
        flunk("no free port");
    close(fd);
    return ntohs(address.sin_port);
}

/* --- Processes ----------------------------------------------------------- */

static pid_t spawn(const char *log, const char *const words[])
{
    pid_t pid = child_fork();

    if (pid != 0)
        return pid;
    if (!freopen(log, "w", stdout) || dup2(STDOUT_FILENO, STDERR_FILENO) == -1)
        _exit(1);
    setenv("PEBBLE_VA_NOSLEEP", "1", 1);
    setenv("PEBBLE_WFE_NONCEREJECT", "50", 1);
    execv(words[0], (char *const *)(uintptr_t)words);
    _exit(127);
}

static bool lives(pid_t pid)
{
    return pid > 0 && waitpid(pid, NULL, WNOHANG) == 0;
}

static void reap(pid_t pid)
{
    if (pid <= 0)
        return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static bool listens(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_there = connect(fd, (struct sockaddr *)&address, sizeof(address)) ==
                    0;

    close(fd);
    return is_there;
}

static void start_names(struct pebble *pebble, unsigned dns)
{
    /* By the names of its options in new versions, and in Debian's. */
    static const char *const options[] = {"-dnsserver", "-dns01"};
    const char *log = printed("%s/names-%u.log", folder(), dns);

    pebble->dns_management = free_port();
    for (size_t i = 0; i < 2; i++) {
        const char *words[] = {printed("%s-challtestsrv", find_program()),
                               "-defaultIPv6",
                               "",
                               "-defaultIPv4",
                               "127.0.0.1",
                               "-http01",
                               "",
                               "-https01",
                               "",
                               "-tlsalpn01",
                               "",
                               "-doh",
                               "",
                               options[i],
                               printed("127.0.0.1:%u", dns),
                               "-management",
                               printed("127.0.0.1:%u", pebble->dns_management),
                               NULL};

        if (i == 1 && !strstr(read_text(log, NULL), "not defined"))
            return;
        if (i == 1)
            words[11] = NULL; /* it knows nothing of DoH */
        if (i == 1) {
            words[11] = options[i];
            words[12] = words[14];
            words[13] = "-management";
            words[14] = words[16];
            words[15] = NULL;
        }
        pebble->names = spawn(log, words);
        if (eventually(listens(pebble->dns_management) || !lives(pebble->names),
                       START_MS) &&
            listens(pebble->dns_management))
            return;
    }
    flunk("the server of names does not start: %s", read_text(log, NULL));
}

/* --- The authority ------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *to = fopen(path, "we");

    if (!to || fputs(text, to) < 0 || fclose(to) != 0)
        flunk("cannot write '%s'", path);
}

/* Its own certificate has signed itself. */
static void write_identity(struct pebble *pebble, const char *key)
{
    struct made made = make_certificate(&(struct making){
        .subject = "localhost", .names = "DNS:localhost,IP:127.0.0.1"});
    char *certificate = made_text(&made);
    char *secret = made_key(&made, NULL);

    write_file(pebble->ca, certificate);
    write_file(key, secret);
    free(certificate);
    free(secret);
    made_free(&made);
}

static const char *write_configuration(struct pebble *pebble, const char *key,
                                       const struct pebble_options *options)
{
    const char *path = printed("%s/pebble-%u.json", folder(), pebble->port);
    unsigned validity_s = options->validity_s > 0 ? options->validity_s
                                                  : 365 * 24 * 3600;

    write_file(
        path,
        printed("{\"pebble\":{\"listenAddress\":\"127.0.0.1:%u\","
                "\"managementListenAddress\":\"127.0.0.1:%u\","
                "\"certificate\":\"%s\",\"privateKey\":\"%s\","
                "\"httpPort\":%u,\"tlsPort\":%u,\"ocspResponderURL\":\"\","
                "\"retryAfter\":{\"authz\":1,\"order\":1},"
                "\"certificateValidityPeriod\":%u,"
                "\"profiles\":{\"default\":{\"description\":\"any\","
                "\"validityPeriod\":%u}}%s}}",
                pebble->port, pebble->management, pebble->ca, key, pebble->http,
                pebble->https, validity_s, validity_s,
                options->configuration ? options->configuration : ""));
    return path;
}

struct pebble *pebble_start(const struct pebble_options *options)
{
    struct pebble *pebble = scratch(sizeof(*pebble));
    unsigned dns = free_port();
    const char *key, *configuration;

    *pebble = (struct pebble){
        .port = options->port > 0 ? options->port : free_port(),
        .management = free_port(),
        .http = options->http > 0 ? options->http : free_port(),
        .https = options->https > 0 ? options->https : free_port()};
    pebble->directory = printed("https://127.0.0.1:%u/dir", pebble->port);
    pebble->ca = printed("%s/pebble-%u.crt", folder(), pebble->port);
    pebble->log = printed("%s/pebble-%u.log", folder(), pebble->port);
    key = printed("%s/pebble-%u.key", folder(), pebble->port);
    write_identity(pebble, key);
    configuration = write_configuration(pebble, key, options);
    start_names(pebble, dns);
    pebble->authority =
        spawn(pebble->log,
              (const char *const[]){find_program(), "-strict", "-dnsserver",
                                    printed("127.0.0.1:%u", dns), "-config",
                                    configuration, NULL});
    if (!eventually(listens(pebble->port) && listens(pebble->management),
                    START_MS))
        flunk("pebble does not start: %s", read_text(pebble->log, NULL));
    return pebble;
}

void pebble_stop(struct pebble *pebble)
{
    if (!pebble)
        return;
    reap(pebble->authority);
    reap(pebble->names);
    pebble->authority = pebble->names = 0;
}

const char *pebble_root(const struct pebble *pebble)
{
    const char *path = printed("%s/root-%u.pem", folder(), pebble->port);

    if (system(printed("curl -fsS --noproxy '*' --cacert '%s' "
                       "https://127.0.0.1:%u/roots/0 -o '%s'",
                       pebble->ca, pebble->management, path)) != 0)
        flunk("pebble has no root");
    return path;
}

unsigned pebble_count(const struct pebble *pebble, const char *part)
{
    const char *at = read_text(pebble->log, NULL);
    unsigned count = 0;

    while ((at = strstr(at, part))) {
        at += strlen(part);
        count++;
    }
    return count;
}
