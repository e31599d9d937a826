/*
 * companion - the common part of small processes beside the server: they are
 * forked by it, speak with it through one socket, and do not outlive it.
 *
 * Thread: the child's only one.
 */
#ifndef PROCESS_COMPANION_COMPANION_H
#define PROCESS_COMPANION_COMPANION_H

#include <sys/types.h>

/* Sets up the process: its name; no signal has an effect but SIGKILL, which
 * comes when server dies; no descriptor stays open but fd and other (-1: none).
 * Ends the process if server has died already. */
void companion_settle(int fd, int other, const char *name, pid_t server);

/* Sets handler for all signals that the server handles or ignores, and unblocks
 * them. */
void companion_set_signals(void (*handler)(int number));

#endif
