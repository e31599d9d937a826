/*
 * notify - tells the service manager (systemd) the server's state.
 *
 * The protocol is that of sd_notify(3): each message is a datagram of
 * NAME=VALUE lines to the socket that NOTIFY_SOCKET names. Without a manager
 * the functions do nothing. A manager that does not listen never delays the
 * server.
 *
 * libsystemd is not used: it would save only a few lines, and it reads
 * NOTIFY_SOCKET again for each message, although the variable must be unset
 * before a child is forked.
 *
 * Thread: used only by the main thread.
 * Owns:   the socket.
 */
#ifndef PROCESS_NOTIFY_H
#define PROCESS_NOTIFY_H

#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"

struct notify {
    int fd;               /* -1 without a manager */
    bool is_abstract;     /* the socket is in the abstract namespace */
    uint64_t watchdog_ms; /* the watchdog's period; 0 without a watchdog */
};

/* Reads the variables NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and unsets
 * them, so that children do not use them. */
void notify_open(struct notify *notify);

/* Closes the socket without a message: after an upgrade, the new server sends
 * the messages. */
void notify_close(struct notify *notify);

/* Tell the service manager that the server serves (at first or after a reload),
 * that it reloads, or that it stops. `status` is one line for people. */
void notify_ready(const struct notify *notify, const char *status);
void notify_reloading(const struct notify *notify);
void notify_stopping(const struct notify *notify, const char *status);

/* Tells the service manager that all workers make progress. */
void notify_watchdog(const struct notify *notify);

/* Tells the service manager that another process is the service from now on. */
void notify_main_pid(const struct notify *notify, pid_t pid);

#endif
