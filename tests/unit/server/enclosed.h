/*
 * enclosed - runs a function in a child, for what cannot be undone.
 */
#ifndef UNIT_ENCLOSED_H
#define UNIT_ENCLOSED_H

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* What act returns (0..99) when it ends by itself; 128 and the signal's
 * number when one kills it; -1 when there is no child. */
static inline int enclosed(int (*act)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(act());
    if (pid == -1 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
