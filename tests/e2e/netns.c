#include "netns.h"

#include <sched.h>

static struct {
    int server;  /* -1: there is no link */
    int clients; /* where this program is */
    char why[256];
} net = {.server = -1, .clients = -1};

static bool fails(const char *what)
{
    snprintf(net.why, sizeof(net.why), "%s: %s", what, strerror(errno));
    return false;
}

/* Runs a script where we are; what it says is why it failed. */
__attribute__((format(printf, 1, 2))) static bool run(const char *format, ...)
{
    char script[1024] = "exec 2>&1; PATH=$PATH:/usr/sbin:/sbin; ";
    size_t len = strlen(script);
    va_list list;
    FILE *said;

    va_start(list, format);
    vsnprintf(script + len, sizeof(script) - len, format, list);
    va_end(list);
    said = popen(script, "r");
    if (!said)
        return fails("popen");
    if (!fgets(net.why, sizeof(net.why), said))
        snprintf(net.why, sizeof(net.why), "'%s' failed\n", script + len);
    net.why[strcspn(net.why, "\n")] = '\0';
    return pclose(said) == 0;
}

static bool put_line(const char *path, const char *line)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool is_put = fd != -1 && write(fd, line, strlen(line)) != -1;

    if (!is_put)
        fails(path);
    if (fd != -1)
        close(fd);
    return is_put;
}

/* Who is not root may be it in a user namespace. */
static bool become_root(void)
{
    char users[64];
    char groups[64];

    if (geteuid() == 0)
        return true;
    snprintf(users, sizeof(users), "0 %u 1", (unsigned)geteuid());
    snprintf(groups, sizeof(groups), "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWUSER) == -1)
        return fails("not root, and no user namespace");
    return put_line("/proc/self/setgroups", "deny") &&
           put_line("/proc/self/uid_map", users) &&
           put_line("/proc/self/gid_map", groups);
}

/* Moves into a new network namespace. A descriptor of it, or -1. */
static int enter_new(void)
{
    if (unshare(CLONE_NEWNET) == -1) {
        fails("no network namespace");
        return -1;
    }
    return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

static bool move(int netns)
{
    return setns(netns, CLONE_NEWNET) == 0 || fails("setns");
}

const char *netns_client(unsigned number)
{
    return printed("10.99.1.%u", 2 + number);
}

/* What a connection has learnt of the link would help the next: no metrics. */
static bool join(void)
{
    return run("ip link add eth0 type veth peer name eth0 "
               "netns /proc/%d/fd/%d && "
               "for i in $(seq 2 %d); do "
               "ip address add 10.99.1.$i/24 dev eth0 || exit 1; done && "
               "ip link set eth0 up && ip link set lo up",
               (int)getpid(), net.server, 1 + NETNS_CLIENTS) &&
           move(net.server) &&
           run("ip address add " NETNS_SERVER "/24 dev eth0 && "
               "ip link set eth0 up && "
               "echo 1 >/proc/sys/net/ipv4/tcp_no_metrics_save && "
               "tc qdisc add dev eth0 root handle 1: htb default 1") &&
           move(net.clients);
}

void netns_begin(void)
{
    if (become_root() && (net.server = enter_new()) != -1 &&
        (net.clients = enter_new()) != -1 && join())
        return;
    netns_end();
}

void netns_end(void)
{
    if (net.server != -1)
        close(net.server);
    if (net.clients != -1)
        close(net.clients);
    net.server = net.clients = -1;
}

int netns_suite_end(void **state)
{
    netns_end();
    return harness_end(state);
}

static bool set_rate(unsigned mbit)
{
    return move(net.server) &&
           run("tc class replace dev eth0 parent 1: classid 1:1 htb "
               "rate %umbit quantum 1514",
               mbit) &&
           move(net.clients);
}

void netns_need(unsigned mbit)
{
    if (net.server != -1 && !set_rate(mbit))
        netns_end();
    if (net.server != -1)
        return;
    print_message("skipped, no slow link: %s\n", net.why);
    skip();
}

int netns_of_server(void)
{
    return net.server;
}
