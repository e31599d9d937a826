/* link: -Wl,--wrap=seccomp_load,--wrap=seccomp_init */
#include "confine/seccomp_filter.h"

#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>

#include "confine/sandbox.h"
#include "suite.h"
#include "unit/confine/enclosed.h"
#include "wrap.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

/* --- A kernel without ---------------------------------------------------- */

static int load_error;
static int init_fails;

WRAP(int, seccomp_load, scmp_filter_ctx filter)
{
    return load_error != 0 ? load_error : __real_seccomp_load(filter);
}

WRAP(scmp_filter_ctx, seccomp_init, uint32_t action)
{
    return init_fails ? NULL : __real_seccomp_init(action);
}

static void want_filters(void)
{
    if (!sandbox_is_built_in())
        skip();
}

static int set_up(void **state)
{
    (void)state;
    load_error = init_fails = 0;
    return 0;
}

/* --- What is refused ----------------------------------------------------- */

static int refused(long result)
{
    return result == -1 && errno == EPERM;
}

static long execute(void)
{
    char *const argv[] = {(char *)(uintptr_t) "true", NULL};

    return execv("/bin/true", argv);
}

static long execute_at(void)
{
    return syscall(SYS_execveat, AT_FDCWD, "/bin/true", NULL, NULL, 0);
}

static long make_process(void)
{
    return fork();
}

static long make_process_by_call(void)
{
    return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static long unshare_user(void)
{
    return syscall(SYS_unshare, CLONE_NEWUSER);
}

static long thread_in_namespace(void)
{
    return syscall(SYS_clone,
                   CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_NEWNET, 0, 0,
                   0, 0);
}

static long trace(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static long open_packet_socket(void)
{
    return socket(AF_PACKET, SOCK_RAW, 0);
}

static long open_netlink_socket(void)
{
    return socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
}

static long open_raw_socket(void)
{
    return socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
}

static long open_udp_socket(void)
{
    return socket(AF_INET, SOCK_DGRAM, 0);
}

static long open_mptcp_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);
}

static long connect_by_sending(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(9),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    return sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
                  (struct sockaddr *)&to, sizeof(to));
}

static long map_code(void)
{
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return code == MAP_FAILED ? -1 : 0;
}

static long make_code(void)
{
    void *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return mprotect(data, 4096, PROT_READ | PROT_EXEC);
}

static long signal_parent(void)
{
    return kill(getppid(), 0);
}

static long own_signals(void)
{
    int fd = eventfd(0, 0);

    return fcntl(fd, F_SETOWN, getppid());
}

static long limit_parent(void)
{
    struct rlimit limit;

    return prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit);
}

static long favour_parent(void)
{
    return setpriority(PRIO_PROCESS, (id_t)getppid(), 19);
}

static long schedule_parent(void)
{
    static const struct sched_param none = {.sched_priority = 0};

    return sched_setscheduler(getppid(), SCHED_BATCH, &none);
}

static long shorten_parent(void)
{
    static const uint32_t attributes[12] = {sizeof(attributes)};

    return syscall(SYS_sched_setattr, getppid(), attributes, 0);
}

static long ask_niceness_of_parent(void)
{
    errno = 0; /* -1 may be a niceness */
    return getpriority(PRIO_PROCESS, (id_t)getppid());
}

static long keep_capabilities(void)
{
    return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
}

static long push_terminal(void)
{
    return ioctl(STDIN_FILENO, TIOCSTI, "x");
}

static long change_mode(void)
{
    return chmod("/nowhere", 0777);
}

/* By descriptor, which a store's files need: but not to lend rights. */
static long lend_rights(void)
{
    return fchmod(STDIN_FILENO, 04755);
}

static long lend_rights_of_group(void)
{
    return fchmod(STDIN_FILENO, 02755);
}

static long make_lending_file(void)
{
    return syscall(SYS_openat, AT_FDCWD, "/nowhere/file", O_WRONLY | O_CREAT,
                   04755);
}

static long make_lending_file_without_name(void)
{
    return syscall(SYS_openat, AT_FDCWD, "/nowhere", O_WRONLY | O_TMPFILE,
                   04755);
}

static long make_lending_directory(void)
{
    return syscall(SYS_mkdirat, AT_FDCWD, "/nowhere/folder", 02755);
}

static long change_owner(void)
{
    return chown("/nowhere", 0, 0);
}

static long cut_by_path(void)
{
    return truncate("/nowhere", 0);
}

static long become_root(void)
{
    return syscall(SYS_setuid, 0);
}

static long load_filter(void)
{
    return syscall(SYS_bpf, 0, NULL, 0);
}

