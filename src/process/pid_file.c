#include "process/pid_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_broker.h"
#include "confine/identity.h"

enum { TEXT_MAX = 16, TRIES_MAX = 16 };

/* Returns the number in the file, 0 if the file is empty, or -1 if the file has
 * other content. */
static pid_t read_number(int fd)
{
    char text[TEXT_MAX];
    ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
    char *end;
    long number;

    if (len <= 0)
        return len == 0 ? 0 : -1;
    text[len] = '\0';
    if (*text < '1' || *text > '9' || len == TEXT_MAX - 1)
        return -1; /* the text is no number, or too long for a number */
    number = strtol(text, &end, 10);
    /* A server that was killed while it wrote may have left several line
     * ends. */
    end += strspn(end, "\n");
    return end == text + len && number <= INT_MAX ? (pid_t)number : -1;
}

static bool is_at(int fd, const char *path)
{
    struct stat ours, there;

    return fstat(fd, &ours) == 0 && lstat(path, &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Returns the descriptor of the PID file that an upgrade handed over, or -1. */
static int take_inherited(void)
{
    const char *text = getenv(PID_FILE_VARIABLE);
    char *end = NULL;
    long fd = text ? strtol(text, &end, 10) : -1;

    if (!text || end == text || *end != '\0' || fd <= STDERR_FILENO ||
        fd > INT_MAX || fcntl((int)fd, F_SETFD, FD_CLOEXEC) == -1)
        fd = -1;
    unsetenv(PID_FILE_VARIABLE);
    return (int)fd;
}

/* Makes the file private, since older versions let everybody read the file. The
 * server's user cannot change the mode of a file of root's; if this fails, the
 * broker changes the mode. */
static void narrow(const struct pid_file *file)
{
    struct stat st;

    if (fstat(file->number_fd, &st) == -1 ||
        (st.st_mode & 07777) == FILE_PID_MODE ||
        fchmod(file->number_fd, FILE_PID_MODE) == 0)
        return;
    (void)!file_broker_ask(FILE_PRIVATE, file->path, -errno);
}

/* Whether the file belongs to neither root nor the server's user. Such an owner
 * could name any process, and root's scripts would kill that process. */
static bool is_strangers(const struct stat *st)
{
    return st->st_uid != 0 && st->st_uid != geteuid() &&
           st->st_uid != identity_file_user();
}

/* Checks and locks the file. Returns 0, or -errno; if another server holds the
 * lock, *holder_out gets its number. */
static int lock(const struct pid_file *file, pid_t *holder_out)
{
    int fd = file->fd;
    struct stat st;
    pid_t number;

    if (fstat(fd, &st) == -1)
        return -errno;
    number = S_ISREG(st.st_mode) ? read_number(fd) : -1;
    if (number == -1 || st.st_nlink > 1)
        return -EEXIST;
    if (is_strangers(&st))
        return -EPERM;
    /* The file is made private before it is locked, since a user who could read
     * the file may hold the lock. */
    if (is_at(fd, file->path) && is_at(file->number_fd, file->path))
        narrow(file);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    *holder_out = number;
    return -errno;
}

static int open_by(const char *path, int flags, enum file_need need)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                  FILE_PID_MODE);

    if (fd == -1)
        fd = file_broker_ask(need, path, -errno);
    return fd == -ELOOP || fd == -EISDIR ? -EEXIST : fd;
}

/* Opens the file twice: for writing, and for the lock. If `inherited` is not
 * -1, this descriptor is used for the lock. */
static int open_both(struct pid_file *file, const char *path, int inherited)
{
    int number_fd = open_by(path, O_RDWR | O_CREAT, FILE_PID);
    int fd = inherited;

    if (number_fd < 0)
        return number_fd;
    if (fd == -1)
        fd = open_by(path, O_RDONLY, FILE_READ);
    if (fd < 0) {
        close(number_fd);
        return fd;
    }
    file->number_fd = number_fd;
    file->fd = fd;
    return 0;
}

static void close_both(struct pid_file *file)
{
    pid_file_close_number(file);
    close(file->fd);
    file->fd = -1;
}

int pid_file_open(struct pid_file *file, const char *path, pid_t *holder_out)
{
    int inherited = take_inherited();
    int err = 0;

    *file = (struct pid_file){.fd = -1, .number_fd = -1, .path = path};
    *holder_out = 0;
    if (inherited != -1 && !is_at(inherited, path)) {
        close(inherited);
        inherited = -1;
    }
    /* An ending server removes the file before it gives up the lock. So the
     * file that was locked may no longer lie at the path; the loop then tries
     * again. */
    for (int i = 0; i < TRIES_MAX && err == 0; i++) {
        err = open_both(file, path, inherited);
        if (err != 0)
            break;
        err = inherited == -1 ? lock(file, holder_out) : 0;
        if (err == 0 && is_at(file->fd, path) && is_at(file->number_fd, path)) {
            if (inherited != -1)
                narrow(file);
            return 0;
        }
        close_both(file);
        inherited = -1;
    }
    if (inherited != -1)
        close(inherited);
    return err != 0 ? err : -EWOULDBLOCK;
}

void pid_file_close_number(struct pid_file *file)
{
    if (file->fd != -1 && file->number_fd != -1)
        close(file->number_fd);
    file->number_fd = -1;
}

/* Overwrites the number. A script may read the file at any moment, and kills
 * the process whose number it finds. So the file never has a mix of two
 * numbers, and is never empty. */
int pid_file_put(int number_fd, pid_t pid)
{
    char text[TEXT_MAX];
    int len = snprintf(text, sizeof(text), "%ld\n", (long)pid);
    size_t covered = (size_t)len;
    struct stat st;
    ssize_t written;

    if (fstat(number_fd, &st) == 0 && st.st_size > len &&
        st.st_size < TEXT_MAX) {
        covered = (size_t)st.st_size;
        memset(text + len, '\n', covered - (size_t)len);
    }
    written = pwrite(number_fd, text, covered, 0);
    if (written != (ssize_t)covered)
        return written == -1 ? -errno : -ENOSPC;
    return ftruncate(number_fd, len) == -1 ? -errno : 0;
}

int pid_file_write(const struct pid_file *file)
{
    if (file->number_fd != -1)
        return pid_file_put(file->number_fd, getpid());
    return file_broker_ask(FILE_NUMBER, file->path, -EACCES);
}

void pid_file_empty(int number_fd, pid_t pid)
{
    if (read_number(number_fd) == pid && ftruncate(number_fd, 0) == -1)
        (void)0; /* the number stays, but an unlocked file means nothing */
}

void pid_file_close(struct pid_file *file)
{
    if (file->fd == -1)
        return;
    if (read_number(file->fd) == getpid() && is_at(file->fd, file->path) &&
        unlink(file->path) == -1 &&
        file_broker_ask(FILE_REMOVE, file->path, -errno) < 0 &&
        file->number_fd != -1) /* if -1, the broker has emptied the file */
        pid_file_empty(file->number_fd, getpid());
    close_both(file);
}

void pid_file_refuse(void)
{
    int fd = take_inherited();

    if (fd != -1)
        close(fd);
}
