#include "base/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[] = {"error", "warning", "notice"};

void log_write(enum log_level level, const char *format, ...)
{
    char line[1024];
    va_list args;
    size_t len;
    int n = snprintf(line, sizeof(line), "sprintd: %s: ", level_names[level]);

    len = (size_t)n;
    va_start(args, format);
    n = vsnprintf(line + len, sizeof(line) - len - 1, format, args);
    va_end(args);
    if (n > 0)
        len += strlen(line + len);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7F)
            line[i] = '?';
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) == -1)
        return; /* nowhere to complain to */
}

int log_limit_allows(struct log_limit *limit, uint64_t now_ms,
                     uint64_t interval_ms, uint64_t *held_back_out)
{
    if (now_ms < limit->next_ms) {
        limit->held_back++;
        return 0;
    }
    *held_back_out = limit->held_back;
    limit->held_back = 0;
    limit->next_ms = now_ms + interval_ms;
    return 1;
}
