/*
 * activation - listening sockets that are open when the server starts: from
 * systemd (sd_listen_fds(3)), or from the server that this one replaces
 * (upgrade.h).
 *
 * A socket that systemd names "https" (FileDescriptorName=) speaks TLS. The
 * server takes the sockets that it would have opened itself, known by their
 * addresses, and closes the others when it serves.
 *
 * Thread: the main thread's.
 * Owns:   the listeners that were not taken.
 */
#ifndef PROCESS_ACTIVATION_H
#define PROCESS_ACTIVATION_H

#include "io/listener.h"

#define ACTIVATION_VARIABLE "SPRINTD_LISTENERS" /* descriptors, as "3;4;5" */
#define ACTIVATION_TLS "SPRINTD_TLS_LISTENERS"  /* those that speak TLS: "4" */
#define ACTIVATION_ORIGIN "SPRINTD_ACTIVATED"   /* set if systemd opened them */

enum { ACTIVATION_MAX = 32 };

struct activation {
    struct listener listeners[ACTIVATION_MAX]; /* fd -1: taken */
    const char *names[ACTIVATION_MAX];         /* systemd's name, or "" */
    size_t count;
    bool is_systemds; /* even if an earlier server passed them on */
    char *names_text; /* private */
};

/* Adopts what LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES, or ACTIVATION_VARIABLE
 * name, and unsets them. EX_OK, also without any; or EX_CONFIG after one line
 * on stderr. activation_close() is needed in any case. */
MUST_USE int activation_open(struct activation *activation);

/* Take the socket that listener_open_tcp() or listener_open_unix() would open,
 * or just the next one. False: there is none. */
bool activation_take(struct activation *activation, struct listener *listener,
                     const char *address, unsigned port);
bool activation_take_path(struct activation *activation,
                          struct listener *listener, const char *path);
/* Takes the socket to which systemd gave that name (FileDescriptorName=). */
bool activation_take_name(struct activation *activation,
                          struct listener *listener, const char *name);
bool activation_take_next(struct activation *activation,
                          struct listener *listener);

/* Closes what was not taken. serves: this server has taken over, so the files
 * of unix sockets are removed, too; if not, their opener goes on listening. */
void activation_close(struct activation *activation, bool serves);

#endif
