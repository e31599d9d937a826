/*
 * activation - listening sockets that are already there when the server
 * starts: systemd has opened them (sd_listen_fds(3)), or the server that this
 * one takes over from (upgrade.h).
 *
 * What systemd calls "https" (FileDescriptorName=) speaks TLS. The server takes
 * those it would have opened itself; what is left over is
 * closed when it serves. Sockets are known by the address they are bound to.
 *
 * Thread: the main thread's.
 * Owns:   the listeners that nobody has taken.
 */
#ifndef PROCESS_ACTIVATION_H
#define PROCESS_ACTIVATION_H

#include "io/listener.h"

#define ACTIVATION_VARIABLE "SPRINTD_LISTENERS" /* "3;4;5" */
#define ACTIVATION_TLS "SPRINTD_TLS_LISTENERS"  /* those that speak it: "4" */
#define ACTIVATION_ORIGIN "SPRINTD_ACTIVATED"   /* set: systemd opened them */

enum { ACTIVATION_MAX = 32 };

struct activation {
    struct listener listeners[ACTIVATION_MAX]; /* fd -1: taken */
    const char *names[ACTIVATION_MAX];         /* "" unless systemd says */
    size_t count;
    bool is_systemds; /* also when a predecessor has handed them on */
    char *names_text; /* private */
};

/* Adopts what LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES, or
 * ACTIVATION_VARIABLE name, and unsets them. EX_OK, also for nothing at all;
 * or EX_CONFIG after one line on stderr: activation_close() all the same. */
MUST_USE int activation_open(struct activation *activation);

/* Takes what would be opened by listener_open_tcp(), listener_open_unix(), or
 * the next one, whatever it is. False: there is none. */
bool activation_take(struct activation *activation, struct listener *listener,
                     const char *address, unsigned port);
bool activation_take_path(struct activation *activation,
                          struct listener *listener, const char *path);
/* Takes what systemd has given that name (FileDescriptorName=). */
bool activation_take_name(struct activation *activation,
                          struct listener *listener, const char *name);
bool activation_take_next(struct activation *activation,
                          struct listener *listener);

/* Closes what is left. serves: this server has taken over, so files of unix
 * sockets go too; otherwise whoever opened them goes on listening. */
void activation_close(struct activation *activation, bool serves);

#endif
