#include "confine/narrow_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int narrow_terminal(int fd, bool reads)
{
    char path[32];
    int err = 0;
    int narrow;

    if (!isatty(fd))
        return 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (fd == STDIN_FILENO && !reads)
        narrow = open("/dev/null", O_RDONLY | O_CLOEXEC);
    else
        narrow = open(path, (fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) |
                                O_NOCTTY | O_CLOEXEC);
    if (narrow == -1 || dup2(narrow, fd) == -1)
        err = -errno;
    if (narrow != -1)
        close(narrow);
    return err;
}
