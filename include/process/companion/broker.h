/*
 * broker - a small process beside the server that opens a few files for it.
 *
 * Landlock allows whole directories, or files that exist when the server
 * starts. But a rotated log, a configuration that an editor replaced, and a
 * socket are new files under an old name. To allow their directories would open
 * /run or a home directory to an attacker who takes the server over. So the
 * broker stays outside the sandbox, as the server's user and without
 * capabilities, and does only what was listed at the start:
 *
 *   FILE_READ    opens a listed file for reading
 *   FILE_APPEND  opens a listed file for appending, or makes it
 *   FILE_LISTEN  makes a listed socket. Also makes another socket in the same
 *                directory, if the present configuration has that socket; the
 *                broker reads the configuration itself
 *   FILE_NUMBER  writes the server's process id into the listed pid file
 *   FILE_REMOVE  removes a socket that was listed or that the broker made, or
 *                the pid file; empties the pid file if removing is forbidden
 *
 * An existing socket may belong to another service. So the broker replaces a
 * socket only if nobody listens there and the broker's own user owns the
 * socket.
 *
 *   server  -- need, path -->  broker  -- open -->  the kernel
 *      | <-- descriptor, error -- |
 *
 * The server asks the broker (base/file_broker.h) only after the kernel has
 * refused the server itself. The broker's process is called `sprintd-broker`,
 * and ends with the server.
 *
 * Thread: the main thread opens and closes the broker while there are no other
 *         threads. Any thread may ask; a mutex lets one ask at a time.
 * Owns:   the process and a copy of the list. Borrows the paths' texts.
 */
#ifndef PROCESS_COMPANION_BROKER_H
#define PROCESS_COMPANION_BROKER_H

#include <pthread.h>
#include <sys/types.h>

#include "base/file_broker.h"

/* A path that the broker uses for the server. `need` is FILE_READ, FILE_APPEND,
 * FILE_LISTEN for a socket, or FILE_PID for the pid file. */
struct broker_path {
    enum file_need need;
    const char *path;
};

struct broker_options {
    const struct broker_path *paths; /* borrowed, texts included */
    size_t count;
    int number_fd; /* the pid file, open for writing, borrowed; or -1 */
    /* Says whether the present configuration has the socket at `path`. Called
     * in the broker's process. Without this function (NULL), only listed
     * sockets are made. */
    bool (*is_configured)(void *context, const char *path);
    void *context;
};

struct broker {
    int fd; /* -1 without a broker */
    pid_t pid;
    pthread_mutex_t mutex; /* held from a request to its answer */
    struct broker_path *paths;
    size_t count;
};

/* Starts the broker, and makes file_broker_ask() ask the broker. Does nothing
 * if the list is empty. To be called before the sandbox is entered. Returns 0
 * or -errno. */
MUST_USE int broker_open(struct broker *broker,
                         const struct broker_options *options);

/* Returns true if the list lets the broker do for `path` what `need` says. For
 * a socket, the broker may still refuse, since it looks at the configuration
 * when it is asked. */
bool broker_serves(const struct broker *broker, enum file_need need,
                   const char *path);

/* Ends the broker. Does nothing for a zeroed struct. */
void broker_close(struct broker *broker);

#endif
