#include "confine/narrow_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"

static int open_null(int access)
{
    return open("/dev/null", access | O_CLOEXEC);
}

/* Opens the terminal again through its descriptor, since its name may lead
 * elsewhere now. */
static int open_again(int fd, int access)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, access | O_NOCTTY | O_CLOEXEC);
}

/* Opens a replacement for the terminal fd. Returns a descriptor or -errno. */
static int replace(int fd, int access, bool reads)
{
    int err;
    int narrow = fd == STDIN_FILENO && !reads ? open_null(access)
                                              : open_again(fd, access);

    if (narrow != -1)
        return narrow;
    err = errno;
    if (fd == STDIN_FILENO)
        return -err;
    /* A process in another session cannot open /dev/tty, for example. */
    log_warning(
        "the terminal cannot be opened again so that it is only written "
        "to: %s: %s goes nowhere",
        strerror(err), fd == STDOUT_FILENO ? "what is printed" : "the log");
    narrow = open_null(access);
    return narrow == -1 ? -errno : narrow;
}

/* Replaces the standard descriptor `fd`, 0 to 2, if it is a terminal with more
 * access than the process needs. Returns 0 or -errno. */
static int narrow_one(int fd, bool reads)
{
    int access = fd == STDIN_FILENO ? O_RDONLY : O_WRONLY;
    bool goes = fd == STDIN_FILENO && !reads;
    int err = 0;
    int narrow;

    if (!isatty(fd) || (!goes && (fcntl(fd, F_GETFL) & O_ACCMODE) == access))
        return 0;
    narrow = replace(fd, access, reads);
    if (narrow < 0)
        return narrow;
    if (dup2(narrow, fd) == -1)
        err = -errno;
    close(narrow);
    return err;
}

/* Leaves the session's terminal, unless this process leads the session. If a
 * leader left it, the terminal would hang up, and all output would be lost. A
 * leader can safely stay: the session ends together with it, so nobody types
 * there later. */
static int leave_session(void)
{
    int fd;
    int err = 0;

    if (getsid(0) == getpid())
        return 0;
    fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    /* If root cannot open the terminal, the process without root's rights
     * cannot do so either, and there is nothing to leave. */
    if (fd == -1)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno
                                                                     : 0;
    if (ioctl(fd, TIOCNOTTY) == -1 && errno != ENOTTY) /* ENOTTY: was left */
        err = -errno;
    close(fd);
    return err;
}

int narrow_terminal_leave(bool reads)
{
    int err = 0;

    /* The descriptors come first, since only a member of the session can open
     * its terminal. */
    for (int fd = STDIN_FILENO; err == 0 && fd <= STDERR_FILENO; fd++)
        err = narrow_one(fd, reads);
    return err == 0 ? leave_session() : err;
}
