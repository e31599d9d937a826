/*
 * narrow_terminal - limits what a process that gives up root can do with root's
 * terminal.
 *
 * A shell opens its terminal for reading and writing, and passes this
 * descriptor on as standard input and output alike. A process that keeps such a
 * descriptor, or an attacker who takes over the process, can read what root
 * types there later.
 *
 * Thread: any, while it is root: nobody else can open root's terminal.
 */
#ifndef CONFINE_NARROW_TERMINAL_H
#define CONFINE_NARROW_TERMINAL_H

#include <stdbool.h>

#include "base/bytes.h"

/* Replaces the standard descriptors that are terminals. With `reads`, the input
 * becomes read-only; without, it becomes /dev/null. The outputs become
 * write-only. An output that cannot be opened again (because it belongs to
 * another session, or is not visible here) becomes /dev/null, which is logged.
 * With `reads`, an input that cannot be opened again is an error.
 *
 * Also leaves the session's terminal, so that the process cannot fake the
 * user's typing there (TIOCSTI). A process that leads its session keeps the
 * terminal. Interrupts from the terminal still arrive. Returns 0 or -errno. */
MUST_USE int narrow_terminal_leave(bool reads);

#endif
