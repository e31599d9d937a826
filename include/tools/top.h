/*
 * top - `sprintd top URL`: shows a running server's statistics on a terminal,
 * every second.
 *
 * A terminal shows the statistics until `q` or a signal, and then its earlier
 * content again. With --once, or if the output is no terminal, one snapshot is
 * printed as plain text. When the server goes away, top waits for its return.
 *
 * Thread: the main thread's, before or instead of a server's.
 */
#ifndef TOOLS_TOP_H
#define TOOLS_TOP_H

#include <stdio.h>

/* `arguments` are the `count` words behind "top". Returns EX_OK. After a
 * failure, writes one line to `errors` and returns EX_USAGE, EX_UNAVAILABLE,
 * EX_IOERR, EX_OSERR, or EX_PROTOCOL if the program that answers is not
 * sprintd. */
int top_run(int count, char **arguments, FILE *errors);

#endif
