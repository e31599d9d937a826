#include "process/companion/steward.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "base/now.h"
#include "base/units.h"
#include "config/certificates/managed.h"
#include "process/companion/companion.h"
#include "process/companion/program_log.h"
#include "process/upgrade.h"

enum {
    AGAIN_MS = 1000, /* pause before the next start, then doubled */
    AGAIN_MAX_MS = 60000,
    WELL_MS = 60000 /* after a run of this time, the pause is AGAIN_MS again */
};

/* The data of the steward's process. */
struct kept {
    int end; /* the steward's end of the socket to the server */
    pid_t pid;
    char program[PATH_MAX];
    char **arguments;
    struct program_log log;
};

/* --- The steward --------------------------------------------------------- */

static _Noreturn void become(const struct kept *kept, pid_t steward)
{
    char number[16];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != steward)
        _exit(EX_OK);
    companion_set_signals(SIG_DFL);
    snprintf(number, sizeof(number), "%d", dup(kept->end));
    setenv(MANAGED_NEWS_VARIABLE, number, 1);
    dup2(kept->log.given, STDERR_FILENO);
    execv(kept->program, kept->arguments);
    fprintf(stderr, "sprintd: '%s': %s\n", kept->program, strerror(errno));
    _exit(EX_UNAVAILABLE);
}

static void start(struct kept *kept)
{
    pid_t steward = getpid();

    kept->pid = fork();
    if (kept->pid == 0)
        become(kept, steward);
}

/* Kills the program, and logs its last lines. The program can be killed at any
 * point without harm. */
static void end(struct kept *kept)
{
    if (kept->pid <= 0)
        return;
    kill(kept->pid, SIGKILL);
    while (waitpid(kept->pid, NULL, 0) == -1 && errno == EINTR)
        ;
    kept->pid = -1;
    program_log_pass_last(&kept->log);
}

static uint64_t read_ms(void)
{
    return now_read_ns() / NS_PER_MS;
}

/* Waits until the program has died or written a line, the server has sent a
 * message, or pause_ms are over. If pidfd_open() fails, the program's death
 * does not end the wait, so the wait is short then. */
static void wait_for(struct kept *kept, int pause_ms)
{
    int pidfd = kept->pid > 0 ? pidfd_open(kept->pid, 0) : -1;
    struct pollfd fds[] = {{.fd = kept->end, .events = POLLIN},
                           {.fd = pidfd, .events = POLLIN},
                           {.fd = kept->pid > 0 ? kept->log.fd : -1,
                            .events = POLLIN}};
    char order;

    poll(fds, 3, kept->pid > 0 && pidfd == -1 ? AGAIN_MS : pause_ms);
    program_log_pass(&kept->log);
    if (fds[1].revents)
        end(kept);
    if (pidfd != -1)
        close(pidfd);
    if (!fds[0].revents)
        return;
    end(kept);
    if (recv(kept->end, &order, 1, MSG_DONTWAIT) == 0)
        _exit(EX_OK); /* the server has died */
}

static _Noreturn void keep(struct kept *kept, pid_t server)
{
    int pause_ms = AGAIN_MS;
    /* The program's lines go to the server's own standard error. */
    int errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    int err;

    /* Unlike the server, the program can be taken over by other processes of
     * the same user. So the steward and the program leave the session's
     * terminal. Otherwise the program could write to the terminal, or insert
     * input as if the user had typed it. */
    setsid();
    companion_settle(kept->end, errors, "sprintd-steward", server);
    if (errors != -1)
        dup2(errors, STDERR_FILENO);
    log_set_lightest(LOG_LEVEL_DEBUG); /* the program filters by level itself */
    if ((err = program_log_open(&kept->log)) != 0) {
        log_error("acme: " STEWARD_PROGRAM " is not started: %s",
                  strerror(-err));
        _exit(EX_OSERR);
    }
    for (;;) {
        uint64_t begin_ms = read_ms();

        start(kept);
        do
            wait_for(kept, kept->pid > 0 ? -1 : pause_ms);
        while (kept->pid > 0);
        if (read_ms() - begin_ms >= WELL_MS)
            pause_ms = AGAIN_MS;
        wait_for(kept, pause_ms);
        pause_ms = pause_ms * 2 < AGAIN_MAX_MS ? pause_ms * 2 : AGAIN_MAX_MS;
    }
}

/* --- The server's side --------------------------------------------------- */

/* Finds sprintd-acme in the folder of the server's own program. Returns 0 or
 * -errno. */
int steward_find_program(char path[PATH_MAX])
{
    int err = upgrade_find_program(path);
    char *slash = err == 0 ? strrchr(path, '/') : NULL;

    if (err != 0)
        return err;
    if (!slash ||
        (size_t)(slash - path) + sizeof("/" STEWARD_PROGRAM) > PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(slash, "/" STEWARD_PROGRAM, sizeof("/" STEWARD_PROGRAM));
    return access(path, X_OK) == 0 ? 0 : -errno;
}

/* Returns the arguments "sprintd-acme run", followed by the server's arguments.
 * Returns NULL if there is no memory. */
static char **make_arguments(char *const *arguments)
{
    static char program[] = STEWARD_PROGRAM;
    static char run[] = "run";
    size_t count = 0;
    char **made;

    while (arguments[count])
        count++;
    made = calloc(count + 2, sizeof(*made));
    if (!made)
        return NULL;
    made[0] = program;
    made[1] = run;
    for (size_t i = 1; i < count; i++)
        made[i + 1] = arguments[i];
    return made;
}

int steward_open(struct steward *steward, char *const *arguments)
{
    struct kept kept = {.pid = -1};
    pid_t server = getpid();
    int ends[2];
    int err;

    *steward = (struct steward){.fd = -1};
    err = steward_find_program(kept.program);
    if (err != 0)
        return err;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == -1)
        return -errno;
    kept.end = ends[1];
    kept.arguments = make_arguments(arguments);
    fflush(NULL);
    steward->pid = kept.arguments ? fork() : -1;
    if (steward->pid == 0)
        keep(&kept, server);
    err = kept.arguments ? -errno : -ENOMEM;
    free(kept.arguments);
    close(ends[1]);
    if (steward->pid == -1) {
        close(ends[0]);
        return err;
    }
    steward->fd = ends[0];
    return 0;
}

void steward_reload(const struct steward *steward)
{
    if (steward->fd != -1)
        (void)!send(steward->fd, "r", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool steward_has_news(struct steward *steward)
{
    bool has_news = false;
    ssize_t len;
    char byte;

    while (steward->fd != -1 &&
           (len = recv(steward->fd, &byte, 1, MSG_DONTWAIT)) != -1) {
        has_news |= len > 0;
        if (len > 0)
            continue;
        log_error("certificates of authorities: what keeps " STEWARD_PROGRAM
                  " running has died: a restart or 'sprintd ctl upgrade' "
                  "starts it again");
        close(steward->fd);
        steward->fd = -1;
    }
    return has_news;
}

void steward_close(struct steward *steward)
{
    if (steward->fd != -1)
        close(steward->fd);
    while (steward->pid > 0 && waitpid(steward->pid, NULL, 0) == -1 &&
           errno == EINTR)
        ;
    *steward = (struct steward){.fd = -1};
}
