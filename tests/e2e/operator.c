#include "operator.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { END_MS = 10000, HEAR_MS = 10000 };

const char *control_path(void)
{
    return printed("%s/control", folder());
}

const char *pid_path(void)
{
    return printed("%s/pid", folder());
}

/* --- Processes ----------------------------------------------------------- */

void operator_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int operator_after_test(void **state)
{
    pid_t pid = pid_in_file();
    int result = harness_after_test(state);

    unlink(pid_path());
    unlink(control_path());
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    /* Still there, and ours: a test has failed. */
    if (pid > 0 && waitpid(pid, NULL, WNOHANG) == 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return -1;
    }
    return result;
}

pid_t pid_in_file(void)
{
    FILE *file = fopen(pid_path(), "re");
    long pid = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%ld", &pid) != 1)
        pid = 0;
    fclose(file);
    return (pid_t)pid;
}

bool process_ends(pid_t pid)
{
    int status = -1;

    return eventually(waitpid(pid, &status, WNOHANG) == pid, END_MS) &&
           WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool server_has_said(const struct server *server, const char *part)
{
    return strstr(read_text(server->errors, NULL), part) != NULL;
}

/* --- Commands ------------------------------------------------------------ */

int ctl(const char *command, struct outcome *outcome)
{
    RUN(outcome, "ctl", "--control", control_path(), command);
    return outcome->status;
}

const char *ctl_ok(const char *command)
{
    struct outcome *outcome = scratch(sizeof(*outcome));

    if (ctl(command, outcome) != 0)
        flunk("ctl %s: %d, %s", command, outcome->status, outcome->err);
    return outcome->out;
}

/* --- The manager --------------------------------------------------------- */

int manager_open(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", folder());
    unlink(address.sun_path);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == -1)
        flunk("bind: %s", strerror(errno));
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    return fd;
}

bool manager_hears(int manager, const char *part, char *message, size_t size)
{
    uint64_t until_ms = now_ms() + patience(HEAR_MS);

    for (;;) {
        struct pollfd ready = {.fd = manager, .events = POLLIN};
        uint64_t at_ms = now_ms();
        ssize_t len;

        if (at_ms >= until_ms || poll(&ready, 1, (int)(until_ms - at_ms)) != 1)
            return false;
        len = recv(manager, message, size - 1, 0);
        message[len > 0 ? len : 0] = '\0';
        if (strstr(message, part))
            return true;
    }
}

void manager_close(int manager)
{
    close(manager);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
}

int operator_begin(void **state)
{
    return harness_begin_with(state, operator_adopt);
}
