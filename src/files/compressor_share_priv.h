/*
 * compressor_share_priv - how much processor time slow orders may have;
 * compressor.c asks before it begins a slow order.
 *
 * The share depends on how much processor time all other threads of this
 * process, mostly the workers, have had since the last look:
 *
 *   less than an eighth of one CPU    The process is idle: slow orders may have
 *                                     any time.
 *   more                              Requests come: slow orders may have a
 *                                     twentieth of the others' time, so that a
 *                                     reply costs at most a twentieth more.
 *
 * An order may begin while any of this time is left, and may take more time
 * than that. Then the next order waits until the excess is made up for.
 *
 * Thread: any, under the compressor's mutex.
 */
#ifndef FILES_COMPRESSOR_SHARE_PRIV_H
#define FILES_COMPRESSOR_SHARE_PRIV_H

#include <stdbool.h>
#include <stdint.h>

enum {
    COMPRESSOR_SHARE_LOOK_MS = 100, /* shortest time between two looks */
    COMPRESSOR_SHARE_OLD_MS = 1000, /* a look longer ago tells nothing */
    COMPRESSOR_SHARE_IDLE_PART = 8,
    COMPRESSOR_SHARE_BUSY_PART = 20,
    COMPRESSOR_SHARE_SAVED_MS = 100 /* most time that left_ns may hold */
};

/* All zero at the beginning. */
struct compressor_share {
    uint64_t looked_ns; /* time of the last look */
    uint64_t others_ns; /* processor time of other threads at the last look */
    int64_t left_ns;    /* time left for slow orders; below 0: overdrawn */
    unsigned running;   /* running slow orders whose time counts */
    bool is_idle;
};

/* Notes how much processor time all other threads have had so far. May be
 * called at any time. */
void compressor_share_look(struct compressor_share *share, uint64_t now_ns,
                           uint64_t others_ns);

/* Returns true if a slow order may begin. Then sets *counts_out to true if the
 * caller must report the order's end by compressor_share_end(). */
bool compressor_share_begin(struct compressor_share *share, bool *counts_out);

/* Notes that an order has ended, and has taken used_ns of processor time. Must
 * not be called for an order whose *counts_out was false. */
void compressor_share_end(struct compressor_share *share, uint64_t used_ns);

#endif
