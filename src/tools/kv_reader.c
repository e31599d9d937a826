#include "tools/kv_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/units.h"
#include "tools/kv_owner.h"

enum { CHUNK_BYTES = 65536 };

/* --- The reader ---------------------------------------------------------- */

/* Closes everything that the asker has open, except `fd`. A malicious store
 * that takes this process over could use the open files and, above all, open
 * folders. */
static void keep_only(int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null != -1) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    if (fd > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
    close_range((unsigned)fd + 1, UINT_MAX, 0);
}

static _Noreturn void serve(const struct kv_reader *reader, int fd, pid_t asker)
{
    const char *path;
    int status;

    keep_only(fd);
    status = kv_owner_become(reader->folder, false, &path);
    /* A change of the user clears the signal for the parent's death. So the
     * signal is asked for again. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != asker)
        _exit(EX_OK);
    if (status == EX_OK)
        status = reader->read(path, fd) == 0 ? EX_OK : EX_IOERR;
    fflush(NULL);
    _exit(status);
}

/* --- The asker ----------------------------------------------------------- */

static int complain(const struct kv_reader *reader, const char *what)
{
    fprintf(stderr, "sprintd: kv: '%s': %s\n", reader->folder, what);
    return EX_IOERR;
}

static int give_up(const struct kv_reader *reader)
{
    fprintf(
        stderr,
        "sprintd: kv: '%s': nothing has come of it for %u s: a process of "
        "its owner's holds its lock, or has stopped the one that reads it\n",
        reader->folder, reader->patience_s);
    return EX_TEMPFAIL;
}

/* Copies one piece. Returns 1, 0 at the end, or -errno. */
static int pass_on(int from, int to)
{
    char chunk[CHUNK_BYTES];
    ssize_t len = read(from, chunk, sizeof(chunk));

    if (len <= 0)
        return len == 0 ? 0 : -errno;
    for (ssize_t done = 0; done < len;) {
        ssize_t n = write(to, chunk + done, (size_t)(len - done));

        if (n == -1 && errno != EINTR)
            return -errno;
        done += n > 0 ? n : 0;
    }
    return 1;
}

/* Copies everything that the reader writes until the reader has ended. Does not
 * wait for other processes that may have the pipe, too. Returns EX_OK if all
 * bytes were copied. */
static int pass_all(const struct kv_reader *reader, int from, int to, int pidfd)
{
    struct pollfd fds[] = {{.fd = from, .events = POLLIN},
                           {.fd = pidfd, .events = POLLIN}};

    for (;;) {
        int ready = poll(fds, 2, (int)(reader->patience_s * MS_PER_S));
        int passed;

        if (ready == -1 && errno != EINTR)
            return complain(reader, strerror(errno));
        if (ready == 0)
            return give_up(reader);
        if (ready == -1)
            continue;
        if (fds[0].revents == 0) /* the reader has ended, and nothing is left */
            return EX_OK;
        passed = pass_on(from, to);
        if (passed < 0)
            return complain(reader, strerror(-passed));
        if (passed == 0)
            fds[0].fd = -1;
    }
}

/* Waits for the reader's end, and returns its exit status. If `told` is not
 * EX_OK, a failure was reported already: the reader is killed, and `told` is
 * returned. */
static int end(const struct kv_reader *reader, pid_t pid, int told)
{
    int status;

    if (told != EX_OK)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) == -1)
        if (errno != EINTR)
            return complain(reader, strerror(errno));
    if (told != EX_OK)
        return told;
    return WIFEXITED(status)
               ? WEXITSTATUS(status)
               : complain(reader, "the process that reads it was killed");
}

int kv_reader_run(const struct kv_reader *reader, int fd)
{
    pid_t asker = getpid();
    int ends[2];
    int pidfd = -1;
    pid_t pid = -1;
    int status = EX_OSERR;

    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) == -1)
        return complain(reader, strerror(errno));
    pid = fork();
    if (pid == 0)
        serve(reader, ends[1], asker);
    close(ends[1]);
    if (pid > 0)
        pidfd = pidfd_open(pid, 0);
    if (pidfd == -1) {
        (void)complain(reader, strerror(errno));
    } else {
        status = pass_all(reader, ends[0], fd, pidfd);
        close(pidfd);
    }
    close(ends[0]);
    return pid > 0 ? end(reader, pid, status) : status;
}
