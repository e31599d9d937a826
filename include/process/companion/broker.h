/*
 * broker - a small process beside the server that opens a few files for it.
 *
 * Landlock allows whole directories, or files that exist when the server
 * starts; but a rotated log, a configuration that an editor replaced, and a
 * socket are new files under an old name. Allowing their directories would open
 * /run or a home directory to an attacker who takes the server over. So this
 * process stays outside the sandbox, as the same user and without capabilities,
 * and only does what was listed at the start:
 *
 *   FILE_READ    opens a listed file for reading
 *   FILE_APPEND  opens a listed file for appending, or makes it
 *   FILE_LISTEN  makes a listed socket, or one beside a listed one, if the
 *                configuration, which the broker reads itself, has it now
 *   FILE_NUMBER  writes the server's number into the listed pid file
 *   FILE_REMOVE  removes a socket that was listed or made so, or the pid
 *                file, which it empties if removing is not allowed
 *
 * A socket that is in the way is replaced only if it is dead and the same user
 * owns it: no other service's.
 *
 *   server  -- need, path -->  broker  -- open -->  the kernel
 *      | <-- descriptor, error -- |
 *
 * The server asks (base/file_broker.h) only after it was refused itself. The
 * process is called `sprintd-broker`, and ends with the server.
 *
 * Thread: opened and closed by the main thread, while there is no other; any
 *         may ask, one at a time.
 * Owns:   the process. Borrows the list.
 */
#ifndef PROCESS_COMPANION_BROKER_H
#define PROCESS_COMPANION_BROKER_H

#include <pthread.h>
#include <sys/types.h>

#include "base/file_broker.h"

/* need: the use of path; FILE_LISTEN for a socket, FILE_PID for a pid file. */
struct broker_path {
    enum file_need need;
    const char *path;
};

struct broker_options {
    const struct broker_path *paths; /* borrowed, with their texts */
    size_t count;
    int number_fd; /* the pid file, open for writing; borrowed; -1: none */
    /* Whether the present configuration has that socket; called in the broker's
     * process. NULL: only listed sockets are made. */
    bool (*is_configured)(void *context, const char *path);
    void *context;
};

struct broker {
    int fd; /* -1: no broker */
    pid_t pid;
    pthread_mutex_t mutex; /* held from a request to its answer */
    struct broker_path *paths;
    size_t count;
};

/* Starts the broker, and makes file_broker_ask() ask it, unless the list is
 * empty. To be called before the sandbox is entered. Returns 0 or -errno. */
MUST_USE int broker_open(struct broker *broker,
                         const struct broker_options *options);

/* Whether the broker serves such a need; for sockets, whether it might. */
bool broker_serves(const struct broker *broker, enum file_need need,
                   const char *path);

/* Ends the broker; a zeroed struct has none. */
void broker_close(struct broker *broker);

#endif
