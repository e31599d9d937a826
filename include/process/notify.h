/*
 * notify - tells the service manager (systemd) the server's state.
 *
 * The protocol of sd_notify(3): each message is a datagram of NAME=VALUE lines
 * to the socket that NOTIFY_SOCKET names. Without a manager these functions do
 * nothing; a manager that does not listen never disturbs the server.
 *
 * libsystemd would save only a few lines, and looks up the socket for every
 * message, in a variable that must be unset before a child is forked.
 *
 * Thread: the main thread's.
 * Owns:   its socket.
 */
#ifndef PROCESS_NOTIFY_H
#define PROCESS_NOTIFY_H

#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"

struct notify {
    int fd;               /* -1: there is no manager */
    bool is_abstract;     /* in the abstract namespace */
    uint64_t watchdog_ms; /* 0: no watchdog; else its period */
};

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and unsets them, so that
 * children do not use them. */
void notify_open(struct notify *notify);

/* Closes without a message: after an upgrade, the new server sends it. */
void notify_close(struct notify *notify);

/* Tells that the server serves, at first or after a reload. status: one line
 * for people. */
void notify_ready(const struct notify *notify, const char *status);
void notify_reloading(const struct notify *notify);
void notify_stopping(const struct notify *notify, const char *status);

/* Tells the service manager that all workers make progress. */
void notify_watchdog(const struct notify *notify);

/* Tells that another process is the service from now on. */
void notify_main_pid(const struct notify *notify, pid_t pid);

#endif
