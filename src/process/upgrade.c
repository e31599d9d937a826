#include "process/upgrade.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* /proc/self/exe has this text behind the path if the file was replaced. */
#define DELETED " (deleted)"

int upgrade_find_program(char path[PATH_MAX])
{
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
    size_t tail = sizeof(DELETED) - 1;

    if (len == -1)
        return -errno;
    path[len] = '\0';
    if ((size_t)len > tail && strcmp(path + len - tail, DELETED) == 0)
        path[(size_t)len - tail] = '\0';
    return 0;
}

static void reap(struct upgrade *upgrade)
{
    if (upgrade->fd != -1)
        close(upgrade->fd);
    while (upgrade->launcher > 0 && waitpid(upgrade->launcher, NULL, 0) == -1 &&
           errno == EINTR)
        ;
    *upgrade = (struct upgrade){.fd = -1};
}

int upgrade_create(struct upgrade *upgrade, char *const *arguments)
{
    char program[PATH_MAX];
    int err = upgrade_find_program(program);

    *upgrade = (struct upgrade){.fd = -1};
    return err != 0 ? err
                    : upgrade_create_for(upgrade, program, arguments,
                                         LAUNCHER_READY_MS);
}

int upgrade_create_for(struct upgrade *upgrade, const char *program,
                       char *const *arguments, int ready_ms)
{
    struct launcher_options options = {.program = program,
                                       .arguments = arguments,
                                       .ready_ms = ready_ms,
                                       .server = getpid()};
    int ends[2];
    int err;

    *upgrade = (struct upgrade){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == -1)
        return -errno;
    fflush(NULL);
    upgrade->launcher = fork();
    if (upgrade->launcher == 0)
        launcher_run(ends[1], &options);
    err = -errno;
    close(ends[1]);
    if (upgrade->launcher == -1) {
        close(ends[0]);
        return err;
    }
    upgrade->fd = ends[0];
    return 0;
}

void upgrade_destroy(struct upgrade *upgrade)
{
    reap(upgrade);
}

int upgrade_begin(struct upgrade *upgrade, const struct upgrade_legacy *legacy)
{
    struct launcher_order order = {.listener_count = (uint32_t)legacy->count,
                                   .tls_listeners = legacy->tls_listeners,
                                   .has_pid_file = legacy->pid_file_fd != -1,
                                   .has_tickets = legacy->tickets_fd != -1};
    int fds[LAUNCHER_FDS_MAX] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
    size_t fd_count = LAUNCHER_STANDARD;
    int sent;

    if (upgrade->is_under_way)
        return -EALREADY;
    if (upgrade->fd == -1)
        return -ENOTCONN;
    if (legacy->count > ACTIVATION_MAX)
        return -E2BIG;
    for (size_t i = 0; i < legacy->count; i++)
        fds[fd_count++] = legacy->listener_fds[i];
    if (order.has_pid_file)
        fds[fd_count++] = legacy->pid_file_fd;
    if (order.has_tickets)
        fds[fd_count++] = legacy->tickets_fd;
    sent = launcher_send(upgrade->fd, &order, fds, fd_count);
    if (sent != 1)
        return sent == 0 ? -ENOTCONN : sent;
    upgrade->is_under_way = true;
    return 0;
}

enum upgrade_result upgrade_handle(struct upgrade *upgrade,
                                   struct launcher_news *news)
{
    ssize_t got;

    *news = (struct launcher_news){0};
    if (upgrade->fd == -1)
        return UPGRADE_PENDING;
    got = recv(upgrade->fd, news, sizeof(*news), MSG_DONTWAIT);
    if (got == -1 && (errno == EAGAIN || errno == EINTR))
        return UPGRADE_PENDING;
    upgrade->is_under_way = false;
    news->why[sizeof(news->why) - 1] = '\0';
    if (got == sizeof(*news) && news->pid == 0)
        return UPGRADE_FAILED;
    reap(upgrade);
    if (got == sizeof(*news))
        return UPGRADE_DONE;
    *news = (struct launcher_news){.why = "the launcher has died"};
    return UPGRADE_FAILED;
}
