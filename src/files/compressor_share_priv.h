/*
 * compressor_share_priv - how much processor time slow orders may have:
 * compressor.c asks before it begins with one.
 *
 * All others in this process, workers above all, had so much since the last
 * look:
 *
 *   less than an eighth of one CPU    it is idle: slow orders have what they
 *                                     want
 *   more                              requests come: a twentieth of what the
 *                                     others had, so that a reply costs a
 *                                     twentieth more at most
 *
 * An order is begun while anything of that is left, and may take more; the
 * next one waits until the others have made up for it.
 *
 * Thread: any, under the compressor's mutex.
 */
#ifndef FILES_COMPRESSOR_SHARE_PRIV_H
#define FILES_COMPRESSOR_SHARE_PRIV_H

#include <stdbool.h>
#include <stdint.h>

enum {
    COMPRESSOR_SHARE_LOOK_MS = 100, /* between two looks */
    COMPRESSOR_SHARE_OLD_MS = 1000, /* an older look tells nothing */
    COMPRESSOR_SHARE_IDLE_PART = 8,
    COMPRESSOR_SHARE_BUSY_PART = 20,
    COMPRESSOR_SHARE_SAVED_MS = 100 /* left_ns is at most this */
};

/* Begins as all zero. */
struct compressor_share {
    uint64_t looked_ns; /* when the last look was */
    uint64_t others_ns; /* processor time of others until then */
    int64_t left_ns;    /* left for slow orders; below 0: overdrawn */
    unsigned running;   /* slow orders that count */
    bool is_idle;
};

/* Notes how much processor time all others have had so far; at any time. */
void compressor_share_look(struct compressor_share *share, uint64_t now_ns,
                           uint64_t others_ns);

/* Whether a slow order may begin. When it does, *counts_out tells whether it
 * is to be ended by compressor_share_end(). */
bool compressor_share_begin(struct compressor_share *share, bool *counts_out);

/* Ends a job that counts, and has taken used_ns of processor time. */
void compressor_share_end(struct compressor_share *share, uint64_t used_ns);

#endif