static const struct {
    const char *name;
    long (*act)(void);
} refusals[] = {
    {"execve", execute},
    {"execveat", execute_at},
    {"fork", make_process},
    {"clone without CLONE_THREAD", make_process_by_call},
    {"unshare", unshare_user},
    {"clone with CLONE_NEWNET", thread_in_namespace},
    {"ptrace", trace},
    {"socket AF_PACKET", open_packet_socket},
    {"socket AF_NETLINK", open_netlink_socket},
    {"socket SOCK_RAW", open_raw_socket},
    {"socket SOCK_DGRAM", open_udp_socket},
    {"socket MPTCP", open_mptcp_socket},
    {"mmap PROT_EXEC", map_code},
    {"mprotect PROT_EXEC", make_code},
    {"kill", signal_parent},
    {"fcntl F_SETOWN", own_signals},
    {"prlimit64 of another", limit_parent},
    {"setpriority of another", favour_parent},
    {"sched_setscheduler of another", schedule_parent},
    {"sched_setattr of another", shorten_parent},
    {"getpriority of another", ask_niceness_of_parent},
    {"prctl PR_SET_KEEPCAPS", keep_capabilities},
    {"ioctl TIOCSTI", push_terminal},
    {"chmod", change_mode},
    {"fchmod S_ISUID", lend_rights},
    {"fchmod S_ISGID", lend_rights_of_group},
    {"openat S_ISUID", make_lending_file},
    {"openat O_TMPFILE S_ISUID", make_lending_file_without_name},
    {"mkdirat S_ISGID", make_lending_directory},
    {"chown", change_owner},
    {"truncate", cut_by_path},
    {"setuid", become_root},
    {"bpf", load_filter},
};

static size_t number; /* the refusal that a child tries */

static int try_refusal(void)
{
    if (seccomp_filter_enter(false, false, true) != 0)
        return 1;
    return refused(refusals[number].act()) ? 0 : 2;
}

static int die_of_refusal(void)
{
    if (seccomp_filter_enter(true, false, true) != 0)
        return 1;
    refusals[number].act();
    return 2;
}

TEST(what_a_server_never_does_fails)
{
    want_filters();
    for (number = 0; number < sizeof(refusals) / sizeof(*refusals); number++)
        if (enclosed(try_refusal) != 0)
            fail_msg("%s is not refused", refusals[number].name);
}

TEST(strictly_it_kills)
{
    want_filters();
    for (number = 0; number < sizeof(refusals) / sizeof(*refusals); number++)
        if (enclosed(die_of_refusal) != 128 + SIGSYS)
            fail_msg("%s does not kill", refusals[number].name);
}

static int die_of_sending(void)
{
    if (seccomp_filter_enter(true, false, true) != 0)
        return 1;
    connect_by_sending();
    return 2;
}

TEST(strictly_nothing_connects_by_sending)
{
    want_filters();
    assert_int_equal(enclosed(die_of_sending), 128 + SIGSYS);
}

/* --- What works ---------------------------------------------------------- */

static void *add_one(void *count)
{
    (*(int *)count)++;
    return NULL;
}

static int start_threads(void)
{
    int count = 0;

    if (seccomp_filter_enter(true, false, true) != 0)
        return 1;
    for (int i = 0; i < 8; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, add_one, &count) != 0 ||
            pthread_join(thread, NULL) != 0)
            return 2;
    }
    return count == 8 && setpriority(PRIO_PROCESS, 0, 19) == 0 ? 0 : 3;
}

TEST(threads_start_under_a_strict_filter)
{
    want_filters();
    assert_int_equal(enclosed(start_threads), 0);
}

static int open_sockets(void)
{
    int families[] = {AF_INET, AF_INET6};
    int ends[2];

    if (seccomp_filter_enter(true, false, true) != 0)
        return 1;
    for (int i = 0; i < 2; i++) {
        int flags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

        if (socket(families[i], flags, 0) == -1 && errno != EAFNOSUPPORT)
            return 2;
        if (socket(families[i], SOCK_STREAM, IPPROTO_TCP) == -1 &&
            errno != EAFNOSUPPORT)
            return 3;
    }
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) != -1 &&
                   socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0
               ? 0
               : 4;
}

TEST(unix_and_tcp_sockets_open_under_a_strict_filter)
{
    want_filters();
    assert_int_equal(enclosed(open_sockets), 0);
}

static bool is_strict;

static int open_no_unix_sockets(void)
{
    if (seccomp_filter_enter(is_strict, false, false) != 0)
        return 1;
    return refused(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) &&
                   refused(socket(AF_UNIX, SOCK_DGRAM, 0)) &&
                   socket(AF_INET, SOCK_STREAM, 0) != -1
               ? 0
               : 2;
}

TEST(unix_sockets_that_are_not_needed_fail_and_do_not_kill)
{
    want_filters();
    for (int i = 0; i < 2; i++) {
        is_strict = i;
        assert_int_equal(enclosed(open_no_unix_sockets), 0);
    }
}

