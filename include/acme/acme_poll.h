/*
 * acme_poll - waits between two questions to an authority that has not decided
 * yet. The pauses are short at first and grow. If the authority names a pause,
 * that pause is taken instead, up to a limit.
 *
 * Thread: the owner's; acme_poll_wait() blocks.
 */
#ifndef ACME_ACME_POLL_H
#define ACME_ACME_POLL_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    ACME_POLL_S = 300, /* seconds within which an authority must decide */
    ACME_POLL_MS = 250 /* the first pause; later ones are longer */
};

struct acme_poll {
    uint64_t end_ns;
    int64_t pause_ms;
};

struct acme_poll acme_poll_begin(void);

/* Waits for asked_s seconds, as the authority asked by Retry-After. If asked_s
 * is -1 or 0, waits for the next pause instead. Returns false at once if the
 * wait would end later than ACME_POLL_S after acme_poll_begin(). */
MUST_USE bool acme_poll_wait(struct acme_poll *poll, int64_t asked_s);

#endif
