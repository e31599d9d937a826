/*
 * kv_transfer - a key-value store as lines of JSON (NDJSON), out and in.
 *
 *   {"key":"a","value":"text","type":"text/plain","stored":MS,"expires":MS}
 *   {"key64":"/w==","value64":"AAEC"}
 *
 * What is no UTF-8 text is in base64. Times are milliseconds since the epoch,
 * and stand in the lines that have them. Revisions are the store's own, so
 * they are told ("revision") but not taken. Other members are passed over.
 *
 * Both take memory for one line, and what is read for one batch.
 *
 * Thread: the main one, in a process that does nothing else.
 * Owns:   nothing.
 */
#ifndef TOOLS_KV_TRANSFER_H
#define TOOLS_KV_TRANSFER_H

#include <stdio.h>

#include "kv/lmdb/kv_lmdb.h"

/* Beside a server that has the store open, or without. 0 or -errno, logged. */
MUST_USE int kv_transfer_export(const char *path, FILE *out);

/* The store must not be open elsewhere. Keys that are there are replaced; what
 * has expired is left out. Stops at the first line that is wrong, -EINVAL, or
 * finds no room, -ENOSPC; lines before it are in. 0 or -errno, logged.
 * *lines_out: how many are in, at least. */
MUST_USE int kv_transfer_import(const struct kv_lmdb_options *options, FILE *in,
                                uint64_t *lines_out);

#endif
