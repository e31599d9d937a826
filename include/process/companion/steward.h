/*
 * steward - a small process beside the server that keeps a program running:
 * sprintd-acme, which obtains certificates. The steward starts the program, and
 * starts it again when it has died or the configuration has changed. The
 * steward ends with the server.
 *
 * The program lies in the folder of the server's own program. It gets the
 * server's arguments and reads the configuration itself. It tells the server
 * when there is a new certificate.
 *
 *   server -- r: read the configuration again --> steward -- starts --> program
 *      | <--------------- c: there is a new certificate ------------------- |
 *
 * Thread: used only by the main thread, which opens the steward before there
 *         are other threads.
 * Owns:   the steward's process and the program's process.
 */
#ifndef PROCESS_COMPANION_STEWARD_H
#define PROCESS_COMPANION_STEWARD_H

#include <limits.h>
#include <sys/types.h>

#include "base/bytes.h"

#define STEWARD_PROGRAM "sprintd-acme"

struct steward {
    int fd; /* -1 without a steward */
    pid_t pid;
};

/* Finds the path of sprintd-acme. Returns 0 or -errno. */
MUST_USE int steward_find_program(char path[PATH_MAX]);

/* Starts the steward. `arguments` are the server's, and end with NULL. To be
 * called after the server has given up its rights, and before it enters the
 * sandbox. Returns 0, -ENOENT if sprintd-acme does not exist, or another
 * -errno. */
MUST_USE int steward_open(struct steward *steward, char *const *arguments);

/* Makes the program read the configuration again. */
void steward_reload(const struct steward *steward);

/* Whether the program has reported a new certificate since the last call. */
MUST_USE bool steward_has_news(struct steward *steward);

/* Ends the steward and the program. Does nothing for a zeroed struct. */
void steward_close(struct steward *steward);

#endif
