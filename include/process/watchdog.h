/*
 * watchdog - checks for the service manager that every worker makes progress.
 *
 * Each worker notes once a second how long it has been running; a worker whose
 * note does not change is stuck. Then the manager gets no more messages, and in
 * the end restarts the service. A stuck main thread sends no messages, either.
 *
 *   note changes ..........x  stuck
 *   fed    |    |    |    |    |  no more: within stale_ms
 *                              |------- period ------| restarted
 *
 * While the server drains, workers end one by one: then the drain's own
 * deadline is enough.
 *
 * Thread: the main thread's.
 * Owns:   its memory; borrows the statistics.
 */
#ifndef PROCESS_WATCHDOG_H
#define PROCESS_WATCHDOG_H

#include "observe/stats.h"

struct watchdog; /* opaque */

/* period_ms: the longest time that the manager allows between messages
 * (notify.h). NULL: no memory. */
MUST_USE struct watchdog *watchdog_create(const struct stats_shared *stats,
                                          uint64_t period_ms, uint64_t now_ms);
void watchdog_destroy(struct watchdog *watchdog);

/* Checks the workers if it is time. Returns whether to send the manager a
 * message now; *pause_ms_out: ms until the next call. watchdog NULL: false,
 * INT_MAX. */
MUST_USE bool watchdog_tick(struct watchdog *watchdog, uint64_t now_ms,
                            int *pause_ms_out);

#endif
