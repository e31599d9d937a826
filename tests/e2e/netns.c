#include "netns.h"

#include <dirent.h>
#include <inttypes.h>
#include <sched.h>

static struct {
    int server;  /* -1: there is no link */
    int middle;  /* -1: nothing is between the two */
    int clients; /* where this program is */
    int narrow;  /* of these: whose interface the slow link is at, */
    const char *device;
    char why[256];
} net = {.server = -1, .middle = -1, .clients = -1};

/* Of the middle box: as much as 256 frames. */
enum { BUFFER_BYTES = 256 * 1514 };

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

static bool make_narrow(int netns, const char *device)
{
    net.narrow = netns;
    net.device = device;
    return move(netns) &&
           run("tc qdisc add dev %s root handle 1: htb default 1", device);
}

/* From the server's namespace. What a connection has learnt of the link would
 * help the next: no metrics. */
static bool set_server(void)
{
    return run("ip address add " NETNS_SERVER "/24 dev eth0 && "
               "ip link set eth0 up && "
               "echo 1 >/proc/sys/net/ipv4/tcp_no_metrics_save");
}

/* From the clients' namespace: a cable from there to another. */
static bool join_clients(int netns, const char *device)
{
    return run("ip link add eth0 type veth peer name %s "
               "netns /proc/%d/fd/%d && "
               "for i in $(seq 2 %d); do "
               "ip address add 10.99.1.$i/24 dev eth0 || exit 1; done && "
               "ip link set eth0 up && ip link set lo up",
               device, (int)getpid(), netns, 1 + NETNS_CLIENTS);
}

static bool join(void)
{
    return join_clients(net.server, "eth0") && move(net.server) &&
           set_server() && make_narrow(net.server, "eth0") && move(net.clients);
}

/* The middle box sees frames as they are on a wire, not what the sender's card
 * would still have to take apart. */
static bool join_far(void)
{
    return join_clients(net.middle, "cable0") && move(net.server) &&
           run("ip link add eth0 type veth peer name eth0 "
               "netns /proc/%d/fd/%d && ip link set eth0 gso_max_segs 1",
               (int)getpid(), net.middle) &&
           set_server() && move(net.middle) &&
           run("ip link add switch type bridge && "
               "for i in eth0 cable0; do ip link set $i master switch && "
               "ip link set $i up || exit 1; done && ip link set switch up") &&
           make_narrow(net.middle, "cable0") && move(net.clients);
}

void netns_begin(void)
{
    if (become_root() && (net.server = enter_new()) != -1 &&
        (net.clients = enter_new()) != -1 && join())
        return;
    netns_end();
}

void netns_begin_far(void)
{
    if (become_root() && (net.server = enter_new()) != -1 &&
        (net.middle = enter_new()) != -1 && (net.clients = enter_new()) != -1 &&
        join_far())
        return;
    netns_end();
}

void netns_end(void)
{
    if (net.server != -1)
        close(net.server);
    if (net.middle != -1)
        close(net.middle);
    if (net.clients != -1)
        close(net.clients);
    net.server = net.middle = net.clients = -1;
}

int netns_suite_end(void **state)
{
    netns_end();
    return harness_end(state);
}

static bool set_rate(unsigned mbit)
{
    return move(net.narrow) &&
           run("tc class replace dev %s parent 1: classid 1:1 htb "
               "rate %umbit quantum 1514",
               net.device, mbit) &&
           (net.middle == -1 ||
            run("tc qdisc replace dev %s parent 1:1 bfifo limit %d", net.device,
                BUFFER_BYTES)) &&
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

uint64_t netns_count_bytes(void)
{
    uint64_t bytes = 0;
    char line[256];
    FILE *said;
    bool is_found = false;

    assert_true(move(net.narrow));
    said = popen(printed("PATH=$PATH:/usr/sbin:/sbin; "
                         "tc -s class show dev %s classid 1:1",
                         net.device),
                 "r");
    assert_non_null(said);
    while (fgets(line, sizeof(line), said))
        is_found |= sscanf(line, " Sent %" SCNu64 " bytes", &bytes) == 1;
    assert_int_equal(pclose(said), 0);
    assert_true(is_found);
    assert_true(move(net.clients));
    return bytes;
}

uint64_t netns_count_waited_ns(pid_t pid)
{
    const char *folder = printed("/proc/%d/task", (int)pid);
    DIR *tasks = opendir(folder);
    struct dirent *task;
    uint64_t sum_ns = 0;
    uint64_t waited_ns;

    assert_non_null(tasks);
    while ((task = readdir(tasks))) {
        FILE *file = fopen(printed("%s/%s/schedstat", folder, task->d_name),
                           "re");

        if (!file)
            continue;
        if (fscanf(file, "%*u %" SCNu64, &waited_ns) == 1)
            sum_ns += waited_ns;
        fclose(file);
    }
    closedir(tasks);
    return sum_ns;
}
