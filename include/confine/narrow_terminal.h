/*
 * narrow_terminal - what is left of root's terminal, and of all else that
 * root's shell had open, for who is root no longer.
 *
 * A shell hands its terminal on to be read and written, whatever it is meant
 * for. A process that has it so, or an attacker who takes that process over,
 * reads what root types there long after.
 *
 * Thread: any, as root: nobody else can open a terminal of root's.
 */
#ifndef CONFINE_NARROW_TERMINAL_H
#define CONFINE_NARROW_TERMINAL_H

#include <stdbool.h>

#include "base/bytes.h"

/* Narrows fd, 0 to 2, if it is a terminal: the input can then only be read, or
 * is empty, unless reads; the others can only be written. A terminal that
 * cannot be opened again, since it is another session's or out of sight, is
 * there no longer, and the log says so. 0 or -errno: reads, and there is
 * nothing to be read. */
MUST_USE int narrow_terminal(int fd, bool reads);

/* Narrows all three; and the process leaves the session's terminal, and cannot
 * get it back unless it leads the session, so that it cannot type in the place
 * of the user there, either (TIOCSTI). It can be interrupted from there as
 * before. 0 or -errno. */
MUST_USE int narrow_terminal_leave(bool reads);

#endif
