#include "unit/observe/stats_fixture.h"

#include "suite.h"

struct stats_shared *shared;
struct stats *stats;
struct stats_snapshot *snapshot;

void use_none(void)
{
    stats_snapshot_destroy(snapshot);
    stats_shared_destroy(shared);
    snapshot = NULL;
    shared = NULL;
}

void use(const struct stats_options *options)
{
    use_none();
    shared = stats_shared_create(options, &sample_began);
    assert_non_null(shared);
    stats = &shared->workers[0];
    snapshot = stats_snapshot_create(shared);
    assert_non_null(snapshot);
}
