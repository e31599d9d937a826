/*
 * stores - the key-value stores that the options name.
 *
 * Thread: the main thread's; what is opened is shared by all workers.
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

/* Makes the folders, while there are the rights to, for whom it will become,
 * and finds other machines by their names. EX_OK,
 * or a status after one line on stderr. */
MUST_USE int stores_make_places(struct stores *stores,
                                const struct options *options,
                                const struct identity *identity);

/* Opens the stores, which begins threads. Returns as stores_make_places()
 * does. */
MUST_USE int stores_open(struct stores *stores, const struct options *options);

/* Fills in which stores there will be, for statistics. EX_OK or EX_USAGE. */
MUST_USE int stores_describe(const struct options *options,
                             struct stats_store_options *to, size_t *count_out);

/* What the stores say of themselves; to[] is as above. */
void stores_count(const struct stores *stores, struct stats_store *to);

/* stores_pause() lets a successor write; stores_resume() takes that back when
 * there will be no successor. False: not all of them could be taken back, to be
 * tried again. A second call does nothing. */
void stores_pause(struct stores *stores);
bool stores_resume(struct stores *stores);

/* Stop stores before workers are freed, and close them after. */
void stores_stop(struct stores *stores);
void stores_close(struct stores *stores);

#endif
