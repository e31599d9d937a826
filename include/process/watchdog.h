/*
 * watchdog - whether every worker makes progress, for the service manager.
 *
 * Each worker notes once a second how long it has been running; one whose note
 * stays the same is stuck, and then the manager is no longer fed, which
 * restarts the service in the end. A main thread that is stuck feeds nobody
 * either.
 *
 *   note changes ..........x  stuck
 *   fed    |    |    |    |    |  no more: within stale_ms
 *                              |------- period ------| restarted
 *
 * While the server drains, workers end one by one: there the drain's own
 * deadline watches.
 *
 * Thread: the main thread's.
 * Owns:   its memory; borrows the statistics.
 */
#ifndef PROCESS_WATCHDOG_H
#define PROCESS_WATCHDOG_H

#include "observe/stats.h"

struct watchdog; /* opaque */

/* period_ms is what the manager allows between two meals (notify.h). NULL: no
 * memory. */
MUST_USE struct watchdog *watchdog_create(const struct stats_shared *stats,
                                          uint64_t period_ms, uint64_t now_ms);
void watchdog_destroy(struct watchdog *watchdog);

/* Looks at the workers, if it is time. Whether to feed the manager now; and in
 * how many ms to come again. NULL: never, INT_MAX. */
MUST_USE bool watchdog_tick(struct watchdog *watchdog, uint64_t now_ms,
                            int *pause_ms_out);

#endif
