#include "tools/ctl.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"
#include "base/utf8.h"
#include "process/control.h"

static int complain(FILE *errors, const char *path, int err)
{
    if (err == ENOENT || err == ECONNREFUSED) {
        fprintf(errors, "sprintd: ctl: no server is at %s: %s%s\n", path,
                strerror(err),
                strcmp(path, CTL_SOCKET_DEFAULT) == 0
                    ? "; say --control SOCKET, to the server and here"
                    : "");
        return EX_UNAVAILABLE;
    }
    fprintf(errors, "sprintd: ctl: %s: %s\n", path,
            err == EAGAIN ? "the server does not answer" : strerror(err));
    return err == EAGAIN                   ? EX_TEMPFAIL
           : err == EACCES || err == EPERM ? EX_NOPERM
                                           : EX_UNAVAILABLE;
}

/* Connects to the server's control socket. Returns a descriptor or -errno. */
static int connect_to(const char *path, time_t answer_s)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = answer_s};
    int fd, err;

    if (strlen(path) >= sizeof(to.sun_path))
        return -ENAMETOOLONG;
    memcpy(to.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd == -1)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ==
            0 &&
        connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    err = -errno;
    close(fd);
    return err;
}

/* Waits for more of the answer, at most until end_ns, or without a limit if
 * end_ns is 0. All waits for one answer have the same end_ns. Returns 0 or
 * -errno. */
static int wait_for(int fd, uint64_t end_ns)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    int timeout_ms = -1;
    int count;

    do {
        uint64_t now_ns = end_ns > 0 ? now_read_ns() : 0;

        if (end_ns > 0 && now_ns >= end_ns)
            return -EAGAIN;
        if (end_ns > 0)
            timeout_ms = (int)((end_ns - now_ns) / NS_PER_MS) + 1;
        count = poll(&ready, 1, timeout_ms);
    } while (count == 0 || (count == -1 && errno == EINTR));
    return count == -1 ? -errno : 0;
}

/* Sends the command and reads the answer. Returns 0 or -errno. */
static int ask(int fd, struct bytes command, uint64_t end_ns,
               struct buf *answer)
{
    char line[CONTROL_REQUEST_MAX];

    if (command.len >= sizeof(line))
        return -EMSGSIZE;
    memcpy(line, command.data, command.len);
    line[command.len] = '\n';
    /* A server that refuses at once may close before it reads. */
    if (send(fd, line, command.len + 1, MSG_NOSIGNAL) == -1 && errno != EPIPE)
        return -errno;
    for (;;) {
        char *to = buf_reserve(answer, 1);
        int err = to ? wait_for(fd, end_ns) : -EMSGSIZE;
        ssize_t got;

        if (err != 0)
            return err;
        got = recv(fd, to, answer->capacity - answer->len, 0);
        if (got == -1 && errno == EINTR)
            continue;
        if (got == -1 && (errno != ECONNRESET || answer->len == 0))
            return -errno;
        if (got <= 0)
            return 0;
        answer->len += (size_t)got;
    }
}

static int show(struct bytes answer, FILE *out, FILE *errors)
{
    static const struct bytes ok = {"ok\n", 3}, error = {"error: ", 7};

    if (answer.len >= ok.len && memcmp(answer.data, ok.data, ok.len) == 0) {
        fwrite(answer.data + ok.len, 1, answer.len - ok.len, out);
        return fflush(out) == 0 ? EX_OK : EX_IOERR;
    }
    if (answer.len > error.len &&
        memcmp(answer.data, error.data, error.len) == 0 &&
        answer.data[answer.len - 1] == '\n') {
        fprintf(errors, "sprintd: %.*s", (int)(answer.len - error.len),
                answer.data + error.len);
        return EXIT_FAILURE;
    }
    fputs("sprintd: ctl: the server broke off its answer\n", errors);
    return EX_PROTOCOL;
}

static int usage(FILE *errors)
{
    fputs("sprintd: usage: sprintd ctl [--control SOCKET] ", errors);
    for (unsigned i = 0; i < CONTROL_COUNT; i++)
        fprintf(errors, "%s%s", i > 0 ? " | " : "",
                control_name((enum control_command)i));
    fputs("\n", errors);
    return EX_USAGE;
}

int ctl_ask(const char *path, struct bytes line, time_t answer_s, FILE *out,
            FILE *errors)
{
    uint64_t end_ns = answer_s > 0
                          ? now_read_ns() + (uint64_t)answer_s * NS_PER_S
                          : 0;
    struct buf answer;
    int status, fd;

    fd = connect_to(path, answer_s);
    if (fd < 0)
        return complain(errors, path, -fd);
    buf_init(&answer, NULL, 0, CONTROL_ANSWER_MAX);
    status = ask(fd, line, end_ns, &answer);
    close(fd);
    /* The answer must not control the terminal: it may come from anybody who
     * could make a socket at `path`. */
    utf8_disarm(answer.data, answer.len, true);
    status = status == 0 ? show(buf_bytes(&answer), out, errors)
                         : complain(errors, path, -status);
    buf_fini(&answer);
    return status;
}

int ctl_run(int count, char **arguments, FILE *out, FILE *errors)
{
    const char *path = CTL_SOCKET_DEFAULT;
    bool is_known = false;
    time_t answer_s = CTL_ANSWER_S;

    if (count >= 2 && strcmp(arguments[0], "--control") == 0) {
        path = arguments[1];
        arguments += 2;
        count -= 2;
    }
    for (unsigned i = 0; i < CONTROL_COUNT && count == 1; i++)
        if (strcmp(arguments[0], control_name((enum control_command)i)) == 0)
            is_known = true;
    if (!is_known)
        return usage(errors);
    if (strcmp(arguments[0], control_name(CONTROL_STOP)) == 0)
        answer_s = 0; /* no limit */
    return ctl_ask(path, bytes_of(arguments[0]), answer_s, out, errors);
}
