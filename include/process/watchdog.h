/*
 * watchdog - checks that every worker makes progress, and reports it to the
 * service manager.
 *
 * Each worker notes once a second how long it has been running. A worker whose
 * note does not change is stuck. While a worker is stuck, the service manager
 * gets no messages, and in the end restarts the service. A stuck main thread
 * sends no messages, either.
 *
 *   notes     .  .  .  .  .  x  the worker is stuck
 *   messages  |     |     |     |  the last message, before that is noticed
 *                               |------ period ------|  the service restarts
 *
 * While the server drains, workers end one by one, and the watchdog is not
 * used: the drain has its own deadline.
 *
 * Thread: used only by the main thread.
 * Owns:   the notes; borrows the statistics.
 */
#ifndef PROCESS_WATCHDOG_H
#define PROCESS_WATCHDOG_H

#include "observe/stats.h"

struct watchdog; /* opaque */

/* period_ms is the longest time that the manager allows between messages
 * (notify.h). Returns NULL if there is no memory. */
MUST_USE struct watchdog *watchdog_create(const struct stats_shared *stats,
                                          uint64_t period_ms, uint64_t now_ms);
void watchdog_destroy(struct watchdog *watchdog);

/* Checks the workers if it is time to do so. Returns true if a message must be
 * sent to the manager now. Sets *pause_ms_out to the ms until the next call. If
 * `watchdog` is NULL, returns false and sets *pause_ms_out to INT_MAX. */
MUST_USE bool watchdog_tick(struct watchdog *watchdog, uint64_t now_ms,
                            int *pause_ms_out);

#endif
