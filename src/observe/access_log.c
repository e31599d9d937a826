#include "observe/access_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FLUSH_MS = 1000,
    COMPLAIN_MS = 10000,
    TEXT_BYTES_MAX = 2048, /* of a client's text in a line */
    /* Three texts, each byte as \xHH, and 256 bytes of the server's own. */
    LINE_BYTES_NEED = 3 * 4 * TEXT_BYTES_MAX + 256
};

_Static_assert((int)LINE_BYTES_NEED <= (int)ACCESS_LOG_LINE_BYTES_MAX,
               "a line always fits");

int access_log_open(struct access_log *log, const char *path)
{
    struct stat st;

    *log = (struct access_log){.fd = -1};
    if (!path)
        return 0;
    /* Not to wait for the reader of a FIFO, now or later. */
    log->fd = strcmp(path, "-") == 0
                  ? STDOUT_FILENO
                  : open(path,
                         O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK,
                         0640);
    if (log->fd == -1)
        return -errno;
    log->may_block = fstat(log->fd, &st) == 0 && !S_ISREG(st.st_mode);
    return 0;
}

void access_log_close(struct access_log *log)
{
    if (log->fd >= 0 && log->fd != STDOUT_FILENO)
        close(log->fd);
    log->fd = -1;
}

int access_log_buffer_init(struct access_log_buffer *buffer,
                           const struct access_log *log, const struct now *now)
{
    *buffer = (struct access_log_buffer){
        .log = log, .now = now, .dated_s = INT64_MIN};
    buf_init(&buffer->lines, NULL, 0, ACCESS_LOG_BUFFER_BYTES);
    if (log->fd >= 0 && !buf_reserve(&buffer->lines, ACCESS_LOG_BUFFER_BYTES))
        return -ENOMEM;
    return 0;
}

static uint64_t count_lines(const char *text, size_t len)
{
    uint64_t lines = 0;

    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    return lines;
}

/* Drops what is in the buffer and says so, once in a while. */
static void lose(struct access_log_buffer *buffer, const char *why)
{
    uint64_t silent;

    buffer->lost_lines += count_lines(buffer->lines.data, buffer->lines.len);
    buffer->lines.len = 0;
    if (!log_limit_allows(&buffer->complaint, buffer->now->mono_ms, COMPLAIN_MS,
                          &silent))
        return;
    log_error("access log: %llu lines lost: %s",
              (unsigned long long)buffer->lost_lines, why);
    buffer->lost_lines = 0;
}

/* How much may be written at once without waiting: of a pipe whole lines up
 * to what it takes in one piece (PIPE_BUF), so that lines of different
 * workers do not mix. 0: its reader is behind. */
static size_t writable(const struct access_log_buffer *buffer)
{
    struct pollfd pipe = {.fd = buffer->log->fd, .events = POLLOUT};
    size_t len = buffer->lines.len;
    const char *end;

    if (!buffer->log->may_block || len == 0)
        return len;
    if (poll(&pipe, 1, 0) != 1)
        return 0;
    if (len <= PIPE_BUF)
        return len;
    end = memrchr(buffer->lines.data, '\n', PIPE_BUF);
    return end ? (size_t)(end - buffer->lines.data) + 1 : PIPE_BUF;
}

/* Writes what the log takes; the rest stays. */
static void flush(struct access_log_buffer *buffer)
{
    struct buf *lines = &buffer->lines;
    size_t len;

    while ((len = writable(buffer)) > 0) {
        ssize_t n = write(buffer->log->fd, lines->data, len);

        if (n > 0) {
            lines->len -= (size_t)n;
            memmove(lines->data, lines->data + n, lines->len);
        } else if (n == -1 && errno == EAGAIN) {
            return;
        } else if (n == 0 || errno != EINTR) {
            lose(buffer, strerror(n == 0 ? EIO : errno));
        }
    }
}

void access_log_buffer_fini(struct access_log_buffer *buffer)
{
    if (buffer->log && buffer->log->fd >= 0)
        flush(buffer);
    buf_fini(&buffer->lines);
}

static void write_date(struct access_log_buffer *buffer)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t seconds = (time_t)buffer->now->wall_s;
    struct tm utc;

    gmtime_r(&seconds, &utc);
    snprintf(buffer->date, sizeof(buffer->date),
             "[%02d/%.3s/%04d:%02d:%02d:%02d +0000]", utc.tm_mday % 100,
             months + (size_t)utc.tm_mon * 3, (utc.tm_year + 1900) % 10000,
             utc.tm_hour % 100, utc.tm_min % 100, utc.tm_sec % 100);
    buffer->dated_s = buffer->now->wall_s;
}

/* Long texts are cut, so that a line always fits, whatever is escaped. */
static void put_quoted(struct buf *lines, struct bytes text)
{
    bool is_cut = text.len > TEXT_BYTES_MAX;

    if (is_cut)
        text.len = TEXT_BYTES_MAX;
    buf_put_literal(lines, " \"");
    if (text.len > 0)
        buf_put_log(lines, text);
    else
        buf_put_literal(lines, "-");
    if (is_cut)
        buf_put_literal(lines, "...");
    buf_put_literal(lines, "\"");
}

void access_log_put(struct access_log_buffer *buffer,
                    const struct access_log_entry *entry)
{
    struct buf *lines = &buffer->lines;
    char peer[ADDRESS_TEXT_MAX];

    if (buffer->dated_s != buffer->now->wall_s)
        write_date(buffer);
    if (ACCESS_LOG_BUFFER_BYTES - lines->len < ACCESS_LOG_LINE_BYTES_MAX)
        flush(buffer);
    if (ACCESS_LOG_BUFFER_BYTES - lines->len < ACCESS_LOG_LINE_BYTES_MAX)
        lose(buffer, "whoever reads it does not keep up");
    if (lines->len == 0)
        buffer->oldest_ms = buffer->now->mono_ms;
    buf_put(lines, (struct bytes){peer, address_format(entry->peer, peer)});
    buf_put_literal(lines, " - - ");
    buf_put(lines, bytes_of(buffer->date));
    put_quoted(lines, entry->request_line);
    buf_put_literal(lines, " ");
    buf_put_number(lines, entry->status);
    buf_put_literal(lines, " ");
    buf_put_number(lines, entry->body_bytes);
    put_quoted(lines, entry->referer);
    put_quoted(lines, entry->user_agent);
    buf_put_literal(lines, "\n");
}

void access_log_tick(struct access_log_buffer *buffer)
{
    if (buffer->lines.len > 0 &&
        buffer->now->mono_ms - buffer->oldest_ms >= FLUSH_MS)
        flush(buffer);
}
