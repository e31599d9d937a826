/*
 * sample_stats - statistics to test with.
 *
 * Thread: the test's.
 */
#ifndef UNIT_SAMPLE_STATS_H
#define UNIT_SAMPLE_STATS_H

#include "observe/stats.h"
#include "observe/stats_upstreams.h"

enum { SAMPLE_METHODS = 3, SAMPLE_US = 1000, SAMPLE_MS = 1000000 };

extern const struct now sample_began;

/* 1.2 seconds later. */
extern const struct now sample_now;

extern const struct address sample_peer;

/* One that tells all of itself, and one that tells nothing. */
extern const struct stats_store_options sample_stores[];

struct stats_options sample_options(size_t worker_count);

/* A GET of "/x" that was answered with 200 and one KiB in that time, half of
 * which it waited. */
struct stats_exchange sample_exchange(uint64_t total_ns);

void sample_note(struct stats *stats, uint64_t total_ns);

/* A cache with four entries, and a link that is engaged. */
void sample_cache_and_link(struct stats *stats);

/* Upstreams: the first is up, the second is as bad as can be and has as much to
 * tell. context is a name of theirs. */
void sample_read_upstream(const void *context, size_t number, uint64_t mono_ms,
                          struct stats_upstream *row_out);

extern const struct stats_upstreams sample_upstreams;

#endif
