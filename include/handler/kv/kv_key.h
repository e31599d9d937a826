/*
 * kv_key - which key a request is about.
 *
 *   /kv/            all of them
 *   /kv/-/batch     many at once
 *   /kv/KEY         that one: what is behind the prefix, percent-decoded once
 *
 * A key is any bytes but NUL, and what looks like a path is none: "a//b" and
 * "a/../b" are keys. So it is read from the path as it was sent, not from the
 * clean one, and the prefix must be spelled as it is configured: "/%6bv/x" or
 * "//kv/x" lead to no key. Nor does "-/batch" lead to the key of that name;
 * "%2D/batch" does.
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
    KV_KEY_ELSEWHERE, /* the prefix is spelled in another way */
    KV_KEY_MALFORMED, /* NUL, or a broken escape */
    KV_KEY_TOO_LONG
};

/* prefix: clean, without a slash at its end. The key is written to out. */
MUST_USE enum kv_key_verdict kv_key_read(struct bytes raw_path,
                                         struct bytes prefix,
                                         char out[KV_KEY_BYTES_MAX],
                                         struct bytes *key_out);

/* What is wrong, for people; NULL: nothing is. */
const char *kv_key_fault(enum kv_key_verdict verdict);

#endif
