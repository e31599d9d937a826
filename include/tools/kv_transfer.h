/*
 * kv_transfer - exports and imports a key-value store as lines of JSON
 * (NDJSON).
 *
 *   {"key":"a","value":"text","type":"text/plain","stored":MS,"expires":MS}
 *   {"key64":"/w==","value64":"AAEC"}
 *
 * Bytes that are not UTF-8 are in base64. Times are milliseconds since the
 * epoch; a line need not have times. Each store has revisions of its own, so
 * revisions are exported ("revision") but not imported. Other members are
 * ignored.
 *
 * Export and import keep only one line, or one batch of lines, in memory.
 *
 * Thread: the main thread of a process that does nothing else.
 * Owns:   nothing.
 */
#ifndef TOOLS_KV_TRANSFER_H
#define TOOLS_KV_TRANSFER_H

#include <stdio.h>

#include "kv/lmdb/kv_lmdb.h"

/* Writes the store at `path` to `out`; a server may have the store open.
 * Returns 0, or -errno after logging the error. */
MUST_USE int kv_transfer_export(const char *path, FILE *out);

/* Writes the lines of `in` into a store that no other process has open.
 * Existing keys are replaced; lines whose values have expired are skipped.
 * Stops at the first line that is invalid (-EINVAL) or finds no room (-ENOSPC);
 * the lines before are imported. Returns 0, or -errno after logging the error.
 * At least *lines_out lines were imported. */
MUST_USE int kv_transfer_import(const struct kv_lmdb_options *options, FILE *in,
                                uint64_t *lines_out);

#endif
