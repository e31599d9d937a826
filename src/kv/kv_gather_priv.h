/*
 * kv_gather - decides how many writes the next commit waits for, and how long.
 *
 * A client that writes again as soon as it is answered sends its next write
 * shortly after a commit, but not at once. If the next commit begins without
 * this write, the client waits for two commits. The clients then form two
 * groups that take turns, and there are twice as many commits as necessary. So
 * after a commit of n writes, the writer waits until n new writes have come.
 * Writes that came during the commit do not count among the n; the next commit
 * does them, too.
 *
 *   |--- commit ---| . . . .|--- commit ---|
 *     B B B         A A A A ^ all are here
 *                  ^ A is answered
 *
 * The writer waits at most for a part of the last commit's time. Where waiting
 * is in vain, because other clients write each time, the writer rarely waits.
 * PostgreSQL's commit_delay is the same idea with a fixed delay.
 *
 * Invariant: a client that writes alone never waits for others.
 * Thread:    the writer's.
 * Owns:      nothing.
 */
#ifndef KV_KV_GATHER_PRIV_H
#define KV_KV_GATHER_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller zeroes the struct at first. */
struct kv_gather {
    size_t wanted;       /* commit when this many writes wait */
    uint64_t until_ns;   /* commit at this time, however few wait */
    unsigned skips;      /* private: how many commits follow without a wait */
    unsigned skips_left; /* private: how many of these commits are left */
};

/* Notes a commit that lasted from began_ns to ended_ns. `answered` is the
 * number of writes in the commit, `others` the number of writes that came
 * during the commit. */
void kv_gather_note_commit(struct kv_gather *gather, size_t answered,
                           size_t others, uint64_t began_ns, uint64_t ended_ns);

/* Notes that the writer has waited. is_complete says whether all wanted writes
 * have come. */
void kv_gather_note_wait(struct kv_gather *gather, bool is_complete);

#endif
