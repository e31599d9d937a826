/*
 * client_due - when a client has something due, in virtual time.
 *
 * V, c, b, g, s and the proof of the bound are in client_share.h; here is its
 * arithmetic, of one client by himself. Virtual times are in bytes with
 * FAIR_SHARE_FRACTION_BITS binary places.
 *
 * A promise is what a waiting thing remembers of its client while the client is
 * not here: when something was due, and by which slope. It is never 0.
 *
 * Thread: one scheduler's.
 */
#ifndef ENGINE_CLIENT_DUE_H
#define ENGINE_CLIENT_DUE_H

#include "engine/fair_share.h"

enum {
    CLIENT_DUE_FACTOR_MAX = 1024, /* c */
    CLIENT_DUE_SLOPE_BITS = 8     /* binary places of a slope */
};

struct client_due {
    uint32_t slope;  /* s */
    uint64_t sloped; /* bytes for which s holds yet; after them it is c */
    uint64_t at;     /* V when something is due */
};

/* How a client begins to wait. */
struct client_wait {
    uint64_t now;       /* V */
    uint64_t factor;    /* c */
    uint64_t grace;     /* G */
    uint64_t bytes;     /* b */
    uint64_t promise;   /* of what it waits for; 0: none was made */
    uint32_t elsewhere; /* at so many other workers it waits, too */
};

static inline uint64_t client_due_virtual(uint64_t bytes)
{
    return bytes << FAIR_SHARE_FRACTION_BITS;
}

/* Sets when something is due. A client that was here just now, and could take
 * no more for a moment, goes on where it was: its promise is kept. */
void client_due_begin(struct client_due *due, const struct client_wait *wait);

/* The client was sent so much, as a virtual time: what is due comes later by
 * that, but no later than at latest. */
void client_due_put_off(struct client_due *due, uint64_t had, uint64_t factor,
                        uint64_t latest);

/* What the thing that is sent to now is promised. */
uint64_t client_due_promise(const struct client_due *due, uint64_t factor);

#endif
