/*
 * launcher - a small process beside the server that starts its successor.
 *
 * A confined server cannot exec, and a program started by it would stay
 * confined. So the launcher is forked before the server is confined, and has
 * the rights and the environment of the first server's start. The launcher
 * sleeps until the server tells it to start the program anew; it does nothing
 * else, and dies with the server.
 *
 *   server  -- order, descriptors -->  launcher  -- fork, exec -->  successor
 *      |                                   | <------ readiness -------- |
 *      | <------------- news ------------- |                            |
 *    drains                              exits             serves, and has a
 *                                                       launcher of its own
 *
 * Once the successor serves, the launcher ends, so that init becomes the
 * successor's parent. A successor that does not serve in time is killed, and
 * the launcher sleeps again.
 *
 * Invariant: the launcher may be root, and an attacker who takes the server
 *            over, or has the server's uid, can send any order. So the launcher
 *            does nothing that this uid could not do itself, with one
 *            exception: it starts the program at its path with the arguments
 *            and the environment of the first server's start. An order contains
 *            no text and opens nothing; the descriptors of an order are only
 *            passed on. root_files.h limits what the successor does with files
 *            as root. privileges.c makes sure that this uid cannot change the
 *            program or the configuration.
 *
 * Thread: the launcher is a process of its own. The messages between server and
 *         launcher are below.
 */
#ifndef PROCESS_COMPANION_LAUNCHER_H
#define PROCESS_COMPANION_LAUNCHER_H

#include <sys/types.h>

#include "process/activation.h"

_Static_assert(ACTIVATION_MAX <= 32, "launcher_order has a bit for each");

enum {
    LAUNCHER_STANDARD = 3, /* standard input, output and error */
    LAUNCHER_FDS_MAX = LAUNCHER_STANDARD + ACTIVATION_MAX + 2,
    LAUNCHER_WHY_MAX = 200,
    LAUNCHER_READY_MS = 30000 /* time limit for a new server to serve */
};

struct launcher_options {
    const char *program;
    char *const *arguments; /* the program's arguments, ended by NULL */
    int ready_ms;
    pid_t server;
};

/* An order. The message has descriptors, too: the standard three, the
 * listeners, the pid file, the keys of session tickets. */
struct launcher_order {
    uint32_t listener_count;
    uint32_t tls_listeners; /* bit n is set if listener n speaks TLS */
    uint32_t has_pid_file;
    uint32_t has_tickets;
};

struct launcher_news {
    pid_t pid;                  /* the successor; 0 if there is none */
    char why[LAUNCHER_WHY_MAX]; /* why there is no successor */
};

/* Sends an order with its descriptors. Returns 1 if the order was sent, 0 if
 * the launcher has closed its socket, or -errno. */
int launcher_send(int fd, const struct launcher_order *order, const int *fds,
                  size_t count);

/* Runs the launcher in a child of the server. `fd` is the launcher's end of a
 * socket pair (SOCK_SEQPACKET). */
_Noreturn void launcher_run(int fd, const struct launcher_options *options);

#endif
