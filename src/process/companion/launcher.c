#include "process/companion/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"
#include "process/certificates/credentials.h"
#include "process/companion/companion.h"
#include "process/pid_file.h"
#include "process/readiness.h"

enum {
    NO_EXEC = 127,
    NUMBER_MAX = 12,
    LINGER_MS = 5000, /* how long a failed successor may tidy up */
    LINGER_STEP_MS = 10
};

/* --- Orders -------------------------------------------------------------- */

union rights {
    struct cmsghdr header; /* aligns the member `room` */
    char room[CMSG_SPACE(LAUNCHER_FDS_MAX * sizeof(int))];
};

int launcher_send(int fd, const struct launcher_order *order, const int *fds,
                  size_t count)
{
    union rights rights = {.room = {0}};
    struct iovec data = {.iov_base = (void *)(uintptr_t)order,
                         .iov_len = sizeof(*order)};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = rights.room,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    if (count > LAUNCHER_FDS_MAX)
        return -E2BIG;
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), fds, count * sizeof(int));
    if (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) != -1)
        return 1;
    return errno == EPIPE ? 0 : -errno;
}

/* Receives an order with its descriptors. Returns 1 if an order came, 0 if the
 * server has closed its socket, or -errno. */
static int receive(int fd, struct launcher_order *order,
                   int fds[LAUNCHER_FDS_MAX], size_t *count_out)
{
    union rights rights;
    struct iovec data = {.iov_base = order, .iov_len = sizeof(*order)};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = rights.room,
                             /* CMSG_LEN(), since CMSG_SPACE() might have room
                              * for one more descriptor. */
                             .msg_controllen = CMSG_LEN(LAUNCHER_FDS_MAX *
                                                        sizeof(int))};
    struct cmsghdr *header;
    ssize_t got;

    *count_out = 0;
    do
        got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (got == -1 && errno == EINTR);
    if (got <= 0)
        return got == 0 ? 0 : -errno;
    header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS) {
        *count_out = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(fds, CMSG_DATA(header), *count_out * sizeof(int));
    }
    return got == sizeof(*order) && !(message.msg_flags & MSG_CTRUNC) &&
                   order->listener_count <= ACTIVATION_MAX &&
                   *count_out == LAUNCHER_STANDARD + order->listener_count +
                                     (order->has_pid_file ? 1 : 0) +
                                     (order->has_tickets ? 1 : 0)
               ? 1
               : -EPROTO;
}

/* --- The successor, until it serves -------------------------------------- */

static void set_number(const char *variable, long number)
{
    char text[3 * sizeof(number) + 2];

    snprintf(text, sizeof(text), "%ld", number);
    setenv(variable, text, 1);
}

static void keep_open(int fd)
{
    fcntl(fd, F_SETFD, 0);
}

static void hand_on(int fd, const char *variable)
{
    keep_open(fd);
    set_number(variable, fd);
}

static void set_environment(const struct launcher_order *order, const int *fds,
                            int ready_fd)
{
    char text[ACTIVATION_MAX * NUMBER_MAX] = "";
    char by_tls[ACTIVATION_MAX * NUMBER_MAX] = "";
    size_t len = 0;
    size_t tls_len = 0;
    const char *watched = getenv("WATCHDOG_PID");

    for (size_t i = 0; i < order->listener_count; i++) {
        int fd = fds[LAUNCHER_STANDARD + i];

        keep_open(fd);
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d",
                                i > 0 ? ";" : "", fd);
        if (order->tls_listeners & 1u << i)
            tls_len += (size_t)snprintf(by_tls + tls_len,
                                        sizeof(by_tls) - tls_len, "%s%d",
                                        tls_len > 0 ? ";" : "", fd);
    }
    setenv(ACTIVATION_TLS, by_tls, 1);
    setenv(ACTIVATION_VARIABLE, text, 1);
    keep_open(ready_fd);
    set_number(READINESS_VARIABLE, ready_fd);
    unsetenv(PID_FILE_VARIABLE);
    fds += LAUNCHER_STANDARD + order->listener_count;
    if (order->has_pid_file)
        hand_on(*fds++, PID_FILE_VARIABLE);
    unsetenv(CREDENTIALS_TICKETS_VARIABLE);
    if (order->has_tickets)
        hand_on(*fds, CREDENTIALS_TICKETS_VARIABLE);
    if (getenv("LISTEN_FDS"))
        setenv(ACTIVATION_ORIGIN, "1", 1);
    /* The successor must not see these variables, which were meant for the
     * first server. The watchdog's variables stay, since the successor
     * continues the service. */
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (watched)
        set_number("WATCHDOG_PID", getpid());
}

