#include "confine/seccomp_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41 /* newer C libraries use it to name memory */
#endif

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* The list has older and newer calls for the same thing: the version of the C
 * library decides which one it uses, and the machine decides which exist. */
static const int whole_calls[] = {
    /* calls on files; landlock_domain limits which files */
    SCMP_SYS(openat2), SCMP_SYS(close), SCMP_SYS(close_range), SCMP_SYS(stat),
    SCMP_SYS(lstat), SCMP_SYS(fstat), SCMP_SYS(stat64), SCMP_SYS(lstat64),
    SCMP_SYS(fstat64), SCMP_SYS(newfstatat), SCMP_SYS(fstatat64),
    SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(fstatfs), SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(fgetxattr),
    SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getdents),
    SCMP_SYS(getdents64), SCMP_SYS(getcwd), SCMP_SYS(unlink),
    SCMP_SYS(unlinkat), SCMP_SYS(rename), SCMP_SYS(renameat),
    SCMP_SYS(renameat2), SCMP_SYS(rmdir), SCMP_SYS(umask), SCMP_SYS(flock),
    SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    /* reading and writing */
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv),
    SCMP_SYS(preadv2), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(pwrite64),
    SCMP_SYS(pwritev), SCMP_SYS(pwritev2), SCMP_SYS(lseek), SCMP_SYS(_llseek),
    SCMP_SYS(sendfile), SCMP_SYS(sendfile64), SCMP_SYS(splice),
    SCMP_SYS(memfd_create), SCMP_SYS(ftruncate), SCMP_SYS(ftruncate64),
    SCMP_SYS(fallocate), SCMP_SYS(fadvise64), SCMP_SYS(readahead),
    SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(sync_file_range),
    SCMP_SYS(msync),
    /* existing sockets */
    SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4),
    SCMP_SYS(connect), SCMP_SYS(shutdown), SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg), SCMP_SYS(recvmmsg), SCMP_SYS(getsockopt),
    SCMP_SYS(setsockopt), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
    /* waiting */
    SCMP_SYS(epoll_create), SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_pwait2),
    SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(_newselect),
    SCMP_SYS(pselect6), SCMP_SYS(eventfd), SCMP_SYS(eventfd2),
    SCMP_SYS(signalfd), SCMP_SYS(signalfd4), SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime), SCMP_SYS(timerfd_gettime), SCMP_SYS(wait4),
    SCMP_SYS(waitid),
    /* time */
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(time),
    SCMP_SYS(times), SCMP_SYS(timer_create), SCMP_SYS(timer_settime),
    SCMP_SYS(timer_gettime), SCMP_SYS(timer_getoverrun), SCMP_SYS(timer_delete),
    /* memory; mmap and mprotect are below */
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
    /* threads and their signals */
    SCMP_SYS(futex), SCMP_SYS(futex_waitv), SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list), SCMP_SYS(set_tid_address), SCMP_SYS(rseq),
    SCMP_SYS(membarrier), SCMP_SYS(gettid), SCMP_SYS(getcpu),
    SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_setaffinity), SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler), SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigtimedwait), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigreturn),
    SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall), SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    /* own ids and names */
    SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(getuid), SCMP_SYS(geteuid),
    SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(getgroups),
    SCMP_SYS(getrlimit), SCMP_SYS(ugetrlimit), SCMP_SYS(setrlimit),
    SCMP_SYS(getrusage), SCMP_SYS(getrandom), SCMP_SYS(sysinfo),
    SCMP_SYS(uname)};

/* A call that is allowed if one of its arguments equals `value` in the bits of
 * `mask`. `position` is the argument's number, from 0. Only the lower 32 bits
 * of the argument are compared. */
struct argument {
    int call;
    unsigned position;
    uint32_t mask;
    uint32_t value;
};

#define ALL UINT32_MAX

#define NEW_NAMESPACES                                             \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

/* The set-user-id, set-group-id and sticky bits. A program with one of the
 * first two runs as its owner or group, whoever starts it, so the server must
 * not create such files. */
#define SETID_MODES (S_ISUID | S_ISGID | S_ISVTX)

/* The flags with which open() creates a file, and uses its mode argument. */
#define MAKES_FILE (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))

