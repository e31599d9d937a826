/*
 * log - messages for the operator, one line each, on stderr.
 *
 * A line says what failed, on what and why. It is written by one write(2), so
 * that lines of different threads never mix. Control characters in it become
 * '?'. If stderr is systemd's journal (JOURNAL_STREAM says so), a line begins
 * with its priority, such as "<3>", instead of the program's name and the
 * level, since the journal shows both itself. If stderr accepts nothing (it may
 * be a full pipe without a reader), the line is lost: no thread waits for it.
 *
 * Thread: any; log_open() only the main thread.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Levels, the most severe first. A level plus 3 is syslog's priority. */
enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_NOTICE,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG
};

/* Sets the least severe level that is logged, and finds out where stderr leads.
 * The main thread calls it at its start; before that, errors, warnings and
 * notices are logged. */
void log_open(enum log_level lightest);

/* Sets the least severe level that is logged from now on. */
void log_set_lightest(enum log_level lightest);

__attribute__((format(printf, 2, 3))) void log_write(enum log_level level,
                                                     const char *format, ...);

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...) log_write(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Finds a level by the name that log_write() gives it. Returns false if there
 * is no such level. */
MUST_USE bool log_find_level(struct bytes name, enum log_level *level_out);

/* Writes a text unchanged. What stderr does not accept within wait_ms is
 * lost. */
void log_put_text(const char *text, size_t len, int wait_ms);

/* Limits how often one kind of fault is logged: one line per interval_ms; the
 * other lines are only counted. Each thread has one struct for each kind. */
struct log_limit {
    uint64_t next_ms;
    uint64_t held_back;
};

/* Returns 1 if a line may be logged now, else 0. With 1, *held_back_out gets
 * how many lines were suppressed since the last logged one. */
int log_limit_allows(struct log_limit *limit, uint64_t now_ms,
                     uint64_t interval_ms, uint64_t *held_back_out);

/* log_held_back() writes the end of a message into `text`: " (3 more like it)",
 * or "" if no line was suppressed. It returns `text`. */
enum { LOG_HELD_BACK_BYTES = 48 };
const char *log_held_back(uint64_t held_back, char text[LOG_HELD_BACK_BYTES]);

/* Like log_limit_allows(), but a burst of up to `burst` lines may be logged at
 * once. After a burst, each interval allows one more line. */
int log_limit_allows_burst(struct log_limit *limit, uint64_t now_ms,
                           uint64_t interval_ms, unsigned burst,
                           uint64_t *held_back_out);

#endif
