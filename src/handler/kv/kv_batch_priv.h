/*
 * kv_batch_priv - shared by the files of kv_batch. Each file calls only files
 * below it:
 *
 *   kv_batch.c        splits the batch into lines
 *   kv_batch_op.c     reads the operation of a line
 *   kv_batch_fault.c  reports the fault of a line
 */
#ifndef HANDLER_KV_KV_BATCH_PRIV_H
#define HANDLER_KV_KV_BATCH_PRIV_H

#include "base/json_read.h"
#include "handler/kv/kv_batch.h"

struct kv_batch {
    struct kv_batch_limits limits;
    struct buf line; /* a line that is not complete yet */
    size_t line_number;
    size_t bytes; /* bytes of the batch so far */
    struct arena arena;
    struct kv_op *ops; /* `count` operations, in the arena */
    size_t *lines;     /* line number of each operation, in the arena */
    size_t count;
    struct kv_batch_fault fault;
};

/* These set the fault of the present line, and return false. */
bool kv_batch_fail(struct kv_batch *batch, unsigned status, const char *text);
bool kv_batch_fail_member(struct kv_batch *batch, struct bytes name,
                          const char *text);
bool kv_batch_fail_memory(struct kv_batch *batch);

/* Reads one operation; the batch owns its texts. Returns false if the line is
 * faulty. */
MUST_USE bool kv_batch_read_op(struct kv_batch *batch,
                               const struct json_value *line, struct kv_op *op);

#endif
