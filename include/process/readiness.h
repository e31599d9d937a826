/*
 * readiness - one byte through a pipe, from a starting server to the process
 * that waits for it: 0: it serves; else its exit status.
 *
 * The parent of a daemon (daemon.h) and the launcher of an upgrade (launcher.h)
 * wait for it. A server that dies without a message closes the pipe.
 *
 * Thread: the main thread's.
 * Owns:   its end of the pipe.
 */
#ifndef PROCESS_READINESS_H
#define PROCESS_READINESS_H

#include "base/bytes.h"

#define READINESS_VARIABLE "SPRINTD_READY"

struct readiness {
    int fd;            /* -1: nobody waits, or the status was told */
    bool is_successor; /* started by another server, to replace it */
};

/* Takes the descriptor that the environment names, and unsets the variable. */
void readiness_inherit(struct readiness *readiness);

/* Tells the status; only the first call has an effect, if anybody waits. Also
 * undoes readiness_inherit(). */
void readiness_tell(struct readiness *readiness, int status);

enum readiness_news {
    READINESS_TOLD,     /* the child's status is in *status_out */
    READINESS_DEAD,     /* the pipe is closed: the child has ended */
    READINESS_TIMEOUT,  /* no status came in time */
    READINESS_GIVEN_UP, /* the other end of boss_fd is closed */
    READINESS_FAILED    /* errno says why */
};

/* Waits for the byte; timeout_ms -1: without a limit. Gives up when the other
 * end of the socket boss_fd (-1: none) is closed. */
MUST_USE enum readiness_news readiness_wait(int fd, int boss_fd, int timeout_ms,
                                            int *status_out);

#endif
