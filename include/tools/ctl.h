/*
 * ctl - `sprintd ctl [--control SOCKET] COMMAND`: speaks to a running server
 * through its control socket (control.h).
 *
 * Thread: the main thread's, instead of a server's.
 */
#ifndef TOOLS_CTL_H
#define TOOLS_CTL_H

#include <stdio.h>

#include <time.h>

#include "base/bytes.h"

#define CTL_SOCKET_DEFAULT "/run/sprintd/control"

/* Seconds to wait for an answer. An upgrade takes half a minute at most, and
 * then the new server starts. A stop may take as long as --drain-timeout. */
enum { CTL_ANSWER_S = 60 };

/* `arguments` are the `count` words behind "ctl". The server's answer goes to
 * `out`, faults go to `errors`. Returns EX_OK, EX_USAGE, EX_NOPERM, EX_IOERR,
 * or one of these:
 * EXIT_FAILURE - the server refuses, and says why;
 * EX_UNAVAILABLE - no server is there;
 * EX_TEMPFAIL - there was no answer in time;
 * EX_PROTOCOL - the program that answers is not sprintd. */
int ctl_run(int count, char **arguments, FILE *out, FILE *errors);

/* Sends `line` to the socket at `path`, and waits answer_s seconds for an
 * answer, or for ever if answer_s is 0. `out`, `errors` and the result are as
 * for ctl_run(). */
int ctl_ask(const char *path, struct bytes line, time_t answer_s, FILE *out,
            FILE *errors);

#endif
