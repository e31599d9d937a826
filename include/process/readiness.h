/*
 * readiness - one byte through a pipe, from a starting server to the process
 * that waits for the server. The byte is 0 when the server serves, else the
 * server's exit status.
 *
 * The parent of a daemon (daemon.h) and the launcher of an upgrade (launcher.h)
 * wait for the byte. When a server dies without sending the byte, the kernel
 * closes the pipe.
 *
 * Thread: used only by the main thread.
 * Owns:   the server's end of the pipe.
 */
#ifndef PROCESS_READINESS_H
#define PROCESS_READINESS_H

#include "base/bytes.h"

#define READINESS_VARIABLE "SPRINTD_READY"

struct readiness {
    int fd;            /* -1 if nobody waits, or after the status was told */
    bool is_successor; /* another server started this one as its successor */
};

/* Takes the descriptor that READINESS_VARIABLE names, and unsets the
 * variable. */
void readiness_inherit(struct readiness *readiness);

/* Tells the status to the waiting process, if there is one, and closes the
 * pipe. Only the first call has an effect. */
void readiness_tell(struct readiness *readiness, int status);

enum readiness_news {
    READINESS_TOLD,     /* the child's status is in *status_out */
    READINESS_DEAD,     /* the pipe is closed: the child has ended */
    READINESS_TIMEOUT,  /* no status came in time */
    READINESS_GIVEN_UP, /* the socket boss_fd was closed by its peer */
    READINESS_FAILED    /* errno says why */
};

/* Waits for the byte, without a limit if timeout_ms is -1. If boss_fd is not
 * -1, it is a socket; the wait is given up when the socket's peer closes it. */
MUST_USE enum readiness_news readiness_wait(int fd, int boss_fd, int timeout_ms,
                                            int *status_out);

#endif
