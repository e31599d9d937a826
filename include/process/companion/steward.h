/*
 * steward - a small process beside the server that keeps sprintd-acme running,
 * the program that obtains certificates: it starts the program, again when it
 * has died or the configuration has changed, and ends with the server.
 *
 * The program lies in the server's own folder, and gets the server's arguments:
 * it reads the configuration itself. It tells the server when there is a new
 * certificate.
 *
 *   server -- r: read the configuration again --> steward -- starts --> program
 *      | <--------------- c: there is a new certificate ------------------- |
 *
 * Thread: the main thread's; opened while there is no other.
 * Owns:   the process, and that of the program.
 */
#ifndef PROCESS_COMPANION_STEWARD_H
#define PROCESS_COMPANION_STEWARD_H

#include <limits.h>
#include <sys/types.h>

#include "base/bytes.h"

#define STEWARD_PROGRAM "sprintd-acme"

struct steward {
    int fd; /* -1: no steward */
    pid_t pid;
};

/* Finds the program, which lies beside this one. Returns 0 or -errno. */
MUST_USE int steward_find_program(char path[PATH_MAX]);

/* arguments: the server's, ended by NULL. To be called after rights were given
 * up, and before the sandbox is entered. Returns 0; -ENOENT: there is no such
 * program; or another -errno. */
MUST_USE int steward_open(struct steward *steward, char *const *arguments);

/* Makes the program read the configuration again. */
void steward_reload(const struct steward *steward);

/* Whether the program has reported a new certificate since the last call. */
MUST_USE bool steward_has_news(struct steward *steward);

/* Ends the steward and its program. A zeroed struct has neither. */
void steward_close(struct steward *steward);

#endif
