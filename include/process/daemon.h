/*
 * daemon - detaches from the terminal for --daemon, in the traditional way.
 *
 * The started command waits until the server serves, and then exits with 0. If
 * the server fails to start, the server says why on the same stderr, and the
 * command exits with the server's status.
 *
 *   command -- fork --> session leader -- fork --> server
 *      |                     exits at once            |
 *      +<------------- readiness: status -------------+
 *
 * The server is no session leader, so it can get no controlling terminal. The
 * working directory and the umask stay, so that relative paths keep their
 * meaning.
 *
 * Thread: the main thread, before there are other threads.
 */
#ifndef PROCESS_DAEMON_H
#define PROCESS_DAEMON_H

#include "process/readiness.h"

/* Detaches. Returns 0 in the server. The started command exits inside this
 * function; if detaching fails, the function returns -errno in the command. */
MUST_USE int daemon_leave(struct readiness *readiness);

/* Redirects standard input and output to /dev/null, and also standard error
 * unless it is a regular file. To be called before readiness_tell(), which lets
 * the command exit. */
void daemon_close_standard(void);

#endif
