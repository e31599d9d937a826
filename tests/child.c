#include "child.h"

#include <signal.h>
#include <sys/prctl.h>

#include "suite.h"

pid_t child_fork(void)
{
    pid_t test = getpid();
    pid_t pid;

    fflush(NULL);
    pid = fork();
    assert_int_not_equal(pid, -1);
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != test)
        _exit(EXIT_FAILURE);
    return 0;
}
