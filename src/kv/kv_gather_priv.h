/*
 * kv_gather - for how many writes the next commit waits, and how long.
 *
 * Who asks again when he is answered is back soon after a commit, but not at
 * once. A commit that begins without him is one he waits for in vain, before
 * his own: two crowds then take turns, and there are twice as many commits as
 * need be. So the writer waits until as many are here as it has just answered,
 * besides those who waited meanwhile.
 *
 *   |--- commit ---| . . . .|--- commit ---|
 *     B B B         A A A A ^ all are here
 *                  ^ A is answered
 *
 * It waits for a part of what the last commit took, no longer; and seldom,
 * where that is in vain, because it is always others who ask. PostgreSQL's
 * commit_delay is the same idea, of a fixed length.
 *
 * Invariant: a client that writes alone is never made to wait.
 * Thread:    the writer's.
 * Owns:      nothing.
 */
#ifndef KV_KV_GATHER_PRIV_H
#define KV_KV_GATHER_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeros at first. */
struct kv_gather {
    size_t wanted;       /* when so many wait, nobody else is waited for ... */
    uint64_t until_ns;   /* ... and not for longer than that */
    unsigned skips;      /* private: so often it was not to be tried again, */
    unsigned skips_left; /* and still is not */
};

/* A commit, from began_ns to ended_ns, has answered so many writes, and others
 * came meanwhile. */
void kv_gather_note_commit(struct kv_gather *gather, size_t answered,
                           size_t others, uint64_t began_ns, uint64_t ended_ns);

/* Waiting is over: whether as many came as were wanted. */
void kv_gather_note_wait(struct kv_gather *gather, bool is_complete);

#endif
