/*
 * kv_batch_priv - what the files of kv_batch share. Each calls only those below
 * it:
 *
 *   kv_batch.c        lines
 *   kv_batch_op.c     what a line says
 *   kv_batch_fault.c  what is wrong with one
 */
#ifndef HANDLER_KV_KV_BATCH_PRIV_H
#define HANDLER_KV_KV_BATCH_PRIV_H

#include "base/json_read.h"
#include "handler/kv/kv_batch.h"

struct kv_batch {
    struct kv_batch_limits limits;
    struct buf line; /* the beginning of one */
    size_t line_number;
    size_t bytes; /* of the batch that have come */
    struct arena arena;
    struct kv_op *ops; /* count of them, in the arena */
    size_t *lines;     /* count of them, in the arena */
    size_t count;
    struct kv_batch_fault fault;
};

/* What is wrong with the line; false, each of them. */
bool kv_batch_fail(struct kv_batch *batch, unsigned status, const char *text);
bool kv_batch_fail_member(struct kv_batch *batch, struct bytes name,
                          const char *text);
bool kv_batch_fail_memory(struct kv_batch *batch);

/* Reads one operation; what it points at is the batch's. False: it is faulty.
 */
MUST_USE bool kv_batch_read_op(struct kv_batch *batch,
                               const struct json_value *line, struct kv_op *op);

#endif
