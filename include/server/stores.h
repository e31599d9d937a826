/*
 * stores - the key-value stores that the options name, and who may write.
 *
 * Thread: the main thread's; what is opened is shared by all workers.
 * Owns:   the stores and the tokens; prefixes are the options'.
 */
#ifndef SERVER_STORES_H
#define SERVER_STORES_H

#include "engine/worker.h"
#include "handler/kv_token.h"
#include "server/identity.h"
#include "server/options.h"

struct stores {
    struct worker_store items[OPTIONS_KV_MAX];
    size_t count;
    struct kv_tokens *tokens; /* NULL: there are none */
};

/* "PREFIX=FOLDER" or "PREFIX=URL", taken apart; NULL, or what is wrong, as
 * words to put behind it. */
const char *stores_read(const char *text, struct bytes *prefix_out,
                        const char **place_out);

/* The folder of a store that was checked; NULL: it is on another machine. */
const char *stores_folder(const char *text);

/* Whether all are on other machines, or none, which any number of servers may
 * use; and whether some are. */
bool stores_are_shared(const struct options *options);
bool stores_are_remote(const struct options *options);

/* How writes get to the disk: "full", "off" or "interval:MS". */
const char *stores_read_sync(const char *text, struct kv_lmdb_options *to);

/* Makes the folders, while there are the rights to, for whom it will become
 * (NULL: it stays who it is), and finds other machines by their names. EX_OK,
 * or a status after one line on stderr. */
MUST_USE int stores_make_places(struct stores *stores,
                                const struct options *options,
                                const struct identity *identity);

/* Who may write, from a file that only root may be able to read: before rights
 * are given up. The same. */
MUST_USE int stores_read_tokens(struct stores *stores,
                                const struct options *options);

/* Opens them, which begins threads. The same. */
MUST_USE int stores_open(struct stores *stores, const struct options *options);

/* Before workers are freed, and after. */
void stores_stop(struct stores *stores);
void stores_close(struct stores *stores);

#endif
