#include "acme/acme_hook.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"

enum { NO_EXEC = 127 };

struct hook_order {
    char action[16];
    char name[ACME_HOOK_TEXT_MAX];
    char value[ACME_HOOK_TEXT_MAX];
};

/* --- The forked process -------------------------------------------------- */

static _Noreturn void become(const char *command,
                             const struct hook_order *order)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    setenv("ACTION", order->action, 1);
    setenv("NAME", order->name, 1);
    setenv("VALUE", order->value, 1);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(NO_EXEC);
}

/* Waits for the command. If the command takes too long, it is killed with all
 * that it has started. */
static int wait_for(pid_t pid)
{
    struct pollfd end = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    int status = 0;

    if (end.fd == -1 || poll(&end, 1, ACME_HOOK_S * (int)MS_PER_S) != 1)
        kill(-pid, SIGKILL);
    if (end.fd != -1)
        close(end.fd);
    while (waitpid(pid, &status, 0) == -1)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static _Noreturn void serve(int fd, const char *command)
{
    struct hook_order order;

    prctl(PR_SET_NAME, "sprintd-dns");
    while (recv(fd, &order, sizeof(order), 0) == (ssize_t)sizeof(order)) {
        pid_t pid;
        int result;

        order.action[sizeof(order.action) - 1] = '\0';
        order.name[sizeof(order.name) - 1] = '\0';
        order.value[sizeof(order.value) - 1] = '\0';
        pid = fork();
        if (pid == 0)
            become(command, &order);
        result = pid == -1 ? -errno : wait_for(pid);
        if (send(fd, &result, sizeof(result), MSG_NOSIGNAL) == -1)
            break;
    }
    _exit(0);
}

/* --- The agent's side ---------------------------------------------------- */

int acme_hook_open(struct acme_hook *hook, const char *command)
{
    pid_t program = getpid();
    int ends[2];
    pid_t pid;

    hook->fd = -1;
    if (!command)
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == -1)
        return -errno;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != program)
            _exit(0);
        close(ends[0]);
        serve(ends[1], command);
    }
    close(ends[1]);
    hook->fd = ends[0];
    if (pid != -1)
        return 0;
    acme_hook_close(hook);
    return -EAGAIN;
}

int acme_hook_run(const struct acme_hook *hook, const char *action,
                  const char *name, const char *value)
{
    struct hook_order order = {.action = ""};
    int result;
    ssize_t got;

    if (!hook || hook->fd == -1)
        return -ENOENT;
    if (strlen(action) >= sizeof(order.action) ||
        strlen(name) >= sizeof(order.name) ||
        strlen(value) >= sizeof(order.value))
        return -E2BIG;
    memcpy(order.action, action, strlen(action) + 1);
    memcpy(order.name, name, strlen(name) + 1);
    memcpy(order.value, value, strlen(value) + 1);
    if (send(hook->fd, &order, sizeof(order), MSG_NOSIGNAL) == -1)
        return -errno;
    do
        got = recv(hook->fd, &result, sizeof(result), 0);
    while (got == -1 && errno == EINTR);
    return got == (ssize_t)sizeof(result) ? result : -EPIPE;
}

void acme_hook_close(struct acme_hook *hook)
{
    if (hook->fd != -1)
        close(hook->fd);
    hook->fd = -1;
}
