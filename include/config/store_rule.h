/*
 * store_rule - reads what --kv and the options beside it say.
 *
 * Thread: the main thread's.
 * Owns:   nothing; what is found lies in the text.
 */
#ifndef CONFIG_STORE_RULE_H
#define CONFIG_STORE_RULE_H

#include "config/options.h"
#include "kv/lmdb/kv_lmdb.h"

/* "PREFIX=FOLDER" or "PREFIX=URL", taken apart; NULL, or what is wrong, as
 * words to put behind it. */
const char *store_rule_read(const char *text, struct bytes *prefix_out,
                            const char **where_out);

/* Whether all stores are apart from each other and from the statistics; each
 * rule has been read before. NULL, or what is wrong with the one whose number
 * is *number_out, as words to put behind it. */
const char *store_rule_check(const struct options *options, size_t *number_out);

/* The store whose prefix that is, among those that options name: its number, or
 * -1. */
int store_rule_find(const struct options *options, struct bytes prefix);

/* The folder of a store that was checked; NULL: it is on another machine. */
const char *store_rule_folder(const char *text);

/* Whether some are on other machines. */
bool store_rule_any_is_remote(const struct options *options);

/* Whether any store is asked over TLS. */
bool store_rule_any_is_tls(const struct options *options);

/* How writes get to the disk: "full", "off" or "interval:MS". */
const char *store_rule_read_sync(const char *text, struct kv_lmdb_options *to);

#endif
