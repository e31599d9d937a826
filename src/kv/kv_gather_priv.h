/*
 * kv_gather - decides for how many writes the next commit waits, and how long.
 *
 * A client that writes again as soon as it is answered is back soon after a
 * commit, but not at once. If the next commit begins without it, the client
 * waits for two commits: two crowds of clients then take turns, and there are
 * twice as many commits as necessary. So the writer waits until as many writes
 * have come as it has just answered, in addition to those that came during the
 * commit.
 *
 *   |--- commit ---| . . . .|--- commit ---|
 *     B B B         A A A A ^ all are here
 *                  ^ A is answered
 *
 * The writer waits at most for a part of the last commit's time. Where waiting
 * is in vain, because other clients ask each time, it rarely waits.
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

/* Zeroed at first. */
struct kv_gather {
    size_t wanted;       /* commit when so many writes wait */
    uint64_t until_ns;   /* commit at this time, however few wait */
    unsigned skips;      /* private: commits to skip after a vain wait */
    unsigned skips_left; /* private: how many of these are still to come */
};

/* Notes that a commit, from began_ns to ended_ns, has answered that many
 * writes, while others came. */
void kv_gather_note_commit(struct kv_gather *gather, size_t answered,
                           size_t others, uint64_t began_ns, uint64_t ended_ns);

/* Notes that the writer has waited. is_complete: all wanted writes have
 * come. */
void kv_gather_note_wait(struct kv_gather *gather, bool is_complete);

#endif
