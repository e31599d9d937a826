/*
 * store_rule - reads the values of --kv and related options.
 *
 * Thread: the main thread's.
 * Owns:   nothing. The results point into the text.
 */
#ifndef CONFIG_STORE_RULE_H
#define CONFIG_STORE_RULE_H

#include "config/options.h"
#include "kv/lmdb/kv_lmdb.h"

/* Reads "PREFIX=FOLDER" or "PREFIX=URL". Returns NULL if `text` is valid, else
 * an error message to append to it. */
const char *store_rule_read(const char *text, struct bytes *prefix_out,
                            const char **where_out);

/* Checks that no store has the prefix or folder of another store, or the prefix
 * of the statistics. Each rule must have been read before. Returns NULL if all
 * is well; otherwise, returns an error message to append to the rule with the
 * number *number_out. */
const char *store_rule_check(const struct options *options, size_t *number_out);

/* Returns the number of the store with that prefix; -1 if there is none. */
int store_rule_find(const struct options *options, struct bytes prefix);

/* Returns the folder of a store whose text was checked; NULL if the store is on
 * another machine. */
const char *store_rule_folder(const char *text);

/* Whether any store is on another machine. */
bool store_rule_any_is_remote(const struct options *options);

/* Whether any store is asked over TLS. */
bool store_rule_any_is_tls(const struct options *options);

/* Reads how writes reach the disk: "full", "off" or "interval:MS". Returns NULL
 * if `text` is valid, else an error message to append to it. */
const char *store_rule_read_sync(const char *text, struct kv_lmdb_options *to);

#endif
