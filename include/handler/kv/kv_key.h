/*
 * kv_key - reads the key that a request's path names.
 *
 *   /kv/            all keys
 *   /kv/-/batch     several operations
 *   /kv/KEY         the rest of the path, percent-decoded once
 *
 * A key may have any bytes but NUL. A key is no path: "a//b" and "a/../b" are
 * keys. So a key is read from the path as sent, not from the clean path, and
 * the prefix must be spelled as it is configured: "/%6bv/x" and "//kv/x" name
 * no key. "/kv/-/batch" does not name the key "-/batch"; "/kv/%2D/batch" does.
 *
 * Thread: any; no state.
 */
#ifndef HANDLER_KV_KV_KEY_H
#define HANDLER_KV_KV_KEY_H

#include "kv/kv_store.h"

enum kv_key_verdict {
    KV_KEY_ONE,
    KV_KEY_ALL,
    KV_KEY_BATCH,
    KV_KEY_ELSEWHERE, /* the prefix is spelled differently */
    KV_KEY_MALFORMED, /* a key with NUL, or a broken escape */
    KV_KEY_TOO_LONG
};

/* Reads the key from a path as sent. `prefix` is clean and has no slash at its
 * end. The key is written to `out`, where *key_out points to it. */
MUST_USE enum kv_key_verdict kv_key_read(struct bytes raw_path,
                                         struct bytes prefix,
                                         char out[KV_KEY_BYTES_MAX],
                                         struct bytes *key_out);

/* Returns a text for people that tells the fault. Returns NULL if the verdict
 * is no fault. */
const char *kv_key_fault(enum kv_key_verdict verdict);

#endif
