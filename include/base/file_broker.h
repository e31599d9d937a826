/*
 * file_broker - opens files that this process may not open itself, by asking
 * another module.
 *
 * A server gives up rights in two steps, after which some files must still be
 * opened: confine/root_files.h serves the first step,
 * process/companion/broker.h the second. Code that opens files knows neither
 * module: it tries to open the file itself, and if this is forbidden, it asks
 * here.
 *
 * Thread: the main thread sets the broker before there are other threads; any
 *         thread may ask.
 * Owns:   nothing.
 */
#ifndef BASE_FILE_BROKER_H
#define BASE_FILE_BROKER_H

#include "base/bytes.h"

enum file_need {
    FILE_READ,
    FILE_APPEND,  /* append to a log; create it if missing */
    FILE_PID,     /* read and write a pid file; create it if missing */
    FILE_NUMBER,  /* write the process id to a pid file */
    FILE_PRIVATE, /* set an existing pid file's mode */
    FILE_LISTEN,  /* create a unix socket that listens */
    /* Create a unix socket to which only its owner may connect. */
    FILE_LISTEN_PRIVATE,
    FILE_REMOVE
};

/* The mode of a pid file. If other users could read the file, they could also
 * lock it, and the server would not start. */
enum { FILE_PID_MODE = 0600 };

struct file_broker {
    /* Does what `need` says to the file at `path`. Returns a descriptor, or 0
     * for FILE_NUMBER, FILE_PRIVATE and FILE_REMOVE, or -errno. */
    int (*open)(void *context, enum file_need need, const char *path);
    void *context;
};

/* Sets the broker that file_broker_ask() asks, and copies *broker. NULL means
 * that there is no broker. */
void file_broker_set(const struct file_broker *broker);

/* Asks the broker to do what this process could not do itself; `err` is the
 * -errno of that attempt. Returns the broker's result. If there is no broker,
 * or the error is not one of missing rights, returns `err`. */
MUST_USE int file_broker_ask(enum file_need need, const char *path, int err);

#endif
