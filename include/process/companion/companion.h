/*
 * companion - the common part of the small processes beside the server. The
 * server forks them and speaks with each through one socket; they do not
 * outlive the server.
 *
 * Thread: the only thread of the child.
 */
#ifndef PROCESS_COMPANION_COMPANION_H
#define PROCESS_COMPANION_COMPANION_H

#include <sys/types.h>

/* Sets up the calling process, a child of the process `server`. The calling
 * process is then called `name`, ignores the signals that the server handles,
 * and gets SIGKILL when the server dies. All descriptors are closed except `fd`
 * and `other`, which may be -1; the standard descriptors become /dev/null. The
 * calling process ends if the server has died already. */
void companion_settle(int fd, int other, const char *name, pid_t server);

/* Makes `handler` the handler of all signals that the server handles or
 * ignores, and unblocks these signals. */
void companion_set_signals(void (*handler)(int number));

#endif