static const struct argument arguments[] = {
    /* Files may be created with any mode that has no set-id bit. openat2, which
     * serving files needs, passes the mode in memory, where a filter cannot
     * read it. So a file with a set-id bit can still be created in a store's
     * folder; the folder's own mode keeps other users out. */
    {SCMP_SYS(open), 1, MAKES_FILE, 0},
    {SCMP_SYS(open), 2, SETID_MODES, 0},
    {SCMP_SYS(openat), 2, MAKES_FILE, 0},
    {SCMP_SYS(openat), 3, SETID_MODES, 0},
    {SCMP_SYS(creat), 1, SETID_MODES, 0},
    {SCMP_SYS(mkdir), 1, SETID_MODES, 0},
    {SCMP_SYS(mkdirat), 2, SETID_MODES, 0},
    {SCMP_SYS(fchmod), 1, SETID_MODES, 0},
    /* Landlock keeps the server from loading code from files, this filter from
     * running code in memory. */
    {SCMP_SYS(mmap), 2, PROT_EXEC, 0},
    {SCMP_SYS(mmap2), 2, PROT_EXEC, 0},
    {SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
    {SCMP_SYS(clone), 0, CLONE_THREAD | NEW_NAMESPACES, CLONE_THREAD},
    {SCMP_SYS(prlimit64), 0, ALL, 0},          /* this process's limits */
    {SCMP_SYS(setpriority), 1, ALL, 0},        /* this thread's priority */
    {SCMP_SYS(getpriority), 1, ALL, 0},        /* this thread's priority */
    {SCMP_SYS(sched_setscheduler), 0, ALL, 0}, /* this thread's scheduling */
    {SCMP_SYS(sched_setattr), 0, ALL, 0},      /* this thread's scheduling */
    {SCMP_SYS(prctl), 0, ALL, PR_SET_NAME},
    {SCMP_SYS(prctl), 0, ALL, PR_SET_VMA},
    {SCMP_SYS(ioctl), 1, ALL, SIOCOUTQNSD},
    {SCMP_SYS(ioctl), 1, ALL, SIOCOUTQ},
    {SCMP_SYS(ioctl), 1, ALL, FIONREAD},
    {SCMP_SYS(ioctl), 1, ALL, FIONBIO},
    {SCMP_SYS(ioctl), 1, ALL, TCGETS}, /* stdio tests for a terminal */
};

/* The commands allowed for fcntl, and for fcntl64 on 32-bit machines. F_SETOWN
 * and F_SETSIG are missing, since they could send signals. */
static const uint32_t fcntl_commands[] = {
    F_DUPFD,     F_DUPFD_CLOEXEC, F_GETFD,      F_SETFD,     F_GETFL,
    F_SETFL,     F_GETLK,         F_SETLK,      F_SETLKW,    F_OFD_GETLK,
    F_OFD_SETLK, F_OFD_SETLKW,    F_GETPIPE_SZ, F_SETPIPE_SZ};

/* Calls whose first argument may only be this process's id. abort(3), raise(3)
 * and pthread_kill(3) need them. */
static const int calls_with_pid[] = {SCMP_SYS(kill), SCMP_SYS(tgkill)};

/* Allows a call under the given conditions. A call below 0 does not exist on
 * this machine, and is skipped. */
static int allow(scmp_filter_ctx filter, int call, unsigned count,
                 const struct scmp_arg_cmp *compares)
{
    if (call < 0)
        return 0;
    return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, count,
                                  compares);
}

static int allow_value(scmp_filter_ctx filter, struct argument argument)
{
    struct scmp_arg_cmp compare = {.arg = argument.position,
                                   .op = SCMP_CMP_MASKED_EQ,
                                   .datum_a = argument.mask,
                                   .datum_b = argument.value};

    return allow(filter, argument.call, 1, &compare);
}

/* Allows sockets of this family, type and protocol. Protocol 0 is the type's
 * default. */
static int allow_socket(scmp_filter_ctx filter, uint32_t family, uint32_t type,
                        uint32_t protocol)
{
    const struct scmp_arg_cmp compares[] = {
        {0, SCMP_CMP_MASKED_EQ, ALL, family},
        {1, SCMP_CMP_MASKED_EQ, (uint32_t) ~(SOCK_NONBLOCK | SOCK_CLOEXEC),
         type},
        {2, SCMP_CMP_MASKED_EQ, ALL, protocol}};

    return allow(filter, SCMP_SYS(socket), ARRAY_LEN(compares), compares);
}

/* Allows TCP sockets, and UDP sockets with `sends_udp`. MPTCP sockets stay
 * refused, since Landlock does not control their connections. */
static int allow_sockets(scmp_filter_ctx filter, bool sends_udp)
{
    static const uint32_t families[] = {AF_INET, AF_INET6};
    int err = 0;

    for (size_t i = 0; i < ARRAY_LEN(families) && err == 0; i++) {
        if ((err = allow_socket(filter, families[i], SOCK_STREAM, 0)) == 0)
            err = allow_socket(filter, families[i], SOCK_STREAM, IPPROTO_TCP);
        if (sends_udp && err == 0 &&
            (err = allow_socket(filter, families[i], SOCK_DGRAM, 0)) == 0)
            err = allow_socket(filter, families[i], SOCK_DGRAM, IPPROTO_UDP);
    }
    return err;
}

