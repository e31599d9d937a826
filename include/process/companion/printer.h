/*
 * printer - a small process that writes a server's output to root's terminal,
 * for a server that is no longer root.
 *
 * An attacker may take such a server over, and a terminal obeys control
 * sequences that are written to it. So the server has no descriptor of the
 * terminal: its output and errors go to a pipe, and the printer lets only text
 * through:
 *
 *   server, successors -- pipe -->  printer, as the server's user  --> terminal
 *
 * The printer ends when the last process that has the pipe for writing has
 * ended.
 *
 * Thread: used only by the main thread, as root, before there are other
 *         threads.
 */
#ifndef PROCESS_COMPANION_PRINTER_H
#define PROCESS_COMPANION_PRINTER_H

#include "confine/identity.h"

/* Starts a printer for standard output and standard error if these are
 * terminals. Returns 0 or -errno. */
MUST_USE int printer_open(const struct identity *identity);

/* Whether this process's standard error goes through a printer. */
bool printer_has_errors(void);

/* Runs the printer: copies `input` to `output` as text until `input` ends.
 * Public for tests. */
void printer_run(int input, int output);

#endif
