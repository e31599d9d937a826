/*
 * printer - a small process that writes the output of a server that is no
 * longer root to root's terminal.
 *
 * Such a server may be taken over by an attacker, and a terminal obeys control
 * sequences written to it. So the server writes its output and errors to a
 * pipe, and has no other way; the printer lets only text through:
 *
 *   server, successors -- pipe -->  printer, as the server's user  --> terminal
 *
 * The printer ends when the pipe's last writer has ended.
 *
 * Thread: the main thread's, as root, while there is no other.
 */
#ifndef PROCESS_COMPANION_PRINTER_H
#define PROCESS_COMPANION_PRINTER_H

#include "confine/identity.h"

/* Starts one for output and errors that go to a terminal. 0 or -errno. */
MUST_USE int printer_open(const struct identity *identity);

/* Whether this process's errors go through a printer. */
bool printer_has_errors(void);

/* Runs the printer, from input to output, which it owns. Public for tests. */
void printer_run(int input, int output);

#endif
