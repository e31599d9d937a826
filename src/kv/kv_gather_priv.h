/*
 * kv_gather - for how many writes the next commit waits, and how long.
 *
 * A client that writes again as soon as it is answered is back soon after a
 * commit, but not at once. When the next commit begins without it, the client
 * waits for two commits: two crowds of clients then take turns, and there are
 * twice as many commits as need be. So the writer waits until as many writes
 * are here as it has just answered, besides those that came meanwhile.
 *
 *   |--- commit ---| . . . .|--- commit ---|
 *     B B B         A A A A ^ all are here
 *                  ^ A is answered
 *
 * The writer waits for a part of the time that the last commit took, no longer.
 * It waits seldom where this is in vain, because other clients ask each time.
 * PostgreSQL's commit_delay is the same idea, of a fixed length.
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
    size_t wanted;     /* a group goes when so many writes wait */
    uint64_t until_ns; /* a group goes then, however few wait */
    unsigned skips;    /* private: commits after a vain wait that do not wait */
    unsigned skips_left; /* private: such commits still to come */
};

/* Notes that a commit, from began_ns to ended_ns, has answered so many writes
 * while others came. */
void kv_gather_note_commit(struct kv_gather *gather, size_t answered,
                           size_t others, uint64_t began_ns, uint64_t ended_ns);

/* Notes that the writer has waited; is_complete: as many writes came as were
 * wanted. */
void kv_gather_note_wait(struct kv_gather *gather, bool is_complete);

#endif
