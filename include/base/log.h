/*
 * log - messages for the operator, one line each, on stderr.
 *
 * A line says what failed, on what and why; it goes out in one write(2), so
 * that lines of different threads never mix. Control bytes in it are made
 * visible. When stderr is systemd's journal (JOURNAL_STREAM says so), a line
 * begins with its priority, "<3>", instead of the program's name and level:
 * the journal knows the one and shows the other. Where stderr takes nothing
 * (a pipe that nobody reads), a line is lost: no thread waits to be heard.
 *
 * Thread: any, but for log_open().
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Levels, the gravest first; syslog's priorities are 3 more. */
enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_NOTICE,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG
};

/* Sets the lightest level that is logged, and looks where stderr leads. Main
 * thread, at start; until then errors, warnings and notices are logged. */
void log_open(enum log_level lightest);

/* From now on only what is that severe, or more, is told. */
void log_set_lightest(enum log_level lightest);

__attribute__((format(printf, 2, 3))) void log_write(enum log_level level,
                                                     const char *format, ...);

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...) log_write(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* The level that a line of log_write() names. */
MUST_USE bool log_find_level(struct bytes name, enum log_level *level_out);

/* Writes a text as it is. What stderr does not take for wait_ms is lost. */
void log_put_text(const char *text, size_t len, int wait_ms);

/* Faults may come in floods: this lets one through every interval_ms and counts
 * the rest. There is one for each kind of fault, and for each thread. */
struct log_limit {
    uint64_t next_ms;
    uint64_t held_back;
};

/* Whether to log now; *held_back_out says how many were held back before. */
int log_limit_allows(struct log_limit *limit, uint64_t now_ms,
                     uint64_t interval_ms, uint64_t *held_back_out);

/* How a message ends after so many were held back: " (3 more like it)", or
 * nothing when none were. Returns text. */
enum { LOG_HELD_BACK_BYTES = 48 };
const char *log_held_back(uint64_t held_back, char text[LOG_HELD_BACK_BYTES]);

/* Allows the same, but the first burst of lines, and after each interval of
 * silence one more, are let through at once. */
int log_limit_allows_burst(struct log_limit *limit, uint64_t now_ms,
                           uint64_t interval_ms, unsigned burst,
                           uint64_t *held_back_out);

#endif
