/*
 * readiness - one byte through a pipe, from a server that starts to the
 * process that waits for it: 0, it serves; else the status it exits with.
 *
 * Waited for by the parent of a daemon (daemon.h) and by the launcher of an
 * upgrade (launcher.h). A server that dies without a word closes the pipe.
 *
 * Thread: the main thread's.
 * Owns:   its end of the pipe.
 */
#ifndef PROCESS_READINESS_H
#define PROCESS_READINESS_H

#include "base/bytes.h"

#define READINESS_VARIABLE "SPRINTD_READY"

struct readiness {
    int fd;            /* -1: nobody waits, or all is told */
    bool is_successor; /* another server started this one, to take over */
};

/* Takes the end that the environment names; the variable is unset. */
void readiness_inherit(struct readiness *readiness);

/* Tells the status, once; later words, and words to nobody, are lost. Also
 * undoes readiness_inherit(). */
void readiness_tell(struct readiness *readiness, int status);

enum readiness_news {
    READINESS_TOLD,     /* the child has told its status: *status_out */
    READINESS_DEAD,     /* the pipe is closed: the child has ended */
    READINESS_TIMEOUT,  /* no status came in time */
    READINESS_GIVEN_UP, /* nobody wants to know any more */
    READINESS_FAILED    /* errno says why */
};

/* Waits for the byte; timeout_ms -1: for ever. Gives up when the other end of
 * the socket boss_fd is closed; -1: never. */
MUST_USE enum readiness_news readiness_wait(int fd, int boss_fd, int timeout_ms,
                                            int *status_out);

#endif
