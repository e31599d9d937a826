#include "process/companion/program_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"

enum {
    TURN_BYTES = 16384, /* bytes read per call, so that other work can go on */
    LINES_AT_ONCE = 100,
    LINE_MS = 100 /* after a burst, one line may be logged per LINE_MS */
};

#define NAME "acme: " /* precedes each line */

/* --- Lines --------------------------------------------------------------- */

/* Takes the level from the beginning of a line, where the program's log_write()
 * has put it. Lines without a level come from a library or from a command that
 * the program runs. They count as warnings, since they seldom are good news. */
static enum log_level take_level(struct bytes *line)
{
    const struct bytes own = BYTES("sprintd: ");
    enum log_level level = LOG_LEVEL_WARNING;
    const char *colon;
    size_t len;

    if (line->len < own.len || memcmp(line->data, own.data, own.len) != 0)
        return level;
    colon = memchr(line->data + own.len, ':', line->len - own.len);
    len = colon ? (size_t)(colon - line->data) : 0;
    if (!colon || len + 2 > line->len || colon[1] != ' ' ||
        !log_find_level((struct bytes){line->data + own.len, len - own.len},
                        &level))
        return level;
    line->data += len + 2;
    line->len -= len + 2;
    return level;
}

static bool is_named(struct bytes line)
{
    return line.len >= sizeof(NAME) - 1 &&
           memcmp(line.data, NAME, sizeof(NAME) - 1) == 0;
}

static void pass_line(struct program_log *log)
{
    struct bytes line = {log->line, log->len};
    char more[LOG_HELD_BACK_BYTES];
    uint64_t held_back;
    enum log_level level;

    log->len = 0;
    if (line.len == 0 ||
        !log_limit_allows_burst(&log->limit, now_read_ns() / NS_PER_MS, LINE_MS,
                                LINES_AT_ONCE, &held_back))
        return;
    level = take_level(&line);
    log_write(level, "%s%.*s%s", is_named(line) ? "" : NAME, (int)line.len,
              line.data, log_held_back(held_back, more));
}

static void take(struct program_log *log, char byte)
{
    if (byte == '\n')
        pass_line(log);
    else if (log->len < sizeof(log->line))
        log->line[log->len++] = byte == '\0' ? '?' : byte;
}

/* --- The pipe ------------------------------------------------------------ */

int program_log_open(struct program_log *log)
{
    int ends[2];
    int err;

    *log = (struct program_log){.fd = -1, .given = -1};
    if (pipe2(ends, O_CLOEXEC) == -1)
        return -errno;
    log->fd = ends[0];
    log->given = ends[1];
    /* Only the reading end gets O_NONBLOCK: the program may wait when it
     * writes. */
    if (fcntl(log->fd, F_SETFL, O_NONBLOCK) == 0)
        return 0;
    err = -errno;
    program_log_close(log);
    return err;
}

void program_log_pass(struct program_log *log)
{
    char text[4096];
    size_t all = 0;
    ssize_t got;

    while (log->fd != -1 && all < TURN_BYTES &&
           (got = read(log->fd, text, sizeof(text))) > 0) {
        for (ssize_t i = 0; i < got; i++)
            take(log, text[i]);
        all += (size_t)got;
    }
}

void program_log_pass_last(struct program_log *log)
{
    program_log_pass(log);
    pass_line(log);
}

void program_log_close(struct program_log *log)
{
    if (log->fd != -1)
        close(log->fd);
    if (log->given != -1)
        close(log->given);
    log->fd = log->given = -1;
}
