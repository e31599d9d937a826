/*
 * top - `sprintd top URL`: the statistics of a running server on a terminal,
 * anew every second.
 *
 * On a terminal until `q` or a signal, with what it showed before restored;
 * otherwise, or with --once, one snapshot of plain text. A server that goes
 * away while it is watched is waited for.
 *
 * Thread: the main thread's, before or instead of a server's.
 */
#ifndef TOOLS_TOP_H
#define TOOLS_TOP_H

#include <stdio.h>

/* arguments: count words behind "top". Returns the exit status: EX_OK;
 * EX_USAGE; EX_UNAVAILABLE; EX_PROTOCOL when what answers is not sprintd;
 * EX_IOERR, EX_OSERR. All but EX_OK with one line on errors. */
int top_run(int count, char **arguments, FILE *errors);

#endif
