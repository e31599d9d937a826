/*
 * client_due - when a client has something due, in virtual time.
 *
 * client_share.h explains V, c, b, g and s and proves the bound; client_due
 * does the arithmetic for a single client. Virtual times are in bytes with
 * FAIR_SHARE_FRACTION_BITS binary places.
 *
 * A promise is the V at which something is due, together with the slope. A
 * place (client_share.h) keeps the promise while its client does not wait. A
 * promise is never 0.
 *
 * Thread: one scheduler's.
 */
#ifndef ENGINE_CLIENT_DUE_H
#define ENGINE_CLIENT_DUE_H

#include "engine/fair_share.h"

enum {
    CLIENT_DUE_FACTOR_MAX = 1024, /* the largest c */
    CLIENT_DUE_SLOPE_BITS = 8     /* binary places of a slope */
};

struct client_due {
    uint32_t slope; /* s, with CLIENT_DUE_SLOPE_BITS binary places */
    /* Virtual bytes that the client may still be sent at the slope s; for all
     * further bytes the slope is c. */
    uint64_t sloped;
    uint64_t at; /* the V at which something is due */
};

/* What client_due_begin() needs to know of a client. */
struct client_wait {
    uint64_t now;       /* V, the virtual time */
    uint64_t factor;    /* c, the factor */
    uint64_t grace;     /* G, the limit of g */
    uint64_t bytes;     /* b, the bytes for which the client waits */
    uint64_t promise;   /* the waiting place's promise; 0: no promise */
    uint32_t elsewhere; /* other workers at which the client waits */
};

static inline uint64_t client_due_virtual(uint64_t bytes)
{
    return bytes << FAIR_SHARE_FRACTION_BITS;
}

/* Sets the V at which something is due. If the place's promise is an earlier V,
 * that V is kept, so that a client whose socket was full for a moment loses
 * nothing. */
void client_due_begin(struct client_due *due, const struct client_wait *wait);

/* Puts off the V at which something is due, because the client was sent
 * something. `had` is the number of bytes sent, as a virtual time; `factor` is
 * c. The new V is at most `latest`. */
void client_due_put_off(struct client_due *due, uint64_t had, uint64_t factor,
                        uint64_t latest);

/* Returns the promise of the present `at` and slope, for a place to keep. */
uint64_t client_due_promise(const struct client_due *due, uint64_t factor);

#endif
