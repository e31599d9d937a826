#include "engine/client_due.h"

enum {
    PARTS = 10, /* g is PARTS_LATER / PARTS of (c - 1) * b */
    PARTS_LATER = 9,
    SLOPE_WIDTH =
        19 /* bits of CLIENT_DUE_FACTOR_MAX << CLIENT_DUE_SLOPE_BITS */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t client_due_promise(const struct client_due *due, uint64_t factor)
{
    uint64_t slope = due->sloped > 0 ? due->slope
                                     : factor << CLIENT_DUE_SLOPE_BITS;

    return due->at >> FAIR_SHARE_FRACTION_BITS << SLOPE_WIDTH | slope;
}

/* Returns by how many bytes V has to rise until it reaches the promised V; 0
 * when V has reached it. */
static uint64_t bytes_until(uint64_t now, uint64_t promise)
{
    uint64_t due = promise >> SLOPE_WIDTH << SLOPE_WIDTH;

    now = now >> FAIR_SHARE_FRACTION_BITS << SLOPE_WIDTH;
    return (int64_t)(due - now) > 0 ? (due - now) >> SLOPE_WIDTH : 0;
}

/* Keeps the client's promise: something is due at the promised V. The promised
 * slope counts, too, if it is smaller, as it may be when it was promised while
 * fewer clients waited. */
static void go_on(struct client_due *due, uint64_t now, uint64_t promise)
{
    uint64_t slope = promise & ((UINT64_C(1) << SLOPE_WIDTH) - 1);

    due->at = now + client_due_virtual(bytes_until(now, promise));
    if (slope < due->slope)
        due->slope = (uint32_t)slope;
}

void client_due_begin(struct client_due *due, const struct client_wait *wait)
{
    uint64_t b = wait->bytes > 0 ? least(wait->bytes, UINT32_MAX) : 1;
    uint64_t g = least((wait->factor - 1) * b * PARTS_LATER / PARTS,
                       wait->grace);

    due->slope = (uint32_t)((wait->factor << CLIENT_DUE_SLOPE_BITS) -
                            (g << CLIENT_DUE_SLOPE_BITS) / b);
    due->at = wait->now + client_due_virtual(g);
    if (wait->promise != 0 && bytes_until(wait->now, wait->promise) < g)
        go_on(due, wait->now, wait->promise);
    due->sloped = client_due_virtual(b) * (1 + wait->elsewhere);
}

void client_due_put_off(struct client_due *due, uint64_t had, uint64_t factor,
                        uint64_t latest)
{
    uint64_t sloped = least(had, due->sloped);

    due->sloped -= sloped;
    due->at += (sloped >> CLIENT_DUE_SLOPE_BITS) * due->slope +
               (had - sloped) * factor;
    due->at = least(due->at, latest);
}