/* Allows unix sockets, or refuses them. A filter cannot see where a unix socket
 * connects to, nor does Landlock: services such as the system's bus obey any
 * process of root's that connects to them. */
static int judge_unix_sockets(scmp_filter_ctx filter, bool kills,
                              bool opens_unix)
{
    static const int calls[] = {SCMP_SYS(socket), SCMP_SYS(socketpair)};
    int err = 0;

    for (size_t i = 0; i < ARRAY_LEN(calls) && opens_unix && err == 0; i++)
        err = allow_value(filter, (struct argument){calls[i], 0, ALL, AF_UNIX});
    if (opens_unix || !kills) /* otherwise EPERM is the filter's default */
        return err;
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
                            SCMP_A0(SCMP_CMP_MASKED_EQ, ALL, AF_UNIX));
}

/* The sending calls are allowed only without MSG_FASTOPEN. This flag opens a
 * connection (TCP Fast Open), which Landlock does not control. The check slows
 * down each answer a little: for calls without argument checks, the kernel
 * looks up a bitmap instead of running the filter. */
static const struct argument sends[] = {{SCMP_SYS(sendto), 3, MSG_FASTOPEN, 0},
                                        {SCMP_SYS(sendmsg), 2, MSG_FASTOPEN, 0},
                                        {SCMP_SYS(sendmmsg), 3, MSG_FASTOPEN,
                                         0}};

static int allow_sends(scmp_filter_ctx filter, bool is_strict)
{
    int err = 0;

    for (size_t i = 0; i < ARRAY_LEN(sends) && err == 0; i++)
        err = is_strict ? allow_value(filter, sends[i])
                        : allow(filter, sends[i].call, 0, NULL);
    return err;
}

static int allow_all(scmp_filter_ctx filter, bool is_strict, bool sends_udp,
                     bool opens_unix)
{
    uint32_t pid = (uint32_t)getpid();
    int err = allow_sends(filter, is_strict);

    for (size_t i = 0; i < ARRAY_LEN(whole_calls) && err == 0; i++)
        err = allow(filter, whole_calls[i], 0, NULL);
    for (size_t i = 0; i < ARRAY_LEN(arguments) && err == 0; i++)
        err = allow_value(filter, arguments[i]);
    for (size_t i = 0; i < ARRAY_LEN(fcntl_commands) && err == 0; i++) {
        struct argument command = {SCMP_SYS(fcntl), 1, ALL, fcntl_commands[i]};

        err = allow_value(filter, command);
        command.call = SCMP_SYS(fcntl64);
        if (err == 0)
            err = allow_value(filter, command);
    }
    for (size_t i = 0; i < ARRAY_LEN(calls_with_pid) && err == 0; i++)
        err = allow_value(filter,
                          (struct argument){calls_with_pid[i], 0, ALL, pid});
    if (err == 0)
        err = judge_unix_sockets(filter, is_strict, opens_unix);
    return err != 0 ? err : allow_sockets(filter, sends_udp);
}

/* Sets the filter's attributes. Returns 0 or -errno. */
static int configure(scmp_filter_ctx filter, bool kills)
{
    int err;

    if ((err = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH,
                                SCMP_ACT_KILL_PROCESS)) != 0 ||
        /* Loading the filter returns the kernel's own error, not ECANCELED. */
        (err = seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1)) != 0 ||
        /* Calls with argument checks are found in a tree instead of a list;
         * since Linux 5.11, a bitmap finds all other calls. */
        (err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2)) != 0)
        return err;
    /* Old kernels may lack the following attributes. SSB: kernels before 5.16
     * would slow down all threads of a process with a filter, to mitigate
     * speculation attacks, but the server runs no foreign code. LOG: refused
     * calls go to the audit log, as they do anyway with `kills`. */
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
    if (!kills)
        (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, 1);
    return 0;
}

int seccomp_filter_enter(bool kills, bool sends_udp, bool opens_unix)
{
    scmp_filter_ctx filter = seccomp_init(kills ? SCMP_ACT_KILL_PROCESS
                                                : SCMP_ACT_ERRNO(EPERM));
    int err;

    if (!filter)
        return -EOPNOTSUPP;
    if ((err = configure(filter, kills)) == 0 &&
        (err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS),
                                SCMP_SYS(clone3), 0)) == 0 &&
        (err = allow_all(filter, kills, sends_udp, opens_unix)) == 0)
        err = seccomp_load(filter);
    seccomp_release(filter);
    return err;
}
