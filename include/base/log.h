/*
 * log - messages for the operator, one line each, on stderr.
 *
 * A line says what failed, on what and why; it goes out in one write(2), so
 * that lines of different threads never mix. Control bytes in it are made
 * visible.
 *
 * Thread: any.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE };

__attribute__((format(printf, 2, 3))) void log_write(enum log_level level,
                                                     const char *format, ...);

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...) log_write(LOG_LEVEL_NOTICE, __VA_ARGS__)

/* For faults that may come in floods: lets one through every interval_ms and
 * counts the rest. One per kind of fault; one thread each. */
struct log_limit {
    uint64_t next_ms;
    uint64_t held_back;
};

/* Whether to speak now; *held_back_out says how many were silent before. */
int log_limit_allows(struct log_limit *limit, uint64_t now_ms,
                     uint64_t interval_ms, uint64_t *held_back_out);

#endif
