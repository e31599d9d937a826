#include "base/log.h"

#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"

static const char *const level_names[] = {"error", "warning", "notice", "info",
                                          "debug"};

static atomic_uint lightest_told = LOG_LEVEL_NOTICE;
static bool is_journal; /* stderr is the journal; set before threads start */

/* Whether stderr leads to the journal: JOURNAL_STREAM names its device and
 * inode. The variable alone proves nothing: systemd sets it for all services,
 * and the server may have got another stderr. */
static bool leads_to_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long device, inode;
    char *end;
    struct stat st;

    if (!stream || fstat(STDERR_FILENO, &st) == -1)
        return false;
    device = strtoull(stream, &end, 10);
    if (end == stream || *end != ':')
        return false;
    stream = end + 1;
    inode = strtoull(stream, &end, 10);
    return end != stream && *end == '\0' && st.st_dev == device &&
           st.st_ino == inode;
}

void log_open(enum log_level lightest)
{
    log_set_lightest(lightest);
    is_journal = leads_to_journal();
}

void log_set_lightest(enum log_level lightest)
{
    atomic_store_explicit(&lightest_told, lightest, memory_order_relaxed);
}

bool log_find_level(struct bytes name, enum log_level *level_out)
{
    for (size_t i = 0; i < sizeof(level_names) / sizeof(*level_names); i++) {
        if (!bytes_eq(name, bytes_of(level_names[i])))
            continue;
        *level_out = (enum log_level)i;
        return true;
    }
    return false;
}

void log_put_text(const char *text, size_t len, int wait_ms)
{
    struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};

    while (len > 0 && poll(&fd, 1, wait_ms) > 0) {
        /* A pipe that is writable takes PIPE_BUF bytes without blocking. */
        ssize_t n = write(STDERR_FILENO, text, len < PIPE_BUF ? len : PIPE_BUF);

        if (n <= 0)
            return; /* this error cannot be logged anywhere */
        text += n;
        len -= (size_t)n;
    }
}

void log_write(enum log_level level, const char *format, ...)
{
    char line[1024];
    va_list args;
    size_t len;
    int n;

    if (level > atomic_load_explicit(&lightest_told, memory_order_relaxed))
        return;
    n = is_journal
            ? snprintf(line, sizeof(line), "<%d>", 3 + (int)level)
            : snprintf(line, sizeof(line), "sprintd: %s: ", level_names[level]);
    len = (size_t)n;
    va_start(args, format);
    n = vsnprintf(line + len, sizeof(line) - len - 1, format, args);
    va_end(args);
    if (n > 0)
        len += strlen(line + len);
    utf8_disarm(line, len, false);
    line[len++] = '\n';
    log_put_text(line, len, 0);
}

int log_limit_allows_burst(struct log_limit *limit, uint64_t now_ms,
                           uint64_t interval_ms, unsigned burst,
                           uint64_t *held_back_out)
{
    if (now_ms + (burst - 1) * interval_ms < limit->next_ms) {
        limit->held_back++;
        return 0;
    }
    *held_back_out = limit->held_back;
    limit->held_back = 0;
    if (limit->next_ms < now_ms)
        limit->next_ms = now_ms;
    limit->next_ms += interval_ms;
    return 1;
}

const char *log_held_back(uint64_t held_back, char text[LOG_HELD_BACK_BYTES])
{
    text[0] = '\0';
    if (held_back > 0)
        snprintf(text, LOG_HELD_BACK_BYTES, " (%llu more like it)",
                 (unsigned long long)held_back);
    return text;
}

int log_limit_allows(struct log_limit *limit, uint64_t now_ms,
                     uint64_t interval_ms, uint64_t *held_back_out)
{
    return log_limit_allows_burst(limit, now_ms, interval_ms, 1, held_back_out);
}
