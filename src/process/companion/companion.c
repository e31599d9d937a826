#include "process/companion/companion.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sysexits.h>
#include <unistd.h>

void companion_set_signals(void (*handler)(int number))
{
    static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                  SIGUSR1, SIGUSR2, SIGPIPE};
    sigset_t none;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        sigaction(numbers[i], &(struct sigaction){.sa_handler = handler}, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Opens /dev/null as the standard descriptors, and closes all other descriptors
 * except `fd` and `other`. This process must not keep the server's sockets
 * open, nor pipes whose readers wait for the pipe's end. */
static void let_go(int fd, int other)
{
    int null = open("/dev/null", O_RDWR);
    int kept[] = {STDERR_FILENO, fd < other ? fd : other,
                  fd < other ? other : fd};

    for (int i = 0; i <= STDERR_FILENO && null != -1; i++)
        if (i != fd && i != other)
            dup2(null, i);
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        int from = kept[i] > STDERR_FILENO ? kept[i] : STDERR_FILENO;
        int to = i + 1 < sizeof(kept) / sizeof(*kept) ? kept[i + 1] : INT_MAX;

        if (from + 1 < to)
            close_range((unsigned)from + 1, (unsigned)to - 1, 0);
    }
}

void companion_settle(int fd, int other, const char *name, pid_t server)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server)
        _exit(EX_OK); /* the server has died already */
    prctl(PR_SET_NAME, name);
    companion_set_signals(SIG_IGN);
    let_go(fd, other);
}
