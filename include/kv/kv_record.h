/*
 * kv_record - how a value and its metadata lie on disk.
 *
 *   0        1           2      8         16      24       32    32 + type
 *   version  type bytes  zeros  revision  stored  expires  type  value ...
 *
 * Numbers are big-endian, times milliseconds since the epoch. Every field is
 * checked when read, since the disk may be damaged.
 *
 * Thread: any; values only.
 */
#ifndef KV_KV_RECORD_H
#define KV_KV_RECORD_H

#include "kv/kv_store.h"

enum { KV_RECORD_HEAD_BYTES = 32, KV_NUMBER_BYTES = 8 };

/* A record. Its type and value point into the bytes that were read. */
struct kv_record {
    struct kv_meta meta;
    struct bytes type;
    struct bytes value;
};

static inline size_t kv_record_bytes(const struct kv_record *record)
{
    return KV_RECORD_HEAD_BYTES + record->type.len + record->value.len;
}

/* Writes kv_record_bytes() bytes to `out`. */
void kv_record_write(const struct kv_record *record, char *out);

/* Reads a record, which borrows from `stored`. Returns false if `stored` is not
 * a record, or is a record of another version. */
MUST_USE bool kv_record_read(struct kv_record *record, struct bytes stored);

static inline bool kv_meta_has_expired(const struct kv_meta *meta,
                                       int64_t now_ms)
{
    return meta->expires_ms != 0 && meta->expires_ms <= now_ms;
}

void kv_number_write(uint64_t number, char out[KV_NUMBER_BYTES]);
uint64_t kv_number_read(const char in[KV_NUMBER_BYTES]);

#endif
