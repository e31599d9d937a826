/*
 * acme_poll - waiting for an authority to make up its mind: often at first,
 * then more and more rarely, or as it wants, and not for ever.
 *
 * Thread: its owner's; waits.
 */
#ifndef ACME_ACME_POLL_H
#define ACME_ACME_POLL_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    ACME_POLL_S = 300, /* for an authority to make up its mind */
    ACME_POLL_MS = 250 /* at first; then longer and longer */
};

struct acme_poll {
    uint64_t end_ns;
    int64_t pause_ms;
};

struct acme_poll acme_poll_begin(void);

/* Waits for a while, or as long as Retry-After asked for (asked_s; -1: it did
 * not). False: there was waiting enough, and there is none now. */
MUST_USE bool acme_poll_wait(struct acme_poll *poll, int64_t asked_s);

#endif
