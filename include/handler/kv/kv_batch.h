/*
 * kv_batch - many operations in one request: a line of JSON each (NDJSON).
 *
 *   {"op":"put","key":"a","value":"text","type":"text/plain","ttl":60}
 *   {"op":"put","key64":"/w==","value64":"AAE=","if":"absent"}
 *   {"op":"add","key":"n","by":-1}
 *   {"op":"delete","key":"b","if":"17"}
 *   {"op":"check","key":"c","if":"*"}
 *
 * key64 and value64 are base64, for what is no text. "if" is a revision (with
 * or without the quotes of an ETag), "*" for any, or "absent". ttl is whole
 * seconds; by a whole number, 1 if it is not there. What is not known is
 * refused, with its line: nothing is done of a batch that was not understood as
 * a whole.
 *
 * It is read as it comes, line by line; only the line that is not complete yet
 * and what the operations need is kept.
 *
 * Thread: the worker's.
 * Owns:   the operations and all they point at.
 */
#ifndef HANDLER_KV_KV_BATCH_H
#define HANDLER_KV_KV_BATCH_H

#include "base/buf.h"
#include "kv/kv_store.h"

enum {
    KV_BATCH_VALUES_MAX = 32, /* JSON values in a line */
    KV_BATCH_MEMBER_BYTES_MAX = 32
};

#define KV_INTEGER_TYPE "text/plain"

/* 100 years. */
#define KV_TTL_MAX_S ((uint64_t)100 * 365 * 86400)

struct kv_batch_limits {
    size_t ops_max;         /* at most KV_WRITE_OPS_MAX */
    size_t value_bytes_max; /* of each */
    size_t bytes_max;       /* of the whole, as it comes */
    bool needs_condition;   /* puts and deletes must have "if" */
};

struct kv_batch_fault {
    unsigned status;  /* 400, 413, 428, 503 */
    size_t line;      /* from 1; 0: none in particular */
    const char *text; /* for people */
    size_t member_len;
    char member[KV_BATCH_MEMBER_BYTES_MAX]; /* of the line, if it is one */
};

struct kv_batch; /* opaque */

/* NULL: no memory. */
MUST_USE struct kv_batch *kv_batch_create(const struct kv_batch_limits *limits);
void kv_batch_destroy(struct kv_batch *batch);

/* Takes some more of the batch's text. False: it is faulty, and nothing may
 * follow. */
MUST_USE bool kv_batch_take(struct kv_batch *batch, struct bytes text);

/* Ends the batch, of which all has been read. False: it is faulty. */
MUST_USE bool kv_batch_end(struct kv_batch *batch);

const struct kv_batch_fault *kv_batch_fault(const struct kv_batch *batch);

/* The operations of the batch, which stay until it is destroyed. */
struct kv_op *kv_batch_ops(struct kv_batch *batch, size_t *count_out);

/* The line that an operation stood in. */
size_t kv_batch_line(const struct kv_batch *batch, size_t at);

/* Reads what "if" and If-Match say: "*", or a revision in quotes or, when
 * is_bare may be, without. What is no revision of ours matches none: 0. */
enum kv_condition kv_condition_read(struct bytes text, bool may_be_bare,
                                    uint64_t *revision_out);

/* Whether type may stand in a Content-Type field. */
bool kv_type_is_valid(struct bytes type);

#endif
