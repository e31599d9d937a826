/*
 * daemon - detaches from the terminal for --daemon, in the traditional way.
 *
 * The started command waits until the server serves, and then exits with 0; if
 * the server fails to start, it says why on the same stderr, and the command
 * exits with its status.
 *
 *   command -- fork --> session leader -- fork --> server
 *      |                     exits at once            |
 *      +<------------- readiness: status -------------+
 *
 * The server is no session leader, so it can get no controlling terminal. The
 * working directory and the umask stay: relative paths keep their meaning.
 *
 * Thread: the main thread, before there is another.
 */
#ifndef PROCESS_DAEMON_H
#define PROCESS_DAEMON_H

#include "process/readiness.h"

/* Returns 0 in the server only; the command exits in here, or gets -errno. */
MUST_USE int daemon_leave(struct readiness *readiness);

/* Redirects standard input and output, and standard error unless it is a
 * regular file, to /dev/null. To be called before readiness_tell(), which ends
 * the command. */
void daemon_close_standard(void);

#endif
