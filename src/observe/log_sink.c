#include "observe/log_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/file_broker.h"
#include "base/now.h"

enum {
    PRIORITY = 16 * 8 + 6, /* facility local0, severity info */
    BATCH = 32,            /* datagrams per system call */
    TORN_NS = 10000000     /* 10 ms; a write takes less time */
};

#define SYSLOG "syslog:"

/* --- Opening ------------------------------------------------------------- */

static int connect_to_daemon(const char *path)
{
    struct sockaddr_un daemon = {.sun_family = AF_UNIX};
    int err;
    int fd;

    if (strlen(path) >= sizeof(daemon.sun_path))
        return -ENAMETOOLONG;
    memcpy(daemon.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd == -1)
        return -errno;
    if (connect(fd, (const struct sockaddr *)&daemon, sizeof(daemon)) == 0)
        return fd;
    err = -errno;
    close(fd);
    return err;
}

/* Returns a descriptor or -errno. */
static int open_path(const struct log_sink *sink)
{
    int fd;

    if (sink->is_syslog)
        return connect_to_daemon(sink->path);
    /* With O_NONBLOCK, opening and writing never wait for a FIFO's reader. */
    fd = open(sink->path,
              O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640);
    return fd == -1 ? file_broker_ask(FILE_APPEND, sink->path, -errno) : fd;
}

