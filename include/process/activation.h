/*
 * activation - listening sockets that are open when the server starts. They
 * come from systemd (sd_listen_fds(3)), or from the server that this one
 * replaces (upgrade.h).
 *
 * A socket that systemd names "https" (FileDescriptorName=) speaks TLS. The
 * server compares the sockets' addresses with the addresses where it must
 * listen, and uses the sockets that fit instead of opening new ones. It closes
 * the other sockets when it serves.
 *
 * Thread: used only by the main thread.
 * Owns:   the listeners that are not taken.
 */
#ifndef PROCESS_ACTIVATION_H
#define PROCESS_ACTIVATION_H

#include "io/listener.h"

#define ACTIVATION_VARIABLE "SPRINTD_LISTENERS" /* descriptors, like "3;4;5" */
#define ACTIVATION_TLS "SPRINTD_TLS_LISTENERS"  /* those for TLS, like "4" */
#define ACTIVATION_ORIGIN "SPRINTD_ACTIVATED"   /* set if systemd opened them */

enum { ACTIVATION_MAX = 32 };

struct activation {
    struct listener listeners[ACTIVATION_MAX]; /* fd is -1 once taken */
    const char *names[ACTIVATION_MAX];         /* systemd's name, or "" */
    size_t count;
    bool is_systemds; /* systemd opened them, even for an earlier server */
    char *names_text; /* private */
};

/* Adopts the sockets that are named by systemd's variables LISTEN_PID,
 * LISTEN_FDS and LISTEN_FDNAMES, or by ACTIVATION_VARIABLE. Unsets these
 * variables. Returns EX_OK, even if there are no sockets, or EX_CONFIG after
 * one line on stderr. activation_close() is needed in any case. */
MUST_USE int activation_open(struct activation *activation);

/* activation_take() takes the socket that listener_open_tcp() would open,
 * activation_take_path() the socket that listener_open_unix() would open,
 * activation_take_next() any socket. All return false if there is no such
 * socket. */
bool activation_take(struct activation *activation, struct listener *listener,
                     const char *address, unsigned port);
bool activation_take_path(struct activation *activation,
                          struct listener *listener, const char *path);
/* Takes the socket that systemd calls `name` (FileDescriptorName=). */
bool activation_take_name(struct activation *activation,
                          struct listener *listener, const char *name);
bool activation_take_next(struct activation *activation,
                          struct listener *listener);

/* Closes the sockets that were not taken. If `serves` is true, this server has
 * taken over, and the files of closed unix sockets are removed. Otherwise the
 * files stay, since the process that opened the sockets goes on listening. */
void activation_close(struct activation *activation, bool serves);

#endif
