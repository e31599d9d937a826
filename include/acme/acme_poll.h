/*
 * acme_poll - the pauses between questions to an authority that has not decided
 * yet: short at first, then longer, or as long as it asks for, and limited.
 *
 * Thread: its owner's; waits.
 */
#ifndef ACME_ACME_POLL_H
#define ACME_ACME_POLL_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    ACME_POLL_S = 300, /* seconds in all that an authority has to decide */
    ACME_POLL_MS = 250 /* the first pause; later ones are longer */
};

struct acme_poll {
    uint64_t end_ns;
    int64_t pause_ms;
};

struct acme_poll acme_poll_begin(void);

/* Waits: as long as Retry-After asked for (asked_s; -1: it did not), else for
 * the next pause. False: the time is used up, and it did not wait. */
MUST_USE bool acme_poll_wait(struct acme_poll *poll, int64_t asked_s);

#endif
