/*
 * notify - tells the service manager (systemd) how the server is.
 *
 * The protocol of sd_notify(3): one datagram of NAME=VALUE lines to the socket
 * that NOTIFY_SOCKET names. Without a manager all of it does nothing; a
 * manager that does not listen never disturbs the server.
 *
 * libsystemd would spare no more than the address and the datagram, and looks
 * for the socket anew with every message: by a variable that must be gone
 * before a child is born.
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
    int fd;               /* -1: nobody wants to know */
    bool is_abstract;     /* its socket has no file, but a name */
    uint64_t watchdog_ms; /* 0: nobody watches; else feed it more often */
};

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and unsets them, so
 * that no child takes them for its own. */
void notify_open(struct notify *notify);

/* Closes without another message, too: after an upgrade the new server
 * speaks. */
void notify_close(struct notify *notify);

/* The server serves (at first, or again after reloading). status: one line
 * for people. */
void notify_ready(const struct notify *notify, const char *status);
void notify_reloading(const struct notify *notify);
void notify_stopping(const struct notify *notify, const char *status);

/* Tells the service manager that all workers make progress. */
void notify_watchdog(const struct notify *notify);

/* From now on, another process is the service. */
void notify_main_pid(const struct notify *notify, pid_t pid);

#endif
