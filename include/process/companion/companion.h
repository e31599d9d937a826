/*
 * companion - what small processes beside the server have in common: they are
 * forked by it, hear of it through one socket, and do not outlive it.
 *
 * Thread: the child's only one.
 */
#ifndef PROCESS_COMPANION_COMPANION_H
#define PROCESS_COMPANION_COMPANION_H

#include <sys/types.h>

/* Settles in: is called name, heeds no signal but SIGKILL, which comes when
 * server dies, and has nothing open but fd and other, -1 for none. Ends the
 * process when server has died already. */
void companion_settle(int fd, int other, const char *name, pid_t server);

/* Signals that the server takes or ignores get that handler, unblocked. */
void companion_set_signals(void (*handler)(int number));

#endif
