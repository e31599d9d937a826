/*
 * stores - the key-value stores that the options name.
 *
 * Thread: the main thread's; what is opened is shared by all workers.
 * Owns:   the stores; prefixes are the options'.
 */
#ifndef SERVER_STORES_H
#define SERVER_STORES_H

#include "engine/worker.h"
#include "server/identity.h"
#include "server/options.h"

struct stores {
    struct worker_store items[OPTIONS_KV_MAX];
    size_t count;
    bool is_paused;
};

/* "PREFIX=FOLDER" or "PREFIX=URL", taken apart; NULL, or what is wrong, as
 * words to put behind it. */
const char *stores_read(const char *text, struct bytes *prefix_out,
                        const char **place_out);

/* The folder of a store that was checked; NULL: it is on another machine. */
const char *stores_folder(const char *text);

/* Whether some are on other machines. */
bool stores_are_remote(const struct options *options);

/* How writes get to the disk: "full", "off" or "interval:MS". */
const char *stores_read_sync(const char *text, struct kv_lmdb_options *to);

/* Makes the folders, while there are the rights to, for whom it will become,
 * and finds other machines by their names. EX_OK,
 * or a status after one line on stderr. */
MUST_USE int stores_make_places(struct stores *stores,
                                const struct options *options,
                                const struct identity *identity);

/* Opens them, which begins threads. The same. */
MUST_USE int stores_open(struct stores *stores, const struct options *options);

/* Which there will be, for statistics. EX_OK or EX_USAGE. */
MUST_USE int stores_describe(const struct options *options,
                             struct stats_store_options *to, size_t *count_out);

/* What they say of themselves; to[] is as above. */
void stores_count(const struct stores *stores, struct stats_store *to);

/* Lets a successor write; and takes that back, when there will be none. False:
 * not all of them could be, to be tried again. A second call does nothing. */
void stores_pause(struct stores *stores);
bool stores_resume(struct stores *stores);

/* Before workers are freed, and after. */
void stores_stop(struct stores *stores);
void stores_close(struct stores *stores);

#endif
