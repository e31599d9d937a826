/*
 * answering - a process that gives every connection the same answer.
 *
 * Thread: the test's; a process of its own does the work, until it is closed
 *         or the test ends.
 */
#ifndef UNIT_ANSWERING_H
#define UNIT_ANSWERING_H

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "suite.h"

enum answering_way {
    ANSWERING_ONCE,   /* a connection: the answer, then its end */
    ANSWERING_MUTE,   /* nothing, for ever */
    ANSWERING_FIRST,  /* the first connection as ONCE, then it is MUTE */
    ANSWERING_ENDLESS /* the answer, then letters without end */
};

enum { ANSWERING_WAIT_MS = 20000 };

struct answering {
    pid_t process;
    int port;
    int requests; /* what was asked, as it came */
};

struct answering answering_open_at(int listener, enum answering_way way,
                                   const char *answer);

/* A port of the loopback that is bound, not yet listened at. */
int answering_bind(int *port_out);

struct answering answering_open(enum answering_way way, const char *answer);
void answering_close(struct answering *answering);

/* http://127.0.0.1:PORT and what follows; good until the next. */
const char *answering_url(int port, const char *path);

#endif
