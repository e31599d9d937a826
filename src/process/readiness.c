#include "process/readiness.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"

void readiness_inherit(struct readiness *readiness)
{
    const char *text = getenv(READINESS_VARIABLE);
    struct stat st;
    char *end;
    long fd;

    *readiness = (struct readiness){.fd = -1};
    if (!text)
        return;
    fd = strtol(text, &end, 10);
    if (end != text && *end == '\0' && fd > STDERR_FILENO && fd < INT_MAX &&
        fstat((int)fd, &st) == 0 && S_ISFIFO(st.st_mode) &&
        fcntl((int)fd, F_SETFD, FD_CLOEXEC) == 0)
        *readiness = (struct readiness){.fd = (int)fd, .is_successor = true};
    unsetenv(READINESS_VARIABLE);
}

void readiness_tell(struct readiness *readiness, int status)
{
    unsigned char byte = (unsigned char)status;
    struct sigaction before;

    if (readiness->fd == -1)
        return;
    /* The process that waits may have ended. With SIGPIPE ignored, writing to
     * it only fails. */
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &before);
    while (write(readiness->fd, &byte, 1) == -1 && errno == EINTR)
        ;
    sigaction(SIGPIPE, &before, NULL);
    close(readiness->fd);
    readiness->fd = -1;
}

/* Returns the ms left until end_ns, in the form that poll() needs. */
static int left_ms(uint64_t end_ns)
{
    uint64_t now_ns = now_read_ns();

    return now_ns >= end_ns ? 0 : (int)((end_ns - now_ns) / NS_PER_MS) + 1;
}

enum readiness_news readiness_wait(int fd, int boss_fd, int timeout_ms,
                                   int *status_out)
{
    uint64_t end_ns = now_read_ns() + (uint64_t)timeout_ms * NS_PER_MS;

    for (;;) {
        struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = boss_fd}};
        int count = poll(fds, 2, timeout_ms < 0 ? -1 : left_ms(end_ns));
        unsigned char byte;
        ssize_t got = -1;

        if (count == 0)
            return READINESS_TIMEOUT;
        if (count > 0 && fds[0].revents == 0)
            return READINESS_GIVEN_UP;
        if (count > 0)
            got = read(fd, &byte, 1);
        if (got == 1) {
            *status_out = byte;
            return READINESS_TOLD;
        }
        if (got == 0)
            return READINESS_DEAD;
        if (errno != EINTR && errno != EAGAIN)
            return READINESS_FAILED;
    }
}
