/*
 * stats_fixture - one set of statistics, and what is read of it.
 */
#ifndef UNIT_STATS_FIXTURE_H
#define UNIT_STATS_FIXTURE_H

#include "observe/stats_snapshot.h"

#include "unit/observe/sample_stats.h"

extern struct stats_shared *shared;
extern struct stats *stats; /* the first worker's */
extern struct stats_snapshot *snapshot;

/* Makes them anew. */
void use(const struct stats_options *options);
void use_none(void);

#endif
