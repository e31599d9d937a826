/*
 * launcher - a small process beside the server that starts its successor.
 *
 * A confined server cannot exec, and what it would exec could not undo its
 * confinement. So the launcher is forked before any of that, with the rights
 * and the environment that the first server was started with, and sleeps until
 * it is told to start the program anew; it does nothing else, and dies with
 * the server.
 *
 *   server  -- order, descriptors -->  launcher  -- fork, exec -->  successor
 *      |                                   | <------ readiness -------- |
 *      | <------------- news ------------- |                            |
 *    drains                              exits             serves, and has a
 *                                                       launcher of its own
 *
 * Once the successor serves, the launcher ends, so that nobody is the
 * successor's parent but init. One that does not serve in time is killed, and
 * the launcher sleeps again.
 *
 * Invariant: the launcher may be root, and whoever takes the server over, or
 *            has the server's uid, can order what it likes. So the launcher
 *            does nothing for it that this uid could not do itself, but start
 *            the program at its path with the arguments and the environment
 *            that the first server was started with. An order has no text in
 *            it, and opens nothing; its descriptors are only passed on. What
 *            the successor does as root with files is root_files.h's matter;
 *            that nobody can change the program or the configuration,
 *            privileges.c's.
 *
 * Thread: a process of its own; what the two say to each other is below.
 */
#ifndef PROCESS_COMPANION_LAUNCHER_H
#define PROCESS_COMPANION_LAUNCHER_H

#include <sys/types.h>

#include "process/activation.h"

_Static_assert(ACTIVATION_MAX <= 32, "launcher_order has a bit for each");

enum {
    LAUNCHER_STANDARD = 3, /* descriptors: input, output, errors */
    LAUNCHER_FDS_MAX = LAUNCHER_STANDARD + ACTIVATION_MAX + 2,
    LAUNCHER_WHY_MAX = 200,
    LAUNCHER_READY_MS = 30000 /* for a new server to serve */
};

struct launcher_options {
    const char *program;
    char *const *arguments; /* ended by NULL */
    int ready_ms;
    pid_t server;
};

/* Comes with descriptors: the standard three, the listeners, the pid file, the
 * keys of session tickets. */
struct launcher_order {
    uint32_t listener_count;
    uint32_t tls_listeners; /* a bit for each, from the lowest */
    uint32_t has_pid_file;
    uint32_t has_tickets;
};

struct launcher_news {
    pid_t pid;                  /* of the successor; 0: there is none */
    char why[LAUNCHER_WHY_MAX]; /* why there is no successor */
};

/* Sends an order with its descriptors. 1; 0, the other end is closed; or
 * -errno. */
int launcher_send(int fd, const struct launcher_order *order, const int *fds,
                  size_t count);

/* The launcher's life, in a child of the server; fd: its end of a pair of
 * SOCK_SEQPACKET. */
_Noreturn void launcher_run(int fd, const struct launcher_options *options);

#endif