static int open_output(struct log_sink *sink, int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);

    if (flags == -1 || fstat(fd, &st) == -1)
        return -errno;
    /* This refuses a descriptor opened with O_PATH, too, since its access mode
     * is O_RDONLY. */
    if ((flags & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    sink->fd = fd;
    sink->may_block = !S_ISREG(st.st_mode) && !(flags & O_NONBLOCK);
    return 0;
}

/* Returns the standard descriptor that `where` names, or -1. Nothing is opened,
 * because opening /dev/stdout would open the file behind it anew, and the
 * server may lack the right to do so. */
static int output_of(const char *where)
{
    if (strcmp(where, "-") == 0 || strcmp(where, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    return strcmp(where, "/dev/stderr") == 0 ? STDERR_FILENO : -1;
}

bool log_sink_is_syslog(const char *where)
{
    return strncmp(where, SYSLOG, sizeof(SYSLOG) - 1) == 0;
}

bool log_sink_is_file(const char *where)
{
    return output_of(where) == -1 && !log_sink_is_syslog(where);
}

/* Whether the file ends in the middle of a line. The file is opened again for
 * reading; if that is not allowed, the result is false. */
static bool is_torn(int fd)
{
    char path[sizeof("/proc/self/fd/") + 11];
    struct stat st;
    char last = '\n';
    int file;

    if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return false;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file == -1)
        return false;
    (void)!pread(file, &last, 1, st.st_size - 1);
    close(file);
    return last != '\n';
}

/* Looks for an incomplete line that a killed server left; otherwise the next
 * line would be appended to the incomplete line. If the incomplete line changes
 * within TORN_NS, another server, such as the predecessor, is still writing the
 * line, and will end it. */
static void find_torn_line(struct log_sink *sink)
{
    static const struct timespec moment = {.tv_nsec = TORN_NS};
    struct stat before, after;

    if (fstat(sink->fd, &before) == -1 || !is_torn(sink->fd))
        return;
    nanosleep(&moment, NULL);
    if (fstat(sink->fd, &after) == 0 && after.st_size == before.st_size &&
        is_torn(sink->fd))
        sink->torn_bytes = after.st_size;
}

/* Ends the incomplete line, unless the file has changed meanwhile. Returns
 * false, with errno set, if the write fails, as on a full disk; then the next
 * write to the sink tries again first. */
static bool end_torn_line(struct log_sink *sink)
{
    struct stat st;
    ssize_t n = 1;

    if (fstat(sink->fd, &st) == 0 && st.st_size == sink->torn_bytes) {
        do
            n = write(sink->fd, "\n", 1);
        while (n == -1 && errno == EINTR);
    }
    if (n == 1)
        sink->torn_bytes = 0;
    else if (n == 0)
        errno = EIO;
    return n == 1;
}

int log_sink_open(struct log_sink *sink, const char *where)
{
    int fd;

    *sink = (struct log_sink){.fd = -1, .dated_s = INT64_MIN};
    fd = output_of(where);
    if (fd != -1)
        return open_output(sink, fd);
    sink->is_syslog = log_sink_is_syslog(where);
    sink->path = where;
    if (sink->is_syslog)
        sink->path = where[sizeof(SYSLOG) - 1] ? where + sizeof(SYSLOG) - 1
                                               : "/dev/log";
    fd = open_path(sink);
    if (fd < 0)
        return fd;
    sink->fd = fd;
    find_torn_line(sink);
    if (sink->torn_bytes > 0)
        (void)end_torn_line(sink);
    return 0;
}

void log_sink_close(struct log_sink *sink)
{
    if (sink->fd >= 0 && sink->path)
        close(sink->fd);
    sink->fd = -1;
}

/* --- Opening anew -------------------------------------------------------- */

void log_sink_cut(struct log_sink *sink, size_t torn)
{
    off_t end = sink->fd >= 0 ? lseek(sink->fd, 0, SEEK_CUR) : -1;
    struct stat st;

    /* Cuts the file behind our last whole line, unless another program has
     * written to the file since. */
    if (torn > 0 && end >= (off_t)torn && fstat(sink->fd, &st) == 0 &&
        S_ISREG(st.st_mode) && st.st_size == end &&
        ftruncate(sink->fd, end - (off_t)torn) == -1)
        return; /* the incomplete line stays */
}

static bool is_same_file(int one, int other)
{
    struct stat a, b;

    return fstat(one, &a) == 0 && fstat(other, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int log_sink_reopen(struct log_sink *sink, size_t torn, bool *is_other_out)
{
    int fd;

    *is_other_out = false;
    if (!sink->path)
        return 0;
    fd = open_path(sink);
    if (fd < 0)
        return fd;
    if (!sink->is_syslog && !is_same_file(fd, sink->fd)) {
        *is_other_out = true;
        sink->torn_bytes = 0;
        log_sink_cut(sink, torn);
    }
    log_sink_close(sink);
    sink->fd = fd;
    return 0;
}

/* --- Streams ------------------------------------------------------------- */

/* Returns how many of `len` bytes can be written without blocking: at most
 * PIPE_BUF bytes to a descriptor that may block, and only if it is ready. */
static size_t writable(const struct log_sink *sink, size_t len)
{
    struct pollfd ready = {.fd = sink->fd, .events = POLLOUT};

    if (!sink->may_block)
        return len;
    if (poll(&ready, 1, 0) != 1)
        return 0;
    return len < PIPE_BUF ? len : PIPE_BUF;
}

static enum log_sink_result write_stream(struct log_sink *sink,
                                         struct bytes lines, size_t *taken_out)
{
    if (sink->torn_bytes > 0 && !end_torn_line(sink))
        return LOG_SINK_FAILED;
    while (*taken_out < lines.len) {
        size_t len = writable(sink, lines.len - *taken_out);
        ssize_t n;

        if (len == 0)
            return LOG_SINK_AGAIN;
        n = write(sink->fd, lines.data + *taken_out, len);
        if (n > 0) {
            *taken_out += (size_t)n;
        } else if (n == -1 && errno == EAGAIN) {
            return LOG_SINK_AGAIN;
        } else if (n == 0 || errno != EINTR) {
            errno = n == 0 ? EIO : errno;
            return LOG_SINK_FAILED;
        }
    }
    return LOG_SINK_DONE;
}

/* --- Syslog -------------------------------------------------------------- */

/* Writes the prefix of RFC 3164, section 4.1: the time is local, and the day is
 * padded with a space. */
static void write_prefix(struct log_sink *sink)
{
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr",
                                       "May", "Jun", "Jul", "Aug",
                                       "Sep", "Oct", "Nov", "Dec"};
    struct now now;
    struct tm local;
    time_t seconds;

    now_refresh(&now);
    if (sink->dated_s == now.wall_s)
        return;
    sink->dated_s = now.wall_s;
    seconds = (time_t)now.wall_s;
    localtime_r(&seconds, &local);
    snprintf(sink->prefix, sizeof(sink->prefix),
             "<%d>%s %2d %02d:%02d:%02d sprintd[%ld]: ", PRIORITY,
             months[local.tm_mon], local.tm_mday, local.tm_hour, local.tm_min,
             local.tm_sec, (long)getpid());
}

/* Sends at most BATCH lines. Returns how many bytes of `lines` were sent, or -1
 * with errno set. */
static ssize_t send_lines(struct log_sink *sink, struct bytes lines)
{
    struct iovec parts[BATCH][2];
    struct mmsghdr messages[BATCH] = {0};
    unsigned count = 0;
    const char *at = lines.data;
    const char *end = lines.data + lines.len;
    size_t prefix_len;
    ssize_t bytes = 0;
    int sent;

    write_prefix(sink);
    prefix_len = strlen(sink->prefix);
    for (; count < BATCH && at < end; count++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));

        parts[count][0] = (struct iovec){sink->prefix, prefix_len};
        parts[count][1] = (struct iovec){(void *)(uintptr_t)at,
                                         (size_t)(newline - at)};
        messages[count].msg_hdr.msg_iov = parts[count];
        messages[count].msg_hdr.msg_iovlen = 2;
        at = newline + 1;
    }
    sent = sendmmsg(sink->fd, messages, count, MSG_NOSIGNAL);
    for (int i = 0; i < sent; i++)
        bytes += (ssize_t)(messages[i].msg_len - prefix_len) + 1;
    return sent == -1 ? -1 : bytes;
}

static enum log_sink_result write_syslog(struct log_sink *sink,
                                         struct bytes lines, size_t *taken_out)
{
    bool is_fresh = false;

    while (*taken_out < lines.len) {
        struct bytes rest = {lines.data + *taken_out, lines.len - *taken_out};
        ssize_t n;

        if (sink->fd == -1) {
            int fd = connect_to_daemon(sink->path);

            if (fd < 0) {
                errno = -fd;
                return LOG_SINK_FAILED;
            }
            sink->fd = fd;
            is_fresh = true;
        }
        n = send_lines(sink, rest);
        if (n > 0) {
            *taken_out += (size_t)n;
        } else if (errno == EMSGSIZE) {
            const char *newline = memchr(rest.data, '\n', rest.len);

            *taken_out += (size_t)(newline - rest.data) + 1;
            sink->refused_lines++;
        } else if (errno == EAGAIN) {
            return LOG_SINK_AGAIN;
        } else if (errno != EINTR) {
            int err = errno;

            /* The daemon may have restarted, so the loop tries to connect
             * once. */
            log_sink_close(sink);
            errno = err;
            if (is_fresh)
                return LOG_SINK_FAILED;
        }
    }
    return LOG_SINK_DONE;
}

enum log_sink_result log_sink_write(struct log_sink *sink, struct bytes lines,
                                    size_t *taken_out)
{
    *taken_out = 0;
    return sink->is_syslog ? write_syslog(sink, lines, taken_out)
                           : write_stream(sink, lines, taken_out);
}
