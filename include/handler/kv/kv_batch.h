/*
 * kv_batch - reads the operations of one request, each in a line of JSON
 * (NDJSON).
 *
 *   {"op":"put","key":"a","value":"text","type":"text/plain","ttl":60}
 *   {"op":"put","key64":"/w==","value64":"AAE=","if":"absent"}
 *   {"op":"add","key":"n","by":-1}
 *   {"op":"delete","key":"b","if":"17"}
 *   {"op":"check","key":"c","if":"*"}
 *
 * "key64" and "value64" are base64, for bytes that are no text. "if" is a
 * revision (with or without the quotes of an ETag), "*" for any revision, or
 * "absent". "ttl" is in whole seconds; "by" is a whole number, 1 if it is
 * missing. A batch with anything unknown in a line is refused as a whole, and
 * the answer names the line.
 *
 * A batch is read as it comes, line by line; only the incomplete line and the
 * operations are kept in memory.
 *
 * Thread: the worker's.
 * Owns:   the operations and all that they point at.
 */
#ifndef HANDLER_KV_KV_BATCH_H
#define HANDLER_KV_KV_BATCH_H

#include "base/buf.h"
#include "kv/kv_store.h"

enum {
    KV_BATCH_VALUES_MAX = 32, /* most JSON values in a line */
    KV_BATCH_MEMBER_BYTES_MAX = 32
};

#define KV_INTEGER_TYPE "text/plain"

/* The longest ttl is 100 years. */
#define KV_TTL_MAX_S ((uint64_t)100 * 365 * 86400)

struct kv_batch_limits {
    size_t ops_max;         /* most operations, up to KV_WRITE_OPS_MAX */
    size_t value_bytes_max; /* most bytes of a value */
    size_t bytes_max;       /* most bytes of the whole batch, as sent */
    bool needs_condition;   /* refuse puts and deletes without "if" */
};

struct kv_batch_fault {
    unsigned status;  /* 400, 413, 428 or 503 */
    size_t line;      /* counted from 1; 0: no particular line */
    const char *text; /* message for people */
    size_t member_len;
    char member[KV_BATCH_MEMBER_BYTES_MAX]; /* name of the faulty member */
};

struct kv_batch; /* opaque */

/* Returns NULL when there is no memory. */
MUST_USE struct kv_batch *kv_batch_create(const struct kv_batch_limits *limits);
void kv_batch_destroy(struct kv_batch *batch);

/* Reads the next part of the batch's text. Returns false if the batch is
 * faulty; then no more text may be given. */
MUST_USE bool kv_batch_take(struct kv_batch *batch, struct bytes text);

/* Ends the batch after all of its text. Returns false if the batch is
 * faulty. */
MUST_USE bool kv_batch_end(struct kv_batch *batch);

const struct kv_batch_fault *kv_batch_fault(const struct kv_batch *batch);

/* Returns the operations, which stay until the batch is destroyed. */
struct kv_op *kv_batch_ops(struct kv_batch *batch, size_t *count_out);

/* Returns the number of the line that has the operation with the index `at`. */
size_t kv_batch_line(const struct kv_batch *batch, size_t at);

/* Reads the value of "if" or If-Match, which is "*" or a revision in quotes. If
 * may_be_bare is true, a revision may lack the quotes. Any other text becomes
 * revision 0, which no value has. */
enum kv_condition kv_condition_read(struct bytes text, bool may_be_bare,
                                    uint64_t *revision_out);

#endif
