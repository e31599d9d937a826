#include "server/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/utf8.h"
#include "server/control.h"

/* An upgrade takes half a minute at most, and then the new one starts. To stop
 * takes as long as --drain-timeout says. */
enum { ANSWER_S = 60 };

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

/* A descriptor or -errno. */
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
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ==
            0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ==
            0 &&
        connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    err = -errno;
    close(fd);
    return err;
}

/* 0 or -errno. */
static int ask(int fd, const char *command, struct buf *answer)
{
    char line[CONTROL_REQUEST_MAX];
    int len = snprintf(line, sizeof(line), "%s\n", command);

    if (len >= (int)sizeof(line))
        return -EMSGSIZE;
    /* A server that refuses us at once may close before it reads. */
    if (send(fd, line, (size_t)len, MSG_NOSIGNAL) == -1 && errno != EPIPE)
        return -errno;
    for (;;) {
        char *to = buf_reserve(answer, 1);
        ssize_t got;

        if (!to)
            return -EMSGSIZE;
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

int ctl_run(int count, char **arguments, FILE *out, FILE *errors)
{
    const char *path = CTL_SOCKET_DEFAULT;
    bool is_known = false;
    struct buf answer;
    int status, fd;

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
    fd = connect_to(path, strcmp(arguments[0], control_name(CONTROL_STOP)) == 0
                              ? 0
                              : ANSWER_S);
    if (fd < 0)
        return complain(errors, path, -fd);
    buf_init(&answer, NULL, 0, CONTROL_ANSWER_MAX);
    status = ask(fd, arguments[0], &answer);
    close(fd);
    /* Who answers may be anybody who could make that socket. */
    utf8_disarm(answer.data, answer.len, true);
    status = status == 0 ? show(buf_bytes(&answer), out, errors)
                         : complain(errors, path, -status);
    buf_fini(&answer);
    return status;
}
