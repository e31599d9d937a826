/*
 * top - `sprintd top URL`: shows a running server's statistics on a terminal,
 * every second.
 *
 * A terminal shows the statistics until `q` or a signal; then it shows again
 * what it showed before. With --once, or if the output is no terminal, one
 * snapshot is printed as plain text. When the server goes away, top waits for
 * its return.
 *
 * Thread: the main thread's, before or instead of a server's.
 */
#ifndef TOOLS_TOP_H
#define TOOLS_TOP_H

#include <stdio.h>

/* arguments has the count words behind "top". Returns EX_OK, or, after one line
 * on errors, EX_USAGE, EX_UNAVAILABLE, EX_IOERR, EX_OSERR, or EX_PROTOCOL when
 * the program that answers is not sprintd. */
int top_run(int count, char **arguments, FILE *errors);

#endif
