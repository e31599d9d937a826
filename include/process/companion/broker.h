/*
 * broker - a small process beside the server that opens a few files for it.
 *
 * Landlock lets in whole directories or what is there when the server starts,
 * but a log that was rotated, a configuration that an editor replaced, and a
 * socket are made or found anew under a name. To let in their directories
 * would open /run or a home to whoever takes the server over. So this process
 * stays outside the sandbox, as the same user and without capabilities, and
 * does for the server what is on a list from the start, and nothing else:
 *
 *   FILE_READ    opens one of these files for reading
 *   FILE_APPEND  opens one of these for appending, or makes it
 *   FILE_LISTEN  makes a socket on the list, or beside one where the
 *                configuration, which it reads itself, has come to ask for that
 *   FILE_NUMBER  writes the server's number into the pid file (FILE_PID) on it
 *   FILE_REMOVE  removes a socket on the list or made so, and that pid file;
 *                where it may not, empties that
 *
 * A socket in the way is replaced when it is dead, and its owner is the same
 * user: not that of another service.
 *
 *   server  -- need, path -->  broker  -- open -->  the kernel
 *      | <-- descriptor, error -- |
 *
 * The server asks (base/file_broker.h) only where it is refused itself. Shows
 * as `sprintd-broker`, and ends with the server.
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

/* need: what for; of a socket FILE_LISTEN, of a pid file FILE_PID. */
struct broker_path {
    enum file_need need;
    const char *path;
};

struct broker_options {
    const struct broker_path *paths; /* what they name is borrowed */
    size_t count;
    int number_fd; /* the pid file, open for writing; borrowed; -1: none */
    /* Whether the configuration, as it is now, has that socket: called in the
     * broker's process. NULL: no other sockets than those on the list. */
    bool (*is_configured)(void *context, const char *path);
    void *context;
};

struct broker {
    int fd; /* -1: there is none */
    pid_t pid;
    pthread_mutex_t mutex; /* held from a request to its answer */
    struct broker_path *paths;
    size_t count;
};

/* Starts the broker and has file_broker_ask() ask it; does nothing when the
 * list is empty. To be done before the sandbox is entered. 0 or -errno. */
MUST_USE int broker_open(struct broker *broker,
                         const struct broker_options *options);

/* Whether the broker would do that; of sockets, whether it might. */
bool broker_serves(const struct broker *broker, enum file_need need,
                   const char *path);

/* Ends the broker. Zeroed is none. */
void broker_close(struct broker *broker);

#endif
