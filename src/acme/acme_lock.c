#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acme/acme_state.h"

enum { LOCK_MODE = 0600 };

/* Reads the clock of the file system, by which the lock's time was set. It may
 * differ from this machine's clock. Returns 0 if it cannot be read. */
static int64_t read_clock(const struct acme_state *state)
{
    struct stat st = {0};
    int fd = openat(state->fd, ".clock",
                    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                    LOCK_MODE);

    if (fd == -1)
        return 0;
    if (write(fd, "\n", 1) != 1 || fstat(fd, &st) == -1)
        st.st_mtime = 0;
    close(fd);
    return st.st_mtime;
}

/* Reads the owner's mark from the lock. Returns false if it cannot be read. */
static bool read_mark(int fd, char mark[96])
{
    ssize_t len = pread(fd, mark, 95, 0);

    if (len < 0)
        return false;
    mark[len] = '\0';
    return true;
}

/* Whether another machine has the lock. flock() may see only the locks of this
 * machine. So the mark of another machine counts as a lock until it is
 * ACME_LOCK_S old. */
static bool is_of_others(const struct acme_state *state, int fd)
{
    size_t boot = strcspn(state->mark, " ");
    struct stat st;
    char mark[96];

    if (!read_mark(fd, mark) || mark[0] == '\0' ||
        strncmp(mark, state->mark, boot + 1) == 0 || fstat(fd, &st) == -1)
        return false;
    return read_clock(state) - st.st_mtime < ACME_LOCK_S;
}

static int put_mark(struct acme_state *state, int fd, int64_t now_s)
{
    size_t len = strlen(state->mark);

    if (ftruncate(fd, 0) == -1 ||
        pwrite(fd, state->mark, len, 0) != (ssize_t)len)
        return -errno;
    state->locked_s = now_s;
    return 0;
}

/* Renews our lock. Returns 0; -EAGAIN if another machine took us for dead and
 * has taken the lock; or another -errno. */
static int renew(struct acme_state *state, int64_t now_s)
{
    char mark[96];

    if (read_mark(state->lock, mark) && strcmp(mark, state->mark) == 0)
        return now_s - state->locked_s < ACME_LOCK_RENEW_S &&
                       now_s >= state->locked_s
                   ? 0
                   : put_mark(state, state->lock, now_s);
    close(state->lock);
    state->lock = -1;
    return -EAGAIN;
}

int acme_state_lock(struct acme_state *state, int64_t now_s)
{
    int err = 0;
    int fd;

    if (state->lock >= 0)
        return renew(state, now_s);
    fd = openat(state->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                LOCK_MODE);
    if (fd == -1)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) == -1)
        err = errno == EWOULDBLOCK ? -EAGAIN : -errno;
    else if (is_of_others(state, fd))
        err = -EAGAIN;
    else
        err = put_mark(state, fd, now_s);
    if (err != 0) {
        close(fd);
        return err;
    }
    state->lock = fd;
    return 0;
}
