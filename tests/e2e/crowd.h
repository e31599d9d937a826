/*
 * crowd - many clients that ask on and on, in a process of their own, while the
 * test does something to the server.
 *
 * A client keeps its connection, and opens another when an answer said that it
 * ends, or when it ended between two requests. What no client should ever see
 * counts as a failure: any other status than 200, a wrong body, an end with a
 * request unanswered, nobody who listens.
 *
 * Thread: the test's.
 * Owns:   the process, and what it counts.
 */
#ifndef E2E_CROWD_H
#define E2E_CROWD_H

#include <stdatomic.h>

#include "harness.h"

enum { CROWD_CLIENTS_MAX = 256, CROWD_DEPTH_MAX = 32, CROWD_WHY_MAX = 256 };

struct crowd_options {
    const char *target; /* of all requests */
    const char *body;   /* of all answers */
    unsigned clients;
    unsigned depth; /* requests of a client that are under way at once */
};

struct crowd_counts {
    atomic_ulong answered;
    atomic_ulong failed;
    atomic_ulong connected;  /* connections opened */
    char why[CROWD_WHY_MAX]; /* of the first failure */
};

/* Begins; the counts can be read at any time. */
const struct crowd_counts *crowd_begin(const struct server *server,
                                       const struct crowd_options *options);

/* Ends, once so many have been answered in all; fails the test when one was
 * not. The counts are valid until the next crowd begins. */
void crowd_end(unsigned long answered);
/* The same, where some may fail. */
void crowd_end_despite(unsigned long answered, unsigned long failed_max);

#endif
