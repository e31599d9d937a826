/*
 * file_broker - whom to ask for a file that this process may not open itself.
 *
 * A server gives up rights in two steps, and a few files must still be opened
 * afterwards: see confine/root_files.h for the first, and
 * process/companion/broker.h for the second. Those who open files know of
 * neither: they try, and where that is forbidden they ask here.
 *
 * Thread: set by the main thread while there is no other; any may ask.
 * Owns:   nothing.
 */
#ifndef BASE_FILE_BROKER_H
#define BASE_FILE_BROKER_H

#include "base/bytes.h"

enum file_need {
    FILE_READ,
    FILE_APPEND,  /* a log, made when it is missing */
    FILE_PID,     /* read and write; made when missing */
    FILE_NUMBER,  /* the server's process id is written to its pid file */
    FILE_PRIVATE, /* an existing pid file gets FILE_PID_MODE */
    FILE_LISTEN,  /* a unix socket is made there, and listens */
    /* A unix socket is made that only its owner may connect to. */
    FILE_LISTEN_PRIVATE,
    FILE_REMOVE
};

/* The mode of a pid file: a user who may read it may lock it, and so keep a
 * server from starting. */
enum { FILE_PID_MODE = 0600 };

struct file_broker {
    /* Does what is needed. Returns a descriptor; 0 for FILE_NUMBER,
     * FILE_PRIVATE and FILE_REMOVE; or -errno. */
    int (*open)(void *context, enum file_need need, const char *path);
    void *context;
};

/* broker is copied; NULL: there is none. */
void file_broker_set(const struct file_broker *broker);

/* Asks the broker for what this process has tried itself and failed at, with
 * err, a -errno. Returns what the broker answers; err, when there is no broker
 * or err is not about rights. */
MUST_USE int file_broker_ask(enum file_need need, const char *path, int err);

#endif
