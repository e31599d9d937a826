/*
 * stores - opens the key-value stores that the options name.
 *
 * Thread: used only by the main thread; all workers share the stores.
 * Owns:   the stores; the options own the prefixes.
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

/* Makes the stores' folders for the user that the server will become, and looks
 * up the names of other machines. To be called while the server still has the
 * right to make folders. Returns EX_OK, or a status of sysexits.h after one
 * line on stderr. */
MUST_USE int stores_make_places(struct stores *stores,
                                const struct options *options,
                                const struct identity *identity);

/* Opens the stores, which starts threads. Returns like stores_make_places(). */
MUST_USE int stores_open(struct stores *stores, const struct options *options);

/* Describes the stores for the statistics. Returns EX_OK or EX_USAGE. */
MUST_USE int stores_describe(const struct options *options,
                             struct stats_store_options *to, size_t *count_out);

/* Writes the stores' own numbers to the array `to`, in the order of
 * stores_describe(). */
void stores_count(const struct stores *stores, struct stats_store *to);

/* stores_pause() ends this process's writing, so that a successor can write to
 * the stores. stores_resume() makes this process the writer again if there will
 * be no successor. If a store could not be resumed, stores_resume() returns
 * false, and must be called again. To pause paused stores, or resume resumed
 * ones, has no effect. */
void stores_pause(struct stores *stores);
bool stores_resume(struct stores *stores);

/* stores_stop() must be called before the workers are freed, stores_close()
 * after the workers were freed. */
void stores_stop(struct stores *stores);
void stores_close(struct stores *stores);

#endif
