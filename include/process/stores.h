/*
 * stores - opens the key-value stores that the options name.
 *
 * Thread: the main thread's; all workers share the stores.
 * Owns:   the stores; prefixes are the options'.
 */
#ifndef PROCESS_STORES_H
#define PROCESS_STORES_H

#include "config/store_rule.h"
#include "confine/identity.h"
#include "engine/worker.h"

struct stores {
    struct worker_store items[OPTIONS_KV_MAX];
    size_t count;
    bool is_paused;
};

/* Makes the folders for the user that the server will become, while it still
 * may, and looks up the names of other machines. Returns EX_OK, or a status
 * after one line on stderr. */
MUST_USE int stores_make_places(struct stores *stores,
                                const struct options *options,
                                const struct identity *identity);

/* Opens the stores, which starts threads. Returns as stores_make_places()
 * does. */
MUST_USE int stores_open(struct stores *stores, const struct options *options);

/* Describes the stores for the statistics. Returns EX_OK or EX_USAGE. */
MUST_USE int stores_describe(const struct options *options,
                             struct stats_store_options *to, size_t *count_out);

/* Writes the stores' own numbers to to[], in the order of stores_describe(). */
void stores_count(const struct stores *stores, struct stats_store *to);

/* stores_pause() lets a successor write; stores_resume() ends that if there
 * will be no successor. False: not all could be resumed; to be tried again. A
 * second call does nothing. */
void stores_pause(struct stores *stores);
bool stores_resume(struct stores *stores);

/* Stops stores before workers are freed; stores_close() follows after that. */
void stores_stop(struct stores *stores);
void stores_close(struct stores *stores);

#endif
