#include "process/statistics.h"

#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "base/version.h"
#include "config/option_table.h"
#include "http/request.h"
#include "observe/report.h"
#include "process/companion/printer.h"

enum {
    INTERVAL_MS = HISTORY_INTERVAL_S * 1000,
    REPORT_WAIT_MS = 500 /* how long the report's reader may delay signals */
};

static const char *const method_names[METHOD_COUNT] = {
    [METHOD_GET] = "GET",         [METHOD_HEAD] = "HEAD",
    [METHOD_OPTIONS] = "OPTIONS", [METHOD_POST] = "POST",
    [METHOD_PUT] = "PUT",         [METHOD_DELETE] = "DELETE",
    [METHOD_PATCH] = "PATCH",     [METHOD_TRACE] = "TRACE",
    [METHOD_CONNECT] = "CONNECT", [METHOD_OTHER] = "other"};

static const char *link_mode_name(const struct options *options)
{
    switch (options->link_rate) {
    case OPTIONS_LINK_OFF:
        return "off";
    case OPTIONS_LINK_AUTO:
        return "auto";
    default:
        return "rate";
    }
}

bool statistics_open(struct statistics *statistics,
                     const struct options *options, size_t worker_count,
                     const struct access_log *access_log,
                     const struct stores *stores)
{
    struct stats_options stats_options = {
        .worker_count = worker_count,
        .method_names = method_names,
        .method_count = METHOD_COUNT,
        .version = SPRINTD_VERSION,
        .schedule = option_schedule_name(options),
        .cache_policy = option_cache_policy_name(options),
        .cache_bytes = options->cache_bytes,
        .link_mode = link_mode_name(options),
        .is_profiled = options->profile,
        .stores = statistics->store_options};
    struct now now;

    for (unsigned i = 0; i < MINIATURE_POLICIES; i++)
        stats_options.cache_policies[i] = option_policy_name(i);
    now_refresh(&now);
    *statistics = (struct statistics){.access_log = access_log,
                                      .stores = stores,
                                      .due_ms = now.mono_ms + INTERVAL_MS};
    if (stores_describe(options, statistics->store_options,
                        &stats_options.store_count) != EX_OK)
        return false;
    statistics->shared = stats_shared_create(&stats_options, &now);
    statistics->history = history_create();
    if (statistics->shared)
        statistics->snapshot = stats_snapshot_create(statistics->shared);
    return statistics->snapshot && statistics->history;
}

void statistics_close(struct statistics *statistics)
{
    stats_snapshot_destroy(statistics->snapshot);
    history_destroy(statistics->history);
    stats_shared_destroy(statistics->shared);
}

static void count_kept(const struct cache_store *cache, struct counter *kept)
{
    struct cache_store_counts counts = cache_store_count(cache);
    struct stats_kept numbers = {.entries = counts.entries,
                                 .bytes = counts.bytes,
                                 .files = counts.files,
                                 .evictions = counts.evictions,
                                 .written = counts.disk.written,
                                 .unwritten = counts.disk.refused,
                                 .damaged = counts.disk.damaged};

    stats_set_kept(kept, &numbers);
}

/* Updates the numbers that no worker counts. */
static void tell(struct statistics *statistics)
{
    struct log_counters log = access_log_count(statistics->access_log);

    stats_set_log(&statistics->shared->log, log.lines, log.dropped, log.errors);
    stores_count(statistics->stores, statistics->shared->stores);
    if (statistics->cache)
        count_kept(statistics->cache, statistics->shared->kept);
}

static void take_snapshot(struct statistics *statistics, const struct now *now)
{
    tell(statistics);
    stats_read(statistics->shared, now, statistics->snapshot);
    statistics->snapshot->upstreams = statistics->upstreams;
}

/* Adds a point to the history. If nothing has happened, no snapshot is taken,
 * so that an idle server does little. A change after the pulse was read shows
 * in the next point. */
static void note(struct statistics *statistics, const struct now *now)
{
    struct stats_pulse before = statistics->pulse;

    stats_read_pulse(statistics->shared, &statistics->pulse);
    if (memcmp(&before, &statistics->pulse, sizeof(before)) == 0) {
        tell(statistics);
        history_note_nothing(statistics->history, now->wall_ns);
        return;
    }
    take_snapshot(statistics, now);
    history_note(statistics->history, statistics->snapshot);
    stats_snapshot_clear(statistics->snapshot);
}

int statistics_tick(struct statistics *statistics)
{
    struct now now;

    now_refresh(&now);
    if (now.mono_ms >= statistics->due_ms) {
        note(statistics, &now);
        statistics->due_ms += INTERVAL_MS;
        if (statistics->due_ms <= now.mono_ms) /* a point was missed */
            statistics->due_ms = now.mono_ms + INTERVAL_MS;
    }
    return (int)(statistics->due_ms - now.mono_ms);
}

uint64_t statistics_count_open(const struct statistics *statistics)
{
    const struct stats_pulse *pulse = &statistics->pulse;

    return pulse->accepted > pulse->closed ? pulse->accepted - pulse->closed
                                           : 0;
}

void statistics_put_report(struct statistics *statistics, struct buf *text)
{
    struct now now;

    now_refresh(&now);
    take_snapshot(statistics, &now);
    report_put(text, statistics->snapshot);
}

void statistics_report(struct statistics *statistics)
{
    struct buf text;

    buf_init(&text, NULL, 0, REPORT_BYTES_MAX);
    statistics_put_report(statistics, &text);
    log_put_text(text.data, text.len, REPORT_WAIT_MS);
    buf_fini(&text);
}

bool statistics_reports_exit(const struct options *options)
{
    return options->report == OPTIONS_REPORT_ALWAYS ||
           (options->report == OPTIONS_REPORT_AUTO &&
            (isatty(STDERR_FILENO) || printer_has_errors()));
}
