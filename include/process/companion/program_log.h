/*
 * program_log - copies the standard error of a program beside the server into
 * the server's log, line by line.
 *
 * The program runs as the server's user, and other processes of that user can
 * take it over. So it writes to a pipe: nothing reaches the place of the
 * server's messages, perhaps root's terminal, that the log would not have
 * written.
 *
 * Invariant: a line is no longer than PROGRAM_LOG_LINE_MAX; the rest of it is
 *            dropped, and so are floods of lines.
 * Thread:    one.
 * Owns:      both ends of the pipe.
 */
#ifndef PROCESS_COMPANION_PROGRAM_LOG_H
#define PROCESS_COMPANION_PROGRAM_LOG_H

#include "base/bytes.h"
#include "base/log.h"

enum { PROGRAM_LOG_LINE_MAX = 800 };

struct program_log {
    int fd;    /* watched for reading */
    int given; /* the program's end */
    struct log_limit limit;
    size_t len;
    char line[PROGRAM_LOG_LINE_MAX]; /* an incomplete line */
};

/* 0 or -errno. */
MUST_USE int program_log_open(struct program_log *log);

/* Logs all lines that have come; does not wait for more. */
void program_log_pass(struct program_log *log);

/* Logs all lines after the program has ended, with the last, incomplete one. */
void program_log_pass_last(struct program_log *log);

void program_log_close(struct program_log *log);

#endif
