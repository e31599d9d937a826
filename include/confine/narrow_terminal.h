/*
 * narrow_terminal - limits what a process that gives up root can do with root's
 * terminal.
 *
 * A shell opens its terminal for both reading and writing, whatever a
 * descriptor is for. A process that keeps it so, or an attacker who takes it
 * over, can read what root types there later.
 *
 * Thread: any, while it is root: nobody else can open root's terminal.
 */
#ifndef CONFINE_NARROW_TERMINAL_H
#define CONFINE_NARROW_TERMINAL_H

#include <stdbool.h>

#include "base/bytes.h"

/* Narrows the standard descriptors that are terminals: the input becomes
 * read-only, or empty unless reads; the others become write-only. An output that
 * cannot be opened again (another session's, or not visible here) becomes
 * /dev/null, and the log says so; an input to be read is an error then.
 *
 * Also leaves the session's terminal, so that the process cannot type there in
 * the user's place (TIOCSTI); it gets the terminal back only if it leads the
 * session. Interrupts from the terminal still arrive. Returns 0 or -errno. */
MUST_USE int narrow_terminal_leave(bool reads);

#endif
