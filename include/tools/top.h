/*
 * top - `sprintd top URL`: shows a running server's statistics on a terminal,
 * every second.
 *
 * A terminal shows them until `q` or a signal, and then what it showed before;
 * otherwise, or with --once, one snapshot is printed as plain text. When the
 * server goes away, top waits for its return.
 *
 * Thread: the main thread's, before or instead of a server's.
 */
#ifndef TOOLS_TOP_H
#define TOOLS_TOP_H

#include <stdio.h>

/* arguments: the count words behind "top". Returns EX_OK, or after one line on
 * errors: EX_USAGE; EX_UNAVAILABLE; EX_PROTOCOL: what answers is not sprintd;
 * EX_IOERR; EX_OSERR. */
int top_run(int count, char **arguments, FILE *errors);

#endif
