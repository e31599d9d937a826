#include "confine/outgoing_filter.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <unistd.h>

static const int refused_calls[] = {
    /* accepting connections */
    SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4),
    /* starting programs */
    SCMP_SYS(execve), SCMP_SYS(execveat),
    /* other processes */
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
    SCMP_SYS(pidfd_getfd), SCMP_SYS(kcmp), SCMP_SYS(process_madvise),
    /* changing identity */
    SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid),
    SCMP_SYS(setresuid), SCMP_SYS(setresgid), SCMP_SYS(setfsuid),
    SCMP_SYS(setfsgid), SCMP_SYS(setgroups), SCMP_SYS(capset),
    /* changing the machine */
    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(move_mount),
    SCMP_SYS(open_tree), SCMP_SYS(fsopen), SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
    SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key),
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load), SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff),
    SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(adjtimex)};

/* Refuses unix sockets to a process of root's: services such as the system's
 * bus obey it. Libraries that look names up go on without their daemons. */
static int refuse_unix_sockets(scmp_filter_ctx filter)
{
    if (geteuid() != 0)
        return 0;
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
                            SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, AF_UNIX));
}

int outgoing_filter_enter(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    size_t count = sizeof(refused_calls) / sizeof(*refused_calls);
    int err = 0;

    if (!filter)
        return -EOPNOTSUPP;
    for (size_t i = 0; i < count && err == 0; i++)
        if (refused_calls[i] >= 0) /* below 0: this machine has no such call */
            err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM),
                                   refused_calls[i], 0);
    if (err == 0)
        err = refuse_unix_sockets(filter);
    if (err == 0)
        err = seccomp_load(filter);
    seccomp_release(filter);
    return err;
}
