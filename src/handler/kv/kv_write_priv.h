/*
 * kv_write_priv - what the files of writing share. Each calls only those below
 * it:
 *
 *   kv_write.c         begins, takes the body, asks the store
 *   kv_write_answer.c  what the store has answered
 *   kv_write_head.c    what the head says
 */
#ifndef HANDLER_KV_KV_WRITE_PRIV_H
#define HANDLER_KV_KV_WRITE_PRIV_H

#include "handler/kv/kv_batch.h"
#include "handler/kv/kv_priv.h"

enum {
    KV_ROOM_BYTES = 512
}; /* values up to that need no memory of their own */

/*
 *   begin: may it, and is it sound? ---> sink: a body, or a batch
 *                                          |
 *   answer (without a body: begin) --------+--> store ... on_done
 *                                                           |
 *                       exchange <--- pending <-------------+
 *
 * One object all along. Its sink, what is pending (then the source), and the
 * store have a reference each: a write that the store has taken goes on when
 * its client has gone.
 */
struct kv_writing {
    struct kv_question question; /* first: the same address */
    struct sink sink;
    struct pending pending;
    struct text_source text; /* of a batch: its results */
    struct kv_write write;
    struct kv_op op;        /* what is written, unless it is a batch */
    struct buf body;        /* the value that is written */
    struct kv_batch *batch; /* NULL: it is no batch */
    struct kv_pass pass;
    size_t charged; /* taken for the body */
    size_t results_at;
    /* What is not set before it is read, from here on. */
    char key[KV_KEY_BYTES_MAX];
    char type[KV_TYPE_BYTES_MAX];
    char room[KV_ROOM_BYTES]; /* for a short body */
};

/* Whether the head of a request is sound, and it may write what it names; else
 * it has been answered. What it says goes to op, key, type and pass. */
MUST_USE bool kv_writing_read_head(struct kv_writing *writing,
                                   enum kv_key_verdict verdict,
                                   struct bytes key);

/* Whether the head of a batch is sound, which names its keys later. */
MUST_USE bool kv_writing_read_batch_head(struct kv_writing *writing);

/* The first operation that is why a write was not done. */
const struct kv_op *kv_write_reason(const struct kv_write *write);

/* Tells what the store has answered. The pending's reference is used up, one
 * way or the other. */
void kv_writing_answer(struct kv_writing *writing);

#endif
