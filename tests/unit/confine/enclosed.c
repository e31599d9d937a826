#include "unit/confine/enclosed.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int enclosed(int (*act)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(act());
    if (pid == -1 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
