/*
 * printer - a small process that writes to root's terminal what a server says
 * that is root no longer.
 *
 * Such a server may be taken over, and a terminal takes orders from what is
 * written to it. So the server has a pipe for its output and its errors, and no
 * way round it; what comes through is text when it leaves:
 *
 *   server, successors -- pipe -->  printer, as the server's user  --> terminal
 *
 * The printer ends when nobody has the pipe any more.
 *
 * Thread: the main thread's, as root, while there is no other.
 */
#ifndef PROCESS_COMPANION_PRINTER_H
#define PROCESS_COMPANION_PRINTER_H

#include "confine/identity.h"

/* For standard output and error, where these are terminals. 0 or -errno. */
MUST_USE int printer_open(const struct identity *identity);

/* Whether this process's errors are printed so. */
bool printer_has_errors(void);

/* The process's life: from input to output, which both are its own. Public for
 * tests. */
void printer_run(int input, int output);

#endif
