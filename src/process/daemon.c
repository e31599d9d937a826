#include "process/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

/* Waits in the command's process until the server serves or has failed. Then
 * ends the command. */
static _Noreturn void wait_for_server(pid_t leader, int fd)
{
    int status = EX_SOFTWARE;

    while (waitpid(leader, NULL, 0) == -1 && errno == EINTR)
        ;
    if (readiness_wait(fd, -1, -1, &status) != READINESS_TOLD)
        fputs("sprintd: --daemon: the server died while it started\n", stderr);
    _exit(status);
}

int daemon_leave(struct readiness *readiness)
{
    int ends[2];
    pid_t pid;

    fflush(NULL); /* otherwise buffered text would be printed twice */
    if (pipe2(ends, O_CLOEXEC) == -1)
        return -errno;
    pid = fork();
    if (pid == -1) {
        int err = -errno;

        close(ends[0]);
        close(ends[1]);
        return err;
    }
    if (pid > 0) {
        close(ends[1]);
        wait_for_server(pid, ends[0]);
    }
    close(ends[0]);
    *readiness = (struct readiness){.fd = ends[1]};
    setsid();
    pid = fork();
    if (pid > 0)
        _exit(EX_OK);
    if (pid == -1) {
        fprintf(stderr, "sprintd: --daemon: fork: %s\n", strerror(errno));
        readiness_tell(readiness, EX_OSERR);
        _exit(EX_OSERR);
    }
    return 0;
}

void daemon_close_standard(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct stat st;

    if (null == -1)
        return;
    fflush(NULL);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    /* Standard error leads to /dev/null from now on, unless it is a file. If it
     * stayed a pipe, the pipe's reader would wait until the server ends. */
    if (fstat(STDERR_FILENO, &st) == -1 || !S_ISREG(st.st_mode))
        dup2(null, STDERR_FILENO);
    if (null > STDERR_FILENO)
        close(null);
}
