/*
 * daemon - leaves the terminal: --daemon, the old way.
 *
 * The command that was typed waits until the server serves, and exits with 0
 * then; a server that fails to start exits the command with its status, after
 * it has said why on the same stderr.
 *
 *   command -- fork --> session leader -- fork --> server
 *      |                     exits at once            |
 *      +<------------- readiness: status -------------+
 *
 * The server is no session leader, so that no terminal becomes its own. The
 * working directory and the umask stay: relative paths mean what they meant.
 *
 * Thread: the main thread, before there is another.
 */
#ifndef PROCESS_DAEMON_H
#define PROCESS_DAEMON_H

#include "process/readiness.h"

/* Returns in the server alone; the command exits in here. 0 or -errno, in the
 * command then. */
MUST_USE int daemon_leave(struct readiness *readiness);

/* Lets go of the terminal: standard input and output, and standard error
 * unless it is a regular file, lead to /dev/null. To be called before
 * readiness_tell(), which ends the command. */
void daemon_close_standard(void);

#endif