static _Noreturn void become(const struct launcher_options *options,
                             const struct launcher_order *order, const int *fds,
                             int ready_fd)
{
    for (int i = 0; i < LAUNCHER_STANDARD; i++)
        dup2(fds[i], i);
    set_environment(order, fds, ready_fd);
    companion_set_signals(SIG_DFL);
    execv(options->program, options->arguments);
    fprintf(stderr, "sprintd: upgrade: '%s': %s\n", options->program,
            strerror(errno));
    _exit(NO_EXEC);
}

/* --- The launcher -------------------------------------------------------- */

/* Waits for the end of a process, which is killed after linger_ms. Returns its
 * status as from waitpid(2). */
static int wait_end(pid_t pid, int linger_ms)
{
    uint64_t end_ns = now_read_ns() + (uint64_t)linger_ms * NS_PER_MS;
    int status = 0;

    for (;;) {
        bool is_late = now_read_ns() >= end_ns;
        pid_t ended;

        if (is_late)
            kill(pid, SIGKILL);
        ended = waitpid(pid, &status, is_late ? 0 : WNOHANG);
        if (ended == pid || (ended == -1 && errno != EINTR))
            return status;
        if (ended == 0)
            poll(NULL, 0, LINGER_STEP_MS);
    }
}

static void describe_end(struct launcher_news *news, int status)
{
    if (WIFSIGNALED(status))
        snprintf(news->why, sizeof(news->why),
                 "the new server was killed by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == NO_EXEC)
        snprintf(news->why, sizeof(news->why),
                 "the program cannot be executed");
    else
        snprintf(news->why, sizeof(news->why),
                 "the new server ended with status %d; its messages say why",
                 WEXITSTATUS(status));
}

/* Waits until the successor serves or has failed, and writes the result to
 * *news. */
static void watch(int fd, const struct launcher_options *options, pid_t pid,
                  int ready_fd, struct launcher_news *news)
{
    int status = EX_SOFTWARE;

    switch (readiness_wait(ready_fd, fd, options->ready_ms, &status)) {
    case READINESS_TOLD:
        if (status == EX_OK) {
            news->pid = pid;
            return;
        }
        break;
    case READINESS_DEAD:
        break;
    case READINESS_TIMEOUT:
        snprintf(news->why, sizeof(news->why),
                 "the new server did not serve within %d ms",
                 options->ready_ms);
        break;
    case READINESS_GIVEN_UP:
        snprintf(news->why, sizeof(news->why), "the server has ended");
        break;
    case READINESS_FAILED:
        snprintf(news->why, sizeof(news->why), "the launcher: %s",
                 strerror(errno));
        break;
    }
    if (news->why[0] != '\0')
        wait_end(pid, 0);
    else
        describe_end(news, wait_end(pid, LINGER_MS));
}

static void launch(int fd, const struct launcher_options *options,
                   const struct launcher_order *order, const int *fds,
                   struct launcher_news *news)
{
    int ends[2];
    pid_t pid;

    if (access(options->program, X_OK) == -1) {
        snprintf(news->why, sizeof(news->why), "the program: %s",
                 strerror(errno));
        return;
    }
    if (pipe2(ends, O_CLOEXEC) == -1) {
        snprintf(news->why, sizeof(news->why), "pipe: %s", strerror(errno));
        return;
    }
    pid = fork();
    if (pid == 0)
        become(options, order, fds, ends[1]);
    close(ends[1]);
    if (pid == -1)
        snprintf(news->why, sizeof(news->why), "fork: %s", strerror(errno));
    else
        watch(fd, options, pid, ends[0], news);
    close(ends[0]);
}

void launcher_run(int fd, const struct launcher_options *options)
{
    companion_settle(fd, -1, "sprintd-launch", options->server);
    for (;;) {
        struct launcher_order order = {0};
        struct launcher_news news = {0};
        int fds[LAUNCHER_FDS_MAX] = {0};
        size_t count;
        int got = receive(fd, &order, fds, &count);

        if (got == 1)
            launch(fd, options, &order, fds, &news);
        else if (got == -EPROTO)
            snprintf(news.why, sizeof(news.why),
                     "the launcher got an order it does not understand");
        else
            _exit(EX_OK);
        for (size_t i = 0; i < count; i++)
            close(fds[i]);
        if (send(fd, &news, sizeof(news), MSG_NOSIGNAL) == -1) {
            /* The server was told to end, so the successor must end, too. */
            if (news.pid > 0)
                kill(news.pid, SIGTERM);
            _exit(EX_OK);
        }
        if (news.pid != 0)
            _exit(EX_OK);
    }
}
