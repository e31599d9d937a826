/*
 * statistics - the statistics of this server: makes them, keeps their history
 * and prints the report.
 *
 * Thread: the main thread's, but what is shared: see stats.h and history.h.
 * Owns:   all of it; the access log and the stores are borrowed.
 */
#ifndef PROCESS_STATISTICS_H
#define PROCESS_STATISTICS_H

#include "config/options.h"
#include "observe/access_log.h"
#include "observe/history.h"
#include "process/stores.h"

struct statistics {
    struct stats_shared *shared;
    struct history *history;
    const struct stats_upstreams *upstreams; /* in force; borrowed, or NULL */
    const struct cache_store *cache;         /* in force; borrowed, or NULL */
    /* private */
    struct stats_snapshot *snapshot;
    struct stats_pulse pulse; /* of the last point */
    const struct access_log *access_log;
    const struct stores *stores;
    struct stats_store_options store_options[STATS_STORES_MAX];
    uint64_t due_ms;
};

/* stores need not be open yet. False: no memory; statistics_close() all the
 * same. */
MUST_USE bool statistics_open(struct statistics *statistics,
                              const struct options *options,
                              size_t worker_count,
                              const struct access_log *access_log,
                              const struct stores *stores);
void statistics_close(struct statistics *statistics);

/* Notes the history, if it is time. In how many ms it will be. */
int statistics_tick(struct statistics *statistics);

/* How many connections were open when the history was noted last. */
uint64_t statistics_count_open(const struct statistics *statistics);

/* Puts the Server Statistic Report there, or prints it on standard error. */
void statistics_put_report(struct statistics *statistics, struct buf *text);
void statistics_report(struct statistics *statistics);

/* Whether a report is due at exit. */
bool statistics_reports_exit(const struct options *options);

#endif
