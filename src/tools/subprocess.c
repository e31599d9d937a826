#include "tools/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns a descriptor of a file in memory that has the text `input`, or
 * -errno. A pipe is not used, since it might have room for only a part of the
 * text, and nobody would write the rest. */
static int open_input(struct bytes input)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    int err;

    if (fd == -1)
        return -errno;
    if (write(fd, input.data, input.len) == (ssize_t)input.len &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    err = -errno;
    close(fd);
    return err;
}

/* Starts the program. Returns 0 or -errno. */
static int spawn(pid_t *pid_out, const char *const arguments[], int folder,
                 int input, bool is_quiet)
{
    posix_spawn_file_actions_t actions;
    int err = posix_spawn_file_actions_init(&actions);

    if (err != 0)
        return -err;
    if (folder != -1)
        err = posix_spawn_file_actions_addfchdir_np(&actions, folder);
    if (err == 0)
        err = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (err == 0)
        err = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
                                               "/dev/null", O_WRONLY, 0);
    if (err == 0 && is_quiet)
        err = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO,
                                               STDERR_FILENO);
    if (err == 0) /* posix_spawnp() does not write to `arguments` */
        err = posix_spawnp(pid_out, arguments[0], &actions, NULL,
                           (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -err;
}

int subprocess_run(const char *const arguments[], int folder,
                   struct bytes input, bool is_quiet)
{
    int fd = open_input(input);
    int status;
    pid_t pid = -1;
    int err;

    if (fd < 0)
        return fd;
    fflush(NULL);
    err = spawn(&pid, arguments, folder, fd, is_quiet);
    close(fd);
    if (err != 0)
        return err;
    while (waitpid(pid, &status, 0) == -1)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