static int open_udp_sockets(void)
{
    if (seccomp_filter_enter(false, true, true) != 0)
        return 1;
    if (socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) == -1 ||
        (socket(AF_INET6, SOCK_DGRAM, 0) == -1 && errno != EAFNOSUPPORT) ||
        socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP) == -1)
        return 2;
    return refused(open_raw_socket()) && refused(open_mptcp_socket()) &&
                   refused(socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP)) &&
                   refused(open_netlink_socket())
               ? 0
               : 3;
}

TEST(udp_sockets_open_for_who_looks_names_up)
{
    want_filters();
    assert_int_equal(enclosed(open_udp_sockets), 0);
}

static int wait_for_events(void)
{
    struct timespec now;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t timer;
    sigset_t signals;
    int epoll;
    int ends[2];
    int unsent;

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    if (seccomp_filter_enter(true, false, true) != 0)
        return 1;
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll == -1 || eventfd(0, EFD_CLOEXEC) == -1 ||
        timerfd_create(CLOCK_MONOTONIC, 0) == -1 ||
        signalfd(-1, &signals, 0) == -1)
        return 2;
    if (epoll_wait(epoll, &(struct epoll_event){0}, 1, 0) != 0)
        return 3;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0 ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0 ||
        timer_delete(timer) != 0)
        return 4;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
        (ioctl(ends[0], SIOCOUTQNSD, &unsent) == -1 && errno == EPERM))
        return 5;
    return prctl(PR_SET_NAME, "name", 0, 0, 0) == 0 && raise(SIGURG) == 0 ? 0
                                                                          : 6;
}

TEST(a_loop_turns_under_a_strict_filter)
{
    want_filters();
    assert_int_equal(enclosed(wait_for_events), 0);
}

/* As LMDB keeps its data. */
static int keep_pages(void)
{
    char page[4096] = "page";
    struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
    FILE *file = tmpfile();
    int fd = file ? fileno(file) : -1;
    void *map;

    if (fd == -1 || seccomp_filter_enter(true, false, true) != 0)
        return 1;
    if (ftruncate(fd, 2 * sizeof(page)) != 0 ||
        pwrite(fd, page, sizeof(page), sizeof(page)) != sizeof(page) ||
        fdatasync(fd) != 0 || fsync(fd) != 0)
        return 2;
    if (fcntl(fd, F_SETLK, &lock) != 0 || fcntl(fd, F_OFD_SETLK, &lock) != -1 ||
        flock(fd, LOCK_EX | LOCK_NB) != 0)
        return 3;
    map = mmap(NULL, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return map != MAP_FAILED && madvise(map, sizeof(page), MADV_RANDOM) == 0 &&
                   msync(map, sizeof(page), MS_SYNC) == 0 &&
                   munmap(map, sizeof(page)) == 0
               ? 0
               : 4;
}

TEST(a_database_is_kept_under_a_strict_filter)
{
    want_filters();
    assert_int_equal(enclosed(keep_pages), 0);
}

/* Whatever lies where the mode of another call would. */
static int make_files(void)
{
    char folder[] = "/tmp/call-filter-XXXXXX";
    int fd;

    if (!mkdtemp(folder) || chdir(folder) != 0 ||
        seccomp_filter_enter(true, false, true) != 0)
        return 1;
    fd = open("file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd == -1 || fchmod(fd, 0644) != 0 || fchmod(fd, 0777) != 0)
        return 2;
    if (syscall(SYS_openat, AT_FDCWD, "file", O_RDONLY, 07777) == -1 ||
        mkdir("folder", 0700) != 0)
        return 3;
    return unlink("file") == 0 && rmdir("folder") == 0 && rmdir(folder) == 0
               ? 0
               : 4;
}

TEST(files_with_usual_modes_are_made_under_a_strict_filter)
{
    want_filters();
    assert_int_equal(enclosed(make_files), 0);
}

static int print_and_abort(void)
{
    if (seccomp_filter_enter(true, false, true) != 0)
        return 1;
    if (printf("%s", "") < 0 || fflush(stdout) != 0)
        return 2;
    abort();
}

TEST(a_failed_assertion_still_aborts)
{
    want_filters();
    assert_int_equal(enclosed(print_and_abort), 128 + SIGABRT);
}

/* --- What fails ---------------------------------------------------------- */

TEST(a_kernel_without_filters_is_told)
{
    load_error = -ENOSYS;
    assert_int_equal(seccomp_filter_enter(false, false, true), -ENOSYS);
    load_error = 0;
    init_fails = 1;
    assert_int_equal(seccomp_filter_enter(true, false, true), -EOPNOTSUPP);
}

SUITE(.each_begin = set_up);
