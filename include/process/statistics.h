/*
 * statistics - makes the statistics of this server, keeps their history and
 * prints the report.
 *
 * Thread: used only by the main thread, except `shared` (see stats.h) and
 *         `history` (see history.h).
 * Owns:   everything except the access log and the stores, which are borrowed.
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
    /* The upstream servers and the proxy cache of the present configuration;
     * borrowed, and NULL if there are none. */
    const struct stats_upstreams *upstreams;
    const struct cache_store *cache;
    /* private */
    struct stats_snapshot *snapshot;
    struct stats_pulse pulse; /* the pulse at the last point */
    const struct access_log *access_log;
    const struct stores *stores;
    struct stats_store_options store_options[STATS_STORES_MAX];
    uint64_t due_ms;
};

/* Opens the statistics; `stores` need not be open yet. Returns false if there
 * is no memory. statistics_close() is needed in any case. */
MUST_USE bool statistics_open(struct statistics *statistics,
                              const struct options *options,
                              size_t worker_count,
                              const struct access_log *access_log,
                              const struct stores *stores);
void statistics_close(struct statistics *statistics);

/* Adds a point to the history if it is time. Returns the ms until the next
 * point. */
int statistics_tick(struct statistics *statistics);

/* Returns how many connections were open at the history's last point. */
uint64_t statistics_count_open(const struct statistics *statistics);

/* statistics_put_report() puts the Server Statistic Report into `text`,
 * statistics_report() prints the report to standard error. */
void statistics_put_report(struct statistics *statistics, struct buf *text);
void statistics_report(struct statistics *statistics);

/* Whether a report must be printed at exit. */
bool statistics_reports_exit(const struct options *options);

#endif
