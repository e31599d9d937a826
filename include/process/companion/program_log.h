/*
 * program_log - what a program beside the server says on its standard error,
 * line by line, in the server's log.
 *
 * The program runs as the server's user, and others of that user can take it
 * over. So it has a pipe: where the server's own messages go, to root's
 * terminal perhaps, nothing comes that the log would not have written.
 *
 * Invariant: a line is no longer than PROGRAM_LOG_LINE_MAX; what is beyond that
 *            is dropped, and so are lines that come in floods.
 * Thread:    one.
 * Owns:      both ends of the pipe.
 */
#ifndef PROCESS_COMPANION_PROGRAM_LOG_H
#define PROCESS_COMPANION_PROGRAM_LOG_H

#include "base/bytes.h"
#include "base/log.h"

enum { PROGRAM_LOG_LINE_MAX = 800 };

struct program_log {
    int fd;    /* to be read when there is something */
    int given; /* for the program */
    struct log_limit limit;
    size_t len;
    char line[PROGRAM_LOG_LINE_MAX]; /* that has not ended */
};

/* 0 or -errno. */
MUST_USE int program_log_open(struct program_log *log);

/* Passes on the lines that are there, and waits for none. */
void program_log_pass(struct program_log *log);

/* Passes on all lines, when the program has ended, and so its last line. */
void program_log_pass_last(struct program_log *log);

void program_log_close(struct program_log *log);

#endif
