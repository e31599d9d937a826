/*
 * program_log - copies the standard error of a program beside the server into
 * the server's log, line by line.
 *
 * The program runs as the server's user, and other processes of that user can
 * take the program over. So the program writes to a pipe, and only lines that
 * the log has checked reach the server's standard error, which may be root's
 * terminal.
 *
 * Invariant: a line is no longer than PROGRAM_LOG_LINE_MAX: the rest of a
 *            longer line is dropped. If too many lines come at a time, some are
 *            dropped.
 * Thread:    one thread.
 * Owns:      both ends of the pipe.
 */
#ifndef PROCESS_COMPANION_PROGRAM_LOG_H
#define PROCESS_COMPANION_PROGRAM_LOG_H

#include "base/bytes.h"
#include "base/log.h"

enum { PROGRAM_LOG_LINE_MAX = 800 };

struct program_log {
    int fd;    /* the reading end, to be watched for reading */
    int given; /* the writing end, for the program */
    struct log_limit limit;
    size_t len;
    char line[PROGRAM_LOG_LINE_MAX]; /* the beginning of an incomplete line */
};

/* Opens the pipe. Returns 0 or -errno. */
MUST_USE int program_log_open(struct program_log *log);

/* Logs the lines that have come, without waiting for more. */
void program_log_pass(struct program_log *log);

/* Logs all remaining lines after the program has ended, even an incomplete last
 * line. */
void program_log_pass_last(struct program_log *log);

void program_log_close(struct program_log *log);

#endif
